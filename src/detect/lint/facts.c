/* SPDX-License-Identifier: GPL-2.0-or-later */
/* detect/lint/facts.c - contents that are not in their buffer, by what the protocol declares of it,
 * and flags that an established flow does not have. */
#include "detect/lint/private.h"

#include "app/text_facts.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

static bool has_byte(const char *set, uint8_t byte, bool nocase)
{
    return byte != 0 && (strchr(set, byte) != NULL ||
                         (nocase && (strchr(set, toupper(byte)) != NULL ||
                                     strchr(set, tolower(byte)) != NULL)));
}

/* A byte of the content that the alphabet lacks; -1: none. */
static int odd_byte(const struct rule_op *op, const char *alphabet)
{
    for (unsigned i = 0; i < op->content.len; i++)
        if (!has_byte(alphabet, op->content.written[i], op->flags & OP_NOCASE))
            return op->content.written[i];
    return -1;
}

static bool text_at(const struct rule_op *op, unsigned at, const char *text)
{
    size_t n = strlen(text);

    return op->content.len - at >= n &&
           strncasecmp((const char *)op->content.written + at, text, n) == 0;
}

/* The name of the field alone, at the start of its value: meant for senders that write it twice. */
static bool is_name_again(const struct rule_op *op, const char *text)
{
    return (op->flags & OP_STARTSWITH) && op->content.len <= strlen(text) + 1;
}

/* One of the texts, where a line of the content begins, or the content itself. */
static const char *line_of(const struct rule_op *op, const char *const *lines)
{
    for (; lines != NULL && *lines != NULL; lines++)
        for (unsigned at = 0; at < op->content.len; at++)
            if ((at == 0 || op->content.written[at - 1] == '\n') && text_at(op, at, *lines) &&
                !is_name_again(op, *lines))
                return *lines;
    return NULL;
}

/* What is wrong with it, in words; NULL: nothing. */
static const char *what_is_wrong(struct lint *l, const struct rule_op *op,
                                 const struct app_text_facts *facts)
{
    const char *line = line_of(op, facts->lines);
    const char *odd = facts->odd != NULL ? facts->odd((struct slice){ op->content.written,
                                                                      op->content.len }) : NULL;
    int byte = facts->alphabet != NULL ? odd_byte(op, facts->alphabet) : -1;

    if (line != NULL)
        return arena_printf(&l->arena, "no line that begins with \"%s\"", line);
    if (odd != NULL)
        return arena_printf(&l->arena, "no %s", odd);
    if (facts->most != 0 && op->content.len > facts->most)
        return arena_printf(&l->arena, "%u bytes at most", facts->most);
    if (byte >= 0)
        return arena_printf(&l->arena, "no byte %s",
                            lint_literal(l, &(uint8_t){ (uint8_t)byte }, 1));
    if (facts->never_last != NULL && (op->flags & OP_ENDSWITH) &&
        has_byte(facts->never_last, op->content.written[op->content.len - 1], false))
        return arena_printf(&l->arena, "no \"%c\" at its end",
                            op->content.written[op->content.len - 1]);
    return NULL;
}

/* What all protocols say of the buffer that the rule may be about; NULL: one says nothing. */
static const struct app_text_facts *facts_of(const struct rule *rule, const struct rule_list *list)
{
    const struct app_text_facts *facts = NULL;

    if (list->buffer == NULL || list->buffer->kind != BUFFER_TX ||
        list->buffer->transform_count > 0)
        return NULL;
    for (unsigned id = 0; id < APP_PROTO_COUNT; id++) {
        const struct app_buffer *b = list->buffer->by_proto[id];

        if (b == NULL || (rule->app_proto != APP_PROTO_UNKNOWN &&
                          !app_proto_matches((enum app_proto_id)rule->app_proto,
                                             (enum app_proto_id)id)))
            continue;
        if (b->facts == NULL)
            return NULL;
        facts = b->facts;
    }
    return facts;
}

static void facts_check(struct lint *l, const struct lint_rule *r)
{
    for (const struct rule_list *list = r->rule->list; list != NULL; list = list->next) {
        const struct app_text_facts *facts = facts_of(r->rule, list);

        for (const struct rule_op *op = list->first; facts != NULL && op != NULL; op = op->next) {
            const char *why = op->kind == OP_CONTENT && !(op->flags & OP_NEGATED)
                                  ? what_is_wrong(l, op, facts) : NULL;

            if (why != NULL)
                lint_find(r, lint_place_of(r, op), facts->mend,
                          "%s is not in %s, which has %s",
                          lint_literal(l, op->content.written, op->content.len),
                          lint_buffer_name(list), why);
        }
    }
}

const struct lint_check lint_not_in_buffer = {
    .name = "not-in-buffer", .level = LINT_WARNING, .rule = facts_check,
};

/* The packet with SYN alone begins the connection, which is established later. */
static void syn_check(struct lint *l UNUSED, const struct lint_rule *r)
{
    const struct lint_option *o = lint_option_named(r, "flags", 0);

    if (o == NULL)
        o = lint_option_named(r, "tcp.flags", 0);
    if (o == NULL || !(r->rule->flags & RULE_FLOW_ESTABLISHED) ||
        !text_equal(text_trim((struct text){ o->value.p, strcspn(o->value.p, ",;") }), "S"))
        return;
    lint_find(r, lint_place(o), "leave flow:established out, or the flags",
              "only packets with SYN alone have these flags, and they come before the flow is "
              "established");
}

const struct lint_check lint_syn_established = {
    .name = "syn-established", .level = LINT_WARNING, .rule = syn_check,
};
