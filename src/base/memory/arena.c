/* SPDX-License-Identifier: GPL-2.0-or-later */
/* base/memory/arena.c - bump allocation. Blocks are a list, which arena_reset() uses again from the
 * start. A request that is larger than a block gets a block of its own size, which stays in the
 * list. One thread; nothing is freed singly. */
#include "base/memory/arena.h"

#include "base/memory/lib_memory.h"
#include "base/memory/pages.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What has to be aligned to 16 bytes has a size that is a multiple of 16. Rules have half a million
 * objects and texts, so each is only aligned as it needs. */
#define WIDE_ALIGN ((size_t)16)
#define ARENA_ALIGN ((size_t)8)
/* Arenas with smaller blocks than this are many (one per flow or transaction). */
#define SMALL_BLOCKS ((size_t)4096)
/* Arenas with blocks from this size on are a ruleset's. malloc() keeps freed blocks below its
 * growing threshold: after two reloads a process had 182 MB of which 84 were needed. Pages go
 * back. */
#define LARGE_BLOCKS ((size_t)256 << 10)

struct arena_block {
    struct arena_block *next;
    size_t used, size;
    unsigned char data[];
};

static bool is_large(const struct arena *arena)
{
    return arena->block_size >= LARGE_BLOCKS;
}

static struct arena_block *block_new(const struct arena *arena, size_t size)
{
    size_t all = sizeof(struct arena_block) + size;

    return is_large(arena) ? pages_map(all, 0) : lib_malloc(all);
}

static void block_free(const struct arena *arena, struct arena_block *block)
{
    if (is_large(arena))
        pages_unmap(block, sizeof(*block) + block->size);
    else
        lib_free(block);
}

void arena_init(struct arena *arena, uint32_t block_size, uint32_t limit)
{
    *arena = (struct arena){ .block_size = block_size > 0 ? block_size : 4096, .limit = limit };
}

void arena_fini(struct arena *arena)
{
    struct arena_block *block = arena->first;

    while (block != NULL) {
        struct arena_block *next = block->next;

        block_free(arena, block);
        block = next;
    }
    arena->first = arena->current = NULL;
    arena->used = 0;
}

void arena_reset(struct arena *arena)
{
    arena->current = arena->first;
    if (arena->current != NULL)
        arena->current->used = 0;
    arena->used = 0;
}

/* Size of the next block. Small arenas are many and most stay small. Those that grow do so by half,
 * block by block, until blocks are a page. */
static size_t next_size(const struct arena *arena, const struct arena_block *last)
{
    if (last == NULL || arena->block_size >= SMALL_BLOCKS)
        return arena->block_size;
    if (last == arena->first)
        return MAX(last->size / 2, arena->block_size);
    return MIN(MAX(last->size + last->size / 2, arena->block_size), SMALL_BLOCKS);
}

/* With what the allocator would leave unused behind it. */
static size_t usable_size(const struct arena *arena, size_t size)
{
    return is_large(arena) ? size : lib_block_size(sizeof(struct arena_block) + size) -
                                        sizeof(struct arena_block);
}

/* A block after the current one with enough space: one of an earlier round, or a new one. */
static struct arena_block *block_with_space(struct arena *arena, size_t size)
{
    struct arena_block *last = arena->current, *block = last != NULL ? last->next : NULL;

    if (block != NULL && block->size >= size) {
        block->used = 0;
        arena->current = block;
        return block;
    }
    size_t block_size = usable_size(arena, MAX(next_size(arena, last), size));

    block = block_new(arena, block_size);
    if (block == NULL)
        return NULL;
    block->used = 0;
    block->size = block_size;
    block->next = last != NULL ? last->next : NULL;
    if (last != NULL)
        last->next = block;
    else
        arena->first = block;
    arena->current = block;
    return block;
}

/* Bytes before `used` is aligned. */
static inline size_t padding(const struct arena_block *block, size_t align)
{
    return -(uintptr_t)(block->data + block->used) & (align - 1);
}

/* NULL only for arenas with a limit. A new block has space for the padding. */
static void *take(struct arena *arena, size_t size, size_t align)
{
    struct arena_block *block = arena->current;
    size_t all;
    void *p;

    if (UNLIKELY(size > SIZE_MAX / 2))
        size = SIZE_MAX / 2;        /* fails in the allocator */
    if (UNLIKELY(arena->limit > 0 && size > arena->limit - MIN(arena->used, arena->limit)))
        return NULL;
    all = block != NULL ? padding(block, align) + size : 0;
    if (UNLIKELY(block == NULL || block->size - block->used < all)) {
        block = block_with_space(arena, size + align - 1);
        if (block == NULL)
            return NULL;
        all = padding(block, align) + size;
    }
    p = block->data + block->used + (all - size);
    block->used += all;
    arena->used += all;
    return p;
}

void *arena_alloc(struct arena *arena, size_t size)
{
    return take(arena, size, size % WIDE_ALIGN == 0 ? WIDE_ALIGN : ARENA_ALIGN);
}

void *arena_zalloc(struct arena *arena, size_t size)
{
    void *p = arena_alloc(arena, size);

    return p != NULL ? memset(p, 0, size) : NULL;
}

void *arena_copy(struct arena *arena, const void *data, size_t size)
{
    void *p = arena_alloc(arena, size);

    if (p != NULL && size > 0)
        memcpy(p, data, size);
    return p;
}

struct slice arena_slice(struct arena *arena, struct slice s)
{
    void *p = take(arena, s.len, 1);

    if (p != NULL && s.len > 0)
        memcpy(p, s.data, s.len);
    return (struct slice){ .data = p, .len = p != NULL ? s.len : 0 };
}

char *arena_text(struct arena *arena, struct text t)
{
    char *p = take(arena, t.n + 1, 1);

    if (p == NULL)
        return NULL;
    if (t.n > 0)
        memcpy(p, t.p, t.n);
    p[t.n] = '\0';
    return p;
}

char *arena_printf(struct arena *arena, const char *fmt, ...)
{
    va_list args;
    int n;
    char *p;

    va_start(args, fmt);
    n = vsnprintf(NULL, 0, fmt, args);
    va_end(args);
    p = take(arena, (size_t)MAX(n, 0) + 1, 1);
    if (p == NULL)
        return NULL;
    va_start(args, fmt);
    vsnprintf(p, (size_t)MAX(n, 0) + 1, fmt, args);
    va_end(args);
    return p;
}
