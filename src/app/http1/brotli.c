/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/http1/brotli.c - bodies in brotli, which libhtp passes on as they are.
 *
 * What cannot be decoded is taken as it is from there on, as libhtp does with other codings. */
#include "config.h"

#include "app/http1/private.h"

#ifdef HAVE_BROTLI
#include <brotli/decode.h>
#include <stdlib.h>

#define CHUNK 8192
#define BOMB_RATIO 2048             /* libhtp's, for its own codings */

struct http_brotli {
    BrotliDecoderState *decoder;
    uint64_t in, out;
    bool pass;                      /* given up: bytes as they are */
    bool bomb;                      /* no more bytes at all */
    uint8_t chunk[CHUNK];
};

struct http_brotli *http_brotli_new(void)
{
    struct http_brotli *b = malloc(sizeof(*b));

    if (b == NULL)
        return NULL;
    b->in = b->out = 0;
    b->pass = b->bomb = false;
    b->decoder = BrotliDecoderCreateInstance(NULL, NULL, NULL);
    if (b->decoder == NULL) {
        free(b);
        return NULL;
    }
    return b;
}

void http_brotli_free(struct http_brotli *b)
{
    if (b == NULL)
        return;
    BrotliDecoderDestroyInstance(b->decoder);
    free(b);
}

static bool is_bomb(const struct http_brotli *b, const struct http_tx *htx)
{
    const struct http_state *state = htx->tx.flow->state;

    return b->out > state->config->bomb_limit && b->out / BOMB_RATIO > b->in;
}

void http_brotli_data(struct http_brotli *b, struct http_tx *htx, enum direction d,
                      const uint8_t *data, size_t len)
{
    BrotliDecoderResult result = BROTLI_DECODER_RESULT_NEEDS_MORE_OUTPUT;

    b->in += len;
    while (!b->pass && !b->bomb && result == BROTLI_DECODER_RESULT_NEEDS_MORE_OUTPUT) {
        uint8_t *next = b->chunk;
        size_t room = CHUNK;

        result = BrotliDecoderDecompressStream(b->decoder, &len, &data, &room, &next, NULL);
        if (room < CHUNK)
            http_body_store(htx, d, b->chunk, CHUNK - room);
        b->out += CHUNK - room;
        b->pass = result == BROTLI_DECODER_RESULT_ERROR;
        b->bomb = is_bomb(b, htx);
    }
    if (b->bomb)
        app_tx_event(&htx->tx, HTTP_EVENT_COMPRESSION_BOMB);
    else if (b->pass && len > 0)
        http_body_store(htx, d, data, len);
}

#else

struct http_brotli *http_brotli_new(void)
{
    return NULL;
}

void http_brotli_free(struct http_brotli *b UNUSED)
{
}

void http_brotli_data(struct http_brotli *b UNUSED, struct http_tx *htx, enum direction d,
                      const uint8_t *data, size_t len)
{
    http_body_store(htx, d, data, len);
}

#endif
