/* SPDX-License-Identifier: GPL-2.0-or-later */
/* base/memory/packed_arena.h - an arena of objects that are seldom read.
 *
 * packed_arena_close() packs all of it, PACKED_CHUNK bytes at a time, and returns the pages to the
 * system. The objects keep their addresses: packed_read() brings back what is at one of them, and
 * what has been read stays. Nothing is packed without libzstd or liblz4, or with large pages.
 *
 * One thread fills an arena and closes it. After that any thread reads. */
#ifndef BASE_PACKED_ARENA_H
#define BASE_PACKED_ARENA_H

#include "base/base.h"

/* Also the largest object. */
#define PACKED_CHUNK 8192u

struct packed_region;
struct packer;                  /* base/memory/packer.h */

struct packed_arena {
    struct packed_region *regions;      /* the newest first */
    size_t used;                        /* bytes allocated */
    bool closed;
};

/* All zeros is an empty arena. */
void packed_arena_fini(struct packed_arena *arena);
/* Zeroed, aligned to 8. NULL: it is too large for a chunk. */
void *packed_arena_alloc(struct packed_arena *arena, size_t size);
/* Nothing is allocated from then on. Several arenas may have the same packer. */
void packed_arena_close(struct packed_arena *arena, struct packer *packer);
void packed_arena_read_all(struct packed_arena *arena);

/* Call it before an object of an arena is read. */
void packed_read(const void *object);

#endif
