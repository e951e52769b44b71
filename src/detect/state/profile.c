/* SPDX-License-Identifier: GPL-2.0-or-later */
/* detect/state/profile.c - the cost of rules as threads count it, and its sum. */
#include "detect/state/profile.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/array.h"
#include "base/memory/traffic_memory.h"
#include "base/system/clock.h"
#include "detect/rule/ruleset_private.h"
#include "detect/state/part_costs.h"

/* Two per ruleset: the profile and the costs. Counting needs no lock. */
struct profile {
    bool on;                            /* atomic */
    unsigned rule_count;
    size_t count_size;                  /* of what a thread counts for a rule: the kind of *p */
    void (*sum)(struct rule_profile *to, const void *counts, unsigned count);
    uint64_t start_ticks, start_ns;     /* when it was created */
    pthread_mutex_t lock;               /* the rest; taken when threads come and go, and to sum */
    double tick_ns;                     /* how long a tick is; 0: not measured yet */
    ARRAY_OF(void *) threads;           /* what each counts by itself, an entry for each rule */
    struct rule_profile *left;             /* of threads that have ended; NULL: none yet */
    struct rule_profile *shared;        /* costs: of all threads; NULL: none has begun */
};

/* An entry for each rule, zeroed. Nothing is counted for most rules, so these are pages of the
 * kernel: calloc() would clear all of a block that was used before. NULL: no memory. */
static void *counts_new(const struct profile *p, size_t each)
{
    void *counts = mmap(NULL, (p->rule_count + 1) * each, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    return counts != MAP_FAILED ? counts : NULL;
}

static void counts_free(const struct profile *p, void *counts, size_t each)
{
    if (counts != NULL)
        munmap(counts, (p->rule_count + 1) * each);
}

void profile_free(struct profile *p)
{
    if (p == NULL)
        return;
    ARRAY_FREE(&p->threads);
    free(p->left);
    counts_free(p, p->shared, sizeof(*p->shared));
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

static void keep_max(uint64_t *at, uint64_t n)
{
    if (n > *at)
        __atomic_store_n(at, n, __ATOMIC_RELAXED);
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
    keep_max(&c->max_ticks, ticks);
}

/* All threads write. */
static void add_shared(uint64_t *at, uint64_t n)
{
    __atomic_fetch_add(at, n, __ATOMIC_RELAXED);
}

void rule_cost_add(struct rule_profile *c, uint64_t ticks, uint32_t weight, bool matched)
{
    uint64_t most = __atomic_load_n(&c->max_ticks, __ATOMIC_RELAXED);

    add_shared(&c->timed, 1);
    add_shared(&c->checks, weight);
    add_shared(&c->ticks, ticks * weight);
    if (matched)
        add_shared(&c->match_ticks, ticks * weight);
    while (ticks > most && !__atomic_compare_exchange_n(&c->max_ticks, &most, ticks, true,
                                                        __ATOMIC_RELAXED, __ATOMIC_RELAXED))
        continue;
}

void rule_hits_add(struct rule_hits *h, bool matched, bool limited)
{
    add(&h->matches, matched);
    add(&h->limits, limited);
}

/* The threads may count meanwhile; each figure is right by itself. */
static void sum_profiles(struct rule_profile *to, const void *counts, unsigned count)
{
    const struct rule_profile *from = counts;

    for (unsigned i = 0; i < count; i++) {
        uint64_t max = __atomic_load_n(&from[i].max_ticks, __ATOMIC_RELAXED);

        to[i].checks += __atomic_load_n(&from[i].checks, __ATOMIC_RELAXED);
        to[i].matches += __atomic_load_n(&from[i].matches, __ATOMIC_RELAXED);
        to[i].ticks += __atomic_load_n(&from[i].ticks, __ATOMIC_RELAXED);
        to[i].match_ticks += __atomic_load_n(&from[i].match_ticks, __ATOMIC_RELAXED);
        to[i].limits += __atomic_load_n(&from[i].limits, __ATOMIC_RELAXED);
        to[i].timed += __atomic_load_n(&from[i].timed, __ATOMIC_RELAXED);
        to[i].max_ticks = MAX(to[i].max_ticks, max);
    }
}

/* Most rules never match. Where they only have zeros, pages of `to` are not written, and so take no
 * memory: a thread sums them when it ends, while all of its flows are still there. */
static void sum_hits(struct rule_profile *to, const void *counts, unsigned count)
{
    const struct rule_hits *from = counts;

    for (unsigned i = 0; i < count; i++) {
        uint64_t matches = __atomic_load_n(&from[i].matches, __ATOMIC_RELAXED);
        uint64_t limits = __atomic_load_n(&from[i].limits, __ATOMIC_RELAXED);

        if ((matches | limits) == 0)
            continue;
        to[i].matches += matches;
        to[i].limits += limits;
    }
}

static struct profile *make(unsigned rule_count, size_t count_size,
                            void (*sum)(struct rule_profile *, const void *, unsigned))
{
    struct profile *p = xcalloc(1, sizeof(*p));

    p->rule_count = rule_count;
    p->count_size = count_size;
    p->sum = sum;
    p->start_ticks = clock_ticks();
    p->start_ns = clock_ns();
    pthread_mutex_init(&p->lock, NULL);
    return p;
}

struct profile *profile_new(unsigned rule_count)
{
    return make(rule_count, sizeof(struct rule_profile), sum_profiles);
}

struct profile *costs_new(unsigned rule_count)
{
    return make(rule_count, sizeof(struct rule_hits), sum_hits);
}

/* --- threads -------------------------------------------------------------------------------- */

/* Allocates, so it runs when a thread takes the ruleset, not per packet. */
static void *join(struct profile *p)
{
    void *counts = counts_new(p, p->count_size);
    bool has_space;

    if (counts == NULL)
        return NULL;
    pthread_mutex_lock(&p->lock);
    has_space = ARRAY_HAS_SPACE(&p->threads, 1);
    if (has_space)
        p->threads.at[p->threads.count++] = counts;
    pthread_mutex_unlock(&p->lock);
    if (has_space)
        return counts;
    counts_free(p, counts, p->count_size);
    return NULL;
}

static void remove_thread(struct profile *p, const void *counts)
{
    for (size_t i = 0; i < p->threads.count; i++)
        if (p->threads.at[i] == counts) {
            p->threads.at[i] = p->threads.at[--p->threads.count];
            return;
        }
}

/* Adds the thread's figures to those of ended threads. */
static void leave(struct profile *p, void *counts)
{
    if (counts == NULL)
        return;
    pthread_mutex_lock(&p->lock);
    remove_thread(p, counts);
    if (p->left == NULL)
        p->left = calloc(p->rule_count + 1, sizeof(*p->left));
    if (p->left != NULL)
        p->sum(p->left, counts, p->rule_count);
    pthread_mutex_unlock(&p->lock);
    counts_free(p, counts, p->count_size);
}

struct rule_profile *profile_join(struct profile *p)
{
    return join(p);
}

void profile_leave(struct profile *p, struct rule_profile *profile)
{
    leave(p, profile);
}

struct rule_hits *costs_join(struct profile *p)
{
    return join(p);
}

void costs_leave(struct profile *p, struct rule_hits *hits)
{
    leave(p, hits);
}

struct rule_profile *costs_shared(struct profile *p)
{
    pthread_mutex_lock(&p->lock);
    if (p->shared == NULL)
        p->shared = counts_new(p, sizeof(*p->shared));
    pthread_mutex_unlock(&p->lock);
    return p->shared;
}

/* --- the sum -------------------------------------------------------------------------------- */

/* The caller frees it. NULL: nothing has been counted. */
static struct rule_profile *profile_sum(struct profile *p)
{
    struct rule_profile *sum = NULL;

    pthread_mutex_lock(&p->lock);
    if (p->left != NULL || p->shared != NULL || p->threads.count > 0) {
        sum = xcalloc(p->rule_count + 1, sizeof(*sum));
        if (p->left != NULL)
            sum_profiles(sum, p->left, p->rule_count);
        for (size_t i = 0; i < p->threads.count; i++)
            p->sum(sum, p->threads.at[i], p->rule_count);
        if (p->shared != NULL)
            sum_profiles(sum, p->shared, p->rule_count);
    }
    pthread_mutex_unlock(&p->lock);
    return sum;
}

struct rule_profile *ruleset_profile_sum(const struct ruleset *set)
{
    return profile_sum(set->profile);
}

/* Measured once, over the time since the rules were loaded: another length each time would let
 * sums of times go back. */
static double measure_tick(struct profile *p)
{
    double tick_ns;

    pthread_mutex_lock(&p->lock);
    if (p->tick_ns == 0) {
        uint64_t ticks = clock_ticks() - p->start_ticks;

        p->tick_ns = ticks > 0 ? (double)(clock_ns() - p->start_ns) / (double)ticks : 0;
    }
    tick_ns = p->tick_ns;
    pthread_mutex_unlock(&p->lock);
    return tick_ns;
}

struct part_costs *ruleset_part_costs(const struct ruleset *set)
{
    return set->parts;
}

double ruleset_costs_tick(const struct ruleset *set)
{
    return measure_tick(set->costs);
}

struct rule_profile *ruleset_costs_sum(const struct ruleset *set, double *tick_ns)
{
    *tick_ns = measure_tick(set->costs);
    return profile_sum(set->costs);
}

static void clear(struct profile *p)
{
    pthread_mutex_lock(&p->lock);
    free(p->left);
    p->left = NULL;
    if (p->shared != NULL)
        memset(p->shared, 0, (p->rule_count + 1) * sizeof(*p->shared));
    pthread_mutex_unlock(&p->lock);
}

/* Threads that still run keep theirs; it is called between runs. */
void ruleset_profile_clear(struct ruleset *set)
{
    clear(set->profile);
    clear(set->costs);
    if (set->parts != NULL)
        part_costs_clear(set->parts);
}
