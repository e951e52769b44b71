/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/core/content/zstd_decoder.h - zstd (RFC 8878) as a stream. Its memory counts with that of all
 * decompressors of bodies. Consecutive frames are one body. */
#ifndef APP_ZSTD_DECODER_H
#define APP_ZSTD_DECODER_H

#include "app/core/decoder_memory.h"

enum zstd_status {
    ZSTD_STATUS_MORE,       /* all input is consumed, or the output is full */
    ZSTD_STATUS_ERROR,
    ZSTD_STATUS_REFUSED,    /* it needs more memory than allowed: see memory->refusal */
};

/* NULL: a build without zstd, refused, or no memory. */
void *zstd_decoder_open(struct decoder_memory *memory);
void zstd_decoder_close(void *decoder);
/* Reads from in, writes at most capacity bytes. */
enum zstd_status zstd_decoder_run(void *decoder, struct bytes *in, uint8_t *out, size_t capacity,
                                  size_t *produced);

#endif
