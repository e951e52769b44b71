/* SPDX-License-Identifier: GPL-2.0-or-later */
/* detect/lint/together.c - conditions that exclude each other: contents of one buffer, and numbers
 * that one field cannot have at the same time. */
#include "detect/lint/private.h"

#include <ctype.h>
#include <string.h>

/* A content that can stand at one place only. */
struct placed {
    const struct rule_op *op;
    const uint8_t *bytes;
    int64_t at;                 /* from the front; or, with from_end, of its first byte: -len */
    unsigned len;
    bool from_end;
};

static bool is_fixed(const struct rule_op *op)
{
    const struct content_op *c = &op->content;

    if (op->kind != OP_CONTENT || (op->flags & (OP_DISTANCE | OP_WITHIN | OP_OFFSET_VAR |
                                                OP_DEPTH_VAR)))
        return false;
    return (op->flags & OP_STARTSWITH) ||
           ((op->flags & OP_DEPTH) && c->depth - c->offset == (int32_t)c->len);
}

static bool place(const struct rule_op *op, bool from_end, struct placed *out)
{
    const struct content_op *c = &op->content;

    if (op->kind != OP_CONTENT || (op->flags & OP_NEGATED))
        return false;
    if (from_end ? !(op->flags & OP_ENDSWITH) : !is_fixed(op))
        return false;
    *out = (struct placed){ op, c->written, from_end ? -(int64_t)c->len : 0, c->len, from_end };
    if (!from_end && !(op->flags & OP_STARTSWITH))
        out->at = c->offset;
    return true;
}

/* A letter of a content with nocase stands for both of its forms. */
static bool excludes(uint8_t x, uint8_t y, bool nocase)
{
    return nocase ? tolower(x) != tolower(y) : x != y;
}

/* Both at their places: do they want different bytes somewhere? */
static bool placed_exclude(const struct placed *a, const struct placed *b)
{
    int64_t from = MAX(a->at, b->at);
    int64_t to = MIN(a->at + (int64_t)a->len, b->at + (int64_t)b->len);
    bool nocase = (a->op->flags | b->op->flags) & OP_NOCASE;

    for (int64_t i = from; i < to; i++)
        if (excludes(a->bytes[i - a->at], b->bytes[i - b->at], nocase))
            return true;
    return false;
}

static bool both_placed_exclude(const struct rule_op *a, const struct rule_op *b)
{
    for (unsigned from_end = 0; from_end < 2; from_end++) {
        struct placed x, y;

        if (place(a, from_end, &x) && place(b, from_end, &y) && placed_exclude(&x, &y))
            return true;
    }
    return false;
}

/* True if whatever matches `outer` has `inner` in it. */
static bool contains(const struct rule_op *outer, const struct rule_op *inner)
{
    const struct content_op *o = &outer->content, *i = &inner->content;
    bool nocase = inner->flags & OP_NOCASE;

    if ((outer->flags & OP_NOCASE) && !nocase)
        return false;
    for (unsigned at = 0; at + i->len <= o->len; at++) {
        unsigned k = 0;

        while (k < i->len && !excludes(o->written[at + k], i->written[k], nocase))
            k++;
        if (k == i->len)
            return true;
    }
    return false;
}

#define PLACE_FLAGS (OP_DEPTH | OP_OFFSET | OP_DISTANCE | OP_WITHIN | OP_STARTSWITH | OP_ENDSWITH)

/* `no` must be nowhere, or at the same place, and `yes` has it. */
static bool negation_excludes(const struct rule_op *yes, const struct rule_op *no)
{
    uint32_t places = (yes->flags ^ no->flags) & PLACE_FLAGS;

    if ((yes->flags & OP_NEGATED) || !(no->flags & OP_NEGATED) || yes->kind != OP_CONTENT ||
        no->kind != OP_CONTENT || !contains(yes, no))
        return false;
    if (!(no->flags & PLACE_FLAGS))
        return true;
    return places == 0 && yes->content.len == no->content.len &&
           !(yes->flags & (OP_DISTANCE | OP_WITHIN | OP_OFFSET_VAR | OP_DEPTH_VAR)) &&
           yes->content.offset == no->content.offset && yes->content.depth == no->content.depth;
}

/* `all` is the whole buffer: another content has to be a part of it. */
static bool complete_excludes(const struct rule_op *all, const struct rule_op *part)
{
    const uint32_t complete = OP_STARTSWITH | OP_ENDSWITH;
    const struct content_op *a = &all->content, *b = &part->content;

    if (all->kind != OP_CONTENT || part->kind != OP_CONTENT || (part->flags & OP_NEGATED) ||
        (all->flags & OP_NEGATED) || (all->flags & complete) != complete)
        return false;
    for (unsigned at = 0; at + b->len <= a->len; at++) {
        unsigned k = 0;

        while (k < b->len && !excludes(a->written[at + k], b->written[k],
                                       (all->flags | part->flags) & OP_NOCASE))
            k++;
        if (k == b->len)
            return false;
    }
    return true;
}

static const char *why_not_both(const struct rule_op *a, const struct rule_op *b)
{
    if (both_placed_exclude(a, b))
        return "want different bytes at one place";
    if (negation_excludes(a, b) || negation_excludes(b, a))
        return "exclude each other: one must be there, and the other, a part of it, must not";
    if (complete_excludes(a, b) || complete_excludes(b, a))
        return "exclude each other: one is all of the buffer, and the other is no part of it";
    return NULL;
}

/* One finding a rule is enough: it never matches. */
static void together_check(struct lint *l, const struct lint_rule *r)
{
    for (const struct rule_list *list = r->rule->list; list != NULL; list = list->next)
        for (const struct rule_op *a = list->first; a != NULL; a = a->next)
            for (const struct rule_op *b = a->next; b != NULL; b = b->next) {
                const char *why = why_not_both(a, b);

                if (why == NULL)
                    continue;
                lint_find(r, lint_place_of(r, b), "leave one of them out, or name another "
                          "buffer for it", "the rule never matches: %s and %s in %s %s",
                          lint_literal(l, a->content.written, a->content.len),
                          lint_literal(l, b->content.written, b->content.len),
                          lint_buffer_name(list), why);
                return;
            }
}

const struct lint_check lint_never_together = {
    .name = "never-together", .level = LINT_ERROR, .rule = together_check,
};

/* --- numbers ------------------------------------------------------------------------------ */

/* The argument of a test that compares one number of a packet; NULL: it does something else. */
static const struct int_match *number_of(const struct rule_test *test)
{
    int (*parse)(struct rule_parser *, struct text, void *) = test->keyword->parse;

    if (test->negated || (parse != int_parse_u8 && parse != int_parse_u16 &&
                          parse != int_parse_u32 && parse != int_parse_u64))
        return NULL;
    return test->arg;
}

/* If a number passes both, then one at a bound of one of them does. Masks have no bounds. */
static bool exclude_each_other(const struct int_match *a, const struct int_match *b)
{
    const uint64_t bounds[] = { 0, a->a, a->b, b->a, b->b };

    if (a->op >= INT_MASK || b->op >= INT_MASK)
        return false;
    for (unsigned i = 0; i < ARRAY_LEN(bounds); i++)
        for (int d = -1; d <= 1; d++)
            if (int_match_has(a, bounds[i] + (uint64_t)(int64_t)d) &&
                int_match_has(b, bounds[i] + (uint64_t)(int64_t)d))
                return false;
    return true;
}

static unsigned nth_of_keyword(const struct rule *rule, unsigned i)
{
    unsigned n = 0;

    for (unsigned k = 0; k < i; k++)
        n += rule->test[k].keyword == rule->test[i].keyword;
    return n;
}

static void number_check(struct lint *l UNUSED, const struct lint_rule *r)
{
    const struct rule *rule = r->rule;

    for (unsigned i = 0; i < rule->test_count; i++)
        for (unsigned k = i + 1; k < rule->test_count; k++) {
            const struct lint_option *o;

            if (rule->test[i].keyword != rule->test[k].keyword ||
                number_of(&rule->test[i]) == NULL || number_of(&rule->test[k]) == NULL ||
                !exclude_each_other(rule->test[i].arg, rule->test[k].arg))
                continue;
            o = lint_option_nth(r, rule->test[k].keyword, nth_of_keyword(rule, k));
            lint_find(r, lint_place(o), "leave one of the two tests out",
                      "the rule never matches: no number passes both tests of %s",
                      rule->test[k].keyword->name);
        }
}

const struct lint_check lint_never_number = {
    .name = "never-number", .level = LINT_ERROR, .rule = number_check,
};
