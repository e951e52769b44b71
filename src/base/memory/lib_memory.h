/* SPDX-License-Identifier: GPL-2.0-or-later */
/* base/memory/lib_memory.h - malloc() and related functions for libraries that allocate per packet.
 *
 * They use a heap of the calling thread (base/memory/heap.h). The first call creates it; the end of
 * the thread frees it. Libraries call their allocator without a context, so only this file has to
 * find the calling thread. Builds other than the release build use the C library's allocator,
 * because sanitizers and debuggers must see each block. */
#ifndef BASE_LIB_MEMORY_H
#define BASE_LIB_MEMORY_H

#include "base/base.h"

void *lib_malloc(size_t size);
void *lib_calloc(size_t n, size_t size);
void *lib_realloc(void *block, size_t size);
char *lib_strdup(const char *text);
void lib_free(void *block);
/* How much a block for so many bytes has: the rest of it costs nothing. */
size_t lib_block_size(size_t size);

/* The same functions with an unused first argument, which brotli, zlib and others pass. */
void *lib_malloc_for(void *unused, size_t size);
void *lib_zalloc(void *unused, unsigned n, unsigned size);
void lib_free_for(void *unused, void *block);

#endif
