/* SPDX-License-Identifier: GPL-2.0-or-later */
/* detect/keywords/meta/classtype.c - the class of the rule, which gives its default priority. */
#include "detect/rule/keyword.h"
#include "detect/rule/classification.h"
#include "detect/rule/ruleset_private.h"

#include <ctype.h>

static const struct rule_class *unknown_class(struct rule_parser *p, struct text in)
{
    const struct rule_class *c;

    if (rule_bind(p) < 0)
        return NULL;
    c = rule_class_add_unknown(p->ruleset->names, in);
    if (c != NULL)
        rule_warning(p, "rule %u has the unknown classtype \"%.*s\": priority %d is assumed; "
                     "not said again for this classtype", p->rule->sid, TEXT(in), c->priority);
    return c;
}

static bool is_class_name(struct text in)
{
    if (in.n == 0 || !isalpha((unsigned char)in.p[0]))
        return false;
    for (size_t i = 0; i < in.n; i++)
        if (!isalnum((unsigned char)in.p[i]) && in.p[i] != '-' && in.p[i] != '_')
            return false;
    return true;
}

/* A `priority` keyword anywhere in the rule wins, so this checks its flag, not its position. */
static int classtype_parse(struct rule_parser *p, struct text in, void *arg UNUSED)
{
    struct rule *rule = p->rule;
    const struct rule_class *c = rule_class_find(p->ruleset->names, in);

    if (!is_class_name(in))
        return rule_error(p, "classtype: expected the name of a class, found \"%.*s\"", TEXT(in));

    if (rule->stored_info->class_name != NULL && p->strict)
        return rule_error(p, "classtype: occurs twice in the rule");
    if (rule->stored_info->class_name != NULL)
        rule_warning(p, "classtype: occurs twice in the rule, the more urgent one counts");
    if (c == NULL && p->strict)
        return rule_error(p, "unknown classtype '%.*s'", TEXT(in));
    if (c == NULL && (c = unknown_class(p, in)) == NULL)
        return rule_error(p, "classtype: expected the name of a class, found \"%.*s\"", TEXT(in));
    if (!p->priority_given && rule->priority >= 0 && c->priority >= rule->priority)
        return 0;
    if (!p->priority_given)
        rule->priority = c->priority;
    if (!c->unknown) {
        rule->stored_info->class_id = c->id;
        rule->stored_info->class_name = c->name;
        rule->stored_info->class_text = c->text;
    }
    return 0;
}

const struct keyword_ops keyword_classtype = {
    .name = "classtype",
    .doc = "class of the rule, gives its default priority",
    .syntax = "<class>",
    .point = POINT_NONE,
    .parse = classtype_parse,
};
