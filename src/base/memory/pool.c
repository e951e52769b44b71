/* SPDX-License-Identifier: GPL-2.0-or-later */
/* base/memory/pool.c - objects of one size. The first word of a free object links to the next. One
 * thread; a pool at its maximum refuses and counts it.
 *
 * Free objects are in one list, so that taking and returning cost little. In a large pool most of
 * whose objects are free, pool_shrink() sorts that list by slab, a few objects at a time. A slab
 * that has all its objects back returns to the system.
 *
 * Each thread has some hundred pools, and takes a few objects of most. So the objects of a slab
 * come into the list a few at a time: until then nothing touches their memory. */
#include "base/memory/pool.h"

#include "base/memory/pages.h"
#include "base/memory/traffic_memory.h"

#include <stdlib.h>
#include <string.h>

/* Sorted for each object that returns. The list has as many objects as are in use when it begins to
 * be sorted, and grows by the others: with 2 it is sorted just when the last one returns. */
#define SORTED_PER_RETURN 3

/* Objects of so many bytes come into the list together. */
#define FRESH_BYTES 4096u
#define FRESH_BYTES_HUGE (64u << 10)

struct pool_slab {
    struct pool_slab *next, *prev;      /* in pool.slabs, or in pool.sorted */
    size_t bytes, count;
    void *free;                         /* its sorted objects */
    size_t free_count;
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

static void discard_list(const struct pool *pool, void *object)
{
    while (pool->discard != NULL && object != NULL) {
        void *next = *(void **)object;

        pool->discard(object);
        object = next;
    }
}

void pool_fini(struct pool *pool)
{
    struct pool_slab *slab;

    discard_list(pool, pool->free_list);
    discard_list(pool, pool->from_first);
    for (slab = pool->sorted; slab != NULL; slab = slab->next)
        discard_list(pool, slab->free);
    while ((slab = pool->slabs) != NULL) {
        pool->slabs = slab->next;
        traffic_memory_release(slab->bytes);
        free(slab);
    }
    for (size_t i = 0; i < pool->huge.count; i++)
        pages_unmap(pool->huge.at[i], HUGE_PAGE_SIZE);
    ARRAY_FREE(&pool->huge);
    idle_memory_fini(&pool->idle);
    pool->sorted = NULL;
    pool->free_list = pool->from_first = NULL;
    pool->in_use = pool->created = pool->fresh_count = 0;
}

static void list_add(void **list, void *object)
{
    *(void **)object = *list;
    *list = object;
}

/* --- growing ---------------------------------------------------------------------------------- */

/* A pool of many megabytes is accessed at random, so huge pages save TLB misses. Only pools without
 * a maximum grow that large. */
static bool needs_huge_pages(const struct pool *pool)
{
    return pool->max == 0 && pool->created >= 4 * HUGE_PAGE_SIZE / pool->size;
}

/* The position of the slab that begins at `start`, or of the first one behind. */
static size_t huge_position(const struct pool *pool, const void *start)
{
    size_t low = 0, high = pool->huge.count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if ((uintptr_t)pool->huge.at[middle] < (uintptr_t)start)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* *count becomes the number of objects that fit. */
static struct pool_slab *huge_page_map(struct pool *pool, size_t *count)
{
    struct pool_slab *slab;
    size_t at;

    if (!ARRAY_HAS_SPACE(&pool->huge, 1) ||
        (slab = pages_map(HUGE_PAGE_SIZE, HUGE_PAGE_SIZE)) == NULL)
        return NULL;
    at = huge_position(pool, slab);
    memmove(pool->huge.at + at + 1, pool->huge.at + at,
            (pool->huge.count - at) * sizeof(pool->huge.at[0]));
    pool->huge.at[at] = slab;
    pool->huge.count++;
    slab->bytes = HUGE_PAGE_SIZE;
    *count = (HUGE_PAGE_SIZE - sizeof(*slab)) / pool->size;
    return slab;
}

static struct pool_slab *slab_alloc(struct pool *pool, size_t *count, size_t bytes)
{
    struct pool_slab *slab;

    if (needs_huge_pages(pool) && bytes <= HUGE_PAGE_SIZE)
        return huge_page_map(pool, count);
    bytes = bytes & ~(size_t)(CACHE_LINE - 1);
    if (!traffic_memory_take(bytes))
        return NULL;
    slab = aligned_alloc(CACHE_LINE, bytes);
    if (slab == NULL) {
        traffic_memory_release(bytes);
        traffic_memory_out();
        return NULL;
    }
    *slab = (struct pool_slab){ .next = pool->slabs, .bytes = bytes };
    pool->slabs = slab;
    return slab;
}

/* NULL: one of the first slabs. */
static struct pool_slab *huge_slab_of(const struct pool *pool, const void *object)
{
    void *start = (void *)((uintptr_t)object & ~(HUGE_PAGE_SIZE - 1));
    size_t at = huge_position(pool, start);

    return at < pool->huge.count && pool->huge.at[at] == start ? start : NULL;
}

/* The first of them will be taken first. */
static void list_fresh(struct pool *pool, size_t count)
{
    struct pool_slab *huge;

    count = MIN(count, pool->fresh_count);
    if (count == 0)
        return;
    huge = huge_slab_of(pool, pool->fresh);
    if (huge == NULL)
        memset(pool->fresh, 0, count * pool->size);
    for (size_t i = count; i-- > 0;)
        list_add(&pool->free_list, pool->fresh + i * pool->size);
    pool->fresh += count * pool->size;
    pool->fresh_count -= count;
    if (pool->fresh_count == 0 && huge != NULL)
        pages_join(huge);
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
    slab->count = count;
    pool->fresh = slab->data;
    pool->fresh_count = count;
    pool->created += count;
    idle_memory_change(&pool->idle, (int64_t)(count * pool->size));
    return true;
}

void pool_reserve(struct pool *pool, size_t count)
{
    if (count <= pool->created)
        return;
    list_fresh(pool, pool->fresh_count);
    if (pool_grow(pool, count - pool->created))
        list_fresh(pool, pool->fresh_count);
}

/* Sorted objects come back as they are: first those of the slabs that stay, and then those of one
 * slab. */
static bool take_sorted(struct pool *pool)
{
    struct pool_slab *slab = pool->sorted;

    pool->free_list = pool->from_first;
    pool->from_first = NULL;
    if (pool->free_list != NULL || slab == NULL)
        return pool->free_list != NULL;
    pool->free_list = slab->free;
    slab->free = NULL;
    slab->free_count = 0;
    pool->sorted = slab->next;
    if (slab->next != NULL)
        slab->next->prev = NULL;
    return true;
}

static size_t fresh_bytes(const struct pool *pool)
{
    return pool->huge.count > 0 ? FRESH_BYTES_HUGE : FRESH_BYTES;
}

/* The inline part takes from the free list; this is the rest. */
void *pool_get_slow(struct pool *pool)
{
    void *object;

    if (!take_sorted(pool)) {
        if (pool->fresh_count == 0 && !pool_grow(pool, pool->per_slab)) {
            pool->refused++;
            return NULL;
        }
        if (pool->free_list == NULL)
            list_fresh(pool, MAX(fresh_bytes(pool) / pool->size, (size_t)1));
    }
    object = pool->free_list;
    pool->free_list = *(void **)object;
    *(void **)object = NULL;
    pool->in_use++;
    idle_memory_change(&pool->idle, -(int64_t)pool->size);
    return object;
}

/* --- shrinking -------------------------------------------------------------------------------- */

static bool is_mostly_free(const struct pool *pool)
{
    return pool->huge.count > 0 && pool->in_use < pool->created / 2;
}

/* All objects of `slab` are in its list. */
static void slab_return(struct pool *pool, struct pool_slab *slab)
{
    size_t at = huge_position(pool, slab);

    discard_list(pool, slab->free);
    *(slab->prev != NULL ? &slab->prev->next : &pool->sorted) = slab->next;
    if (slab->next != NULL)
        slab->next->prev = slab->prev;
    pool->huge.count--;
    memmove(pool->huge.at + at, pool->huge.at + at + 1,
            (pool->huge.count - at) * sizeof(pool->huge.at[0]));
    pool->created -= slab->count;
    idle_memory_change(&pool->idle, -(int64_t)(slab->count * pool->size));
    pages_unmap(slab, HUGE_PAGE_SIZE);
}

static void sort_one(struct pool *pool)
{
    void *object = pool->free_list;
    struct pool_slab *slab = huge_slab_of(pool, object);

    pool->free_list = *(void **)object;
    if (slab == NULL) {
        list_add(&pool->from_first, object);
        return;
    }
    if (slab->free == NULL) {
        slab->prev = NULL;
        slab->next = pool->sorted;
        if (slab->next != NULL)
            slab->next->prev = slab;
        pool->sorted = slab;
    }
    list_add(&slab->free, object);
    if (++slab->free_count == slab->count)
        slab_return(pool, slab);
}

/* Called once for so many objects that return as take IDLE_STEP bytes. */
void pool_shrink(struct pool *pool)
{
    size_t most = SORTED_PER_RETURN * (IDLE_STEP / pool->size + 1);

    idle_memory_report(&pool->idle);
    for (size_t i = 0; i < most && pool->free_list != NULL && is_mostly_free(pool); i++)
        sort_one(pool);
}
