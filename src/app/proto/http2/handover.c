/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/proto/http2/handover.c - a connection that goes on in another process, after more bytes than
 * it could hear again.
 *
 * What later frames depend on goes along: the tables of HPACK, and where each direction is within a
 * frame. A table is written as a header block that builds it. The other process reads it with the
 * decoder that reads the peers' blocks, so a table may be as hostile as they are. Streams that have
 * begun are inspected and logged here, as far as they have come. */
#include "app/parser.h"
#include "app/proto/http2/state.h"

#define STATIC_ENTRIES 61               /* RFC 7541 appendix A */
#define RESIZE 0x20                     /* of a block's instructions: a new size of the table */
#define LITERAL_ADDED 0x40              /* a literal with a name, which becomes an entry */

static void add_be32(struct buf *out, uint32_t n)
{
    uint8_t bytes[4];

    put_be32(bytes, n);
    buf_add(out, bytes, sizeof(bytes));
}

/* RFC 7541 section 5.1. */
static void add_integer(struct buf *out, uint8_t instruction, unsigned bits, size_t n)
{
    uint8_t most = (uint8_t)((1u << bits) - 1);

    if (n < most) {
        buf_add_u8(out, (uint8_t)(instruction | n));
        return;
    }
    buf_add_u8(out, instruction | most);
    for (n -= most; n >= 0x80; n >>= 7)
        buf_add_u8(out, (uint8_t)(0x80 | (n & 0x7f)));
    buf_add_u8(out, (uint8_t)n);
}

/* The oldest entry first. */
static void write_table(nghttp2_hd_inflater *table, struct buf *out)
{
    add_integer(out, RESIZE, 5, nghttp2_hd_inflate_get_max_dynamic_table_size(table));
    for (size_t i = nghttp2_hd_inflate_get_num_table_entries(table); i > STATIC_ENTRIES; i--) {
        const nghttp2_nv *nv = nghttp2_hd_inflate_get_table_entry(table, i);

        if (nv == NULL)
            continue;
        buf_add_u8(out, LITERAL_ADDED);
        add_integer(out, 0, 7, nv->namelen);
        buf_add(out, nv->name, nv->namelen);
        add_integer(out, 0, 7, nv->valuelen);
        buf_add(out, nv->value, nv->valuelen);
    }
}

static void write_direction(const struct h2_state *st, enum direction d, struct buf *out)
{
    const struct h2_data *data = &st->data[d];
    size_t at;

    buf_add_u8(out, data->active);
    buf_add_u8(out, data->padded);
    add_be32(out, data->stream);
    add_be32(out, data->content);
    add_be32(out, data->padding);
    add_be32(out, st->skip[d]);
    at = out->len;
    add_be32(out, 0);
    write_table(st->inflater[d], out);
    if (!out->failed)
        put_be32(out->data + at, (uint32_t)(out->len - at - 4));
}

/* Not within a header block of several frames: that connection is not parsed any more. */
void h2_prelude(const struct app_flow *af, struct buf *out)
{
    const struct h2_state *st = af->state;
    struct buf state = { 0 };

    if (st->bytes == 0 || st->block[0].active || st->block[1].active ||
        st->inflater[0] == NULL || st->inflater[1] == NULL)
        return;
    buf_add_u8(&state, st->magic_done);
    add_be32(&state, (uint32_t)MIN(st->bytes, (uint64_t)UINT32_MAX));
    add_be32(&state, st->newest);
    write_direction(st, TO_SERVER, &state);
    write_direction(st, TO_CLIENT, &state);
    if (!state.failed)
        app_prelude_add_state(out, buf_slice(&state));
    buf_fini(&state);
}

/* False: the block is damaged. */
static bool build_table(nghttp2_hd_inflater *table, struct slice block)
{
    const uint8_t *at = block.data;
    size_t left = block.len;
    int flags = 0;

    while ((flags & NGHTTP2_HD_INFLATE_FINAL) == 0) {
        nghttp2_nv nv;
        ssize_t used = nghttp2_hd_inflate_hd2(table, &nv, &flags, at, left, 1);

        if (used < 0 || (used == 0 && flags == 0))
            return false;
        if (used > 0)
            at += used;         /* an empty block has no address to count from */
        left -= (size_t)used;
    }
    nghttp2_hd_inflate_end_headers(table);
    return true;
}

static void read_direction(struct app_flow *af, enum direction d, struct bytes *in)
{
    struct h2_state *st = af->state;
    struct h2_data data = { .active = take_u8(in) != 0, .padded = take_u8(in) != 0 };
    uint32_t skip;
    struct slice block;

    data.stream = take_be32(in);
    data.content = take_be32(in);
    data.padding = take_be32(in);
    skip = take_be32(in);
    block = take_slice(in, take_be32(in));
    if (in->failed)
        return;
    data.padded &= data.content > 0;
    data.active &= data.content > 0 || data.padding > 0;
    st->data[d] = data;
    st->skip[d] = skip;
    if (!build_table(st->inflater[d], block))
        h2_inflater_renew(af, d);
}

void h2_adopt(struct app_flow *af, struct bytes in)
{
    struct h2_state *st = af->state;

    st->magic_done = take_u8(&in) != 0;
    st->bytes = take_be32(&in);
    st->newest = st->logged_to = take_be32(&in);
    read_direction(af, TO_SERVER, &in);
    read_direction(af, TO_CLIENT, &in);
}
