/* SPDX-License-Identifier: GPL-2.0-or-later */
/* detect/lint/fast_pattern.c - fast patterns that exclude little. */
#include "detect/lint/private.h"

#include "detect/compile/compile.h"

#include <string.h>

#define SHARED_BY 40            /* rules; so many make a hit of the pattern dear */
#define NEAR_BYTES 64           /* a place within so many is known well enough */
#define BETTER 2                /* times the worth: below that the author's choice may be as good */

/* Padding: one of the bytes that fill what has no content. */
static bool is_padding(struct literal_pattern p)
{
    if (p.len == 0 || memchr("\0\xff ", p.bytes[0], 3) == NULL)
        return false;
    for (unsigned i = 1; i < p.len; i++)
        if (p.bytes[i] != p.bytes[0])
            return false;
    return true;
}

/* Buffers with few values are common whatever their content is. */
static bool has_few_values(const struct rule_op *op)
{
    return op->list->buffer != NULL && buffer_declared(op->list->buffer)->few_values;
}

static bool is_common(const struct rule *rule, const struct rule_op *op, struct literal_pattern p)
{
    if (has_few_values(op))
        return lint_is_common_value(p.bytes, p.len);
    return p.len > PATTERN_SHORT_MAX &&
           (is_padding(p) || lint_is_common_text(rule, op->list, p));
}

/* A rule on the payload is found by the content that stands nearest to its start, whichever is the
 * fast pattern. */
static bool is_found_at_start(const struct rule *rule)
{
    struct anchored_literal l = rule_anchored_literal(rule);

    return rule->type != RULE_APP_TX && anchored_literal_is_bounded(&l);
}

/* Few values end so: the last part of a host's name, of a file's. */
static bool is_rare_at_end(const struct rule_op *op)
{
    return (op->flags & OP_ENDSWITH) && op->list->buffer != NULL;
}

/* Where the place is known, other traffic seldom has the same bytes there. */
static bool is_short(const struct lint_rule *r, const struct rule_op *op, struct literal_pattern p)
{
    if (p.len > PATTERN_SHORT_MAX || has_few_values(op))
        return false;
    if (op->list->buffer == NULL && is_found_at_start(r->rule))
        return false;
    return !is_rare_at_end(op) && !lint_is_at_known_place(r, op, NEAR_BYTES);
}

static void short_check(struct lint *l, const struct lint_rule *r)
{
    struct literal_pattern p;

    if (r->rule->fast_op == NULL)
        return;
    p = rule_fast_literal(r->rule);
    if (is_short(r, r->rule->fast_op, p))
        lint_find(r, lint_place_of(r, r->rule->fast_op),
                  r->rule->fast_op->list->buffer == NULL ?
                  "add a longer content, join contents that follow each other, or say with "
                  "offset and depth where it stands" :
                  "add a longer content, or join contents that follow each other",
                  "the fast pattern %s in %s has %u byte%s, so much other traffic has it as well",
                  lint_literal(l, p.bytes, p.len), lint_buffer_name(r->rule->fast_op->list), p.len,
                  p.len == 1 ? "" : "s");
}

const struct lint_check lint_short_fast_pattern = {
    .name = "short-fast-pattern", .level = LINT_WARNING, .rule = short_check,
};

static void common_check(struct lint *l, const struct lint_rule *r)
{
    struct literal_pattern p;

    if (r->rule->fast_op == NULL)
        return;
    p = rule_fast_literal(r->rule);
    if (is_common(r->rule, r->rule->fast_op, p))
        lint_find(r, lint_place_of(r, r->rule->fast_op),
                  "add a content that other traffic does not have",
                  "the fast pattern %s in %s is in much of all traffic",
                  lint_literal(l, p.bytes, p.len), lint_buffer_name(r->rule->fast_op->list));
}

const struct lint_check lint_common_fast_pattern = {
    .name = "common-fast-pattern", .level = LINT_WARNING, .rule = common_check,
};

/* --- shared by many ----------------------------------------------------------------------- */

struct shared { unsigned count; };

/* The same pattern in the same buffer is searched once, and each hit makes candidates of all. Rules
 * of other ports and protocols are other groups. */
static const char *shared_key(struct lint *l, const struct lint_rule *r, size_t *len)
{
    const struct rule *rule = r->rule;
    struct literal_pattern p = rule_fast_literal(rule);
    struct buf key = { 0 };
    const char *copy;

    buf_printf(&key, "%s %u %u %p %p ", lint_buffer_name(rule->fast_op->list), rule->app_proto,
               rule->flags & (RULE_TO_SERVER | RULE_TO_CLIENT), (const void *)rule->src_port,
               (const void *)rule->dst_port);
    buf_add_u8(&key, p.nocase);
    buf_add(&key, p.bytes, p.len);
    *len = key.len;
    copy = arena_copy(&l->arena, key.data, key.len);
    buf_fini(&key);
    return copy;
}

static void shared_all(struct lint *l)
{
    struct map known = { 0 };
    struct shared **of = arena_zalloc(&l->arena, (l->rule_count + 1) * sizeof(struct shared *));

    for (unsigned i = 0; i < l->rule_count; i++) {
        const char *key;
        size_t len;

        if (l->rule[i].rule->fast_op == NULL)
            continue;
        key = shared_key(l, &l->rule[i], &len);
        of[i] = map_get(&known, key, len);
        if (of[i] == NULL) {
            of[i] = arena_zalloc(&l->arena, sizeof(struct shared));
            map_put(&known, key, len, of[i]);
        }
        of[i]->count++;
    }
    for (unsigned i = 0; i < l->rule_count; i++) {
        const struct lint_rule *r = &l->rule[i];
        struct literal_pattern p;

        if (of[i] == NULL || of[i]->count < SHARED_BY)
            continue;
        p = rule_fast_literal(r->rule);
        lint_find(r, lint_place_of(r, r->rule->fast_op),
                  "give fast_pattern to a content that only this rule has",
                  "%u rules have the fast pattern %s in %s: each hit evaluates all of them",
                  of[i]->count, lint_literal(l, p.bytes, p.len),
                  lint_buffer_name(r->rule->fast_op->list));
    }
    map_fini(&known);
}

const struct lint_check lint_shared_fast_pattern = {
    .name = "shared-fast-pattern", .level = LINT_NOTE, .all = shared_all,
};

/* --- the keyword on a poor content -------------------------------------------------------- */

static const struct rule_op *best_op(const struct rule *rule, unsigned *worth)
{
    const struct rule_op *best = NULL;

    *worth = 0;
    for (const struct rule_list *list = rule->list; list != NULL; list = list->next)
        for (const struct rule_op *op = list->first; op != NULL; op = op->next) {
            unsigned w = rule_fast_pattern_worth(rule, op);

            if (w <= *worth || op->kind != OP_CONTENT || op->content.len < 2 * PATTERN_SHORT_MAX ||
                lint_is_usual_text(rule, op))
                continue;
            *worth = w;
            best = op;
        }
    return best;
}

static void poor_check(struct lint *l, const struct lint_rule *r)
{
    const struct rule_op *chosen = r->rule->fast_op, *best;
    struct literal_pattern p;
    unsigned worth;

    if (chosen == NULL || !(chosen->flags & OP_FAST))
        return;
    p = rule_fast_literal(r->rule);
    best = best_op(r->rule, &worth);
    if (best == NULL || best == chosen || is_rare_at_end(chosen) ||
        !(is_short(r, chosen, p) || is_common(r->rule, chosen, p)) ||
        worth < BETTER * rule_fast_pattern_worth(r->rule, chosen))
        return;
    lint_find(r, lint_place_of(r, chosen), "move fast_pattern to that content, or leave it out",
              "fast_pattern is on %s, and %s in %s would exclude more",
              lint_literal(l, p.bytes, p.len),
              lint_literal(l, best->content.bytes, best->content.len),
              lint_buffer_name(best->list));
}

const struct lint_check lint_poor_fast_pattern = {
    .name = "poor-fast-pattern", .level = LINT_WARNING, .rule = poor_check,
};
