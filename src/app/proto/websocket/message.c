/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/proto/websocket/message.c - frames become messages. */
#include "app/proto/websocket/message.h"

#include "base/memory/lib_memory.h"

#include <stdlib.h>
#include <zlib.h>

#define WINDOW_BITS 15          /* the most that may be agreed on, RFC 7692 7.1.2 */
#define CHUNK 8192

struct ws_inflater {
    z_stream z;
    struct buf out;
    uint8_t chunk[CHUNK];
};

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

/* One run over what is there; false: nothing more will come of it. */
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
    if (r == Z_STREAM_END)
        r = inflateReset(z);
    return r == Z_OK && (n > 0 || z->avail_in < before);
}

/* All of it goes through, also what is beyond the limit: the next message builds on it. */
static void inflate_all(struct ws_inflater *inflater, struct slice packed, uint32_t limit)
{
    inflater->z.next_in = (Bytef *)(uintptr_t)packed.data;
    inflater->z.avail_in = packed.len;
    while (inflate_some(inflater, limit) &&
           (inflater->z.avail_in > 0 || inflater->z.avail_out == 0))
        continue;
}

struct slice ws_inflate(struct ws_message *m, struct arena *arena, struct slice packed,
                        uint32_t limit)
{
    static const struct slice tail = { (const uint8_t *)"\x00\x00\xff\xff", 4 };
    struct slice out;

    if (m->inflater == NULL)
        m->inflater = inflater_new();
    if (m->inflater == NULL)
        return packed;
    buf_clear(&m->inflater->out);
    inflate_all(m->inflater, packed, limit);
    inflate_all(m->inflater, tail, limit);      /* the sender left it out, RFC 7692 7.2.2 */
    out = buf_slice(&m->inflater->out);
    if (out.len == 0)
        return packed;
    return arena_slice(arena, out);
}

void ws_message_fini(struct ws_message *m)
{
    buf_fini(&m->data);
    if (m->inflater == NULL)
        return;
    inflateEnd(&m->inflater->z);
    buf_fini(&m->inflater->out);
    lib_free(m->inflater);
}
