/* SPDX-License-Identifier: GPL-2.0-or-later */
/* detect/explain/seen.c - which subjects a rule was asked about, and what came nearest. */
#include "detect/explain/notes.h"

#include "base/memory/lib_memory.h"
#include "flow/flow.h"

#include <stdlib.h>

static bool list_has_space(struct group *g)
{
    size_t cap = g->seen_cap > 0 ? g->seen_cap * 2 : 64;
    struct seen **more;

    if (g->seen_count < g->seen_cap)
        return true;
    more = lib_realloc(g->list, cap * sizeof(struct seen *));
    if (more == NULL)
        return false;
    g->list = more;
    g->seen_cap = cap;
    return true;
}

/* NULL: there are too many, or no memory; that is counted. */
struct seen *seen_get(struct explain *e, struct group *g, uint64_t flow, uint64_t item)
{
    uint64_t key[2] = { flow, item };
    struct seen *s = map_get(&g->seen, key, sizeof(key));

    if (s != NULL)
        return s;
    if (g->seen_count < e->seen_most && list_has_space(g))
        s = lib_calloc(1, sizeof(*s));
    if (s != NULL && !map_try_put(&g->seen, key, sizeof(key), s)) {
        lib_free(s);
        s = NULL;
    }
    if (s == NULL) {
        e->out_of_memory |= g->seen_count < e->seen_most;
        g->lost++;
        return NULL;
    }
    *s = (struct seen){ .flow = flow, .item = item, .distance = UINT16_MAX };
    g->list[g->seen_count++] = s;
    return s;
}

void attempt_free(struct wanted *w, struct attempt *a)
{
    if (a == NULL)
        return;
    for (unsigned i = 0; a->note != NULL && i < w->count; i++) {
        lib_free(a->note[i].text);
        lib_free(a->note[i].excerpt);
    }
    lib_free(a->note);
    lib_free(a->title);
    lib_free(a->held_back);
    lib_free(a->reason);
    lib_free(a);
}

void group_free(struct group *g)
{
    for (size_t i = 0; i < g->seen_count; i++) {
        if (g->list[i]->attempt != NULL)
            attempt_free(g->list[i]->rule, g->list[i]->attempt);
        lib_free(g->list[i]);
    }
    lib_free(g->list);
    lib_free(g->nearest);
    map_fini(&g->seen);
}

/* The first condition that failed. */
static unsigned culprit_of(const struct wanted *w)
{
    unsigned i = 0;

    while (i < w->count && w->finding[i].outcome != OUTCOME_FAIL)
        i++;
    return i;
}

static struct attempt *attempt_new(struct explain *e, struct wanted *w, const struct subject *s,
                                   struct seen *seen)
{
    struct attempt *a = lib_calloc(1, sizeof(*a));

    if (a == NULL)
        return NULL;
    a->note = lib_calloc(w->count, sizeof(*a->note));
    if (a->note == NULL) {
        lib_free(a);
        return NULL;
    }
    a->rule = w;
    a->seen = seen;
    a->packet = s->packet->number;
    a->time_us = s->packet->time_us;
    a->direction = s->direction;
    a->title = title_make(s);
    for (unsigned i = 0; i < w->count; i++)
        note_make(e, w, i, s, &a->note[i]);
    if (seen->culprit < w->count)
        a->reason = reason_make(w, seen->culprit, &a->note[seen->culprit]);
    return a;
}

/* The attempt that is furthest away, of those that are kept; fired ones stay. */
static unsigned furthest(const struct group *g)
{
    unsigned at = 0;

    for (unsigned i = 1; i < g->nearest_count; i++)
        if (g->nearest[i]->seen->distance >= g->nearest[at]->seen->distance)
            at = i;
    return at;
}

/* Where a new attempt goes: in place of the subject's own, in free space, or in place of a worse
 * one. NULL: nowhere. */
static struct attempt **slot_for(struct explain *e, struct group *g, const struct seen *seen,
                                 unsigned distance)
{
    unsigned at;

    for (unsigned i = 0; i < g->nearest_count; i++)
        if (g->nearest[i] == seen->attempt)
            return &g->nearest[i];
    if (g->nearest == NULL)
        g->nearest = lib_calloc(e->nearest, sizeof(struct attempt *));
    if (g->nearest == NULL)
        return NULL;
    if (g->nearest_count < e->nearest)
        return &g->nearest[g->nearest_count++];
    at = furthest(g);
    if (distance == 0 && g->nearest[at]->seen->distance == 0 && g->nearest[at]->seen->fired == 0)
        return &g->nearest[at];         /* its threshold has counted further since */
    return g->nearest[at]->seen->distance > distance ? &g->nearest[at] : NULL;
}

static void slot_clear(struct attempt **slot)
{
    if (*slot == NULL)
        return;
    (*slot)->seen->attempt = NULL;
    attempt_free((*slot)->seen->rule, *slot);
    *slot = NULL;
}

/* Whether an evaluation that came as near as one before says more: of a transaction the later one,
 * of a flow the first after its protocol has become known. */
static bool adds_detail(const struct subject *s, const struct seen *seen)
{
    const struct flow *f = s->packet->flow;

    if (seen->distance == 0)
        return false;
    return s->tx != NULL || (f != NULL && seen->app_proto == APP_PROTO_UNKNOWN &&
                             f->app_proto != APP_PROTO_UNKNOWN);
}

/* After rule_evaluate(). Of a subject the nearest evaluation counts. */
void seen_note(struct explain *e, struct wanted *w, const struct subject *s, struct seen *seen,
               unsigned distance)
{
    struct group *g = w->group;
    struct attempt **slot, *a = NULL;

    if (s->is_revoked)
        seen->distance = UINT16_MAX;
    if (distance > seen->distance ||
        (distance == seen->distance && !adds_detail(s, seen)))
        return;
    seen->app_proto = s->packet->flow != NULL ? s->packet->flow->app_proto : 0;
    slot = slot_for(e, g, seen, distance);
    if (slot != NULL)
        slot_clear(slot);
    seen->distance = (uint16_t)distance;
    seen->culprit = (uint16_t)culprit_of(w);
    seen->rule = w;
    if (slot != NULL)
        a = attempt_new(e, w, s, seen);
    if (slot == NULL)
        return;
    if (a == NULL) {
        e->out_of_memory = true;
        *slot = g->nearest[--g->nearest_count];
        return;
    }
    *slot = seen->attempt = a;
}

/* --- several threads -------------------------------------------------------------------------- */

/* The attempt goes to the list, or in place of one that is further away. */
static void attempt_take(struct explain *e, struct group *g, struct attempt *a)
{
    struct attempt **slot;

    if (a == NULL)
        return;
    slot = slot_for(e, g, a->seen, a->seen->distance);
    if (slot == NULL) {
        a->seen->attempt = NULL;
        attempt_free(a->seen->rule, a);
        return;
    }
    slot_clear(slot);
    *slot = a;
}

static void seen_take(struct explain *e, struct group *g, const struct explain *from,
                      struct seen *s)
{
    struct attempt *a = s->attempt;

    s->rule = s->rule != NULL ? &e->wanted[s->rule - from->wanted] : NULL;
    if (a != NULL)
        a->rule = &e->wanted[a->rule - from->wanted];
    if (!list_has_space(g)) {
        e->out_of_memory = true;
        attempt_free(s->rule, a);
        lib_free(s);
        return;
    }
    g->list[g->seen_count++] = s;
    attempt_take(e, g, a);
}

static void merge_one(struct explain *e, struct explain *from)
{
    for (unsigned i = 0; i < e->group_count; i++) {
        struct group *g = &e->group[i], *other = &from->group[i];

        other->nearest_count = 0;
        for (size_t k = 0; k < other->seen_count; k++)
            seen_take(e, g, from, other->list[k]);
        other->seen_count = 0;
        g->fired += other->fired;
        g->asked += other->asked;
        g->lost += other->lost;
    }
    e->packets += from->packets;
    e->out_of_memory |= from->out_of_memory;
}

void explain_merge(struct explain *e, struct explain *from)
{
    for (; e != NULL; e = e->next, from = from->next)
        merge_one(e, from);
}
