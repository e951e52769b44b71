/* SPDX-License-Identifier: GPL-2.0-or-later */
/* base/memory/pool.h - objects of one size, taken and returned by one thread.
 *
 * Grows in slabs up to `max` objects (0: no limit). Slabs become memory of the process a
 * few pages at a time, as objects are taken. Free objects count as idle. A pool of many megabytes
 * shrinks while most of its objects are free, down to its first slabs. An object is zero
 * the first time; later it has the contents with which it was returned. */
#ifndef BASE_POOL_H
#define BASE_POOL_H

#include "base/array.h"
#include "base/base.h"
#include "base/memory/traffic_memory.h"

struct pool_slab;

struct pool {
    void *free_list;
    void *from_first;       /* free objects of `slabs`, set apart by pool_shrink() */
    struct pool_slab *slabs;                    /* the first ones, which stay */
    ARRAY_OF(struct pool_slab *) huge;          /* of one huge page each, by address */
    struct pool_slab *sorted;                   /* those of them with a list of free objects */
    void (*discard)(void *object);              /* frees what a free object still has; NULL: none */
    size_t size, per_slab;
    size_t in_use, created, max;
    unsigned char *fresh;   /* objects of the newest slab that were never in a list */
    size_t fresh_count;     /* of these */
    struct idle_memory idle;
    uint64_t refused;       /* pool_get() calls that returned NULL */
};

void pool_init(struct pool *pool, size_t object_size, size_t per_slab, size_t max);
void pool_fini(struct pool *pool);      /* frees all objects, also those in use */
void pool_reserve(struct pool *pool, size_t count);
static inline bool pool_has_free(const struct pool *pool)
{
    return pool->created > pool->in_use;
}

void *pool_get_slow(struct pool *pool);
COLD void pool_shrink(struct pool *pool);

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
    pool->idle.now += (int64_t)pool->size;
    if (UNLIKELY(pool->idle.now - pool->idle.reported >= IDLE_STEP))
        pool_shrink(pool);
}

#endif
