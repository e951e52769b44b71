/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/core/decoder_memory.c - memory of decompressors, counted against one memcap
 * (app_proto.shares_limits). */
#include "app/core/decoder_memory.h"

#include "app/core/settings.h"
#include "app/core/thread.h"
#include "base/memory/lib_memory.h"
#include "packet/seqno.h"
#include "sequencer/sequencer.h"

#include <stdio.h>

#define MEMCAP ((uint64_t)192 << 20)
#define WINDOW_LIMIT ((uint64_t)4 << 20)
#define MUCH ((uint64_t)8 << 20)
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

size_t decoder_memory_largest(const struct decoder_memory *m)
{
    return m->flow->thread->conf->decoders.window_limit + WINDOW_SLACK;
}

static struct app_decoders *shared_by(const struct app_flow *af)
{
    return &((struct app_conf *)(uintptr_t)af->thread->conf)->decoders;
}

static uint64_t limit_of(const struct app_decoders *d)
{
    return __atomic_load_n(&d->memory.limit, __ATOMIC_RELAXED);
}

/* Counts first and takes back on refusal: two threads may then both be refused near the limit, but
 * the sum never stays beyond it. Limit 0: none. */
static bool add_below(uint64_t *sum, size_t size, uint64_t limit)
{
    if (__atomic_add_fetch(sum, size, __ATOMIC_RELAXED) <= limit || limit == 0)
        return true;
    __atomic_sub_fetch(sum, size, __ATOMIC_RELAXED);
    return false;
}

/* Blocks that are not large: decoders, and what they have decompressed. */
static bool take_small(struct app_decoders *d, size_t size)
{
    uint64_t limit = limit_of(d), large = __atomic_load_n(&d->large, __ATOMIC_RELAXED);

    return add_below(&d->memory.used, size, limit == 0 ? 0 : limit / 2 + MIN(large, limit / 2));
}

/* Each class may only use half of the memcap, so that a few large windows cannot shut out the many
 * small decoders, and the other way round. */
bool decoder_memory_take(struct decoder_memory *m, size_t size)
{
    struct app_decoders *d = shared_by(m->flow);

    if (size > decoder_memory_largest(m))
        return refuse(m, DECODER_WINDOW_TOO_LARGE);
    if (size <= LARGE_BLOCK && !take_small(d, size))
        return refuse(m, DECODER_AT_MEMCAP);
    if (size > LARGE_BLOCK && !add_below(&d->large, size, limit_of(d) / 2))
        return refuse(m, DECODER_AT_MEMCAP);
    if (size > LARGE_BLOCK)
        __atomic_add_fetch(&d->memory.used, size, __ATOMIC_RELAXED);
    m->used += size;
    return true;
}

/* The size must be the one that was taken. */
void decoder_memory_return(struct decoder_memory *m, size_t size)
{
    struct app_decoders *d = shared_by(m->flow);

    __atomic_sub_fetch(&d->memory.used, size, __ATOMIC_RELAXED);
    if (size > LARGE_BLOCK)
        __atomic_sub_fetch(&d->large, size, __ATOMIC_RELAXED);
    m->used -= size;
}

/* Decompressed content may use half of what small blocks may use. */
bool unpacked_memory_set(struct app_flow *af, uint32_t *held, uint32_t now)
{
    struct app_decoders *d = shared_by(af);
    size_t less = *held > now ? *held - now : 0, more = now > *held ? now - *held : 0;

    if (less > 0) {
        __atomic_sub_fetch(&d->memory.used, less, __ATOMIC_RELAXED);
        __atomic_sub_fetch(&d->unpacked, less, __ATOMIC_RELAXED);
    }
    if (more > 0 && !add_below(&d->unpacked, more, limit_of(d) / 4)) {
        counter_inc(af->thread->counters, d->refused);
        return false;
    }
    if (more > 0 && !take_small(d, more)) {
        __atomic_sub_fetch(&d->unpacked, more, __ATOMIC_RELAXED);
        counter_inc(af->thread->counters, d->refused);
        return false;
    }
    *held = now;
    return true;
}

bool unpacked_memory_is_scarce(const struct app_flow *af)
{
    const struct app_decoders *d = shared_by(af);
    uint64_t limit = limit_of(d);

    return limit != 0 && __atomic_load_n(&d->unpacked, __ATOMIC_RELAXED) > limit / 8;
}

bool decoder_memory_is_much(const struct app_flow *af)
{
    const struct app_decoders *d = shared_by(af);
    const uint64_t used = __atomic_load_n(&d->memory.used, __ATOMIC_RELAXED),
                   unpacked = __atomic_load_n(&d->unpacked, __ATOMIC_RELAXED);

    return used - MIN(used, unpacked) > MUCH;
}

bool unpacked_memory_is_much(const struct app_flow *af)
{
    const struct app_decoders *d = shared_by(af);
    uint64_t limit = limit_of(d);

    return __atomic_load_n(&d->unpacked, __ATOMIC_RELAXED) > (limit != 0 ? limit : MEMCAP) / 48;
}

#define OUTPUT_SHARED (UINT64_C(32) << 20)
#define OUTPUT_PIECE (4u << 10)

/* The share refills by a byte in each microsecond. `drawn_until` is the time at which it is full
 * again: a draw moves it on by its size, and may move it as far ahead as the share is large. */
static bool draw_of_all(struct app_decoders *d, size_t size, uint64_t now_us)
{
    uint64_t until = __atomic_load_n(&d->drawn_until, __ATOMIC_RELAXED), next;

    do {
        next = MAX(until, now_us) + size;
        if (next > now_us + OUTPUT_SHARED)
            return false;
    } while (!__atomic_compare_exchange_n(&d->drawn_until, &until, next, true, __ATOMIC_RELAXED,
                                          __ATOMIC_RELAXED));
    return true;
}

bool decoder_output_draw(struct app_flow *af, uint64_t in, uint32_t times, uint64_t *drawn)
{
    const struct packet *p = af->thread->packet;
    const uint64_t most = decoder_output_max(in, times) - decoder_output_most(in, times, 0);
    const size_t piece = (size_t)MIN(most - MIN(most, *drawn), (uint64_t)OUTPUT_PIECE);

    if (piece == 0)
        return false;
    if (p != NULL)
        packet_seq_wait(p);
    if (!draw_of_all(shared_by(af), piece, p != NULL ? packet_order_us(p) : 0))
        return false;
    *drawn += piece;
    return true;
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
