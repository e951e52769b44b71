/* SPDX-License-Identifier: GPL-2.0-or-later */
/* base/memory/pool.h - objects of one size, taken and returned by one thread.
 *
 * Grows in slabs up to `max` objects (0: no limit) and never shrinks; free objects count as idle.
 * An object is zero the first time; later it has the contents with which it was returned. */
#ifndef BASE_POOL_H
#define BASE_POOL_H

#include "base/base.h"
#include "base/memory/traffic_memory.h"

struct pool_slab;

struct pool {
    void *free_list;
    struct pool_slab *slabs;
    size_t size, per_slab;
    size_t in_use, created, max;
    struct idle_memory idle;
    uint64_t refused;       /* pool_get() calls that returned NULL */
};

void pool_init(struct pool *pool, size_t object_size, size_t per_slab, size_t max);
void pool_fini(struct pool *pool);      /* frees all objects, also those in use */
void pool_reserve(struct pool *pool, size_t count);

void *pool_get_slow(struct pool *pool);

static inline void *pool_get(struct pool *pool)
{
    void *object = pool->free_list;

    if (UNLIKELY(object == NULL))
        return pool_get_slow(pool);
    pool->free_list = *(void **)object;
    PREFETCH(pool->free_list);
    pool->in_use++;
    idle_memory_change(&pool->idle, -(int64_t)pool->size);
    return object;
}

static inline void pool_put(struct pool *pool, void *object)
{
    *(void **)object = pool->free_list;
    pool->free_list = object;
    pool->in_use--;
    idle_memory_change(&pool->idle, (int64_t)pool->size);
}

#endif
