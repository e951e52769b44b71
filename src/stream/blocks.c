/* SPDX-License-Identifier: GPL-2.0-or-later */
/* stream/blocks.c - memory for stream data: blocks by size class in slabs of 64 KiB. One thread.
 *
 * A slab starts at a multiple of its size, so a block's address gives its slab. An empty slab may
 * serve another size, so that memory follows the traffic. */
#include "stream/blocks.h"

#include "base/memory/pages.h"
#include "base/memory/traffic_memory.h"

#include <stdlib.h>

#define SLAB_SIZE BLOCK_SLAB_SIZE
#define SMALL_REGION (256u << 10)
#define SMALL_REGIONS 32        /* after that many, regions are huge pages */
#define SLAB_COLOURS 16         /* headers are in different sets of the cache */
#define SLAB_HEAD ((SLAB_COLOURS + 1) * CACHE_LINE)
/* Empty slabs, and free blocks of a large class, that stay when memory is scarce: so few bytes
 * cannot cost system calls. */
#define RETAINED_LIMIT 16

struct block_slab {
    struct block_slab *next, *prev;     /* among the slabs of its class with a free block */
    void *free;                         /* returned blocks */
    uint16_t used, fresh, count;        /* blocks: in use, used once, all */
    uint8_t block_class;
};

/* Addresses from the system, kept to the end. */
struct block_region {
    struct block_region *next;
    unsigned char *start;
    uint32_t size;
};

/* A block above the largest class, allocated separately. */
struct block_large {
    struct block_large *next, *prev;
    size_t size;
    CACHE_ALIGNED unsigned char data[];
};

/* ---- slabs ---- */

static inline unsigned char *slab_start(const void *at)
{
    return (unsigned char *)((uintptr_t)at & ~(uintptr_t)(SLAB_SIZE - 1));
}

/* The header's cache line depends on the slab's address: at one offset all headers would evict each
 * other. */
static inline struct block_slab *slab_of(const void *at)
{
    unsigned char *start = slab_start(at);

    return (struct block_slab *)(start + (uintptr_t)start / SLAB_SIZE % SLAB_COLOURS * CACHE_LINE);
}

/* With many streams the TLB misses, so regions are large, and huge pages once they are full. A few
 * streams should not use much memory. */
static COLD bool region_new(struct blocks *blocks)
{
    bool huge = blocks->region_count >= SMALL_REGIONS;
    uint32_t size = huge ? (uint32_t)HUGE_PAGE_SIZE : SMALL_REGION;
    struct block_region *region = malloc(sizeof(*region));

    if (region == NULL)
        return traffic_memory_out();
    region->start = pages_map(size, huge ? HUGE_PAGE_SIZE : SLAB_SIZE);
    if (region->start == NULL) {
        free(region);
        return false;
    }
    region->size = size;
    if (blocks->regions != NULL && blocks->regions->size == HUGE_PAGE_SIZE)
        pages_join(blocks->regions->start);
    region->next = blocks->regions;
    blocks->regions = region;
    blocks->region_count++;
    blocks->region_left = size / SLAB_SIZE;
    idle_memory_change(&blocks->idle, (int64_t)size);
    return true;
}

/* Gives back the pages after the first of `size` bytes. */
static COLD void drop(struct blocks *blocks, unsigned char *start, size_t size)
{
    pages_drop(start, size);
    blocks->dropped_bytes += pages_behind_first(size);
    idle_memory_change(&blocks->idle, -(int64_t)pages_behind_first(size));
}

static COLD bool restore(struct blocks *blocks, size_t size)
{
    if (!pages_restore(size))
        return false;
    blocks->dropped_bytes -= pages_behind_first(size);
    idle_memory_change(&blocks->idle, (int64_t)pages_behind_first(size));
    return true;
}

static COLD unsigned char *slab_take(struct blocks *blocks)
{
    struct block_slab *slab = blocks->empty;

    if (slab != NULL) {
        blocks->empty = slab->next;
        blocks->empty_count--;
        return slab_start(slab);
    }
    slab = blocks->dropped;
    if (slab != NULL && restore(blocks, SLAB_SIZE)) {
        blocks->dropped = slab->next;
        return slab_start(slab);
    }
    if (blocks->region_left == 0 && !region_new(blocks))
        return NULL;
    blocks->grown++;
    return blocks->regions->start + --blocks->region_left * SLAB_SIZE;
}

/* Lists keep slabs with a free block first. */
static void slab_open(struct blocks *blocks, struct block_slab *slab)
{
    slab->prev = NULL;
    slab->next = blocks->open[slab->block_class];
    if (slab->next != NULL)
        slab->next->prev = slab;
    blocks->open[slab->block_class] = slab;
}

static void slab_close(struct blocks *blocks, struct block_slab *slab)
{
    if (slab->next != NULL)
        slab->next->prev = slab->prev;
    if (slab->prev != NULL)
        slab->prev->next = slab->next;
    else
        blocks->open[slab->block_class] = slab->next;
}

/* Counts fit into 16 bits: the smallest blocks have 192 bytes. */
static COLD struct block_slab *slab_new(struct blocks *blocks, unsigned block_class)
{
    unsigned char *start = slab_take(blocks);
    struct block_slab *slab;

    if (start == NULL)
        return NULL;
    slab = slab_of(start);
    *slab = (struct block_slab){
        .count = (uint16_t)((SLAB_SIZE - SLAB_HEAD) / block_size(block_class)),
        .block_class = (uint8_t)block_class,
    };
    slab_open(blocks, slab);
    return slab;
}

static void *slab_get(struct blocks *blocks, unsigned block_class)
{
    struct block_slab *slab = blocks->open[block_class];
    void *data;

    if (UNLIKELY(slab == NULL) && (slab = slab_new(blocks, block_class)) == NULL)
        return NULL;
    data = slab->free;
    if (data != NULL)
        slab->free = *(void **)data;
    else
        data = slab_start(slab) + SLAB_HEAD + slab->fresh++ * block_size(block_class);
    if (++slab->used == slab->count)
        slab_close(blocks, slab);
    idle_memory_change(&blocks->idle, -(int64_t)block_size(block_class));
    return data;
}

/* Two for each slab that becomes empty: those from before memory was scarce go as well. */
static COLD void slab_empty(struct blocks *blocks, struct block_slab *slab)
{
    slab_close(blocks, slab);
    slab->next = blocks->empty;
    blocks->empty = slab;
    blocks->empty_count++;
    for (unsigned i = 0; i < 2; i++) {
        if (blocks->empty_count <= RETAINED_LIMIT || !traffic_memory_is_scarce())
            return;
        slab = blocks->empty;
        blocks->empty = slab->next;
        blocks->empty_count--;
        drop(blocks, slab_start(slab), SLAB_SIZE);
        slab->next = blocks->dropped;
        blocks->dropped = slab;
    }
}

/* The last open slab of a class stays with it, or it might be taken and returned for each block. */
static void slab_put(struct blocks *blocks, void *data)
{
    struct block_slab *slab = slab_of(data);

    *(void **)data = slab->free;
    slab->free = data;
    if (slab->used-- == slab->count)
        slab_open(blocks, slab);
    idle_memory_change(&blocks->idle, (int64_t)block_size(slab->block_class));
    if (slab->used == 0 && (slab->next != NULL || slab->prev != NULL))
        slab_empty(blocks, slab);
}

/* ---- large classes: few blocks per slab ---- */

static void list_put(struct blocks *blocks, void *data, unsigned large_class)
{
    *(void **)data = blocks->list[large_class].free;
    blocks->list[large_class].free = data;
    blocks->list[large_class].free_count++;
}

/* A block without its pages, or a slab divided into blocks of the class. The slab stays with that
 * class. */
static COLD void *fill_list(struct blocks *blocks, unsigned large_class)
{
    uint32_t size = block_size(SLAB_CLASSES + large_class);
    unsigned char *data = blocks->list[large_class].dropped;

    if (data != NULL && restore(blocks, size)) {
        blocks->list[large_class].dropped = *(void **)data;
        return data;
    }
    data = slab_take(blocks);
    for (uint32_t at = size; data != NULL && at < SLAB_SIZE; at += size)
        list_put(blocks, data + at, large_class);
    return data;
}

static void *list_get(struct blocks *blocks, unsigned large_class)
{
    void *data = blocks->list[large_class].free;

    if (LIKELY(data != NULL)) {
        blocks->list[large_class].free = *(void **)data;
        blocks->list[large_class].free_count--;
    } else if ((data = fill_list(blocks, large_class)) == NULL) {
        return NULL;
    }
    idle_memory_change(&blocks->idle, -(int64_t)block_size(SLAB_CLASSES + large_class));
    return data;
}

static COLD void drop_listed(struct blocks *blocks, unsigned large_class)
{
    void *data = blocks->list[large_class].free;

    blocks->list[large_class].free = *(void **)data;
    blocks->list[large_class].free_count--;
    drop(blocks, data, block_size(SLAB_CLASSES + large_class));
    *(void **)data = blocks->list[large_class].dropped;
    blocks->list[large_class].dropped = data;
}

/* Two for each one returned, as with slabs. */
static void list_return(struct blocks *blocks, void *data, unsigned large_class)
{
    list_put(blocks, data, large_class);
    idle_memory_change(&blocks->idle, (int64_t)block_size(SLAB_CLASSES + large_class));
    for (unsigned i = 0; i < 2; i++)
        if (blocks->list[large_class].free_count > RETAINED_LIMIT && traffic_memory_is_scarce())
            drop_listed(blocks, large_class);
}

static COLD void *large_get(struct blocks *blocks, unsigned block_class)
{
    size_t size = sizeof(struct block_large) + block_size(block_class);
    struct block_large *large = pages_map(size, CACHE_LINE);

    if (large == NULL)
        return NULL;
    large->size = size;
    large->prev = NULL;
    large->next = blocks->large;
    if (large->next != NULL)
        large->next->prev = large;
    blocks->large = large;
    return large->data;
}

static COLD void large_put(struct blocks *blocks, void *data)
{
    struct block_large *large =
        (struct block_large *)((unsigned char *)data - offsetof(struct block_large, data));

    if (large->prev != NULL)
        large->prev->next = large->next;
    else
        blocks->large = large->next;
    if (large->next != NULL)
        large->next->prev = large->prev;
    pages_unmap(large, large->size);
}

/* NULL without memory, or for a class that does not exist. */
void *block_get(struct blocks *blocks, unsigned block_class)
{
    if (UNLIKELY(block_class >= BLOCK_CLASSES))
        return block_class <= BLOCK_CLASS_MAX ? large_get(blocks, block_class) : NULL;
    if (LIKELY(block_class < SLAB_CLASSES))
        return slab_get(blocks, block_class);
    return list_get(blocks, block_class - SLAB_CLASSES);
}

void block_put(struct blocks *blocks, void *data, unsigned block_class)
{
    if (UNLIKELY(block_class >= BLOCK_CLASSES))
        large_put(blocks, data);
    else if (LIKELY(block_class < SLAB_CLASSES))
        slab_put(blocks, data);
    else
        list_return(blocks, data, block_class - SLAB_CLASSES);
}

/* All blocks are returned by then, or their streams are freed with them. */
void blocks_fini(struct blocks *blocks)
{
    pages_add_dropped(blocks->dropped_bytes);
    blocks->dropped_bytes = 0;
    idle_memory_fini(&blocks->idle);
    while (blocks->regions != NULL) {
        struct block_region *next = blocks->regions->next;

        pages_unmap(blocks->regions->start, blocks->regions->size);
        free(blocks->regions);
        blocks->regions = next;
    }
    while (blocks->large != NULL) {
        struct block_large *next = blocks->large->next;

        pages_unmap(blocks->large, blocks->large->size);
        blocks->large = next;
    }
}
