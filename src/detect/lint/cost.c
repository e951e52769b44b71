/* SPDX-License-Identifier: GPL-2.0-or-later */
/* detect/lint/cost.c - rules that no fast pattern finds. They are evaluated with everything that
 * their header and protocol admit. */
#include "detect/lint/private.h"

#include "match/pcre_slow.h"

struct op_counts { unsigned content, negated, pcre, other; };

static struct op_counts count_ops(const struct rule *rule)
{
    struct op_counts n = { 0 };

    for (const struct rule_list *list = rule->list; list != NULL; list = list->next)
        for (const struct rule_op *op = list->first; op != NULL; op = op->next) {
            if (op->kind == OP_CONTENT)
                (*(op->flags & OP_NEGATED ? &n.negated : &n.content))++;
            else if (op->kind == OP_PCRE)
                n.pcre++;
            else
                n.other++;
        }
    return n;
}

static const struct rule_op *first_op(const struct rule *rule, enum op_kind kind)
{
    for (const struct rule_list *list = rule->list; list != NULL; list = list->next)
        for (const struct rule_op *op = list->first; op != NULL; op = op->next)
            if (op->kind == kind)
                return op;
    return NULL;
}

/* The prefilter cannot find it. A rule with `prefilter` is found by another keyword. */
static bool is_not_found(const struct rule *rule)
{
    return rule->fast_op == NULL && rule->prefilter == NULL && rule->list != NULL;
}

static void pcre_check(struct lint *l UNUSED, const struct lint_rule *r)
{
    struct op_counts n = count_ops(r->rule);

    if (is_not_found(r->rule) && n.pcre > 0 && n.content + n.negated == 0)
        lint_find(r, lint_place_of(r, first_op(r->rule, OP_PCRE)),
                  "add a content that the expression implies to the same buffer",
                  "the pcre has no content beside it, so it runs on every %s of the rule's "
                  "protocol and ports", r->rule->type == RULE_APP_TX ? "transaction" : "packet");
}

const struct lint_check lint_pcre_without_content = {
    .name = "pcre-without-content", .level = LINT_WARNING, .rule = pcre_check,
};

static const char *words_of(struct lint *l, const struct buf *bytes)
{
    return lint_literal(l, bytes->data, (unsigned)bytes->len);
}

/* "abc", then "de" again and again, then "f" */
static const char *slow_data(struct lint *l, const struct pcre_slow_data *d)
{
    return arena_printf(&l->arena, "%s%s%s again and again%s%s",
                        d->begin.len > 0 ? words_of(l, &d->begin) : "",
                        d->begin.len > 0 ? ", then " : "", words_of(l, &d->unit),
                        d->end.len > 0 ? ", then " : "",
                        d->end.len > 0 ? words_of(l, &d->end) : "");
}

static const struct rule_op *slow_op(const struct rule *rule, struct pcre_slow_data *data)
{
    for (const struct rule_list *list = rule->list; list != NULL; list = list->next)
        for (const struct rule_op *op = list->first; op != NULL; op = op->next)
            if (op->kind == OP_PCRE && op->pcre->compiled->costly &&
                pcre_slow_find(expression_of(op->pcre->compiled), data))
                return op;
    return NULL;
}

/* Whether repeats are slow depends on all items, so only what was tried is a finding. */
static void slow_check(struct lint *l, const struct lint_rule *r)
{
    struct pcre_slow_data data = { 0 };
    const struct rule_op *op = slow_op(r->rule, &data);

    if (op != NULL)
        lint_find(r, lint_place_of(r, op), "limit its repeats, to 20 for example, or anchor it",
                  "a search of %u bytes takes longer than the engine allows if they are %s. It "
                  "ends without a match, and detect.pcre_limit counts it", PCRE_SLOW_LEN,
                  slow_data(l, &data));
    pcre_slow_data_fini(&data);
}

const struct lint_check lint_slow_pcre = {
    .name = "slow-pcre", .level = LINT_NOTE, .rule = slow_check,
};

static void negated_check(struct lint *l UNUSED, const struct lint_rule *r)
{
    struct op_counts n = count_ops(r->rule);

    if (is_not_found(r->rule) && n.negated > 0 && n.content == 0)
        lint_find(r, lint_place_of(r, first_op(r->rule, OP_CONTENT)),
                  "add a content that must be there",
                  "all contents are negated, so no pattern finds the rule: it is evaluated on "
                  "all that its header admits, and what has nothing of them fires");
}

const struct lint_check lint_only_negated = {
    .name = "only-negated", .level = LINT_WARNING, .rule = negated_check,
};

/* A dataset is a search for many values itself, and needs no pattern before it. */
static bool has_dataset(const struct lint_rule *r)
{
    return lint_option_named(r, "dataset", 0) != NULL || lint_option_named(r, "datarep", 0) != NULL;
}

/* Contents of the payload cannot find a rule on transactions, unless a pattern set finds its
 * payload part. */
static void pattern_check(struct lint *l UNUSED, const struct lint_rule *r)
{
    struct op_counts n = count_ops(r->rule);

    if (!is_not_found(r->rule) || (n.content == 0 && n.negated + n.pcre > 0) ||
        (r->rule->flags & RULE_PAYLOAD_PATTERN) || has_dataset(r))
        return;
    if (n.content > 0)
        lint_find(r, lint_place_of(r, first_op(r->rule, OP_CONTENT)),
                  "put a content into a buffer of the protocol",
                  "no content can be the fast pattern, so the rule is evaluated with every "
                  "transaction of its protocol");
    else
        lint_find(r, lint_place_of(r, r->rule->list->first),
                  "add a content, or `prefilter` to a test of the header",
                  "the rule looks into %s without a content, so no pattern finds it",
                  lint_buffer_name(r->rule->list));
}

const struct lint_check lint_no_fast_pattern = {
    .name = "no-fast-pattern", .level = LINT_WARNING, .rule = pattern_check,
};
