/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/core/content/brotli_decoder.c - brotli by libbrotli, with an allocator that counts and that
 * makes windows wait until input has paid for them. */
#include "config.h"

#include "app/core/content/brotli_decoder.h"

#ifdef HAVE_BROTLI
#include <brotli/decode.h>
#include <string.h>

#include "base/memory/buf.h"
#include "base/memory/lib_memory.h"

struct brotli_decoder {
    BrotliDecoderState *decoder;        /* NULL: it waits */
    struct decoder_memory *memory;
    uint32_t times;
    bool started;
    uint64_t in, out;                   /* bytes taken and given */
    size_t too_large;                   /* the block that was not allowed */
    /* Input from the start, until it is long enough for the largest window; then it is decoded
     * again. */
    struct buf retained;
    size_t again;
    uint64_t skip;                     /* bytes of the repeated output that were already returned */
};

static void *take_memory(void *context, size_t size)
{
    struct brotli_decoder *s = context;

    if (size > decoder_output_max(s->in, s->times) && size <= decoder_memory_largest(s->memory)) {
        s->too_large = size;
        return NULL;
    }
    return decoder_memory_alloc(s->memory, size);
}

static void return_memory(void *context, void *block)
{
    decoder_memory_free(((struct brotli_decoder *)context)->memory, block);
}

static bool begin(struct brotli_decoder *s)
{
    s->too_large = 0;
    s->decoder = BrotliDecoderCreateInstance(take_memory, return_memory, s);
    return s->decoder != NULL;
}

void *brotli_decoder_open(struct decoder_memory *memory, uint32_t times)
{
    struct brotli_decoder *s = lib_calloc(1, sizeof(*s));

    if (s == NULL)
        return NULL;
    s->memory = memory;
    s->times = times;
    if (begin(s))
        return s;
    lib_free(s);
    return NULL;
}

static void end(struct brotli_decoder *s)
{
    if (s->decoder != NULL)
        BrotliDecoderDestroyInstance(s->decoder);
    s->decoder = NULL;
}

void brotli_decoder_close(void *decoder)
{
    struct brotli_decoder *s = decoder;

    end(s);
    buf_fini(&s->retained);
    lib_free(s);
}

bool brotli_decoder_waits(const void *decoder)
{
    return ((const struct brotli_decoder *)decoder)->decoder == NULL;
}

/* No block is larger than the window's limit: with so much input none has to wait. */
static bool is_retaining(const struct brotli_decoder *s)
{
    return s->times != 0 && decoder_output_max(s->in, s->times) < decoder_memory_largest(s->memory);
}

static void retain(struct brotli_decoder *s, const uint8_t *data, size_t len)
{
    if (is_retaining(s)) {
        buf_add(&s->retained, data, len);
        s->again += len;
    } else {
        buf_fini(&s->retained);
        s->again = 0;
    }
}

/* All input is taken. True: it is enough, and the stream begins again. */
static bool wait_is_over(struct brotli_decoder *s, struct bytes *in)
{
    size_t len = bytes_left(in);

    buf_add(&s->retained, in->next, len);
    take_skip(in, len);
    s->in += len;
    if (s->too_large > decoder_output_max(s->in, s->times) || !begin(s))
        return false;
    s->again = 0;
    s->skip = s->out;
    return true;
}

/* Calls the library once, with buffered or new input. */
static BrotliDecoderResult call(struct brotli_decoder *s, struct bytes *in, uint8_t *out,
                                size_t *space)
{
    bool again = s->again < s->retained.len;
    const uint8_t *next = again ? s->retained.data + s->again : in->next;
    size_t len = again ? s->retained.len - s->again : bytes_left(in), left = len, capacity = *space;
    const uint8_t *from = next;
    BrotliDecoderResult result;

    if (!again)
        s->in += len;
    result = BrotliDecoderDecompressStream(s->decoder, &left, &next, space, &out, NULL);
    if (again) {
        s->again += len - left;
    } else {
        s->in -= left;
        take_skip(in, len - left);
        retain(s, from, len - left);
    }
    *space = capacity - *space;
    return result;
}

/* Removes output that was returned before. */
static size_t news(struct brotli_decoder *s, uint8_t *out, size_t len)
{
    size_t known = (size_t)MIN(s->skip, len);

    s->skip -= known;
    if (known > 0 && known < len)
        memmove(out, out + known, len - known);
    s->out += len - known;
    return len - known;
}

static enum brotli_status failure(const struct brotli_decoder *s)
{
    return s->memory->refusal != DECODER_GRANTED ? BROTLI_STATUS_REFUSED : BROTLI_STATUS_ERROR;
}

static bool is_taken(const struct brotli_decoder *s, const struct bytes *in)
{
    return s->again == s->retained.len && !bytes_have(in, 1);
}

enum brotli_status brotli_decoder_run(void *decoder, struct bytes *in, uint8_t *out,
                                      size_t capacity, size_t *produced)
{
    struct brotli_decoder *s = decoder;

    *produced = 0;
    if (!s->started && bytes_have(in, 1) &&
        decoder_memory_is_large_brotli(s->memory, peek_u8(in)))
        return BROTLI_STATUS_REFUSED;
    s->started |= bytes_have(in, 1);
    while (s->decoder != NULL || wait_is_over(s, in)) {
        size_t got = capacity - *produced;
        BrotliDecoderResult result = call(s, in, out + *produced, &got);

        *produced += news(s, out + *produced, got);
        if (result == BROTLI_DECODER_RESULT_SUCCESS)
            return BROTLI_STATUS_END;
        if (result == BROTLI_DECODER_RESULT_ERROR && s->too_large == 0)
            return failure(s);
        if (result == BROTLI_DECODER_RESULT_ERROR)
            end(s);
        else if (*produced == capacity ||
                 (result == BROTLI_DECODER_RESULT_NEEDS_MORE_INPUT && is_taken(s, in)))
            break;
    }
    return BROTLI_STATUS_MORE;
}
#else
void *brotli_decoder_open(struct decoder_memory *memory UNUSED, uint32_t times UNUSED)
{
    return NULL;
}

void brotli_decoder_close(void *decoder UNUSED)
{
}

bool brotli_decoder_waits(const void *decoder UNUSED)
{
    return false;
}

enum brotli_status brotli_decoder_run(void *decoder UNUSED, struct bytes *in UNUSED,
                                      uint8_t *out UNUSED, size_t capacity UNUSED,
                                      size_t *produced)
{
    *produced = 0;
    return BROTLI_STATUS_ERROR;
}
#endif
