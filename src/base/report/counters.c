/* SPDX-License-Identifier: GPL-2.0-or-later */
/* base/report/counters.c - the registry of names and the list of the threads' blocks, under one
 * lock that no packet path takes. Blocks have space for all ids there can be. So a name that is
 * registered late (a unix socket job, a reload) moves no block; pages that no counter uses are
 * never touched. */
#include "base/report/counters.h"

#include "base/array.h"
#include "base/containers/map.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct counter {
    char *name;
    enum counter_kind kind;
    bool own, zero;             /* relaxed atomics; never reset */
    uint64_t retired, retired_samples;        /* of blocks that were freed */
};

static struct {
    pthread_mutex_t lock;
    struct counter counter[COUNTERS_MAX];
    unsigned count;
    struct map ids;                     /* name to struct counter */
    struct counters *blocks;
} registry = { .lock = PTHREAD_MUTEX_INITIALIZER };

/* At the limit further names share the last id: wrong values, but no crash. */
static struct counter *add_name(const char *name, enum counter_kind kind)
{
    struct counter *c;

    if (registry.count == COUNTERS_MAX)
        return &registry.counter[COUNTERS_MAX - 1];
    c = &registry.counter[registry.count];
    c->name = xstrdup(name);
    c->kind = kind;
    map_put_string(&registry.ids, name, c);
    __atomic_store_n(&registry.count, registry.count + 1, __ATOMIC_RELEASE);
    return c;
}

counter_id counter_register(const char *name, enum counter_kind kind)
{
    struct counter *c;

    pthread_mutex_lock(&registry.lock);
    c = map_get_string(&registry.ids, name);
    if (c == NULL)
        c = add_name(name, kind);
    pthread_mutex_unlock(&registry.lock);
    return (counter_id)(c - registry.counter);
}

/* A lookup may have registered the name before. */
counter_id counter_register_own(const char *name, enum counter_kind kind)
{
    counter_id id = counter_register(name, kind);

    __atomic_store_n(&registry.counter[id].own, true, __ATOMIC_RELAXED);
    return id;
}

void counter_register_zero(const char *name)
{
    counter_id id = counter_register(name, COUNTER_SUM);

    __atomic_store_n(&registry.counter[id].zero, true, __ATOMIC_RELAXED);
}

/* Acquire pairs with the release in add_name(): names up to the count can be read without the
 * lock. */
unsigned counter_count(void)
{
    return __atomic_load_n(&registry.count, __ATOMIC_ACQUIRE);
}

const char *counter_name(counter_id id)
{
    return registry.counter[id].name;
}

enum counter_kind counter_kind(counter_id id)
{
    return registry.counter[id].kind;
}

bool counter_is_zero(counter_id id)
{
    return __atomic_load_n(&registry.counter[id].zero, __ATOMIC_RELAXED);
}

bool counter_is_own(counter_id id)
{
    return __atomic_load_n(&registry.counter[id].own, __ATOMIC_RELAXED);
}

struct counters *counters_new(const char *thread_name)
{
    struct counters *c = xcalloc(1, sizeof(*c));

    c->value = xcalloc(COUNTERS_MAX, sizeof(c->value[0]));
    c->samples = xcalloc(COUNTERS_MAX, sizeof(c->samples[0]));
    snprintf(c->thread_name, sizeof(c->thread_name), "%s", thread_name);
    pthread_mutex_lock(&registry.lock);
    c->next = registry.blocks;
    registry.blocks = c;
    pthread_mutex_unlock(&registry.lock);
    return c;
}

static void merge(enum counter_kind kind, uint64_t *into, uint64_t value)
{
    if (kind == COUNTER_MAX)
        *into = MAX(*into, value);
    else
        *into += value;
}

/* The counts of a thread that ends stay in the totals. */
void counters_free(struct counters *c)
{
    if (c == NULL)
        return;
    pthread_mutex_lock(&registry.lock);
    for (unsigned id = 0; id < registry.count; id++) {
        struct counter *counter = &registry.counter[id];

        merge(counter->kind, &counter->retired, c->value[id]);
        counter->retired_samples += c->samples[id];
    }
    for (struct counters **p = &registry.blocks; *p != NULL; p = &(*p)->next) {
        if (*p == c) {
            *p = c->next;
            break;
        }
    }
    pthread_mutex_unlock(&registry.lock);
    free(c->value);
    free(c->samples);
    free(c);
}

/* Relaxed loads: a value may be a moment old, never torn. */
uint64_t counter_total(counter_id id)
{
    const struct counter *counter = &registry.counter[id];
    uint64_t total, samples;

    pthread_mutex_lock(&registry.lock);
    total = counter->retired;
    samples = counter->retired_samples;
    for (const struct counters *c = registry.blocks; c != NULL; c = c->next) {
        merge(counter->kind, &total, __atomic_load_n(&c->value[id], __ATOMIC_RELAXED));
        samples += __atomic_load_n(&c->samples[id], __ATOMIC_RELAXED);
    }
    pthread_mutex_unlock(&registry.lock);
    if (counter->kind == COUNTER_AVG)
        return samples > 0 ? total / samples : 0;
    return total;
}

void counters_each(void (*visit)(const struct counters *c, void *arg), void *arg)
{
    pthread_mutex_lock(&registry.lock);
    for (const struct counters *c = registry.blocks; c != NULL; c = c->next)
        visit(c, arg);
    pthread_mutex_unlock(&registry.lock);
}

/* Races with the writers: a thread that adds at this moment may write back its old value.
 * Acceptable, as only a user's command calls this. */
void counters_reset_all(void)
{
    pthread_mutex_lock(&registry.lock);
    for (unsigned id = 0; id < registry.count; id++)
        registry.counter[id].retired = registry.counter[id].retired_samples = 0;
    for (struct counters *c = registry.blocks; c != NULL; c = c->next) {
        for (unsigned id = 0; id < registry.count; id++) {
            __atomic_store_n(&c->value[id], 0, __ATOMIC_RELAXED);
            __atomic_store_n(&c->samples[id], 0, __ATOMIC_RELAXED);
        }
    }
    pthread_mutex_unlock(&registry.lock);
}
