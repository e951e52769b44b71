/* SPDX-License-Identifier: GPL-2.0-or-later */
/* capture/pcap/decompress.c - gzip, xz, zstd, lz4. Concatenated members or frames are read as one
 * stream. */
#include "config.h"

#include "capture/pcap/decompress.h"

#include <stdlib.h>
#include <string.h>

#include <lzma.h>
#include <zlib.h>
#ifdef HAVE_ZSTD
#include <zstd.h>
#endif
#ifdef HAVE_LZ4
#include <lz4frame.h>
#endif

/* 15 + 16: the largest window, with a gzip header (zlib.h, inflateInit2). */
static void *gzip_open(void)
{
    z_stream *z = calloc(1, sizeof(*z));

    if (z != NULL && inflateInit2(z, 15 + 16) != Z_OK) {
        free(z);
        z = NULL;
    }
    return z;
}

/* After the end of a member inflateReset() expects the next one (RFC 1952, section 2.2). */
static bool gzip_run(void *self, struct decompress_step *step)
{
    z_stream *z = self;
    int status;

    z->next_in = (uint8_t *)(uintptr_t)step->in;
    z->avail_in = (unsigned)step->in_len;
    z->next_out = step->out;
    z->avail_out = (unsigned)step->out_len;
    status = inflate(z, Z_NO_FLUSH);
    step->in_used = step->in_len - z->avail_in;
    step->out_produced = step->out_len - z->avail_out;
    if (status == Z_STREAM_END)
        return inflateReset(z) == Z_OK;
    return status == Z_OK || status == Z_BUF_ERROR;
}

static void gzip_close(void *self)
{
    inflateEnd(self);
    free(self);
}

/* The limit of 256 MiB for the decoder's memory stops hostile headers; xz -9 needs 65 MiB. */
static void *xz_open(void)
{
    lzma_stream *x = calloc(1, sizeof(*x));

    if (x != NULL && lzma_stream_decoder(x, (uint64_t)256 << 20, LZMA_CONCATENATED) != LZMA_OK) {
        free(x);
        x = NULL;
    }
    return x;
}

/* With LZMA_CONCATENATED the decoder needs a signal at the end of the input (LZMA_FINISH). */
static bool xz_run(void *self, struct decompress_step *step)
{
    lzma_stream *x = self;
    lzma_ret status;

    x->next_in = step->in;
    x->avail_in = step->in_len;
    x->next_out = step->out;
    x->avail_out = step->out_len;
    status = lzma_code(x, step->in_len == 0 ? LZMA_FINISH : LZMA_RUN);
    step->in_used = step->in_len - x->avail_in;
    step->out_produced = step->out_len - x->avail_out;
    return status == LZMA_OK || status == LZMA_STREAM_END || status == LZMA_BUF_ERROR;
}

static void xz_close(void *self)
{
    lzma_end(self);
    free(self);
}

#ifdef HAVE_ZSTD
static void *zstd_open(void)
{
    return ZSTD_createDStream();
}

static bool zstd_run(void *self, struct decompress_step *step)
{
    ZSTD_inBuffer from = { step->in, step->in_len, 0 };
    ZSTD_outBuffer to = { step->out, step->out_len, 0 };
    size_t status = ZSTD_decompressStream(self, &to, &from);

    step->in_used = from.pos;
    step->out_produced = to.pos;
    return !ZSTD_isError(status);
}

static void zstd_close(void *self)
{
    ZSTD_freeDStream(self);
}
#endif

#ifdef HAVE_LZ4
static void *lz4_open(void)
{
    LZ4F_dctx *ctx = NULL;

    return LZ4F_isError(LZ4F_createDecompressionContext(&ctx, LZ4F_VERSION)) ? NULL : ctx;
}

static bool lz4_run(void *self, struct decompress_step *step)
{
    size_t used = step->in_len, produced = step->out_len;
    size_t status = LZ4F_decompress(self, step->out, &produced, step->in, &used, NULL);

    step->in_used = used;
    step->out_produced = produced;
    return !LZ4F_isError(status);
}

static void lz4_close(void *self)
{
    LZ4F_freeDecompressionContext(self);
}
#endif

/* Name, magic number and its length, functions. */
static const struct decompress_ops table[] = {
    { "gzip", { 0x1f, 0x8b }, 2, gzip_open, gzip_run, gzip_close },
    { "xz", { 0xfd, '7', 'z', 'X', 'Z', 0 }, 6, xz_open, xz_run, xz_close },
#ifdef HAVE_ZSTD
    { "zstd", { 0x28, 0xb5, 0x2f, 0xfd }, 4, zstd_open, zstd_run, zstd_close },
#endif
#ifdef HAVE_LZ4
    { "lz4", { 0x04, 0x22, 0x4d, 0x18 }, 4, lz4_open, lz4_run, lz4_close },
#endif
};

const struct decompress_ops *decompress_find(const uint8_t *start, size_t len)
{
    for (unsigned i = 0; i < ARRAY_LEN(table); i++)
        if (len >= table[i].magic_len && memcmp(start, table[i].magic, table[i].magic_len) == 0)
            return &table[i];
    return NULL;
}
