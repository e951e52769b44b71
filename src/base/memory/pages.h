/* SPDX-License-Identifier: GPL-2.0-or-later */
/* base/memory/pages.h - large memory from the kernel, counted with what traffic makes grow.
 *
 * For slabs and tables. malloc() gets an aligned block by allocating one that is larger by the
 * alignment and by freeing the ends: regions of 2 MiB doubled the memory of the process, and no
 * later request of that size fits into an end. */
#ifndef BASE_PAGES_H
#define BASE_PAGES_H

#include "base/base.h"

/* Zeroed; `align` is a power of two. NULL: refused, by the limit or by the system. */
void *pages_map(size_t size, size_t align);
void pages_unmap(void *start, size_t size);

/* A huge page in place of small ones saves misses of the TLB where memory is accessed at random.
 * But the first access to one takes all of it. So memory that fills slowly has small pages, and
 * asks for a huge one when it is full. `start` is aligned to the size. */
#define HUGE_PAGE_SIZE ((size_t)2 << 20)
void pages_join(void *start);

/* Returns the memory of a block to the system, except its first page, and keeps the addresses.
 * `size` is a power of two, to which the block is aligned. After pages_restore() the pages count
 * again and may be used. Before pages_unmap(), pages_add_dropped() counts those that are dropped,
 * because pages_unmap() subtracts them. */
void pages_drop(void *block, size_t size);
bool pages_restore(size_t size);        /* false: refused by the limit */
void pages_add_dropped(size_t bytes);
/* How much pages_drop() returns of such a block: nothing where a page is as large. ARM has pages of
 * 4, 16 or 64 KiB. */
size_t pages_behind_first(size_t size);

#endif
