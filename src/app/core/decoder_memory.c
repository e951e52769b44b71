/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/core/decoder_memory.c - memory of decompressors, counted against one memcap
 * (app_proto.shares_limits). */
#include "app/core/decoder_memory.h"

#include "app/core/settings.h"
#include "app/core/thread.h"
#include "base/memory/lib_memory.h"

#include <stdio.h>

#define MEMCAP ((uint64_t)256 << 20)
#define WINDOW_LIMIT ((uint64_t)4 << 20)
#define LARGE_BLOCK ((size_t)256 << 10)
#define BLOCK_HEAD 16 /* holds the block's size, and keeps the alignment of malloc() */
/* Memory that a decoder allocates in one block in addition to its window: libbrotli 542 bytes for
 * writes beyond the end, libzstd two blocks of 128 KiB. */
#define WINDOW_SLACK ((size_t)320 << 10)

/* Settings under app-layer.protocols.http, read once at start. */
void app_decoders_read(struct app_decoders *d, const struct app_proto *proto,
                       const struct conf_node *node)
{
    char counter[64];

    snprintf(counter, sizeof(counter), "%s.memcap", proto != NULL ? proto->name : "decoders");
    d->memory.limit = conf_size(node, "memcap", MEMCAP);
    d->memory.counted = true;
    d->window_limit = conf_size(node, "decompression-window-limit", WINDOW_LIMIT);
    d->refused = counter_register(counter, COUNTER_SUM);
}

/* Remembers why, so that the parser can raise the right event after the library has only reported
 * that an allocation failed. */
static bool refuse(struct decoder_memory *m, enum decoder_refusal why)
{
    struct app_thread *at = m->flow->thread;

    m->refusal = why;
    counter_inc(at->counters, at->conf->decoders.refused);
    return false;
}

/* Counts first and takes back on refusal: two threads may then both be refused near the limit, but
 * the sum never stays beyond it. A large block may only use half of the memcap, so that a few large
 * windows cannot shut out the many small decoders. */
size_t decoder_memory_largest(const struct decoder_memory *m)
{
    return m->flow->thread->conf->decoders.window_limit + WINDOW_SLACK;
}

bool decoder_memory_take(struct decoder_memory *m, size_t size)
{
    struct app_decoders *d = &((struct app_conf *)(uintptr_t)m->flow->thread->conf)->decoders;
    uint64_t limit = __atomic_load_n(&d->memory.limit, __ATOMIC_RELAXED);

    if (size > decoder_memory_largest(m))
        return refuse(m, DECODER_WINDOW_TOO_LARGE);
    if (size > LARGE_BLOCK)
        limit /= 2;
    if (__atomic_add_fetch(&d->memory.used, size, __ATOMIC_RELAXED) > limit && limit != 0) {
        __atomic_sub_fetch(&d->memory.used, size, __ATOMIC_RELAXED);
        return refuse(m, DECODER_AT_MEMCAP);
    }
    m->used += size;
    return true;
}

/* The size must be the one that was taken. */
void decoder_memory_return(struct decoder_memory *m, size_t size)
{
    struct app_decoders *d = &((struct app_conf *)(uintptr_t)m->flow->thread->conf)->decoders;

    __atomic_sub_fetch(&d->memory.used, size, __ATOMIC_RELAXED);
    m->used -= size;
}

/* Signature of ZSTD_allocFunction and brotli_alloc_func. The size is stored before the block,
 * because neither library passes it to free. */
void *decoder_memory_alloc(void *context, size_t size)
{
    struct decoder_memory *m = context;
    uint8_t *block;

    if (size > SIZE_MAX - BLOCK_HEAD || !decoder_memory_take(m, size + BLOCK_HEAD))
        return NULL;
    block = lib_malloc(size + BLOCK_HEAD);
    if (block == NULL) {
        decoder_memory_return(m, size + BLOCK_HEAD);
        return NULL;
    }
    *(size_t *)(void *)block = size + BLOCK_HEAD;
    return block + BLOCK_HEAD;
}

void decoder_memory_free(void *context, void *block)
{
    uint8_t *start = block;

    if (block == NULL)
        return;
    start -= BLOCK_HEAD;
    decoder_memory_return(context, *(size_t *)(void *)start);
    lib_free(start);
}

/* For a library that refuses the window by itself, before it allocates anything. */
void decoder_memory_refuse_window(struct decoder_memory *m)
{
    refuse(m, DECODER_WINDOW_TOO_LARGE);
}

/* RFC 7932, 9.1: the WBITS pattern 0010001 must not be used. Encoders with the large-window
 * extension begin with it, so the refusal is reported as "window too large", not as "bad data". */
bool decoder_memory_is_large_brotli(struct decoder_memory *m, uint8_t first)
{
    if ((first & 0x7f) != 0x11)
        return false;
    refuse(m, DECODER_WINDOW_TOO_LARGE);
    return true;
}
