/* SPDX-License-Identifier: GPL-2.0-or-later */
/* detect/keywords/meta/reference.c - where to read more about what the rule finds. */
#include "detect/rule/keyword.h"
#include "detect/rule/classification.h"
#include "detect/rule/ruleset_private.h"

#include <ctype.h>
#include <string.h>

/* "url,https://example.org" names its scheme itself: the system's prefix is then not used. */
static const char *own_scheme(struct rule_parser *p, struct text *id)
{
    const char *mark = memmem(id->p, id->n, "://", 3);
    size_t n = mark != NULL ? (size_t)(mark - id->p) : 0;
    struct text scheme = { id->p, n + 3 };

    for (size_t i = 0; i < n; i++)
        if (((id->p[i] | 32) < 'a' || (id->p[i] | 32) > 'z'))
            return NULL;
    if (n == 0)
        return NULL;
    *id = text_from(*id, n + 3);
    return arena_text(p->arena, scheme);
}

/* As in Suricata: the system has letters and digits only, and the id begins with a character that
 * its addresses may have. So an id and a system that are exchanged are found. */
static bool is_reference(struct text system, struct text id)
{
    for (size_t i = 0; i < system.n; i++)
        if (!isalnum((unsigned char)system.p[i]))
            return false;
    while (id.n > 0 && (id.p[0] == '"' || isspace((unsigned char)id.p[0])))
        id = text_from(id, 1);
    return system.n > 0 && id.n > 0 &&
           (isalnum((unsigned char)id.p[0]) || strchr("-_./?=", id.p[0]) != NULL);
}

/* A system that reference.config does not have begins with a letter, as there. */
static const char *prefix_of(struct rule_parser *p, struct text system)
{
    const char *prefix = rule_reference_prefix(p->ruleset->names, system);

    if (prefix == NULL && !isalpha((unsigned char)system.p[0]))
        return NULL;
    if (prefix != NULL || p->strict || rule_bind(p) < 0)
        return prefix;
    rule_warning(p, "unknown reference key \"%.*s\": it is not in reference.config",
                 TEXT(system));
    rule_reference_add(p->ruleset->names, system, "undefined");
    return "undefined";
}

/* Space for one more. It doubles, because the arena does not take back what it gave. */
static struct rule_reference *references_with_space(struct rule_parser *p)
{
    const struct rule *rule = p->rule;
    size_t count = rule->stored_info->reference_count;
    struct rule_reference *list;

    if (count > 0 && (count & (count - 1)) != 0)
        return (struct rule_reference *)rule->stored_info->reference;
    list = arena_alloc(p->scratch, MAX(2 * count, 1u) * sizeof(*list));
    if (count > 0)
        memcpy(list, rule->stored_info->reference, count * sizeof(*list));
    return list;
}

static int reference_parse(struct rule_parser *p, struct text in, void *arg UNUSED)
{
    struct rule *rule = p->rule;
    struct rule_reference *list;
    struct text id = in, system;
    const char *prefix;

    if (!text_split(&id, ',', &system) ||
        !is_reference(system = text_trim(system), id = text_trim(id)))
        return rule_error(p, "reference: expected SYSTEM,ID, found \"%.*s\"", TEXT(in));
    prefix = own_scheme(p, &id);
    if (prefix == NULL)
        prefix = prefix_of(p, system);
    if (prefix == NULL)
        return rule_error(p, "unknown reference key \"%.*s\"", TEXT(system));
    list = references_with_space(p);
    list[rule->stored_info->reference_count++] =
        (struct rule_reference){ prefix, arena_text(p->scratch, id) };
    rule->stored_info->reference = list;
    return 0;
}

const struct keyword_ops keyword_reference = {
    .name = "reference",
    .doc = "where to read more: a system of reference.config, and the number or address there",
    .syntax = "<system>,<id>",
    .point = POINT_NONE,
    .parse = reference_parse,
};
