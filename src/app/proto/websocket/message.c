/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/proto/websocket/message.c - frames become messages.
 *
 * One ws_message for each direction of a flow. Both the stored payload and the inflated text have
 * the limit `max-payload-size`: a few bytes of deflate can become a thousand times as many. */
#include "app/proto/websocket/message.h"

#include "base/memory/lib_memory.h"

#include <stdlib.h>
#include <zlib.h>

#define WINDOW_BITS 15          /* the most that can be negotiated (RFC 7692 section 7.1.2) */
#define CHUNK 8192              /* bytes that one call of inflate() may produce */

/* Owned by a ws_message, on the heap, until the flow ends. */
struct ws_inflater {
    z_stream z;
    struct buf out;     /* the text of the current message, up to the limit */
    uint8_t chunk[CHUNK];
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

/* Raw deflate, without zlib header: a negative number of window bits says so. NULL: no memory. */
static struct ws_inflater *inflater_new(void)
{
    struct ws_inflater *inflater = lib_calloc(1, sizeof(*inflater));

    if (inflater == NULL)
        return NULL;
    inflater->z.zalloc = lib_zalloc;
    inflater->z.zfree = lib_free_for;
    if (inflateInit2(&inflater->z, -WINDOW_BITS) == Z_OK)
        return inflater;
    lib_free(inflater);
    return NULL;
}

/* One call of inflate() with the input that is left. Output beyond the limit is dropped. False:
 * there is no progress, or the data are not valid. */
static bool inflate_some(struct ws_inflater *inflater, uint32_t limit)
{
    z_stream *z = &inflater->z;
    uInt before = z->avail_in;
    size_t n, space = limit - inflater->out.len;
    int r;

    z->next_out = inflater->chunk;
    z->avail_out = CHUNK;
    r = inflate(z, Z_SYNC_FLUSH);
    n = CHUNK - z->avail_out;
    buf_add(&inflater->out, inflater->chunk, MIN(n, space));
    if (r == Z_STREAM_END)  /* a final block is allowed (RFC 7692 section 7.2.3.4) */
        r = inflateReset(z);
    return r == Z_OK && (n > 0 || z->avail_in < before);
}

/* Inflates everything, also data beyond the limit, because the next message refers to the window of
 * this one. */
static void inflate_all(struct ws_inflater *inflater, struct slice packed, uint32_t limit)
{
    inflater->z.next_in = (Bytef *)(uintptr_t)packed.data;
    inflater->z.avail_in = packed.len;
    while (inflate_some(inflater, limit) &&
           (inflater->z.avail_in > 0 || inflater->z.avail_out == 0))
        continue;
}

/* Data that cannot be inflated, or that inflate to nothing, stay as they are: rules then see the
 * packed bytes. */
struct slice ws_inflate(struct ws_message *m, struct arena *arena, struct slice packed,
                        uint32_t limit)
{
    /* An empty block. */
    static const struct slice tail = { (const uint8_t *)"\x00\x00\xff\xff", 4 };
    struct slice out;

    if (m->inflater == NULL)
        m->inflater = inflater_new();
    if (m->inflater == NULL)
        return packed;
    buf_clear(&m->inflater->out);
    inflate_all(m->inflater, packed, limit);
    inflate_all(m->inflater, tail, limit);      /* removed by the sender (RFC 7692 section 7.2.1) */
    out = buf_slice(&m->inflater->out);
    if (out.len == 0)
        return packed;
    return arena_slice(arena, out);
}

/* At the end of the flow; a message without any frame is valid, too. */
void ws_message_fini(struct ws_message *m)
{
    buf_fini(&m->data);
    if (m->inflater == NULL)
        return;
    inflateEnd(&m->inflater->z);
    buf_fini(&m->inflater->out);
    lib_free(m->inflater);
}
