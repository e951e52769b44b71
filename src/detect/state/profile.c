/* SPDX-License-Identifier: GPL-2.0-or-later */
/* detect/state/profile.c - the cost of rules as threads count it, and its sum. */
#include "detect/state/profile.h"

#include <pthread.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/memory/traffic_memory.h"
#include "detect/rule/ruleset_private.h"

/* One per ruleset. Each thread has its own counters, so counting needs no lock. */
struct profile {
    bool on;                            /* atomic */
    unsigned rule_count;
    pthread_mutex_t lock;               /* the rest; taken when threads come and go, and to sum */
    ARRAY_OF(struct rule_profile *) threads;
    struct rule_profile *left;             /* of threads that have ended; NULL: none yet */
};

struct profile *profile_new(unsigned rule_count)
{
    struct profile *p = xcalloc(1, sizeof(*p));

    p->rule_count = rule_count;
    pthread_mutex_init(&p->lock, NULL);
    return p;
}

void profile_free(struct profile *p)
{
    if (p == NULL)
        return;
    ARRAY_FREE(&p->threads);
    free(p->left);
    pthread_mutex_destroy(&p->lock);
    free(p);
}

/* --- counting ------------------------------------------------------------------------------- */

/* Threads notice at their next vector (detect_thread_follow_profile). */
void ruleset_profile_start(struct ruleset *set)
{
    __atomic_store_n(&set->profile->on, true, __ATOMIC_RELAXED);
}

void ruleset_profile_stop(struct ruleset *set)
{
    __atomic_store_n(&set->profile->on, false, __ATOMIC_RELAXED);
}

bool ruleset_profile_is_on(const struct ruleset *set)
{
    return __atomic_load_n(&set->profile->on, __ATOMIC_RELAXED);
}

/* Only the owning thread writes. A plain load and an atomic store are enough, and others
 * may read in between. */
static void add(uint64_t *at, uint64_t n)
{
    __atomic_store_n(at, *at + n, __ATOMIC_RELAXED);
}

/* `limited`: a limit ended the evaluation. */
void rule_profile_add(struct rule_profile *c, uint64_t ticks, bool matched, bool limited)
{
    add(&c->checks, 1);
    add(&c->ticks, ticks);
    if (matched) {
        add(&c->matches, 1);
        add(&c->match_ticks, ticks);
    }
    if (limited)
        add(&c->limits, 1);
    if (ticks > c->max_ticks)
        __atomic_store_n(&c->max_ticks, ticks, __ATOMIC_RELAXED);
}

/* The threads may count meanwhile; each figure is right by itself. */
static void sum_up(struct rule_profile *to, const struct rule_profile *from, unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        uint64_t max = __atomic_load_n(&from[i].max_ticks, __ATOMIC_RELAXED);

        to[i].checks += __atomic_load_n(&from[i].checks, __ATOMIC_RELAXED);
        to[i].matches += __atomic_load_n(&from[i].matches, __ATOMIC_RELAXED);
        to[i].ticks += __atomic_load_n(&from[i].ticks, __ATOMIC_RELAXED);
        to[i].match_ticks += __atomic_load_n(&from[i].match_ticks, __ATOMIC_RELAXED);
        to[i].limits += __atomic_load_n(&from[i].limits, __ATOMIC_RELAXED);
        to[i].max_ticks = MAX(to[i].max_ticks, max);
    }
}

/* --- threads -------------------------------------------------------------------------------- */

/* Allocates, so it runs when a thread takes the ruleset, not per packet. */
struct rule_profile *profile_join(struct profile *p)
{
    struct rule_profile *profile = calloc(p->rule_count + 1, sizeof(*profile));
    bool has_space;

    if (profile == NULL)
        return NULL;
    pthread_mutex_lock(&p->lock);
    has_space = ARRAY_HAS_SPACE(&p->threads, 1);
    if (has_space)
        p->threads.at[p->threads.count++] = profile;
    pthread_mutex_unlock(&p->lock);
    if (has_space)
        return profile;
    free(profile);
    return NULL;
}

static void remove_thread(struct profile *p, const struct rule_profile *profile)
{
    for (size_t i = 0; i < p->threads.count; i++)
        if (p->threads.at[i] == profile) {
            p->threads.at[i] = p->threads.at[--p->threads.count];
            return;
        }
}

/* Adds the thread's figures to those of ended threads. */
void profile_leave(struct profile *p, struct rule_profile *profile)
{
    if (profile == NULL)
        return;
    pthread_mutex_lock(&p->lock);
    remove_thread(p, profile);
    if (p->left == NULL)
        p->left = calloc(p->rule_count + 1, sizeof(*p->left));
    if (p->left != NULL)
        sum_up(p->left, profile, p->rule_count);
    pthread_mutex_unlock(&p->lock);
    free(profile);
}

/* --- the sum -------------------------------------------------------------------------------- */

/* The caller frees it. NULL: nothing has been counted. */
struct rule_profile *ruleset_profile_sum(const struct ruleset *set)
{
    struct profile *p = set->profile;
    struct rule_profile *sum = NULL;

    pthread_mutex_lock(&p->lock);
    if (p->left != NULL || p->threads.count > 0) {
        sum = xcalloc(p->rule_count + 1, sizeof(*sum));
        if (p->left != NULL)
            sum_up(sum, p->left, p->rule_count);
        for (size_t i = 0; i < p->threads.count; i++)
            sum_up(sum, p->threads.at[i], p->rule_count);
    }
    pthread_mutex_unlock(&p->lock);
    return sum;
}

/* Threads that still run keep theirs; it is called between runs. */
void ruleset_profile_clear(struct ruleset *set)
{
    struct profile *p = set->profile;

    pthread_mutex_lock(&p->lock);
    free(p->left);
    p->left = NULL;
    pthread_mutex_unlock(&p->lock);
}
