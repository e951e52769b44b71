/* SPDX-License-Identifier: GPL-2.0-or-later */
/* detect/lint/length.c - tests of one buffer that no length of it can pass, and contents that no
 * place is left for. Where a position is not known here, everything is taken for possible. */
#include "detect/lint/private.h"

#include <string.h>

#define ANY_LENGTH INT64_MAX

/* What the tests of one list say about the length of the buffer, and where its last match ends. */
struct extent {
    int64_t least, most;                /* length */
    const struct lint_option *by_least, *by_most;
    int64_t end_least, end_most;        /* of the last match */
};

static void at_least(struct extent *e, int64_t length, const struct lint_option *by)
{
    if (length <= e->least)
        return;
    e->least = length;
    e->by_least = by;
}

static void at_most(struct extent *e, int64_t length, const struct lint_option *by)
{
    if (length >= e->most)
        return;
    e->most = length;
    e->by_most = by;
}

static void add_comparison(struct extent *e, const struct int_match *m,
                           const struct lint_option *by)
{
    int64_t a = m->a > INT32_MAX ? INT32_MAX : (int64_t)m->a;
    int64_t b = m->b > INT32_MAX ? INT32_MAX : (int64_t)m->b;

    switch (m->op) {
    case INT_EQ:
        at_least(e, a, by);
        at_most(e, a, by);
        break;
    case INT_LT: at_most(e, a - 1, by); break;
    case INT_LE: at_most(e, a, by); break;
    case INT_GT: at_least(e, a + 1, by); break;
    case INT_GE: at_least(e, a, by); break;
    case INT_RANGE:             /* some keywords include the ends */
        at_least(e, a, by);
        at_most(e, b, by);
        break;
    default: break;
    }
}

/* dsize is the length of the packet's payload. */
static void add_dsize(struct extent *e, const struct lint_rule *r)
{
    for (unsigned i = 0; i < r->rule->test_count; i++) {
        const struct rule_test *test = &r->rule->test[i];

        if (strcmp(test->keyword->name, "dsize") == 0 && !test->negated)
            add_comparison(e, test->arg, lint_option_nth(r, test->keyword, 0));
    }
}

/* A content anywhere but behind the last match, or at a place that a variable gives. */
static void content_extent(const struct extent *e, const struct rule_op *op, int64_t *begins,
                           int64_t *ends)
{
    const struct content_op *c = &op->content;
    bool relative = op->flags & (OP_DISTANCE | OP_WITHIN);
    int64_t distance = op->flags & OP_DISTANCE ? c->distance : 0;

    *begins = 0;
    *ends = ANY_LENGTH;
    if (relative && !(op->flags & OP_DISTANCE_VAR)) {
        *begins = MAX(0, e->end_least + distance);
        if ((op->flags & OP_WITHIN) && !(op->flags & OP_WITHIN_VAR) && e->end_most < ANY_LENGTH)
            *ends = e->end_most + distance + c->within;
    } else if (!relative) {
        if ((op->flags & OP_OFFSET) && !(op->flags & OP_OFFSET_VAR))
            *begins = c->offset;
        if ((op->flags & OP_DEPTH) && !(op->flags & (OP_DEPTH_VAR | OP_OFFSET_VAR)))
            *ends = c->depth;
        if (op->flags & OP_STARTSWITH)
            *ends = c->len;
    }
}

/* False: the content has no place. */
static bool add_content(struct extent *e, const struct lint_rule *r, const struct rule_op *op)
{
    int64_t begins, ends;
    const struct lint_option *by = lint_option_of(r, op);

    if (op->flags & OP_NEGATED)
        return true;
    content_extent(e, op, &begins, &ends);
    if (ends < begins + op->content.len)
        return false;
    at_least(e, begins + op->content.len, by);
    if (op->flags & OP_ENDSWITH)
        at_most(e, ends, by);
    e->end_least = begins + op->content.len;
    e->end_most = ends;
    return true;
}

static void add_isdataat(struct extent *e, const struct lint_rule *r, const struct rule_op *op)
{
    const struct lint_option *by = lint_option_of(r, op);
    int64_t n = op->byte.offset;

    if (op->flags & OP_OFFSET_VAR)
        return;
    if (op->flags & OP_RELATIVE) {
        if (!(op->flags & OP_NEGATED))
            at_least(e, e->end_least + n, by);
    } else if (op->flags & OP_NEGATED) {
        at_most(e, n, by);
    } else {
        at_least(e, n + 1, by);
    }
}

static void add_pcre(struct extent *e, const struct rule_op *op)
{
    if (op->flags & OP_NEGATED)
        return;
    if (!(op->flags & OP_RELATIVE))
        e->end_least = 0;
    e->end_most = ANY_LENGTH;
}

/* False: this operation can never match. */
static bool add_op(struct extent *e, const struct lint_rule *r, const struct rule_op *op)
{
    switch ((enum op_kind)op->kind) {
    case OP_CONTENT:
        return add_content(e, r, op);
    case OP_ISDATAAT:
        add_isdataat(e, r, op);
        break;
    case OP_PCRE:
        add_pcre(e, op);
        break;
    case OP_BSIZE:
    case OP_URILEN:
        if (!(op->flags & (OP_VALUE_VAR | OP_NEGATED)))
            add_comparison(e, &op->size, lint_option_of(r, op));
        break;
    case OP_BYTE_TEST:
        break;
    default:                    /* moves the position by what the traffic says */
        e->end_least = 0;
        e->end_most = ANY_LENGTH;
        break;
    }
    return true;
}

/* The first operation without a place; NULL: all have one. The data that base64_decode writes begin
 * again. */
static const struct rule_op *extent_of(const struct lint_rule *r, const struct rule_list *list,
                                       struct extent *e)
{
    *e = (struct extent){ .most = ANY_LENGTH };
    if (list->buffer == NULL)
        add_dsize(e, r);
    for (const struct rule_op *op = list->first; op != NULL; op = op->next)
        if (!add_op(e, r, op))
            return op;
    return NULL;
}

bool lint_is_at_known_place(const struct lint_rule *r, const struct rule_op *op, int64_t space)
{
    struct extent before = { .most = ANY_LENGTH }, all;
    int64_t begins, ends;

    for (const struct rule_op *o = op->list->first; o != op; o = o->next)
        if (!add_op(&before, r, o))
            return false;
    content_extent(&before, op, &begins, &ends);
    return (extent_of(r, op->list, &all) == NULL && all.most == op->content.len) ||
           (ends < ANY_LENGTH && ends - begins <= space);
}

static void length_check(struct lint *l UNUSED, const struct lint_rule *r)
{
    struct extent e;

    for (const struct rule_list *list = r->rule->list; list != NULL; list = list->next) {
        if (extent_of(r, list, &e) != NULL || e.least <= e.most || e.by_most == NULL)
            continue;
        lint_find(r, lint_place(e.by_most),
                  "make the lengths agree",
                  "the rule never matches: \"%.*s\" wants %s of at least %lld bytes, \"%.*s\" "
                  "allows %lld",
                  e.by_least != NULL ? (int)MIN(e.by_least->all.n, 80) : 0,
                  e.by_least != NULL ? e.by_least->all.p : "", lint_buffer_name(list),
                  (long long)e.least, (int)MIN(e.by_most->all.n, 80), e.by_most->all.p,
                  (long long)e.most);
    }
}

static const char *const length_refusals[] = {
    "as required content length", "or urilen", NULL,
};

const struct lint_check lint_never_length = {
    .name = "never-length",
    .level = LINT_ERROR,
    .rule = length_check,
    .refusals = length_refusals,
    .mend = "make the lengths agree: the engine leaves the rule out",
};

static void window_check(struct lint *l, const struct lint_rule *r)
{
    struct extent e;

    for (const struct rule_list *list = r->rule->list; list != NULL; list = list->next) {
        const struct rule_op *op = extent_of(r, list, &e);
        int64_t begins, ends;

        if (op == NULL)
            continue;
        content_extent(&e, op, &begins, &ends);
        lint_find(r, lint_place_of(r, op),
                  "widen depth or within, or lower offset or distance",
                  "the rule never matches: %s in %s begins at byte %lld or after it and must end "
                  "by byte %lld",
                  lint_literal(l, op->content.bytes, op->content.len), lint_buffer_name(list),
                  (long long)begins, (long long)ends);
    }
}

static const char *const window_refusals[] = {
    "smaller than content of len", "within argument", NULL,
};

const struct lint_check lint_never_window = {
    .name = "never-window",
    .level = LINT_ERROR,
    .rule = window_check,
    .refusals = window_refusals,
    .mend = "make depth or within at least as long as the content: the engine leaves the rule out",
};
