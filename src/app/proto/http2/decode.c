/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/proto/http2/decode.c - content codings: gzip and deflate by zlib, br by libbrotli. One coding
 * a body; output comes in pieces of a few KiB from the decoder's own room. */
#include "config.h"

#include "app/parser.h"
#include "app/proto/http2/http2.h"

#include <string.h>
#include <zlib.h>
#ifdef HAVE_BROTLI
#include <brotli/decode.h>
#endif

#include "base/memory/lib_memory.h"

#define CHUNK 4096
#define RETAINED_LIMIT 8192                   /* of input without output, in case it is refused */

enum coding { CODING_GZIP, CODING_DEFLATE, CODING_BROTLI };

struct h2_decoder {
    enum coding coding;
    bool started, over;
    struct decoder_memory memory;
    struct buf retained;                    /* input so far, until something comes out */
    uint64_t in, out;
    z_stream z;
#ifdef HAVE_BROTLI
    BrotliDecoderState *brotli;
#endif
    uint8_t chunk[CHUNK];
};

static void *zlib_alloc(void *memory, unsigned n, unsigned size)
{
    return decoder_memory_alloc(memory, (size_t)n * size);
}

static bool coding_of(struct slice text, enum coding *out)
{
    static const struct { const char *name; enum coding coding; } codings[] = {
        { "gzip", CODING_GZIP },
        { "deflate", CODING_DEFLATE },
#ifdef HAVE_BROTLI
        { "br", CODING_BROTLI },
#endif
    };

    for (size_t i = 0; i < ARRAY_LEN(codings); i++) {
        if (text.len != strlen(codings[i].name) ||
            memcmp(text.data, codings[i].name, text.len) != 0)
            continue;
        *out = codings[i].coding;
        return true;
    }
    return false;
}

void h2_decoder_event(struct h2_tx *t, enum decoder_refusal why)
{
    unsigned event = why == DECODER_AT_MEMCAP ? H2_DECOMPRESSION_MEMCAP_REACHED
                                              : H2_DECOMPRESSION_WINDOW_TOO_LARGE;

    if (why != DECODER_GRANTED && !app_tx_has_event(&t->tx, event))
        app_tx_event(&t->tx, event);
}

struct h2_decoder *h2_decoder_new(struct h2_tx *t, struct slice text)
{
    struct decoder_memory memory = { .flow = t->tx.flow };
    struct h2_decoder *dec;
    enum coding coding;

    if (!coding_of(text, &coding))
        return NULL;
    if (!decoder_memory_take(&memory, sizeof(*dec))) {
        h2_decoder_event(t, memory.refusal);
        return NULL;
    }
    dec = lib_malloc(sizeof(*dec));
    if (dec == NULL) {
        decoder_memory_return(&memory, sizeof(*dec));
        return NULL;
    }
    memset(dec, 0, offsetof(struct h2_decoder, chunk));
    dec->memory = memory;
    dec->coding = coding;
    dec->z.zalloc = zlib_alloc;
    dec->z.zfree = decoder_memory_free;
    dec->z.opaque = &dec->memory;
    return dec;
}

void h2_decoder_free(struct h2_decoder *dec)
{
    if (dec == NULL)
        return;
    if (dec->started && dec->coding != CODING_BROTLI)
        inflateEnd(&dec->z);
#ifdef HAVE_BROTLI
    if (dec->brotli != NULL)
        BrotliDecoderDestroyInstance(dec->brotli);
#endif
    buf_fini(&dec->retained);
    decoder_memory_return(&dec->memory, sizeof(*dec));
    lib_free(dec);
}

/* "deflate" is zlib's format by the standard and bare deflate by many a sender: its first byte
 * tells which. */
static bool begin(struct h2_decoder *dec, uint8_t first)
{
    dec->started = true;
    switch (dec->coding) {
    case CODING_GZIP:
        return inflateInit2(&dec->z, 16 + MAX_WBITS) == Z_OK;
    case CODING_DEFLATE:
        return inflateInit2(&dec->z, (first & 0x0f) == 8 ? MAX_WBITS : -MAX_WBITS) == Z_OK;
    default:
        break;
    }
#ifdef HAVE_BROTLI
    dec->brotli = BrotliDecoderCreateInstance(decoder_memory_alloc, decoder_memory_free,
                                              &dec->memory);
    return dec->brotli != NULL && !decoder_memory_is_large_brotli(&dec->memory, first);
#else
    return false;
#endif
}

static enum h2_decoded decode_zlib(struct h2_decoder *dec, struct slice *in, size_t *produced)
{
    int result;

    dec->z.next_in = (Bytef *)(uintptr_t)in->data;
    dec->z.avail_in = in->len;
    dec->z.next_out = dec->chunk;
    dec->z.avail_out = CHUNK;
    result = inflate(&dec->z, Z_NO_FLUSH);
    *produced = CHUNK - dec->z.avail_out;
    in->data = dec->z.next_in;
    in->len = dec->z.avail_in;
    dec->over = result == Z_STREAM_END;
    if (result != Z_OK && result != Z_STREAM_END && result != Z_BUF_ERROR)
        return H2_DECODE_FAILED;
    return !dec->over && dec->z.avail_out == 0 ? H2_DECODED : H2_DECODED_ALL;
}

#ifdef HAVE_BROTLI
static enum h2_decoded decode_brotli(struct h2_decoder *dec, struct slice *in, size_t *produced)
{
    uint8_t *next = dec->chunk;
    size_t space = CHUNK, left = in->len;
    BrotliDecoderResult result = BrotliDecoderDecompressStream(dec->brotli, &left, &in->data,
                                                               &space, &next, NULL);

    *produced = CHUNK - space;
    in->len = (uint32_t)left;
    dec->over = result == BROTLI_DECODER_RESULT_SUCCESS;
    if (result == BROTLI_DECODER_RESULT_ERROR)
        return H2_DECODE_FAILED;
    return result == BROTLI_DECODER_RESULT_NEEDS_MORE_OUTPUT ? H2_DECODED : H2_DECODED_ALL;
}
#endif

static enum h2_decoded failure(const struct h2_decoder *dec)
{
    return dec->memory.refusal != DECODER_GRANTED ? H2_DECODE_REFUSED : H2_DECODE_FAILED;
}

static void keep(struct h2_decoder *dec, struct slice in)
{
    if (dec->out > 0)
        buf_fini(&dec->retained);
    else if (dec->retained.len + in.len <= RETAINED_LIMIT)
        buf_add(&dec->retained, in.data, in.len);
}

enum h2_decoded h2_decode(struct h2_decoder *dec, struct slice *in, struct slice *out)
{
    enum h2_decoded result = H2_DECODE_FAILED;
    struct slice input = *in;
    size_t produced = 0;

    *out = (struct slice){ .data = dec->chunk, .len = 0 };
    if (dec->over || (!dec->started && in->len == 0))
        return H2_DECODED_ALL;
    if (!dec->started && !begin(dec, in->data[0])) {
        dec->started = false;
        return failure(dec);
    }
#ifdef HAVE_BROTLI
    if (dec->coding == CODING_BROTLI)
        result = decode_brotli(dec, in, &produced);
#endif
    if (dec->coding != CODING_BROTLI)
        result = decode_zlib(dec, in, &produced);
    out->len = (uint32_t)produced;
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
    return buf_slice(&dec->retained);
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
