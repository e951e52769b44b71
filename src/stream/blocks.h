/* SPDX-License-Identifier: GPL-2.0-or-later */
/* stream/blocks.h - memory for stream data: blocks of 256 bytes to 64 KiB in powers of two, kept
 * in free lists; larger ones, of deep unlimited streams, come from malloc. One thread. */
#ifndef STREAM_BLOCKS_H
#define STREAM_BLOCKS_H

#include "base/base.h"

#define BLOCK_SMALLEST 256u
#define BLOCK_CLASSES 9                 /* 256 ... 65536 from slabs */
#define BLOCK_CLASS_MAX 20              /* 256 MiB: no stream holds more */

struct block_slab;
struct block_large;

struct blocks {
    void *free_list[BLOCK_CLASSES];
    struct block_slab *slabs;
    unsigned slab_count;
    struct block_large *large;
};

static inline uint32_t block_size(unsigned block_class)
{
    return BLOCK_SMALLEST << block_class;
}

/* The smallest class that holds size; above BLOCK_CLASS_MAX when none does. */
static inline unsigned block_class_for(uint64_t size)
{
    if (size <= BLOCK_SMALLEST)
        return 0;
    return 64 - (unsigned)__builtin_clzll((size - 1) / BLOCK_SMALLEST);
}

void *block_get(struct blocks *blocks, unsigned block_class);      /* NULL: no memory */
void block_put(struct blocks *blocks, void *data, unsigned block_class);
void blocks_fini(struct blocks *blocks);        /* all die, in use or not */

#endif
