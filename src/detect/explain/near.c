/* SPDX-License-Identifier: GPL-2.0-or-later */
/* detect/explain/near.c - where a content may be, and how near a buffer comes to having it. */
#include "detect/explain/private.h"
#include "match/spm_literal.h"

static int64_t number(const struct trace *t, uint32_t flags, uint32_t var_flag, int32_t written)
{
    return flags & var_flag ? (int64_t)t->vars[written] : written;
}

/* As inspect/run_program.c has it, for the end of the match that the run came furthest with. */
bool content_place(const struct trace *t, unsigned step, struct place *out)
{
    const struct rule_op *op = t->op[step];
    uint32_t f = op->flags;
    int64_t base = step > 0 && step <= t->reached ? t->end[step - 1] : 0, to = t->data.len;
    int64_t distance = number(t, f, OP_DISTANCE_VAR, op->content.distance);

    if (f & (OP_DISTANCE | OP_WITHIN)) {
        int64_t from = f & OP_DISTANCE ? base + distance : base;

        if (f & OP_WITHIN)
            to = MIN(to, base + distance + number(t, f, OP_WITHIN_VAR, op->content.within));
        *out = (struct place){ MAX(from, 0), to };
        return out->from <= to;
    }
    *out = (struct place){ number(t, f, OP_OFFSET_VAR, op->content.offset), to };
    if (f & OP_DEPTH) {
        to = number(t, f, OP_DEPTH_VAR, op->content.depth);
        to += f & (OP_OFFSET_VAR | OP_DEPTH_VAR) ? out->from : 0;
        to -= (int64_t)MIN(t->start, (uint64_t)INT32_MAX);
        out->to = MIN((int64_t)t->data.len, to);
    }
    return out->from <= out->to && out->to > 0;
}

static const uint8_t *find(const struct trace *t, const uint8_t *literal, unsigned len, bool nocase)
{
    return t->data.len < len ? NULL
                             : spm_find(t->data.data, t->data.len, literal, len, nocase);
}

static bool is_in(const struct place *p, uint32_t at, unsigned len)
{
    return (int64_t)at >= p->from && (int64_t)at + len <= p->to;
}

/* The next place of the literal in the place that the rule allows; else the first of all. */
static bool find_best(const struct trace *t, const struct place *p, struct slice literal,
                      bool nocase, uint32_t *at)
{
    const uint8_t *found = find(t, literal.data, literal.len, nocase);

    if (found == NULL)
        return false;
    *at = (uint32_t)(found - t->data.data);
    while (found != NULL && !is_in(p, (uint32_t)(found - t->data.data), literal.len)) {
        uint32_t next = (uint32_t)(found - t->data.data) + 1;

        found = t->data.len - next < literal.len ? NULL
                                         : spm_find(t->data.data + next, t->data.len - next,
                                                    literal.data, literal.len, nocase);
    }
    if (found != NULL)
        *at = (uint32_t)(found - t->data.data);
    return true;
}

/* The longest beginning of the literal that stands somewhere. */
static unsigned longest_part(const struct trace *t, const uint8_t *literal, unsigned len,
                             bool nocase, uint32_t *at)
{
    unsigned low = 0, high = len;

    while (low < high) {                /* a part of a part that is there is there too */
        unsigned middle = (low + high + 1) / 2;
        const uint8_t *found = find(t, literal, middle, nocase);

        if (found != NULL) {
            *at = (uint32_t)(found - t->data.data);
            low = middle;
        } else {
            high = middle - 1;
        }
    }
    return low;
}

enum nearness content_nearness(const struct trace *t, unsigned step, uint32_t *at, uint32_t *len)
{
    const struct rule_op *op = t->op[step];
    struct place p = { 0, t->data.len };
    bool nocase = op->flags & OP_NOCASE;
    uint8_t lower[1024];
    unsigned n = op->content.len;

    *at = 0;
    *len = n;
    if (!content_place(t, step, &p))
        p = (struct place){ 0, -1 };
    if (find_best(t, &p, (struct slice){ op->content.bytes, n }, nocase, at))
        return is_in(&p, *at, n) ? NEAR_HERE : NEAR_ELSEWHERE;
    if (!nocase && n <= sizeof(lower)) {
        for (unsigned i = 0; i < n; i++)
            lower[i] = ascii_lower(op->content.bytes[i]);
        if (find_best(t, &p, (struct slice){ lower, n }, true, at))
            return NEAR_CASE;
    }
    *len = longest_part(t, op->content.bytes, n, nocase, at);
    return *len * 2 >= n && *len > 1 ? NEAR_PART : NEAR_NOT;
}
