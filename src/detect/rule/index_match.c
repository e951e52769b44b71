/* SPDX-License-Identifier: GPL-2.0-or-later */
/* detect/rule/index_match.c - which of several instances of an integer must match: the part of an
 * integer keyword's argument behind the value. */
#include "app/values.h"
#include "detect/rule/keyword.h"

#include <string.h>

#define FEW 16                  /* instances that each evaluation compares */

/* "oob_or N", "nb NUMBER", "N" */
static bool take_index(struct text index, struct index_match *out)
{
    int64_t nth;

    if (text_starts(index, "nb")) {
        index = text_from(index, 2);
        out->mode = INDEX_TIMES;
        return int_match_take(&index, 32, &out->number) && index.n == 0;
    }
    out->mode = INDEX_NTH;
    if (text_starts(index, "oob_or")) {
        index = text_trim(text_from(index, 6));
        out->mode = INDEX_NTH_OR_BEYOND;
    }
    if (!text_to_i64(index, &nth) || nth < INT16_MIN || nth > INT16_MAX)
        return false;
    out->nth = (int32_t)nth;
    return true;
}

static bool index_parse(struct text index, struct index_match *out)
{
    static const struct { const char *name; uint8_t mode; } words[] = {
        { "any", INDEX_ANY }, { "all", INDEX_ALL }, { "all_or_absent", INDEX_ALL_OR_ABSENT },
        { "or_absent", INDEX_OR_ABSENT },
    };

    for (size_t i = 0; i < ARRAY_LEN(words); i++)
        if (text_equal(index, words[i].name)) {
            out->mode = words[i].mode;
            return true;
        }
    return take_index(index, out);
}

/* "FROM:TO". Two ends that count from the same side must leave room for an instance. */
static bool slice_parse(struct text in, struct index_match *out)
{
    struct text part;
    int64_t from, to;

    if (!text_split(&in, ':', &part) || !text_to_i64(text_trim(part), &from) ||
        !text_to_i64(text_trim(in), &to) || from < INT16_MIN || from > INT16_MAX ||
        to < INT16_MIN || to > INT16_MAX)
        return false;
    if (to <= from && ((from > 0 && to > 0) || (from < 0 && to < 0)))
        return false;
    out->from = (int32_t)from;
    out->to = (int32_t)to;
    return true;
}

/* Without an index one matching value is enough ("any"). */
int index_match_parse(struct rule_parser *p, struct text *in, struct index_match *out)
{
    struct text rest = *in, value, index = { "", 0 }, count = text_trim(*in);
    bool has_index;

    *out = (struct index_match){ .mode = INDEX_ANY };
    if (text_starts(count, "count")) {
        count = text_from(count, 5);
        out->mode = INDEX_COUNT;
        *in = (struct text){ 0 };
        return int_match_take(&count, 32, &out->number) && count.n == 0 ? 0
             : rule_error(p, "%s: expected \"count\" and a number or comparison, found \"%.*s\"",
                          p->keyword->name, TEXT(count));
    }
    has_index = text_split(&rest, ',', &value) && memchr(in->p, ',', in->n) != NULL;
    if (!has_index)
        return 0;
    *in = value;
    text_split(&rest, ',', &index);
    index = text_trim(index);
    if (!index_parse(index, out))
        return rule_error(p, "%s: index: expected any, all, all_or_absent, or_absent, N from 0 or "
                          "-N from the end, \"oob_or N\" or \"nb\" and a number, found \"%.*s\"",
                          p->keyword->name, TEXT(index));
    if (rest.n > 0 && !slice_parse(rest, out))
        return rule_error(p, "%s: slice: expected FROM:TO, where TO is behind FROM, found "
                          "\"%.*s\"", p->keyword->name, TEXT(rest));
    return 0;
}

/* Instances `first` to before `end`; true from `end` on counts as beyond the last. */
struct instances {
    const struct index_values *all;
    unsigned first, end;
};

static bool instance(const struct instances *in, unsigned i, uint64_t *out)
{
    return i < in->end - in->first && in->all->get(in->all->arg, in->first + i, out);
}

/* To remember what was compared of a few instances would cost more than to compare them again. A
 * peer that sends them one by one may make a list as long as it likes, so of many only the new ones
 * are compared: *so_far moves to where the last evaluation ended. */
static void resume(const struct instances *in, struct app_seen *so_far, struct app_seen **seen)
{
    const bool many = so_far->count == FEW;

    if (*seen != NULL || in->all->seen == NULL || (so_far->count > 0 && !many))
        return;
    if (in->first == 0 && in->end == UINT32_MAX)
        *seen = in->all->seen(in->all->arg, many);
    if (*seen != NULL && (*seen)->count > so_far->count)
        *so_far = **seen;
}

static unsigned count_values(const struct instances *in)
{
    struct app_seen so_far = { 0 }, *seen = NULL;
    uint64_t value;

    for (;; so_far.count++) {
        resume(in, &so_far, &seen);
        if (!instance(in, so_far.count, &value))
            break;
    }
    if (seen != NULL)
        *seen = so_far;
    return so_far.count;
}

/* Resolves the slice. An end outside of what there is leaves nothing, as in Suricata. */
static void slice(const struct index_match *m, struct instances *in)
{
    int64_t n, from, to;

    in->end = UINT32_MAX;
    if (m->from == 0 && m->to == 0)
        return;
    n = count_values(in);
    from = m->from < 0 ? n + m->from : m->from;
    to = m->to <= 0 ? n + m->to : m->to;
    in->first = in->end = 0;
    if (from >= 0 && to <= n && from < to) {
        in->first = (unsigned)from;
        in->end = (unsigned)to;
    }
}

/* -N counts from the end, so the values have to be counted first. */
static bool nth_has(const struct index_match *m, const struct int_match *value, bool complete,
                    const struct instances *in)
{
    unsigned n = m->nth < 0 ? count_values(in) : 0;
    uint64_t found;

    if (m->nth < 0 ? (unsigned)-m->nth <= n && instance(in, n - (unsigned)-m->nth, &found)
                   : instance(in, (unsigned)m->nth, &found))
        return int_match_has(value, found);
    return m->mode == INDEX_NTH_OR_BEYOND && complete;
}

/* A minimum is reached for good; any other number holds only once all instances are there. */
static bool number_has(const struct index_match *m, unsigned n, bool complete)
{
    return (complete || m->number.op == INT_GT || m->number.op == INT_GE) &&
           int_match_has(&m->number, n);
}

/* True if the instance decides for all, whatever follows. */
static bool decides(const struct index_match *m, bool hit)
{
    if (m->mode == INDEX_ALL || m->mode == INDEX_ALL_OR_ABSENT)
        return !hit;
    return hit && (m->mode == INDEX_ANY || m->mode == INDEX_OR_ABSENT);
}

/* Compares the instances up to one that decides, and leaves in *so_far those before it. */
static bool compare(const struct index_match *m, const struct int_match *value,
                    const struct instances *in, struct app_seen *so_far)
{
    struct app_seen *seen = NULL;
    bool hit, decided = false;
    uint64_t found;

    for (;;) {
        resume(in, so_far, &seen);
        if (!instance(in, so_far->count, &found))
            break;
        hit = m->mode != INDEX_COUNT && int_match_has(value, found);
        decided = decides(m, hit);
        if (decided)
            break;
        so_far->count++;
        so_far->hits += hit;
    }
    if (seen != NULL)
        *seen = *so_far;
    return decided;
}

bool index_match_has(const struct index_match *m, const struct int_match *value, bool complete,
                     const struct index_values *values)
{
    struct instances in = { .all = values, .end = UINT32_MAX };
    struct app_seen all = { 0 };

    slice(m, &in);
    if (m->mode == INDEX_NTH || m->mode == INDEX_NTH_OR_BEYOND)
        return nth_has(m, value, complete, &in);
    if (compare(m, value, &in, &all))
        return m->mode == INDEX_ANY || m->mode == INDEX_OR_ABSENT;
    switch ((enum index_mode)m->mode) {
    case INDEX_ALL: return all.count > 0;
    case INDEX_ALL_OR_ABSENT: return complete;
    case INDEX_OR_ABSENT: return complete && all.count == 0;
    case INDEX_TIMES: return number_has(m, all.hits, complete);
    case INDEX_COUNT: return number_has(m, all.count, complete);
    case INDEX_ANY:
    case INDEX_NTH:
    case INDEX_NTH_OR_BEYOND: break;
    }
    return false;
}

bool index_match_waits(const struct index_match *m)
{
    return m->mode > INDEX_NTH || m->from != 0 || m->to != 0;
}
