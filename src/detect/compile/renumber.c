/* SPDX-License-Identifier: GPL-2.0-or-later */
/* detect/compile/renumber.c - finds the rules of one set in the next, by gid, sid and revision. */
#include "detect/compile/renumber.h"

#include "detect/rule/ruleset_private.h"

#include <stdlib.h>
#include <string.h>

static int by_number(const void *a, const void *b)
{
    const struct rule *x = *(const struct rule *const *)a, *y = *(const struct rule *const *)b;

    if (x->gid != y->gid)
        return x->gid < y->gid ? -1 : 1;
    if (x->sid != y->sid)
        return x->sid < y->sid ? -1 : 1;
    return x->index < y->index ? -1 : x->index > y->index;
}

static bool has_same_number(const struct rule *x, const struct rule *y)
{
    return x->gid == y->gid && x->sid == y->sid;
}

/* A list of the rules, sorted. NULL: no memory. */
static const struct rule **sorted(const struct ruleset *set)
{
    const struct rule **list = malloc(set->rules.count * sizeof(struct rule *));

    if (list == NULL)
        return NULL;
    memcpy(list, set->rules.at, set->rules.count * sizeof(struct rule *));
    qsort(list, set->rules.count, sizeof(list[0]), by_number);
    return list;
}

/* A revision does not change what the rule is about. */
static bool is_same(const struct rule *x, const struct rule *y)
{
    return x->rev == y->rev && x->type == y->type && x->app_proto == y->app_proto &&
           x->is_facts == y->is_facts && (x->payload == NULL) == (y->payload == NULL);
}

static size_t run_length(const struct rule *const *list, size_t count)
{
    size_t n = 1;

    while (n < count && has_same_number(list[0], list[n]))
        n++;
    return n;
}

/* A bidirectional rule is two with one number, and one with facts, too. */
static void pair(uint32_t *table, const struct rule *const *old, size_t old_count,
                 const struct rule *const *now, size_t now_count)
{
    if (old_count != now_count)
        return;
    for (size_t i = 0; i < old_count; i++)
        if (is_same(old[i], now[i]))
            table[old[i]->index] = now[i]->index;
}

static void fill(uint32_t *table, const struct rule *const *old, size_t old_count,
                 const struct rule *const *now, size_t now_count)
{
    size_t i = 0, k = 0;

    while (i < old_count && k < now_count) {
        size_t olds = run_length(old + i, old_count - i), news = run_length(now + k, now_count - k);

        if (has_same_number(old[i], now[k])) {
            pair(table, old + i, olds, now + k, news);
            i += olds;
            k += news;
        } else if (old[i]->gid != now[k]->gid ? old[i]->gid < now[k]->gid
                                              : old[i]->sid < now[k]->sid) {
            i += olds;
        } else {
            k += news;
        }
    }
}

void renumber_rules(struct ruleset *set, const struct ruleset *previous)
{
    const struct rule **old, **now;
    uint32_t *table;

    if (previous == NULL || previous->rules.count == 0 || set->rules.count == 0)
        return;
    old = sorted(previous);
    now = sorted(set);
    if (old != NULL && now != NULL) {
        table = arena_alloc(&set->arena, previous->rules.count * sizeof(table[0]));
        for (size_t i = 0; i < previous->rules.count; i++)
            table[i] = RULE_ABSENT;
        fill(table, old, previous->rules.count, now, set->rules.count);
        set->renumbered = table;
        set->renumbered_from = previous->load;
    }
    free(old);
    free(now);
}

const uint32_t *renumbered_since(const struct ruleset *set, const struct ruleset *before)
{
    return set->state == before->state && set->renumbered_from == before->load ? set->renumbered
                                                                              : NULL;
}
