/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/proto/http1/coding.c - gzip, deflate, zlib, lzma, brotli and zstd.
 *
 * The gzip header is read here and not by zlib, which is stricter than browsers: they ignore
 * reserved flags and checksums. Setting up a zlib stream costs 40 KB, so that a thread keeps some
 * for reuse. */
#include "config.h"

#include "app/core/content/brotli_decoder.h"
#include "app/core/content/zstd_decoder.h"
#include "app/proto/http1/body.h"
#include "app/proto/http1/coding.h"

#include <lzma.h>
#include <string.h>
#include <zlib.h>

#include "base/memory/lib_memory.h"

/* --- zlib ------------------------------------------------------------------------------------- */

/* The parts of a member, RFC 1952 section 2.3. `part` moves through them in this order. */
enum gzip_part { GZIP_FIXED, GZIP_EXTRA_LEN, GZIP_EXTRA, GZIP_NAME, GZIP_COMMENT, GZIP_CRC,
                 GZIP_DATA, GZIP_TRAILER };
#define GZIP_MAGIC 0x1f                 /* its first byte */
#define GZIP_TRAILER_SIZE 8
enum { GZIP_HAS_CRC = 2, GZIP_HAS_EXTRA = 4, GZIP_HAS_NAME = 8, GZIP_HAS_COMMENT = 16 };

struct http_inflate {
    z_stream z;
    struct http_inflate *next;          /* at rest */
    uint8_t part;                       /* enum gzip_part */
    uint8_t flags;
    uint8_t at;                         /* in a part of fixed size */
    bool again;                         /* a further member of the same body */
    uint16_t extra;
};

/* window_bits: negative for raw deflate. Without the thread's spares a stream is allocated. */
static struct http_inflate *inflate_make(struct http_thread *ht, int window_bits)
{
    struct http_inflate *s = ht != NULL ? ht->inflate : NULL;

    if (s != NULL) {
        ht->inflate = s->next;
        ht->inflates--;
        if (inflateReset2(&s->z, window_bits) == Z_OK)
            return s;
        inflateEnd(&s->z);
        lib_free(s);
    }
    s = lib_calloc(1, sizeof(*s));
    if (s != NULL) {
        s->z.zalloc = lib_zalloc;
        s->z.zfree = lib_free_for;
    }
    if (s != NULL && inflateInit2(&s->z, window_bits) != Z_OK) {
        lib_free(s);
        s = NULL;
    }
    return s;
}

/* All flows together may hold so much as http.memcap allows; NULL beyond it. */
static void *inflate_take(struct http_thread *ht, int window_bits, struct decoder_memory *memory)
{
    struct http_inflate *s;

    if (!decoder_memory_take(memory, DECODER_MEMORY_ZLIB))
        return NULL;
    s = inflate_make(ht, window_bits);
    if (s == NULL)
        decoder_memory_return(memory, DECODER_MEMORY_ZLIB);
    return s;
}

static void inflate_free(struct http_inflate *s)
{
    inflateEnd(&s->z);
    lib_free(s);
}

static void inflate_release(struct http_thread *ht, void *stream, struct decoder_memory *memory)
{
    struct http_inflate *s = stream;

    decoder_memory_return(memory, DECODER_MEMORY_ZLIB);
    if (ht == NULL || ht->inflates == HTTP_INFLATES_AT_REST) {
        inflate_free(s);
        return;
    }
    s->next = ht->inflate;
    ht->inflate = s;
    ht->inflates++;
}

void http_inflates_free(struct http_thread *ht)
{
    while (ht->inflate != NULL) {
        struct http_inflate *s = ht->inflate;

        ht->inflate = s->next;
        inflate_free(s);
    }
    ht->inflates = 0;
}

/* The formats share zlib: raw deflate (RFC 1951), zlib's own (RFC 1950), and gzip around raw
 * deflate. */
static void *deflate_open(struct http_thread *ht, const struct http_config *config UNUSED,
                          struct decoder_memory *memory)
{
    return inflate_take(ht, -MAX_WBITS, memory);
}

static void *zlib_open(struct http_thread *ht, const struct http_config *config UNUSED,
                       struct decoder_memory *memory)
{
    return inflate_take(ht, MAX_WBITS, memory);
}

static void *gzip_open(struct http_thread *ht, const struct http_config *config UNUSED,
                       struct decoder_memory *memory)
{
    struct http_inflate *s = inflate_take(ht, -MAX_WBITS, memory);

    if (s != NULL) {
        s->part = GZIP_FIXED;
        s->at = 0;
        s->again = false;
    }
    return s;
}

/* Z_BUF_ERROR means no progress without more input or output, which is no error here. */
static enum coding_status inflate_run(void *stream, struct bytes *in, uint8_t *out, size_t capacity,
                                      size_t *produced)
{
    z_stream *z = &((struct http_inflate *)stream)->z;
    size_t len = bytes_left(in);
    int status;

    z->next_in = (uint8_t *)(uintptr_t)in->next;
    z->avail_in = (unsigned)len;
    z->next_out = out;
    z->avail_out = (unsigned)capacity;
    status = inflate(z, Z_NO_FLUSH);
    take_skip(in, len - z->avail_in);
    *produced = capacity - z->avail_out;
    if (status == Z_STREAM_END)
        return CODING_END;
    return status == Z_OK || status == Z_BUF_ERROR ? CODING_MORE : CODING_ERROR;
}

/* --- the header of gzip (RFC 1952, 2.3) ------------------------------------------------------- */

/* Ten bytes: magic, method 8, flags, then time, extra flags and system, which are ignored. */
static bool gzip_fixed(struct http_inflate *s, uint8_t c)
{
    static const uint8_t magic[] = { 0x1f, 0x8b, 8 };

    if (s->at < sizeof(magic) && c != magic[s->at])
        return false;
    if (s->at == 3)
        s->flags = c;
    if (++s->at == 10) {
        s->part = GZIP_EXTRA_LEN;
        s->at = 0;
        s->extra = 0;
    }
    return true;
}

/* Little endian; also counts the two bytes of the header's checksum. */
static bool gzip_two_bytes(struct http_inflate *s, uint8_t c)
{
    s->extra = (uint16_t)(s->extra >> 8 | c << 8);
    return ++s->at == 2;
}

/* Passes over parts that the flags exclude. */
static void gzip_pass_absent(struct http_inflate *s)
{
    if (s->part == GZIP_EXTRA_LEN && (s->flags & GZIP_HAS_EXTRA) == 0)
        s->part = GZIP_NAME;
    if (s->part == GZIP_EXTRA && s->extra == 0)
        s->part = GZIP_NAME;
    if (s->part == GZIP_NAME && (s->flags & GZIP_HAS_NAME) == 0)
        s->part = GZIP_COMMENT;
    if (s->part == GZIP_COMMENT && (s->flags & GZIP_HAS_COMMENT) == 0) {
        s->part = GZIP_CRC;
        s->at = 0;
    }
    if (s->part == GZIP_CRC && (s->flags & GZIP_HAS_CRC) == 0)
        s->part = GZIP_DATA;
}

/* False: not a gzip header. Bytes of optional parts are counted, not kept. */
static bool gzip_header_byte(struct http_inflate *s, uint8_t c)
{
    switch ((enum gzip_part)s->part) {
    case GZIP_FIXED:
        return gzip_fixed(s, c);
    case GZIP_EXTRA_LEN:
        s->part += gzip_two_bytes(s, c);
        return true;
    case GZIP_EXTRA:
        s->extra--;
        return true;
    case GZIP_NAME:
        s->part += c == 0;
        return true;
    case GZIP_COMMENT:
        s->part += c == 0;
        s->at = 0;
        return true;
    case GZIP_CRC:
        s->part += gzip_two_bytes(s, c);
        return true;
    case GZIP_DATA:
    case GZIP_TRAILER:
        break;
    }
    return true;
}

/* The trailer holds checksum and length. Another member may follow (RFC 1952 section 2.2). */
static enum coding_status gzip_trailer(struct http_inflate *s, struct bytes *in)
{
    while (s->at < GZIP_TRAILER_SIZE && bytes_have(in, 1)) {
        take_u8(in);
        s->at++;
    }
    if (!bytes_have(in, 1))
        return CODING_MORE;
    if (peek_u8(in) != GZIP_MAGIC || inflateReset(&s->z) != Z_OK)
        return CODING_END;  /* after a member, anything else ends the body */
    s->part = GZIP_FIXED;
    s->at = 0;
    s->again = true;
    return CODING_MORE;
}

/* CODING_MORE: the header is complete, or needs more bytes. CODING_END: no further member. */
static enum coding_status gzip_header(struct http_inflate *s, struct bytes *in)
{
    while (s->part != GZIP_DATA) {
        if (!bytes_have(in, 1))
            return CODING_MORE;
        if (s->part == GZIP_TRAILER) {
            if (gzip_trailer(s, in) == CODING_END)
                return CODING_END;
            continue;
        }
        if (!gzip_header_byte(s, take_u8(in)))
            return s->again ? CODING_END : CODING_ERROR;
        gzip_pass_absent(s);
    }
    return CODING_MORE;
}

/* Members follow each other in one body; each starts with a fresh window. */
static enum coding_status gzip_run(void *stream, struct bytes *in, uint8_t *out, size_t capacity,
                                   size_t *produced)
{
    struct http_inflate *s = stream;
    enum coding_status status;

    *produced = 0;
    for (;;) {
        size_t more = 0;

        if (s->part != GZIP_DATA) {
            status = gzip_header(s, in);
            if (status != CODING_MORE || s->part != GZIP_DATA)
                return status;
        }
        if (*produced == capacity)
            return CODING_MORE;
        status = inflate_run(s, in, out + *produced, capacity - *produced, &more);
        *produced += more;
        if (status != CODING_END)
            return status;
        s->part = GZIP_TRAILER;
        s->at = 0;
    }
}

/* `otherwise`: the coding to try if this one does not fit. The three of zlib form a circle. */
const struct coding coding_gzip = {
    .has_header = true, .otherwise = HTTP_CODING_DEFLATE, .is_deflate = true,
    .open = gzip_open, .close = inflate_release, .run = gzip_run,
};

const struct coding coding_deflate = {
    .otherwise = HTTP_CODING_ZLIB, .is_deflate = true,
    .open = deflate_open, .close = inflate_release, .run = inflate_run,
};

const struct coding coding_zlib = {
    .has_header = true, .otherwise = HTTP_CODING_GZIP, .is_deflate = true,
    .open = zlib_open, .close = inflate_release, .run = inflate_run,
};

/* --- lzma ------------------------------------------------------------------------------------- */

/* The .lzma format. Encoders declare dictionaries that small bodies never fill, so lzma-memlimit
 * applies to the allocated dictionary. Only a body that refers back further is in error. */
#define ALONE_HEAD 5                    /* properties, size of the dictionary */
#define DICTIONARY_LEAST 4096

struct alone {
    lzma_stream x;
    lzma_allocator allocator;
    struct decoder_memory *memory;
    uint32_t most;
    uint8_t head[ALONE_HEAD];
    uint8_t have;
};

static void *lzma_memory(void *memory, size_t n, size_t size)
{
    return decoder_memory_alloc(memory, n * size);      /* one of them is always 1 */
}

static void *alone_open(struct http_thread *ht UNUSED, const struct http_config *config,
                        struct decoder_memory *memory)
{
    struct alone *s = lib_calloc(1, sizeof(*s));

    if (s == NULL)
        return NULL;
    s->memory = memory;
    s->allocator = (lzma_allocator){ .alloc = lzma_memory, .free = decoder_memory_free,
                                     .opaque = memory };
    s->x.allocator = &s->allocator;
    s->most = MAX(config->lzma_memlimit, DICTIONARY_LEAST);
    if (lzma_alone_decoder(&s->x, UINT64_MAX) == LZMA_OK)
        return s;
    lib_free(s);
    return NULL;
}

static void alone_close(struct http_thread *ht UNUSED, void *stream,
                        struct decoder_memory *memory UNUSED)
{
    lzma_end(&((struct alone *)stream)->x);
    lib_free(stream);
}

/* Feeds the header with a dictionary size of at most `most`. liblzma wants space for output,
 * although the header produces none. */
static lzma_ret alone_head(struct alone *s, struct bytes *in)
{
    uint32_t size;
    uint8_t none;                       /* a byte of space that stays empty */

    while (s->have < ALONE_HEAD && bytes_have(in, 1))
        s->head[s->have++] = take_u8(in);
    if (s->have < ALONE_HEAD)
        return LZMA_OK;
    size = MIN(get_le32(s->head + 1), s->most);
    for (unsigned i = 0; i < 4; i++)
        s->head[1 + i] = (uint8_t)(size >> 8 * i);
    s->x.next_in = s->head;
    s->x.avail_in = ALONE_HEAD;
    s->x.next_out = &none;
    s->x.avail_out = 1;
    return lzma_code(&s->x, LZMA_RUN);
}

/* Distinguishes refused memory from damaged data, because it has its own event. */
static enum coding_status alone_run(void *stream, struct bytes *in, uint8_t *out, size_t capacity,
                                    size_t *produced)
{
    struct alone *s = stream;
    lzma_stream *x = &s->x;
    size_t len;
    lzma_ret status;

    *produced = 0;
    if (s->have < ALONE_HEAD && alone_head(s, in) != LZMA_OK)
        return s->memory->refusal != DECODER_GRANTED ? CODING_REFUSED : CODING_ERROR;
    if (s->have < ALONE_HEAD)
        return CODING_MORE;
    len = bytes_left(in);
    x->next_in = in->next;
    x->avail_in = len;
    x->next_out = out;
    x->avail_out = capacity;
    status = lzma_code(x, LZMA_RUN);
    take_skip(in, len - x->avail_in);
    *produced = capacity - x->avail_out;
    if (status == LZMA_STREAM_END)
        return CODING_END;
    if (status == LZMA_MEM_ERROR && s->memory->refusal != DECODER_GRANTED)
        return CODING_REFUSED;
    return status == LZMA_OK || status == LZMA_BUF_ERROR ? CODING_MORE : CODING_ERROR;
}

const struct coding coding_lzma = {
    .has_header = true, .otherwise = HTTP_CODING_DEFLATE,
    .open = alone_open, .close = alone_close, .run = alone_run,
};

/* --- brotli ----------------------------------------------------------------------------------- */

static void *brotli_open(struct http_thread *ht UNUSED, const struct http_config *config,
                         struct decoder_memory *memory)
{
    return brotli_decoder_open(memory, config->body_expansion);
}

static void brotli_close(struct http_thread *ht UNUSED, void *stream,
                         struct decoder_memory *memory UNUSED)
{
    brotli_decoder_close(stream);
}

static enum coding_status brotli_run(void *stream, struct bytes *in, uint8_t *out, size_t capacity,
                                     size_t *produced)
{
    switch (brotli_decoder_run(stream, in, out, capacity, produced)) {
    case BROTLI_STATUS_MORE:    return CODING_MORE;
    case BROTLI_STATUS_END:     return CODING_END;
    case BROTLI_STATUS_REFUSED: return CODING_REFUSED;
    case BROTLI_STATUS_ERROR:   break;
    }
    return CODING_ERROR;
}

const struct coding coding_brotli = {
    .has_header = true, .otherwise = HTTP_CODING_DEFLATE,
    .open = brotli_open, .close = brotli_close, .run = brotli_run,
    .is_bomb_at_end = brotli_decoder_waits,
};

/* --- zstd ------------------------------------------------------------------------------------- */

static void *zstd_open(struct http_thread *ht UNUSED, const struct http_config *config UNUSED,
                       struct decoder_memory *memory)
{
    return zstd_decoder_open(memory);
}

static void zstd_close(struct http_thread *ht UNUSED, void *stream,
                       struct decoder_memory *memory UNUSED)
{
    zstd_decoder_close(stream);
}

/* A body may have several zstd frames; zstd_decoder_run() never reports the end. */
static enum coding_status zstd_run(void *stream, struct bytes *in, uint8_t *out, size_t capacity,
                                   size_t *produced)
{
    switch (zstd_decoder_run(stream, in, out, capacity, produced)) {
    case ZSTD_STATUS_MORE:    return CODING_MORE;
    case ZSTD_STATUS_REFUSED: return CODING_REFUSED;
    case ZSTD_STATUS_ERROR:   break;
    }
    return CODING_ERROR;
}

const struct coding coding_zstd = {
    .has_header = true, .otherwise = HTTP_CODING_DEFLATE,
    .open = zstd_open, .close = zstd_close, .run = zstd_run,
};
