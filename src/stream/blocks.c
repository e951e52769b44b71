/* SPDX-License-Identifier: GPL-2.0-or-later */
/* stream/blocks.c - free lists by size, filled a slab at a time. */
#include "stream/blocks.h"

#include <stdlib.h>
#include <sys/mman.h>

#define SLAB_SIZE (256u << 10)
#define HUGE_PAGE (2u << 20)
#define SMALL_SLABS 32          /* after so many, slabs are whole huge pages */

struct block_slab {
    struct block_slab *next;
    size_t size;
    CACHE_ALIGNED unsigned char data[];
};

struct block_large {
    struct block_large *next, *prev;
    CACHE_ALIGNED unsigned char data[];
};

/* With many streams it is the TLB that misses; few of them should not cost much memory. */
static struct block_slab *slab_new(struct blocks *blocks, size_t size)
{
    bool huge = blocks->slab_count >= SMALL_SLABS;
    struct block_slab *slab;

    size = huge ? HUGE_PAGE : MAX(size, (size_t)SLAB_SIZE);
    slab = aligned_alloc(huge ? HUGE_PAGE : CACHE_LINE, size);
    if (slab == NULL)
        return NULL;
    if (huge)
        (void)madvise(slab, size, MADV_HUGEPAGE);
    slab->size = size;
    slab->next = blocks->slabs;
    blocks->slabs = slab;
    blocks->slab_count++;
    return slab;
}

/* A larger block that nobody uses, cut up: streams that grew and went leave them behind. The pieces
 * are not joined again, and there are never more blocks than were in use of each size. */
static void *cut_larger(struct blocks *blocks, unsigned block_class)
{
    uint32_t size = block_size(block_class), left;
    unsigned from = block_class + 1;
    uint8_t *data;

    while (from < BLOCK_CLASSES && (blocks->free_list[from] == NULL || block_size(from) < 2 * size))
        from++;
    if (from >= BLOCK_CLASSES)
        return NULL;
    data = blocks->free_list[from];
    blocks->free_list[from] = *(void **)data;
    for (left = block_size(from) - size; left >= size; left -= size)
        block_put(blocks, data + left, block_class);
    return data;
}

static COLD void *fill_list(struct blocks *blocks, unsigned block_class)
{
    uint32_t size = block_size(block_class);
    void *data = cut_larger(blocks, block_class);
    struct block_slab *slab;
    size_t count;

    if (data != NULL)
        return data;
    slab = slab_new(blocks, sizeof(*slab) + 4 * (size_t)size);
    if (slab == NULL)
        return NULL;
    count = (slab->size - sizeof(*slab)) / size;
    for (size_t i = count; i-- > 1;)
        block_put(blocks, slab->data + i * size, block_class);
    return slab->data;
}

static COLD void *large_get(struct blocks *blocks, unsigned block_class)
{
    struct block_large *large =
        aligned_alloc(CACHE_LINE, sizeof(*large) + block_size(block_class));

    if (large == NULL)
        return NULL;
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
    free(large);
}

void *block_get(struct blocks *blocks, unsigned block_class)
{
    void *data;

    if (UNLIKELY(block_class >= BLOCK_CLASSES))
        return block_class <= BLOCK_CLASS_MAX ? large_get(blocks, block_class) : NULL;
    data = blocks->free_list[block_class];
    if (UNLIKELY(data == NULL))
        return fill_list(blocks, block_class);
    blocks->free_list[block_class] = *(void **)data;
    return data;
}

void block_put(struct blocks *blocks, void *data, unsigned block_class)
{
    if (UNLIKELY(block_class >= BLOCK_CLASSES)) {
        large_put(blocks, data);
        return;
    }
    *(void **)data = blocks->free_list[block_class];
    blocks->free_list[block_class] = data;
}

void blocks_fini(struct blocks *blocks)
{
    while (blocks->slabs != NULL) {
        struct block_slab *next = blocks->slabs->next;

        free(blocks->slabs);
        blocks->slabs = next;
    }
    while (blocks->large != NULL) {
        struct block_large *next = blocks->large->next;

        free(blocks->large);
        blocks->large = next;
    }
}
