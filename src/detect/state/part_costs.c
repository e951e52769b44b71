/* SPDX-License-Identifier: GPL-2.0-or-later */
/* detect/state/part_costs.c - a table of names for each kind of part. Names are added without a
 * lock and stay until the ruleset goes. */
#include "detect/state/part_costs.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/base.h"

#define GROUPS_MAX 1024u        /* transports and protocols, twice */
#define KEYWORDS_MAX 2048u

struct part_table {
    unsigned size;              /* a power of two, at most half of it used */
    struct part_cost *at;
};

struct part_costs { struct part_table table[COST_KINDS]; };

struct part_costs *part_costs_new(unsigned buffers)
{
    const unsigned most[COST_KINDS] = { GROUPS_MAX, buffers + 1, KEYWORDS_MAX };
    struct part_costs *c = xcalloc(1, sizeof(*c));

    for (unsigned i = 0; i < COST_KINDS; i++) {
        c->table[i].size = 16;
        while (c->table[i].size < 2 * most[i])
            c->table[i].size *= 2;
        c->table[i].at = xcalloc(c->table[i].size, sizeof(struct part_cost));
    }
    return c;
}

void part_costs_free(struct part_costs *c)
{
    for (unsigned i = 0; c != NULL && i < COST_KINDS; i++)
        free(c->table[i].at);
    free(c);
}

/* Threads may hold a place, so names stay. */
void part_costs_clear(struct part_costs *c)
{
    for (unsigned kind = 0; kind < COST_KINDS; kind++)
        for (unsigned i = 0; i < c->table[kind].size; i++) {
            struct part_cost *part = &c->table[kind].at[i];

            __atomic_store_n(&part->checks, 0, __ATOMIC_RELAXED);
            __atomic_store_n(&part->ticks, 0, __ATOMIC_RELAXED);
            __atomic_store_n(&part->timed, 0, __ATOMIC_RELAXED);
            __atomic_store_n(&part->max_ticks, 0, __ATOMIC_RELAXED);
        }
}

/* True: the place has this name, now or already. */
static bool name_take(struct part_cost *part, const char *name)
{
    const char *found = __atomic_load_n(&part->name, __ATOMIC_RELAXED);

    if (found == NULL && __atomic_compare_exchange_n(&part->name, &found, name, false,
                                                     __ATOMIC_RELAXED, __ATOMIC_RELAXED))
        return true;
    return found == name;
}

struct part_cost *part_cost_of(struct part_costs *c, enum cost_kind kind, const char *name)
{
    const struct part_table *t = &c->table[kind];
    uint64_t hash = ((uint64_t)(uintptr_t)name >> 3) * 0x9e3779b97f4a7c15u;

    for (unsigned i = 0; i < t->size / 2; i++) {
        struct part_cost *part = &t->at[((unsigned)(hash >> 32) + i) & (t->size - 1)];

        if (name_take(part, name))
            return part;
    }
    return NULL;
}

void part_cost_add(struct part_cost *part, uint64_t ticks, uint32_t weight)
{
    uint64_t most = __atomic_load_n(&part->max_ticks, __ATOMIC_RELAXED);

    __atomic_fetch_add(&part->timed, 1, __ATOMIC_RELAXED);
    __atomic_fetch_add(&part->checks, weight, __ATOMIC_RELAXED);
    __atomic_fetch_add(&part->ticks, ticks * weight, __ATOMIC_RELAXED);
    while (ticks > most && !__atomic_compare_exchange_n(&part->max_ticks, &most, ticks, true,
                                                        __ATOMIC_RELAXED, __ATOMIC_RELAXED))
        continue;
}

void part_costs_each(const struct part_costs *c, enum cost_kind kind,
                     void (*visit)(const struct part_cost *part, void *arg), void *arg)
{
    const struct part_table *t = &c->table[kind];

    for (unsigned i = 0; i < t->size; i++) {
        const struct part_cost *part = &t->at[i];
        struct part_cost copy = {
            .name = __atomic_load_n(&part->name, __ATOMIC_RELAXED),
            .checks = __atomic_load_n(&part->checks, __ATOMIC_RELAXED),
            .ticks = __atomic_load_n(&part->ticks, __ATOMIC_RELAXED),
            .timed = __atomic_load_n(&part->timed, __ATOMIC_RELAXED),
            .max_ticks = __atomic_load_n(&part->max_ticks, __ATOMIC_RELAXED),
        };

        if (copy.name != NULL && copy.timed > 0)
            visit(&copy, arg);
    }
}
