/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/proto/http2/decode.c - content codings: gzip and deflate by zlib, br by libbrotli, zstd by
 * libzstd. If a header names several, each has a decoder, and the last one named comes first.
 * Output comes in chunks from the decoder's own buffer. */
#include "config.h"

#include "app/core/content/brotli_decoder.h"
#include "app/core/content/zstd_decoder.h"
#include "app/parser.h"
#include "app/proto/http2/body.h"
#include "app/proto/http2/events.h"
#include "app/proto/http2/state.h"
#include "app/proto/http2/tx.h"

#include <string.h>
#include <strings.h>
#include <zlib.h>

#include "base/memory/lib_memory.h"

#define CHUNK 4096                            /* bytes of output per call */
#define RETAINED_LIMIT 8192 /* of input without output, in case the decoder is refused */

#define GZIP_MAGIC 0x1f                 /* the first byte of a member */
#define DECODERS_MAX 2 /* of a body: default of response-body-decompress-layer-limit */
/* While decoder_memory_is_much(), those that wait are closed, and later get their input again. One
 * with more input or output keeps its memory, as does one that waits often. */
#define PARK_INPUT 1024
#define PARK_OUTPUT (32u << 10)
#define PARKS_MAX 4u

enum coding { CODING_GZIP, CODING_DEFLATE, CODING_BROTLI, CODING_ZSTD, CODING_NONE };

struct h2_decoder {
    struct h2_decoder *next;              /* receives the output; NULL: the output is the content */
    enum coding coding;
    bool started, over;
    bool at_end;                            /* of a member of gzip; another may follow */
    bool again;                             /* in such another one */
    bool passes;                            /* refused: bytes go on as they are */
    struct decoder_memory memory;
    struct buf retained;                    /* input so far, until something comes out */
    bool keeps;                             /* ... and after that, so that it may be closed */
    bool parked;                            /* it is */
    bool waits;                             /* then: what brotli_decoder_waits() said */
    uint8_t parks;
    uint64_t in, out;
    z_stream z;
    void *brotli, *zstd;
    uint8_t *chunk;                         /* of output; NULL: not yet, or closed */
};

static void *zlib_alloc(void *memory, unsigned n, unsigned size)
{
    return decoder_memory_alloc(memory, (size_t)n * size);
}

/* What this build can decode. */
static const struct { const char *name; enum coding coding; } codings[] = {
    { "gzip", CODING_GZIP },
    { "x-gzip", CODING_GZIP },
    { "deflate", CODING_DEFLATE },
    { "identity", CODING_NONE },
#ifdef HAVE_BROTLI
    { "br", CODING_BROTLI },
#endif
#ifdef HAVE_ZSTD
    { "zstd", CODING_ZSTD },
#endif
};

/* False: an unknown coding, and the body stays as it is. */
static bool coding_of(struct slice text, enum coding *out)
{
    for (size_t i = 0; i < ARRAY_LEN(codings); i++) {
        if (text.len != strlen(codings[i].name) ||
            strncasecmp((const char *)text.data, codings[i].name, text.len) != 0)
            continue;
        *out = codings[i].coding;
        return true;
    }
    return false;
}

/* Once per transaction. */
void h2_decoder_event(struct h2_tx *t, enum decoder_refusal why)
{
    unsigned event = why == DECODER_AT_MEMCAP ? H2_DECOMPRESSION_MEMCAP_REACHED
                                              : H2_DECOMPRESSION_WINDOW_TOO_LARGE;

    if (why != DECODER_GRANTED && !app_tx_has_event(&t->tx, event))
        app_tx_event(&t->tx, event);
}

/* The struct itself counts against the memory limit, too: hostile streams could open thousands. */
static struct h2_decoder *one_decoder(struct h2_tx *t, enum coding coding)
{
    struct decoder_memory memory = { .flow = t->tx.flow };
    struct h2_decoder *dec;

    if (!decoder_memory_take(&memory, sizeof(*dec))) {
        h2_decoder_event(t, memory.refusal);
        return NULL;
    }
    dec = lib_malloc(sizeof(*dec));
    if (dec == NULL) {
        decoder_memory_return(&memory, sizeof(*dec));
        return NULL;
    }
    memset(dec, 0, sizeof(*dec));
    dec->keeps = decoder_memory_is_much(t->tx.flow);
    dec->memory = memory;
    dec->coding = coding;
    dec->z.zalloc = zlib_alloc;
    dec->z.zfree = decoder_memory_free;
    dec->z.opaque = &dec->memory;
    return dec;
}

static bool next_word(struct bytes *in, struct slice *word)
{
    const uint8_t *from;

    while (bytes_have(in, 1) && strchr(", \t", peek_u8(in)) != NULL)
        take_u8(in);
    from = in->next;
    while (bytes_have(in, 1) && strchr(", \t", peek_u8(in)) == NULL)
        take_u8(in);
    *word = (struct slice){ .data = from, .len = (uint32_t)(in->next - from) };
    return word->len > 0;
}

/* Codings are removed in the reverse order of the header. One unknown coding, or too many, means
 * that nothing is decoded. */
struct h2_decoder *h2_decoder_new(struct h2_tx *t, struct slice text)
{
    struct bytes in = bytes_of_slice(text);
    struct h2_decoder *first = NULL;
    struct slice word;

    for (unsigned n = 0; next_word(&in, &word);) {
        struct h2_decoder *dec;
        enum coding coding;

        if (!coding_of(word, &coding))
            break;
        if (coding == CODING_NONE)
            continue;
        dec = n++ < DECODERS_MAX ? one_decoder(t, coding) : NULL;
        if (n > DECODERS_MAX)
            app_tx_event(&t->tx, H2_TOO_MANY_ENCODING_LAYERS);
        if (dec == NULL) {
            h2_decoder_free(first);
            return NULL;
        }
        dec->next = first;
        first = dec;
    }
    if (bytes_have(&in, 1) || word.len == 0)
        return first;
    h2_decoder_free(first);
    return NULL;
}

static void close_library(struct h2_decoder *dec)
{
    if (dec->started && (dec->coding == CODING_GZIP || dec->coding == CODING_DEFLATE))
        inflateEnd(&dec->z);
    if (dec->brotli != NULL)
        brotli_decoder_close(dec->brotli);
    if (dec->zstd != NULL)
        zstd_decoder_close(dec->zstd);
    dec->started = false;
    dec->brotli = dec->zstd = NULL;
    decoder_memory_free(&dec->memory, dec->chunk);
    dec->chunk = NULL;
}

/* What the library and the input take. */
static void close_stream(struct h2_decoder *dec)
{
    close_library(dec);
    buf_fini(&dec->retained);
    dec->parked = false;
}

static void decoder_free(struct h2_decoder *dec)
{
    close_stream(dec);
    decoder_memory_return(&dec->memory, sizeof(*dec));
    lib_free(dec);
}

void h2_decoder_free(struct h2_decoder *dec)
{
    while (dec != NULL) {
        struct h2_decoder *next = dec->next;

        decoder_free(dec);
        dec = next;
    }
}

/* "deflate" is zlib's format by the standard (RFC 9110 section 8.4.1.2), and raw deflate from many
 * senders: the low four bits of its first byte decide. */
static bool begin(struct h2_decoder *dec, uint8_t first)
{
    dec->started = true;
    switch (dec->coding) {
    case CODING_GZIP:
        return inflateInit2(&dec->z, 16 + MAX_WBITS) == Z_OK;
    case CODING_DEFLATE:
        return inflateInit2(&dec->z, (first & 0x0f) == 8 ? MAX_WBITS : -MAX_WBITS) == Z_OK;
    case CODING_ZSTD:
        dec->zstd = zstd_decoder_open(&dec->memory);
        return dec->zstd != NULL;
    case CODING_BROTLI:
        dec->brotli = brotli_decoder_open(&dec->memory,
                                          h2_settings_of(dec->memory.flow)->body_expansion);
        return dec->brotli != NULL;
    case CODING_NONE:
        break;
    }
    return false;
}

/* Another gzip member may follow (RFC 1952 section 2.2). */
static void begin_again(struct h2_decoder *dec, uint8_t first)
{
    dec->at_end = false;
    dec->again = first == GZIP_MAGIC && inflateReset(&dec->z) == Z_OK;
    dec->over = !dec->again;
}

/* H2_DECODED requests another call, because the output buffer is full or a member ended. */
static enum h2_decoded decode_zlib(struct h2_decoder *dec, struct slice *in, size_t *produced)
{
    int result;

    if (dec->at_end && in->len > 0)
        begin_again(dec, in->data[0]);
    if (dec->over || dec->at_end)
        return H2_DECODED_ALL;

    dec->z.next_in = (Bytef *)(uintptr_t)in->data;
    dec->z.avail_in = in->len;
    dec->z.next_out = dec->chunk;
    dec->z.avail_out = CHUNK;
    result = inflate(&dec->z, Z_NO_FLUSH);
    *produced = CHUNK - dec->z.avail_out;
    in->data = dec->z.next_in;
    in->len = dec->z.avail_in;
    dec->at_end = result == Z_STREAM_END && dec->coding == CODING_GZIP;
    dec->over = result == Z_STREAM_END && !dec->at_end;
    if (result != Z_OK && result != Z_STREAM_END && result != Z_BUF_ERROR) {
        /* What looked like another member is other data after the body. */
        dec->over = dec->again;
        return dec->again ? H2_DECODED_ALL : H2_DECODE_FAILED;
    }
    if (dec->at_end)
        return in->len > 0 ? H2_DECODED : H2_DECODED_ALL;
    return !dec->over && dec->z.avail_out == 0 ? H2_DECODED : H2_DECODED_ALL;
}

static enum h2_decoded decode_brotli(struct h2_decoder *dec, struct slice *in, size_t *produced)
{
    struct bytes b = bytes_of_slice(*in);
    enum brotli_status status = brotli_decoder_run(dec->brotli, &b, dec->chunk, CHUNK, produced);

    *in = (struct slice){ .data = b.next, .len = (uint32_t)bytes_left(&b) };
    dec->over = status == BROTLI_STATUS_END;
    if (status != BROTLI_STATUS_MORE && status != BROTLI_STATUS_END)
        return H2_DECODE_FAILED;
    return !dec->over && *produced == CHUNK ? H2_DECODED : H2_DECODED_ALL;
}

/* A full buffer means that there may be more output. */
static enum h2_decoded decode_zstd(struct h2_decoder *dec, struct slice *in, size_t *produced)
{
    struct bytes b = bytes_of_slice(*in);
    enum zstd_status status = zstd_decoder_run(dec->zstd, &b, dec->chunk, CHUNK, produced);

    *in = (struct slice){ .data = b.next, .len = (uint32_t)bytes_left(&b) };
    if (status != ZSTD_STATUS_MORE)
        return H2_DECODE_FAILED;
    return *produced == CHUNK ? H2_DECODED : H2_DECODED_ALL;
}

/* Refused memory has its own event. */
static enum h2_decoded failure(const struct h2_decoder *dec)
{
    return dec->memory.refusal != DECODER_GRANTED ? H2_DECODE_REFUSED : H2_DECODE_FAILED;
}

/* While nothing comes out, input is kept: if the decoder is refused later, it passes unchanged. */
static void keep(struct h2_decoder *dec, struct slice in)
{
    dec->keeps = dec->keeps && dec->retained.len + in.len <= PARK_INPUT;
    if (dec->out > 0 && !dec->keeps)
        buf_fini(&dec->retained);
    else if (dec->retained.len + in.len <= RETAINED_LIMIT)
        buf_add(&dec->retained, in.data, in.len);
}

static enum h2_decoded decode_some(struct h2_decoder *dec, struct slice *in, size_t *produced)
{
    if (dec->coding == CODING_BROTLI)
        return decode_brotli(dec, in, produced);
    if (dec->coding == CODING_ZSTD)
        return decode_zstd(dec, in, produced);
    return decode_zlib(dec, in, produced);
}

/* The library, and space for a chunk. */
static bool open_library(struct h2_decoder *dec, uint8_t first)
{
    if (dec->chunk == NULL)
        dec->chunk = decoder_memory_alloc(&dec->memory, CHUNK);
    return dec->chunk != NULL && begin(dec, first);
}

/* --- decoders that wait ----------------------------------------------------------------------- */

static bool may_park(const struct h2_decoder *dec)
{
    return dec->keeps && dec->started && !dec->over && !dec->at_end && !dec->again &&
           !dec->passes && dec->retained.len == dec->in && dec->out <= PARK_OUTPUT &&
           dec->parks < PARKS_MAX;
}

void h2_decoders_rest(struct h2_decoder *dec)
{
    if (LIKELY(dec == NULL) || !decoder_memory_is_much(dec->memory.flow))
        return;
    for (; dec != NULL; dec = dec->next) {
        if (!may_park(dec))
            continue;
        dec->waits = dec->brotli != NULL && brotli_decoder_waits(dec->brotli);
        close_library(dec);
        dec->parked = true;
        dec->parks++;
    }
}

/* Repeats the input, whose output was passed on before. False: there is no memory for that. */
static bool resume(struct h2_decoder *dec)
{
    struct slice in = buf_slice(&dec->retained);
    uint64_t known = 0;
    size_t produced = 1;

    dec->parked = false;
    if (in.len == 0 || !open_library(dec, in.data[0]))
        return false;
    for (uint32_t left = in.len + 1; left != in.len || produced > 0; known += produced) {
        left = in.len;
        produced = 0;
        if (decode_some(dec, &in, &produced) == H2_DECODE_FAILED)
            return false;
    }
    return in.len == 0 && known == dec->out;
}

/* --- a body ----------------------------------------------------------------------------------- */

/* Decodes until a chunk is full or the input is used up. A start that failed is tried again with
 * the next data. */
enum h2_decoded h2_decode(struct h2_decoder *dec, struct slice *in, struct slice *out)
{
    struct slice input = *in;
    enum h2_decoded result;
    size_t produced = 0;

    if (dec->passes) {
        *out = *in;
        in->len = 0;
        return H2_DECODED_ALL;
    }
    *out = (struct slice){ .data = NULL, .len = 0 };
    if (dec->over || (!dec->started && !dec->parked && in->len == 0))
        return H2_DECODED_ALL;
    if (UNLIKELY(dec->parked) ? !resume(dec)
                              : !dec->started && !open_library(dec, in->data[0])) {
        close_library(dec);
        return failure(dec);
    }
    result = decode_some(dec, in, &produced);
    *out = (struct slice){ .data = dec->chunk, .len = (uint32_t)produced };
    input.len -= in->len;
    dec->in += input.len;
    dec->out += produced;
    if (result == H2_DECODE_FAILED)
        return failure(dec);
    keep(dec, input);
    return result;
}

struct slice h2_decoder_kept(const struct h2_decoder *dec)
{
    return dec->out == 0 ? buf_slice(&dec->retained) : (struct slice){ 0 };
}

enum decoder_refusal h2_decoder_refusal(const struct h2_decoder *dec)
{
    return dec->memory.refusal;
}

uint64_t h2_decoder_in(const struct h2_decoder *dec)
{
    return dec->in;
}

uint64_t h2_decoder_out(const struct h2_decoder *dec)
{
    return dec->out;
}

struct h2_decoder *h2_decoder_next(const struct h2_decoder *dec)
{
    return dec->next;
}

void h2_decoder_pass(struct h2_decoder *dec)
{
    dec->passes = true;
}

void h2_decoder_stop(struct h2_decoder *dec)
{
    dec->over = true;
    close_stream(dec);
}

bool h2_decoder_is_bomb_at_end(const struct h2_decoder *dec)
{
    for (; dec != NULL; dec = dec->next)
        if (dec->parked ? dec->waits : dec->brotli != NULL && brotli_decoder_waits(dec->brotli))
            return true;
    return false;
}
