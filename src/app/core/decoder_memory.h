/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/core/decoder_memory.h - what decompressors of bodies hold, counted over all flows and threads
 * against app-layer.protocols.http.memcap.
 *
 * A stream says in its first bytes how large a window it wants, and pays nothing for it. So one
 * block may not be larger than decompression-window-limit, and large blocks together take half of
 * the memcap at most: what is left stays for the many decoders that need little. A refusal is
 * counted as http.memcap; the body is then passed on as it was sent. On the flow's inspecting
 * thread, but for the limit, which any thread may change. */
#ifndef APP_DECODER_MEMORY_H
#define APP_DECODER_MEMORY_H

#include "app/tx.h"

/* What zlib takes for a stream: its state and a window of 32 KiB. */
#define DECODER_MEMORY_ZLIB ((size_t)48 << 10)

enum decoder_refusal { DECODER_GRANTED, DECODER_WINDOW_TOO_LARGE, DECODER_AT_MEMCAP };

/* One decoder's. */
struct decoder_memory {
    struct app_flow *flow;
    size_t used;
    enum decoder_refusal refusal;       /* the last one */
};

bool decoder_memory_take(struct decoder_memory *m, size_t size);
void decoder_memory_return(struct decoder_memory *m, size_t size);

/* No block is larger. */
size_t decoder_memory_largest(const struct decoder_memory *m);

/* For libraries: context is the struct decoder_memory. NULL: refused, or no memory. */
void *decoder_memory_alloc(void *context, size_t size);
void decoder_memory_free(void *context, void *block);

/* A window is larger than it may be, as the stream's own header says. */
void decoder_memory_refuse_window(struct decoder_memory *m);

/* The first byte of a brotli stream asks for a large window, of up to 1 GiB, as RFC 7932 has
 * none. It counts as refused. */
bool decoder_memory_is_large_brotli(struct decoder_memory *m, uint8_t first);

/* Of the bodies of a connection in one direction so much may come out, `times` what has gone in and
 * what small ones may give whatever they are: CPU and memory are paid for with bytes. 0 times: any
 * number. */
#define DECODER_OUTPUT_FREE (128u << 10)

static inline uint64_t decoder_output_max(uint64_t in, uint32_t times)
{
    return times == 0 ? UINT64_MAX : DECODER_OUTPUT_FREE + in * times;
}

#endif
