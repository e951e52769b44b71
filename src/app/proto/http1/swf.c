/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/proto/http1/swf.c - Flash files unpacked for file.data, if swf-decompression is on.
 *
 * After a header, "CWS" files are compressed with zlib from byte 8 on, "ZWS" files with LZMA from
 * byte 17 on. Rules see the "FWS" file that they contain, up to the configured depths. */
#include "app/proto/http1/body.h"
#include "app/proto/http1/buffers.h"
#include "app/proto/http1/coding.h"

#include <string.h>

#define ZLIB_AT 8
#define LZMA_AT 17
#define LZMA_PROPERTIES_AT 12   /* LZMA's five bytes of properties */
#define ZLIB_VERSION_LEAST 6    /* SWF versions that introduced each */
#define LZMA_VERSION_LEAST 13
#define LENGTH_MAX 50000000u    /* bytes, whatever the file claims */
#define LENGTH_WHEN_NONE 8u
#define CHUNK_SIZE 8192
#define EXPANSION_MOST 16u      /* times its size; Flash files of pictures and code take 2 to 5 */
/* What Flash files get of the share of all connections: bodies may have drawn more. */
#define SHARE_MOST (DECODER_OUTPUT_FREE - DECODER_OUTPUT_OWN)

struct swf {
    const struct coding *coding;
    uint32_t at;                        /* where packed data begin */
    uint8_t version;
    uint32_t length;                    /* claimed size, unpacked */
    uint8_t lzma[13];                   /* properties and an unknown length, for the coding */
    bool has_lzma;
};

/* False: no Flash file, or a compression that is switched off. The length is the file's claim: it
 * only limits the output. */
static bool swf_read(struct slice file, const struct http_config *config, struct swf *out)
{
    struct bytes in = bytes_of_slice(file);
    uint8_t kind = take_u8(&in);
    bool named = take_u8(&in) == 'W';
    uint32_t length;

    memset(out, 0, sizeof(*out));
    named = take_u8(&in) == 'S' && named;
    out->version = take_u8(&in);
    length = take_le32(&in);
    out->length = length == 0 ? LENGTH_WHEN_NONE : MIN(length, LENGTH_MAX);
    if (in.failed || !named)
        return false;
    if (kind == 'C' && config->swf_deflate && out->version >= ZLIB_VERSION_LEAST) {
        out->coding = &coding_zlib;
        out->at = ZLIB_AT;
    } else if (kind == 'Z' && config->swf_lzma && out->version >= LZMA_VERSION_LEAST &&
               file.len > LZMA_AT) {
        out->coding = &coding_lzma;
        out->at = LZMA_AT;
        out->has_lzma = true;
        memcpy(out->lzma, file.data + LZMA_PROPERTIES_AT, 5);
        memset(out->lzma + 5, 0xff, 8);     /* -1: size unknown */
    }
    return out->coding != NULL && file.len > out->at;
}

/* Decompresses up to `most` bytes. False: the data are damaged. */
static bool run(const struct coding *coding, void *stream, struct bytes in, struct buf *out,
                size_t most)
{
    enum coding_status status = CODING_MORE;
    size_t produced = CHUNK_SIZE;

    while (status == CODING_MORE && out->len < most && produced > 0) {
        if (!buf_reserve(out, CHUNK_SIZE))
            return false;
        status = coding->run(stream, &in, out->data + out->len, MIN(CHUNK_SIZE, most - out->len),
                             &produced);
        out->len += produced;
    }
    return status != CODING_ERROR && status != CODING_REFUSED;
}

/* What this file may give, `in` bytes packed. A connection pays with the bytes of all its files
 * and draws the rest from what all connections share, as for bodies. */
static size_t output_left(struct http_tx *htx, size_t in)
{
    struct http_state *state = htx->tx.flow->state;
    const uint32_t times = MIN(state->config->body_expansion, EXPANSION_MOST);
    uint64_t *drawn = &state->drawn[TO_CLIENT];
    uint64_t wanted, most;

    state->swf_in += in;
    wanted = state->swf_out + DECODER_OUTPUT_FREE;
    do
        most = decoder_output_most(state->swf_in, times, MIN(*drawn, (uint64_t)SHARE_MOST));
    while (most < wanted && decoder_output_draw(htx->tx.flow, 0, times, drawn));
    return (size_t)(most - MIN(most, state->swf_out));
}

/* A file that comes packet by packet would be unpacked from its start with each of them. Until it
 * has doubled, or is over, rules see what the last time gave. */
static bool is_due(const struct http_derived_buffers *derived, const struct app_file *file,
                   uint32_t len)
{
    if (derived->swf_file != file->id)
        return true;
    return derived->swf_for != len && (file->state != FILE_OPEN || len / 2 >= derived->swf_for);
}

/* Writes the header of an uncompressed file, then the data. A file that unpacks to more than its
 * connection pays for is truncated, which is an event as for bodies. */
static bool unpack(const struct swf *swf, struct http_tx *htx, struct slice packed,
                   struct buf *out)
{
    struct http_state *state = htx->tx.flow->state;
    const struct http_config *config = state->config;
    struct http_thread *ht = htx->tx.flow->thread_data;
    struct decoder_memory memory = { .flow = htx->tx.flow };
    void *stream = swf->coding->open(ht, config, &memory);
    size_t most = 8 + (config->swf_decompress_depth > 0 ? MIN(config->swf_decompress_depth,
                                                              swf->length) : swf->length);
    size_t paid;
    bool good;

    if (stream == NULL)
        return false;
    paid = output_left(htx, packed.len);
    buf_add(out, "FWS", 3);
    buf_add_u8(out, swf->version);
    for (unsigned i = 0; i < 4; i++)
        buf_add_u8(out, (uint8_t)(swf->length >> 8 * i));
    good = !swf->has_lzma || run(swf->coding, stream, bytes_of(swf->lzma, sizeof(swf->lzma)), out,
                                 MIN(most, paid));
    good = good && run(swf->coding, stream, bytes_of_slice(packed), out, MIN(most, paid));
    swf->coding->close(ht, stream, &memory);
    state->swf_out += out->len;
    if (paid < most && out->len >= paid && !app_tx_has_event(&htx->tx, HTTP_EVENT_COMPRESSION_BOMB))
        app_tx_event(&htx->tx, HTTP_EVENT_COMPRESSION_BOMB);
    return good;
}

/* `data` stays as it is if the file cannot be unpacked. The result is kept until the file grows. */
void http_swf_derive(struct http_tx *htx, struct app_file *file, struct slice *data)
{
    const struct http_config *config = ((struct http_state *)htx->tx.flow->state)->config;
    struct http_derived_buffers *derived;
    struct slice packed;
    struct swf swf;

    if (!swf_read(*data, config, &swf))
        return;
    derived = http_derived_buffers(htx, TO_CLIENT);
    if (derived == NULL)
        return;
    if (is_due(derived, file, data->len)) {
        packed = (struct slice){ .data = data->data + swf.at, .len = data->len - swf.at };
        if (config->swf_compress_depth > 0)
            packed.len = MIN(packed.len, config->swf_compress_depth);
        if (derived->swf.data == NULL)
            derived->swf = http_buf_take(htx->tx.flow);
        buf_clear(&derived->swf);
        derived->swf_file = file->id;
        derived->swf_for = data->len;
        if (!unpack(&swf, htx, packed, &derived->swf))
            buf_clear(&derived->swf);
    }
    if (derived->swf.len > 0)
        *data = buf_slice(&derived->swf);
}
