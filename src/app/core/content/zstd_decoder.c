/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/core/content/zstd_decoder.c - zstd (RFC 8878) by libzstd, with an allocator that counts. */
#include "config.h"

#include "app/core/content/zstd_decoder.h"

#ifdef HAVE_ZSTD
#define ZSTD_STATIC_LINKING_ONLY        /* for ZSTD_customMem */
#include <zstd.h>
#include <zstd_errors.h>

#include "app/core/thread.h"
#include "base/memory/lib_memory.h"

/* Owned by its HTTP body; `memory` is borrowed and outlives it. */
struct zstd_decoder {
    ZSTD_DStream *stream;
    struct decoder_memory *memory;
};

/* The largest window that the setting allows, as a power of two. libzstd checks the frame header
 * against it before it allocates (RFC 8878, 3.1.1.1.2). */
static int window_log(const struct decoder_memory *memory)
{
    uint64_t limit = memory->flow->thread->conf->decoders.window_limit;
    int log = ZSTD_WINDOWLOG_MIN;

    while (log < ZSTD_WINDOWLOG_MAX && (UINT64_C(2) << log) <= limit)
        log++;
    return log;
}

/* NULL without memory, or when the memcap refused. */
void *zstd_decoder_open(struct decoder_memory *memory)
{
    ZSTD_customMem allocator = { decoder_memory_alloc, decoder_memory_free, memory };
    struct zstd_decoder *s = lib_calloc(1, sizeof(*s));

    if (s == NULL)
        return NULL;
    s->memory = memory;
    s->stream = ZSTD_createDStream_advanced(allocator);
    if (s->stream != NULL &&
        !ZSTD_isError(ZSTD_DCtx_setParameter(s->stream, ZSTD_d_windowLogMax, window_log(memory))))
        return s;
    zstd_decoder_close(s);
    return NULL;
}

void zstd_decoder_close(void *decoder)
{
    struct zstd_decoder *s = decoder;

    ZSTD_freeDStream(s->stream);
    lib_free(s);
}

/* libzstd reports our refusal as a failed allocation; distinguish it from bad data. */
static enum zstd_status failure(struct zstd_decoder *s, size_t status)
{
    if (ZSTD_getErrorCode(status) == ZSTD_error_frameParameter_windowTooLarge)
        decoder_memory_refuse_window(s->memory);
    return s->memory->refusal != DECODER_GRANTED ? ZSTD_STATUS_REFUSED : ZSTD_STATUS_ERROR;
}

enum zstd_status zstd_decoder_run(void *decoder, struct bytes *in, uint8_t *out, size_t capacity,
                                  size_t *produced)
{
    struct zstd_decoder *s = decoder;
    ZSTD_outBuffer to = { out, capacity, 0 };
    ZSTD_inBuffer from = { in->next, bytes_left(in), 0 };
    size_t status = 0;

    /* ZSTD_decompressStream() stops at a frame's end; the next call begins the next frame, which is
     * independent of it (RFC 8878, 3.1). */
    do
        status = ZSTD_decompressStream(s->stream, &to, &from);
    while (status == 0 && from.pos < from.size && to.pos < to.size);
    take_skip(in, from.pos);
    *produced = to.pos;
    return ZSTD_isError(status) ? failure(s, status) : ZSTD_STATUS_MORE;
}

#else

void *zstd_decoder_open(struct decoder_memory *memory UNUSED)
{
    return NULL;
}

void zstd_decoder_close(void *decoder UNUSED)
{
}

enum zstd_status zstd_decoder_run(void *decoder UNUSED, struct bytes *in UNUSED,
                                  uint8_t *out UNUSED, size_t capacity UNUSED, size_t *produced)
{
    *produced = 0;
    return ZSTD_STATUS_ERROR;
}
#endif
