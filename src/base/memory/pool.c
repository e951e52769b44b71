/* SPDX-License-Identifier: GPL-2.0-or-later */
/* base/memory/pool.c - objects of one size. The first word of a free object links to the next. One
 * thread; a pool at its maximum refuses and counts it. */
#include "base/memory/pool.h"

#include "base/memory/pages.h"
#include "base/memory/traffic_memory.h"

#include <stdlib.h>
#include <sys/mman.h>

#define HUGE_PAGE ((size_t)2 << 20)

struct pool_slab {
    struct pool_slab *next;
    size_t bytes;
    CACHE_ALIGNED unsigned char data[];
};

/* Large objects start on a cache line, so that two objects never share one. */
void pool_init(struct pool *pool, size_t object_size, size_t per_slab, size_t max)
{
    size_t align = object_size >= CACHE_LINE ? CACHE_LINE : 16;

    object_size = MAX(object_size, sizeof(void *));
    *pool = (struct pool){
        .size = (object_size + align - 1) / align * align,
        .per_slab = MAX(per_slab, (size_t)1),
        .max = max,
    };
}

void pool_fini(struct pool *pool)
{
    struct pool_slab *slab = pool->slabs;

    while (slab != NULL) {
        struct pool_slab *next = slab->next;

        if (slab->bytes == HUGE_PAGE) {
            pages_unmap(slab, HUGE_PAGE);
        } else {
            traffic_memory_release(slab->bytes);
            free(slab);
        }
        slab = next;
    }
    idle_memory_fini(&pool->idle);
    pool->slabs = NULL;
    pool->free_list = NULL;
    pool->in_use = pool->created = 0;
}

/* A pool of many megabytes is accessed at random, so huge pages save TLB misses. Only pools without
 * a maximum grow that large. */
static bool needs_huge_pages(const struct pool *pool)
{
    return pool->max == 0 && pool->created >= 4 * HUGE_PAGE / pool->size;
}

/* *count becomes the number of objects that fit. */
static struct pool_slab *huge_page_map(const struct pool *pool, size_t *count)
{
    struct pool_slab *slab = pages_map(HUGE_PAGE, HUGE_PAGE);

    if (slab == NULL)
        return NULL;
    (void)madvise(slab, HUGE_PAGE, MADV_HUGEPAGE);
    slab->bytes = HUGE_PAGE;
    *count = (HUGE_PAGE - sizeof(*slab)) / pool->size;
    return slab;
}

static struct pool_slab *slab_alloc(const struct pool *pool, size_t *count, size_t bytes)
{
    struct pool_slab *slab;

    if (needs_huge_pages(pool) && bytes <= HUGE_PAGE)
        return huge_page_map(pool, count);
    bytes = bytes & ~(size_t)(CACHE_LINE - 1);
    bytes += bytes == HUGE_PAGE ? CACHE_LINE : 0;       /* pool_fini() tells the two by the size */
    if (!traffic_memory_take(bytes))
        return NULL;
    slab = aligned_alloc(CACHE_LINE, bytes);
    if (slab == NULL) {
        traffic_memory_release(bytes);
        traffic_memory_out();
        return NULL;
    }
    slab->bytes = bytes;
    return slab;
}

static COLD bool pool_grow(struct pool *pool, size_t count)
{
    struct pool_slab *slab;
    size_t bytes;

    if (pool->max > 0)
        count = MIN(count, pool->max - pool->created);
    if (count == 0 || __builtin_mul_overflow(count, pool->size, &bytes) ||
        __builtin_add_overflow(bytes, sizeof(*slab) + CACHE_LINE - 1, &bytes))
        return false;
    slab = slab_alloc(pool, &count, bytes);
    if (slab == NULL)
        return false;
    __builtin_memset(slab->data, 0, count * pool->size);
    slab->next = pool->slabs;
    pool->slabs = slab;
    for (size_t i = count; i-- > 0;) {
        void *object = slab->data + i * pool->size;

        *(void **)object = pool->free_list;
        pool->free_list = object;
    }
    pool->created += count;
    idle_memory_change(&pool->idle, (int64_t)(count * pool->size));
    return true;
}

void pool_reserve(struct pool *pool, size_t count)
{
    if (count > pool->created)
        pool_grow(pool, count - pool->created);
}

/* The inline part takes from the free list; this is the rest. */
void *pool_get_slow(struct pool *pool)
{
    void *object;

    if (!pool_grow(pool, pool->per_slab)) {
        pool->refused++;
        return NULL;
    }
    object = pool->free_list;
    pool->free_list = *(void **)object;
    *(void **)object = NULL;
    pool->in_use++;
    idle_memory_change(&pool->idle, -(int64_t)pool->size);
    return object;
}
