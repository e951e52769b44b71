/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/core/content/brotli_decoder.h - brotli (RFC 7932) as a stream, its memory counted with that
 * of all decompressors of bodies.
 *
 * libbrotli decompresses an entire window before it returns its first byte: ten bytes of input can
 * make it write MiBs. So the input must be long enough for a window, as decoder_output_max()
 * defines. Until then the stream waits and its input is buffered; later it begins again from the
 * start. */
#ifndef APP_BROTLI_DECODER_H
#define APP_BROTLI_DECODER_H

#include "app/core/decoder_memory.h"

enum brotli_status {
    BROTLI_STATUS_MORE,     /* all input is consumed, or the output is full */
    BROTLI_STATUS_END,
    BROTLI_STATUS_ERROR,
    BROTLI_STATUS_REFUSED,  /* it needs more memory than allowed: see memory->refusal */
};

/* times: see decoder_output_max(). NULL: a build without brotli, or no memory. */
void *brotli_decoder_open(struct decoder_memory *memory, uint32_t times);
void brotli_decoder_close(void *decoder);
/* Reads from in, writes at most capacity bytes. */
enum brotli_status brotli_decoder_run(void *decoder, struct bytes *in, uint8_t *out,
                                      size_t capacity, size_t *produced);
/* True if more output waits than the input allows: a decompression bomb, if the body ends now. */
bool brotli_decoder_waits(const void *decoder);

#endif
