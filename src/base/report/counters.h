/* SPDX-License-Identifier: GPL-2.0-or-later */
/* base/report/counters.h - named counters, one block per thread and module instance.
 *
 * Names are registered before threads start, in one table for the process. A thread adds to its own
 * block without a lock; the statistics thread reads all blocks with relaxed loads. Registering a
 * name again returns the same id. Names are dotted as in EVE stats: "decoder.ipv4". */
#ifndef BASE_COUNTERS_H
#define BASE_COUNTERS_H

#include "base/base.h"

enum counter_kind {
    COUNTER_SUM,        /* added up over threads */
    COUNTER_MAX,        /* the largest of the threads */
    COUNTER_AVG,        /* two slots: sum and count */
    COUNTER_GAUGE,      /* current value, added up over threads; deltas make no sense */
};

typedef uint16_t counter_id;
#define COUNTERS_MAX 4096

counter_id counter_register(const char *name, enum counter_kind kind);
/* Registers a counter that Suricata does not have. EVE's schema allows no such member, so records
 * of statistics show it only on request. */
counter_id counter_register_own(const char *name, enum counter_kind kind);
/* Registers a counter of Suricata that stays 0, because ids does not have the part that it is
 * about. Tools expect the name. */
void counter_register_zero(const char *name);
unsigned counter_count(void);
const char *counter_name(counter_id id);
enum counter_kind counter_kind(counter_id id);
bool counter_is_own(counter_id id);
bool counter_is_zero(counter_id id);

/* The calling thread's counters. The caller that created them owns them; the registry knows them
 * until they are freed. */
struct counters {
    uint64_t *value;                /* by id; relaxed atomics */
    uint64_t *samples;              /* COUNTER_AVG only */
    char thread_name[16];
    struct counters *next;
};
struct counters *counters_new(const char *thread_name);
void counters_free(struct counters *c);     /* the totals keep its values */

static inline void counter_add(struct counters *c, counter_id id, uint64_t n)
{
    uint64_t *v = &c->value[id];

    __atomic_store_n(v, *v + n, __ATOMIC_RELAXED);     /* one writer: no locked add needed */
}
static inline void counter_inc(struct counters *c, counter_id id) { counter_add(c, id, 1); }
static inline void counter_sub(struct counters *c, counter_id id, uint64_t n)
{
    counter_add(c, id, (uint64_t)0 - n);
}
static inline void counter_set(struct counters *c, counter_id id, uint64_t n)
{
    __atomic_store_n(&c->value[id], n, __ATOMIC_RELAXED);
}
static inline void counter_max(struct counters *c, counter_id id, uint64_t n)
{
    if (n > c->value[id])
        counter_set(c, id, n);
}
static inline void counter_sample(struct counters *c, counter_id id, uint64_t n)
{
    counter_add(c, id, n);
    __atomic_store_n(&c->samples[id], c->samples[id] + 1, __ATOMIC_RELAXED);
}
/* Of so many values at once. */
static inline void counter_sample_all(struct counters *c, counter_id id, uint64_t sum, uint64_t n)
{
    counter_add(c, id, sum);
    __atomic_store_n(&c->samples[id], c->samples[id] + n, __ATOMIC_RELAXED);
}

/* Returns the sum over all threads, ended ones included; for COUNTER_AVG the average. */
uint64_t counter_total(counter_id id);
/* Calls back for each live thread's block, under the registry's lock. */
void counters_each(void (*visit)(const struct counters *c, void *arg), void *arg);
void counters_reset_all(void);      /* between runs in one process (tests, socket jobs) */

#endif
