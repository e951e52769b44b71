/* SPDX-License-Identifier: GPL-2.0-or-later */
/* stream/blocks.h - memory for stream data: blocks of 192 to 320 bytes in steps of 32, then four
 * sizes for each doubling up to 8 KiB (384, 448, 512, 640 ...), then in powers of two to 64 KiB.
 * Larger ones, for streams with a large depth or none, come from the kernel. One thread.
 *
 * Slabs of 64 KiB are divided into blocks of one size each. A slab without a block in use serves
 * any size: streams that grow together free their smaller blocks together. What is free counts as
 * idle, and when memory is scarce all but a little returns to the system. */
#ifndef STREAM_BLOCKS_H
#define STREAM_BLOCKS_H

#include "base/base.h"
#include "base/memory/traffic_memory.h"

#define BLOCK_SLAB_SIZE (64u << 10)
#define BLOCK_CLASSES 27                /* to 65536 from slabs */
#define BLOCK_CLASS_MAX 38              /* 256 MiB: the most that a stream holds */

#define SLAB_CLASSES 24                 /* to 8192: many blocks per slab */

struct block_slab;
struct block_region;
struct block_large;

struct blocks {
    struct block_slab *open[SLAB_CLASSES];      /* slabs with a free block */
    struct block_slab *empty, *dropped;         /* slabs without a size; without their pages */
    unsigned empty_count;
    struct {
        void *free, *dropped;                   /* dropped: blocks without their pages */
        unsigned free_count;
    } list[BLOCK_CLASSES - SLAB_CLASSES];
    size_t dropped_bytes;
    struct idle_memory idle;
    struct block_region *regions;
    unsigned region_count;
    uint32_t region_left;                       /* slabs left of the newest region */
    uint32_t grown;                             /* slabs that were taken from regions so far */
    struct block_large *large;
};

/* Most data that wait, for an ACK or for rules, are short, so small classes have finer steps. */
static inline uint32_t block_size(unsigned block_class)
{
    static const uint16_t small[SLAB_CLASSES] = { 192,  224,  256,  288,  320,  384,
                                                  448,  512,  640,  768,  896,  1024,
                                                  1280, 1536, 1792, 2048, 2560, 3072,
                                                  3584, 4096, 5120, 6144, 7168, 8192 };

    return block_class < SLAB_CLASSES ? small[block_class]
                                      : 16384u << (block_class - SLAB_CLASSES);
}

/* Returns the smallest class for `size`; above BLOCK_CLASS_MAX when there is none. */
static inline unsigned block_class_for(uint64_t size)
{
    uint64_t last = size - 1;
    unsigned bit;

    if (size <= 320)
        return size <= 192 ? 0 : (unsigned)(last - 160) / 32;
    bit = 63 - (unsigned)__builtin_clzll(last);
    if (bit < 13)
        return 4 + (bit - 8) * 4 + (last >> (bit - 2) & 3);
    return SLAB_CLASSES + (bit - 13);
}

void *block_get(struct blocks *blocks, unsigned block_class);      /* NULL: out of memory */
void block_put(struct blocks *blocks, void *data, unsigned block_class);
void blocks_fini(struct blocks *blocks);        /* frees all blocks, in use or not */

#endif
