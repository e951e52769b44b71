/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/proto/websocket/message.c - frames become messages.
 *
 * One ws_message for each direction of a flow. Both the stored payload and the inflated text have
 * the limit `max-payload-size`: a few bytes of deflate can become a thousand times as many. Windows
 * count to the memory of all decompressors, and what a direction inflates to is limited as bodies
 * of HTTP are. */
#include "app/proto/websocket/message.h"

#include "app/core/decoder_memory.h"
#include "base/memory/lib_memory.h"
#include "base/memory/pack.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#define WINDOW_BITS 15          /* the most that can be negotiated (RFC 7692 section 7.1.2) */
#define CHUNK 8192              /* bytes that one call of inflate() may produce */
#define EXPANSION_MOST 100u     /* times the packed bytes of a direction; as HTTP by default */

#define WINDOW (1u << WINDOW_BITS)
/* While decoder_memory_is_much(), those between two messages are closed, and their windows kept:
 * packed, or as they are if they are small. */
#define PACKED_MOST 4096u
#define PLAIN_MOST 8192u
#define PARKS_MAX 4u            /* then only when the direction has sent twice as much */

/* Owned by a ws_message, on the heap, until the flow ends or has inflated too much. */
struct ws_inflater {
    z_stream z;
    struct decoder_memory memory;
    uint64_t in, out, drawn;    /* of the direction: see decoder_output_most() */
    bool is_parked;             /* z is closed; the window, of so many bytes: */
    uint8_t *window;
    uint32_t window_len, window_size;   /* unpacked, and as it is stored */
    uint8_t parks;
    uint64_t parked_in;         /* `in` at the latest one */
};

/* One message. */
struct inflation {
    struct ws_inflater *inflater;
    struct buf text;            /* up to the limit */
    uint32_t limit;
    bool too_much;
};

/* Only the first frame of a message says whether it is compressed (RFC 7692 section 6). False for
 * the frame that reaches the limit, and true for later ones: one event for a message. */
bool ws_message_add(struct ws_message *m, struct slice payload, bool compressed, uint32_t limit)
{
    size_t space = m->data.len < limit ? limit - m->data.len : 0;

    if (!m->started) {
        m->started = true;
        m->compressed = compressed;
    }
    buf_add(&m->data, payload.data, MIN(payload.len, space));
    return payload.len <= space || space == 0;
}

/* The buffer keeps its memory for the next message. */
struct slice ws_message_take(struct ws_message *m, struct arena *arena, bool *compressed)
{
    struct slice complete = buf_slice(&m->data);

    if (complete.len > 0)
        complete = arena_slice(arena, complete);
    *compressed = m->compressed;
    m->started = m->compressed = false;
    buf_clear(&m->data);
    return complete;
}

static void inflater_close(struct ws_inflater *inflater)
{
    decoder_memory_return(&inflater->memory, DECODER_MEMORY_ZLIB);
    inflateEnd(&inflater->z);
}

static void inflater_free(struct ws_inflater *inflater)
{
    if (!inflater->is_parked)
        inflater_close(inflater);
    lib_free(inflater->window);
    lib_free(inflater);
}

/* Raw deflate, without zlib header: a negative number of window bits says so. NULL: no memory. */
static struct ws_inflater *inflater_new(struct app_flow *af)
{
    struct decoder_memory memory = { .flow = af };
    struct ws_inflater *inflater;

    if (!decoder_memory_take(&memory, DECODER_MEMORY_ZLIB))
        return NULL;
    inflater = lib_calloc(1, sizeof(*inflater));
    if (inflater != NULL) {
        inflater->z.zalloc = lib_zalloc;
        inflater->z.zfree = lib_free_for;
        inflater->memory = memory;
    }
    if (inflater != NULL && inflateInit2(&inflater->z, -WINDOW_BITS) == Z_OK)
        return inflater;
    decoder_memory_return(&memory, DECODER_MEMORY_ZLIB);
    lib_free(inflater);
    return NULL;
}

/* zlib waits for the next block, at the beginning of a byte. */
static bool is_between_blocks(const z_stream *z)
{
    return z->data_type == 128;
}

static bool is_parked_again(const struct ws_inflater *inflater)
{
    return inflater->parks < PARKS_MAX || inflater->in >= 2 * inflater->parked_in;
}

static void park(struct ws_inflater *inflater)
{
    uint8_t window[WINDOW], packed[PACKED_MOST];
    const uint8_t *from = packed;
    uInt len = 0;
    size_t size;

    if (inflateGetDictionary(&inflater->z, window, &len) != Z_OK)
        return;
    inflater->parks += inflater->parks < PARKS_MAX;
    inflater->parked_in = inflater->in;
    size = pack(window, len, packed, sizeof(packed));
    if (size == 0 || size >= len) {
        from = window;
        size = len;
    }
    if (size > PLAIN_MOST)
        return;
    inflater->window = lib_malloc(size);
    if (inflater->window == NULL)
        return;
    memcpy(inflater->window, from, size);
    inflater->window_size = (uint32_t)size;
    inflater->window_len = len;
    inflater_close(inflater);
    inflater->is_parked = true;
}

static bool set_window(struct ws_inflater *inflater)
{
    uint8_t window[WINDOW];
    const uint8_t *from = inflater->window;

    if (inflater->window_size < inflater->window_len) {
        if (!unpack(inflater->window, inflater->window_size, window, inflater->window_len))
            return false;
        from = window;
    }
    return inflater->window_len == 0 ||
           inflateSetDictionary(&inflater->z, from, inflater->window_len) == Z_OK;
}

/* False: no memory. */
static bool open_again(struct ws_inflater *inflater)
{
    bool ok;

    if (LIKELY(!inflater->is_parked))
        return true;
    if (!decoder_memory_take(&inflater->memory, DECODER_MEMORY_ZLIB))
        return false;
    inflater->z = (z_stream){ .zalloc = lib_zalloc, .zfree = lib_free_for };
    if (inflateInit2(&inflater->z, -WINDOW_BITS) != Z_OK) {
        decoder_memory_return(&inflater->memory, DECODER_MEMORY_ZLIB);
        return false;
    }
    inflater->is_parked = false;
    ok = set_window(inflater);
    lib_free(inflater->window);
    inflater->window = NULL;
    return ok;
}

void ws_message_rest(struct ws_message *m)
{
    struct ws_inflater *inflater = m->inflater;

    if (LIKELY(inflater == NULL) || inflater->is_parked ||
        !decoder_memory_is_much(inflater->memory.flow) ||
        !is_between_blocks(&inflater->z) || !is_parked_again(inflater))
        return;
    park(inflater);
}

/* How many bytes the direction may inflate to now; 0: as much as its bytes allow is inflated. */
static uint64_t paid(struct ws_inflater *inflater)
{
    struct app_flow *af = inflater->memory.flow;
    uint64_t most;

    do
        most = decoder_output_most(inflater->in, EXPANSION_MOST, inflater->drawn);
    while (UNLIKELY(inflater->out >= most) &&
           decoder_output_draw(af, inflater->in, EXPANSION_MOST, &inflater->drawn));
    return most - MIN(most, inflater->out);
}

/* One call of inflate() with the input that is left. Output beyond the limit is dropped. False:
 * there is no progress, the data are not valid, or it was too much. */
static bool inflate_some(struct inflation *x)
{
    z_stream *z = &x->inflater->z;
    uint8_t chunk[CHUNK];
    const uInt before = z->avail_in, most = (uInt)MIN(paid(x->inflater), (uint64_t)CHUNK);
    size_t n, space = x->limit - x->text.len;
    int r;

    x->too_much = most == 0;
    if (x->too_much)
        return false;
    z->next_out = chunk;
    z->avail_out = most;
    r = inflate(z, Z_SYNC_FLUSH);
    n = most - z->avail_out;
    x->inflater->out += n;
    buf_add(&x->text, chunk, MIN(n, space));
    if (r == Z_STREAM_END)  /* a final block is allowed (RFC 7692 section 7.2.3.4) */
        r = inflateReset(z);
    return r == Z_OK && (n > 0 || z->avail_in < before);
}

/* Inflates everything, also data beyond the limit, because the next message refers to the window of
 * this one. */
static void inflate_all(struct inflation *x, struct slice packed)
{
    z_stream *z = &x->inflater->z;

    z->next_in = (Bytef *)(uintptr_t)packed.data;
    z->avail_in = packed.len;
    while (inflate_some(x) && (z->avail_in > 0 || z->avail_out == 0))
        continue;
}

/* A direction that has inflated too much has no window any more: its later messages stay packed. */
static void stop(struct ws_message *m)
{
    inflater_free(m->inflater);
    m->inflater = NULL;
    m->is_bomb = true;
}

/* NULL: it was too much before, or there is no memory. Without its window it cannot go on. */
static struct ws_inflater *inflater_of(struct ws_message *m, struct app_flow *af)
{
    if (m->inflater == NULL && !m->is_bomb)
        m->inflater = inflater_new(af);
    if (m->inflater != NULL && !open_again(m->inflater))
        stop(m);
    return m->inflater;
}

/* Data that cannot be inflated, or that inflate to nothing, stay as they are: rules then see the
 * packed bytes. */
bool ws_inflate(struct ws_message *m, struct app_flow *af, struct slice packed, uint32_t limit,
                struct ws_text *text)
{
    /* An empty block. */
    static const struct slice tail = { (const uint8_t *)"\x00\x00\xff\xff", 4 };
    struct inflation x = { .limit = limit, .inflater = inflater_of(m, af) };

    if (x.inflater == NULL)
        return true;
    x.inflater->in += packed.len;
    inflate_all(&x, packed);
    if (!x.too_much)
        inflate_all(&x, tail);      /* removed by the sender (RFC 7692 section 7.2.1) */
    buf_shrink(&x.text);
    text->data = x.text;
    if (UNLIKELY(x.too_much))
        stop(m);
    if (unpacked_memory_set(af, &text->held, text->data.cap))
        return !x.too_much;
    buf_fini(&text->data);
    return false;
}

/* --- text of messages ------------------------------------------------------------------------- */

void ws_text_rest(struct ws_text *text, struct app_flow *af)
{
    if (text->data.len > 0 && unpacked_memory_is_much(af) &&
        window_pack(&text->packed, &text->data))
        (void)unpacked_memory_set(af, &text->held, text->packed.size);
}

/* What it counts for may be refused: that is for new content, and this one has been granted. */
struct slice ws_text_get(struct ws_text *text, struct app_flow *af)
{
    if (UNLIKELY(window_is_packed(&text->packed))) {
        (void)!window_unpack(&text->packed, &text->data);
        (void)unpacked_memory_set(af, &text->held, text->data.cap);
    }
    return buf_slice(&text->data);
}

void ws_text_fini(struct ws_text *text, struct app_flow *af)
{
    buf_fini(&text->data);
    window_drop(&text->packed);
    (void)unpacked_memory_set(af, &text->held, 0);
}

/* At the end of the flow; a message without any frame is valid, too. */
void ws_message_fini(struct ws_message *m)
{
    buf_fini(&m->data);
    if (m->inflater != NULL)
        inflater_free(m->inflater);
}
