/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/core/decoder_memory.h - the memory of decompressors of bodies, counted over all flows and
 * threads against app-layer.protocols.http.memcap.
 *
 * The first bytes of a stream set the size of its window, so a large window costs the sender
 * nothing. Therefore no block may be larger than decompression-window-limit, and large blocks
 * together take at most half of the memcap: the rest stays for the many decoders that need little.
 * Of this rest, decompressed content that waits for rules may take half.
 * A refusal is counted as http.memcap; the body is then passed on as it was sent. All functions run
 * on the flow's inspecting thread, except that any thread may change the limit. */
#ifndef APP_DECODER_MEMORY_H
#define APP_DECODER_MEMORY_H

#include "app/tx.h"

/* Memory that zlib allocates for a stream: its state of 7 KiB and a window of 32 KiB. */
#define DECODER_MEMORY_ZLIB ((size_t)40 << 10)

enum decoder_refusal { DECODER_GRANTED, DECODER_WINDOW_TOO_LARGE, DECODER_AT_MEMCAP };

/* The memory of one decoder. */
struct decoder_memory {
    struct app_flow *flow;
    size_t used;
    enum decoder_refusal refusal;       /* the latest refusal */
};

bool decoder_memory_take(struct decoder_memory *m, size_t size);
void decoder_memory_return(struct decoder_memory *m, size_t size);

/* Returns the largest block allowed. */
size_t decoder_memory_largest(const struct decoder_memory *m);

/* Allocators for libraries: context is the struct decoder_memory. NULL: refused, or no memory. */
void *decoder_memory_alloc(void *context, size_t size);
void decoder_memory_free(void *context, void *block);

/* Counts a refusal: the stream's header asks for a window above the limit. */
void decoder_memory_refuse_window(struct decoder_memory *m);

/* The first byte of a brotli stream asks for a large window of up to 1 GiB, which RFC 7932 does not
 * define. It counts as refused. */
bool decoder_memory_is_large_brotli(struct decoder_memory *m, uint8_t first);

/* Memory of a window of decompressed content: sets what it takes to `now` bytes. `held` is what it
 * took before. False: refused, and nothing has changed. */
bool unpacked_memory_set(struct app_flow *af, uint32_t *held, uint32_t now);

/* Half of what is allowed is taken: windows release all that rules have seen, and what the next
 * inspection does not look back at. */
bool unpacked_memory_is_scarce(const struct app_flow *af);

/* The decompressors of all flows take so much, without what they have decompressed, that those
 * that wait for input are closed, and get it again when more comes. */
bool decoder_memory_is_much(const struct app_flow *af);

/* So much is taken that windows which wait are packed: see packed_window.h. */
bool unpacked_memory_is_much(const struct app_flow *af);

/* Returns how many bytes the bodies of a connection may decompress to in one direction: `times`
 * their size, plus an allowance for small ones. It limits CPU time and memory per received byte. 0
 * times: no limit. */
#define DECODER_OUTPUT_FREE (128u << 10)

static inline uint64_t decoder_output_max(uint64_t in, uint32_t times)
{
    return times == 0 ? UINT64_MAX : DECODER_OUTPUT_FREE + in * times;
}

/* A connection costs its sender some hundred bytes, and the allowance is a thousand times that. Of
 * it, a connection owns 4 KiB and 16 times the first bytes of its bodies; it draws the rest, in
 * pieces, from what all connections share: 32 MiB, which packet time refills. So ordinary bodies
 * and single bombs decompress as far as the allowance goes, and thousands of bombs do not. zlib
 * takes about 2 ns for a byte of a long run, and an ordinary byte of an upload costs 3 ns in all.
 * Bodies beyond that size have paid with their length: the body's limit bounds them. */
#define DECODER_OUTPUT_OWN (4u << 10)
#define DECODER_OUTPUT_OWN_TIMES 16u
#define DECODER_OUTPUT_FIRST (32u << 10)
/* `in` and `drawn` are the sums of the connection in one direction. False: nothing is left. Draws
 * are in the order of the capture, so that each run gives the same. */
bool decoder_output_draw(struct app_flow *af, uint64_t in, uint32_t times, uint64_t *drawn);

static inline uint64_t decoder_output_most(uint64_t in, uint32_t times, uint64_t drawn)
{
    const uint64_t first = MIN(in, (uint64_t)DECODER_OUTPUT_FIRST);

    if (times == 0)
        return UINT64_MAX;
    return DECODER_OUTPUT_OWN + drawn + first * MIN(times, DECODER_OUTPUT_OWN_TIMES) +
           (in - first) * times;
}

#endif
