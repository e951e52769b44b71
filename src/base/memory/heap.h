/* SPDX-License-Identifier: GPL-2.0-or-later */
/* base/memory/heap.h - blocks of any size, for libraries that want a malloc() while packets flow.
 *
 * A heap belongs to one thread. Blocks are of some sixty sizes and go back to a list of their
 * size, so that a thread which has seen its traffic takes all it needs from there: no lock, no
 * allocator. Memory goes back to the system when the heap does. */
#ifndef BASE_HEAP_H
#define BASE_HEAP_H

#include "base/base.h"

struct heap;

struct heap *heap_new(void);            /* NULL when memory is out */

/* By its thread, which does not use it any more. With blocks still in use false comes back: the
 * heap stays until others have given back the last of them. NULL is fine. */
bool heap_free(struct heap *heap);

/* Aligned to 16, not cleared; NULL when memory is out. */
void *heap_get(struct heap *heap, size_t size);
void *heap_get_zeroed(struct heap *heap, size_t n, size_t size);

/* As realloc() and free(). A block of another thread's heap finds its way home: any thread may
 * give it back, `heap` being its own. */
void *heap_resize(struct heap *heap, void *block, size_t size);
void heap_put(struct heap *heap, void *block);

size_t heap_in_use(const struct heap *heap);    /* blocks */

#endif
