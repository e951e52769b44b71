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

#include <stdlib.h>
#include <zlib.h>

#define WINDOW_BITS 15          /* the most that can be negotiated (RFC 7692 section 7.1.2) */
#define CHUNK 8192              /* bytes that one call of inflate() may produce */
#define EXPANSION_MOST 100u     /* times the packed bytes of a direction; as HTTP by default */

/* Owned by a ws_message, on the heap, until the flow ends or has inflated too much. */
struct ws_inflater {
    z_stream z;
    struct decoder_memory memory;
    uint64_t in, out, drawn;    /* of the direction: see decoder_output_most() */
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

static void inflater_free(struct ws_inflater *inflater)
{
    decoder_memory_return(&inflater->memory, DECODER_MEMORY_ZLIB);
    inflateEnd(&inflater->z);
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
static bool stop_if_too_much(struct ws_message *m, const struct inflation *x)
{
    if (LIKELY(!x->too_much))
        return false;
    inflater_free(m->inflater);
    m->inflater = NULL;
    m->is_bomb = true;
    return true;
}

/* Data that cannot be inflated, or that inflate to nothing, stay as they are: rules then see the
 * packed bytes. */
struct slice ws_inflate(struct ws_message *m, struct app_tx *tx, struct slice packed,
                        uint32_t limit, bool *too_much)
{
    /* An empty block. */
    static const struct slice tail = { (const uint8_t *)"\x00\x00\xff\xff", 4 };
    struct inflation x = { .limit = limit };
    struct slice out = packed;

    if (m->inflater == NULL && !m->is_bomb)
        m->inflater = inflater_new(tx->flow);
    x.inflater = m->inflater;
    *too_much = false;
    if (x.inflater == NULL)
        return packed;
    x.inflater->in += packed.len;
    inflate_all(&x, packed);
    if (!x.too_much)
        inflate_all(&x, tail);      /* removed by the sender (RFC 7692 section 7.2.1) */
    if (x.text.len > 0)
        out = arena_slice(&tx->arena, buf_slice(&x.text));
    buf_fini(&x.text);
    *too_much = stop_if_too_much(m, &x);
    return out;
}

/* At the end of the flow; a message without any frame is valid, too. */
void ws_message_fini(struct ws_message *m)
{
    buf_fini(&m->data);
    if (m->inflater != NULL)
        inflater_free(m->inflater);
}
