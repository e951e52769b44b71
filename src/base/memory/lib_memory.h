/* SPDX-License-Identifier: GPL-2.0-or-later */
/* base/memory/lib_memory.h - malloc() and its kin, to be given to libraries that allocate per
 * packet.
 *
 * Taken from a heap of the calling thread (base/memory/heap.h), which is made when first asked for
 * and dies with the thread. Libraries call their allocator without a context, so this is the one
 * place that has to know on which thread it is. In all builds but the release build it is the C
 * library's allocator: sanitizers and debuggers want to see each block. */
#ifndef BASE_LIB_MEMORY_H
#define BASE_LIB_MEMORY_H

#include "base/base.h"

void *lib_malloc(size_t size);
void *lib_calloc(size_t n, size_t size);
void *lib_realloc(void *block, size_t size);
char *lib_strdup(const char *text);
void lib_free(void *block);

/* The same with a first argument for a context: as brotli, zlib and others want them. */
void *lib_malloc_for(void *unused, size_t size);
void *lib_zalloc(void *unused, unsigned n, unsigned size);
void lib_free_for(void *unused, void *block);

#endif
