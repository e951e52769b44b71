/* SPDX-License-Identifier: GPL-2.0-or-later */
/* stream/blocks.h - memory for stream data: blocks of 192 to 320 bytes by 32, 384, 512, 768 and
 * so on to 8 KiB, then in powers of two to 64 KiB; larger ones, of deep unlimited streams, come
 * from malloc. One thread.
 *
 * Blocks are cut from slabs of 64 KiB, those of one slab to one size. A slab of which no block is
 * in use serves any size: streams that grow together leave smaller blocks behind together. */
#ifndef STREAM_BLOCKS_H
#define STREAM_BLOCKS_H

#include "base/base.h"

#define BLOCK_CLASSES 18                /* to 65536 from slabs */
#define BLOCK_CLASS_MAX 29              /* 256 MiB: no stream holds more */

#define SLAB_CLASSES 15                 /* to 8192: many to a slab */

struct block_slab;
struct block_region;
struct block_large;

struct blocks {
    struct block_slab *open[SLAB_CLASSES];      /* those with a block to give */
    struct block_slab *empty;                   /* of no size */
    void *free_list[BLOCK_CLASSES - SLAB_CLASSES];
    struct block_region *regions;
    unsigned region_count;
    uint32_t region_left;                       /* slabs of the latest region */
    struct block_large *large;
};

/* Most of what waits, to be acknowledged or for rules, is small: there the steps are finer. */
static inline uint32_t block_size(unsigned block_class)
{
    static const uint16_t small[SLAB_CLASSES] = { 192,  224,  256,  288,  320,
                                                  384,  512,  768,  1024, 1536,
                                                  2048, 3072, 4096, 6144, 8192 };

    return block_class < SLAB_CLASSES ? small[block_class]
                                      : 16384u << (block_class - SLAB_CLASSES);
}

/* The smallest class that holds size; above BLOCK_CLASS_MAX when none does. */
static inline unsigned block_class_for(uint64_t size)
{
    uint64_t last = size - 1;
    unsigned bit;

    if (size <= 320)
        return size <= 192 ? 0 : (unsigned)(last - 160) / 32;
    bit = 63 - (unsigned)__builtin_clzll(last);
    if (bit < 13)
        return 5 + (bit - 8) * 2 + (last >> (bit - 1) & 1);
    return SLAB_CLASSES + (bit - 13);
}

void *block_get(struct blocks *blocks, unsigned block_class);      /* NULL: no memory */
void block_put(struct blocks *blocks, void *data, unsigned block_class);
void blocks_fini(struct blocks *blocks);        /* all die, in use or not */

#endif
