/* SPDX-License-Identifier: GPL-2.0-or-later */
/* base/memory/arena.h - memory that is freed together.
 *
 * Bump allocation from blocks; single allocations cannot be freed. arena_reset() keeps the blocks,
 * so that an arena that has reached its working size never calls the allocator again. One thread
 * may use an arena. With a limit, arena_alloc() returns NULL at the limit; without one it never
 * does. */
#ifndef BASE_ARENA_H
#define BASE_ARENA_H

#include "base/base.h"
#include "base/text/bytes.h"
#include "base/text/text.h"

struct arena_block;

struct arena {
    struct arena_block *first, *current;
    size_t used;                        /* bytes allocated */
    uint32_t block_size, limit;         /* limit 0: none */
};

void arena_init(struct arena *arena, uint32_t block_size, uint32_t limit);
void arena_fini(struct arena *arena);
void arena_reset(struct arena *arena);

/* Not cleared. Aligned to 8, and to 16 if the size is a multiple of 16; texts are not aligned. */
void *arena_alloc(struct arena *arena, size_t size);
void *arena_zalloc(struct arena *arena, size_t size);
void *arena_copy(struct arena *arena, const void *data, size_t size);
struct slice arena_slice(struct arena *arena, struct slice s);      /* a copy; empty: no memory */
char *arena_text(struct arena *arena, struct text t);      /* with a NUL */
char *arena_printf(struct arena *arena, const char *fmt, ...) PRINTF(2, 3);

#endif
