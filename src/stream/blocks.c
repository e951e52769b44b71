/* SPDX-License-Identifier: GPL-2.0-or-later */
/* stream/blocks.c - free lists by size, filled a slab at a time. */
#include "stream/blocks.h"

#include <stdlib.h>

#define SLAB_SIZE (256u << 10)

struct block_slab {
    struct block_slab *next;
    CACHE_ALIGNED unsigned char data[];
};

struct block_large {
    struct block_large *next, *prev;
    CACHE_ALIGNED unsigned char data[];
};

static COLD void *fill_list(struct blocks *blocks, unsigned block_class)
{
    uint32_t size = block_size(block_class), count = MAX(SLAB_SIZE / size / 4, 4u);
    struct block_slab *slab = aligned_alloc(CACHE_LINE, sizeof(*slab) + (size_t)size * count);

    if (slab == NULL)
        return NULL;
    slab->next = blocks->slabs;
    blocks->slabs = slab;
    for (uint32_t i = 1; i < count; i++)
        block_put(blocks, slab->data + (size_t)i * size, block_class);
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
