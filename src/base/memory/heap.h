/* SPDX-License-Identifier: GPL-2.0-or-later */
/* base/memory/heap.h - blocks of any size, for libraries that need malloc() while packets flow.
 *
 * A heap belongs to one thread. Blocks have one of about sixty sizes, and a slab has blocks of one
 * size; an empty slab serves any. Once there are enough slabs, a thread takes all blocks from them,
 * without a lock or an allocator call. Memory that is free counts as idle. The heap returns it to
 * the system when memory is scarce (traffic_memory_is_scarce()) or the heap is freed. */
#ifndef BASE_HEAP_H
#define BASE_HEAP_H

#include "base/base.h"

struct heap;

struct heap *heap_new(void);            /* NULL when memory is out */

/* The heap's thread calls this when it stops using it. NULL is allowed. Returns false when blocks
 * are still in use: the heap then lives until other threads have freed the last of them. */
bool heap_free(struct heap *heap);

/* Returns 16-byte aligned memory, not cleared; NULL when memory is out. */
void *heap_get(struct heap *heap, size_t size);
void *heap_get_zeroed(struct heap *heap, size_t n, size_t size);

/* Like realloc() and free(). Any thread may free a block of another thread's heap: it passes its
 * own heap as `heap`, and the block returns to its owner. */
void *heap_resize(struct heap *heap, void *block, size_t size);
void heap_put(struct heap *heap, void *block);

/* How much a block for so many bytes has. */
size_t heap_block_size(size_t size);
size_t heap_in_use(const struct heap *heap);    /* blocks */

#endif
