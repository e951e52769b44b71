/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/proto/http1/coding.h - one content coding as a stream: bytes in, bytes out. Within this
 * directory; chained by decoder.c. */
#ifndef APP_HTTP1_CODING_H
#define APP_HTTP1_CODING_H

#include "app/core/decoder_memory.h"
#include "app/proto/http1/settings.h"
#include "app/proto/http1/state.h"
#include "app/proto/http1/tx.h"

enum coding_status {
    CODING_MORE,            /* all of the input is consumed, or the output is full */
    CODING_END,             /* the rest of the input does not belong to it */
    CODING_ERROR,
    CODING_REFUSED,         /* it needs more memory than allowed: see memory->refusal */
};

struct coding {
    /* It begins with a header: once the header was parsed and output was produced, this coding is
     * certain. */
    bool has_header;
    enum http_coding otherwise;         /* what to try when it is not this one */
    bool is_deflate;                    /* and so are the codings tried otherwise */
    /* NULL: not possible, or refused. close() returns all memory. */
    void *(*open)(struct http_thread *ht, const struct http_config *config,
                  struct decoder_memory *memory);
    void (*close)(struct http_thread *ht, void *stream, struct decoder_memory *memory);
    /* Reads from in, writes at most `capacity` bytes. */
    enum coding_status (*run)(void *stream, struct bytes *in, uint8_t *out, size_t capacity,
                              size_t *produced);
    /* True if it has begun to return more than its input allows; NULL: it never does. */
    bool (*is_bomb_at_end)(const void *stream);
};

extern const struct coding coding_gzip, coding_deflate, coding_zlib, coding_lzma, coding_brotli,
    coding_zstd;

#endif
