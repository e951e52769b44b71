/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/http2/body.c - the content of DATA frames: decoded, into a file for each direction. */
#include "app/http2/http2.h"

#include <string.h>

#define BOMB_RATIO 2048
#define DNS_MAX 0xffff

static const struct file_window window = {
    .limit = 100000, .min_inspect = 32768, .window = 4096,
};

/* --- DNS messages ----------------------------------------------------------------------------- */

static void too_long(struct h2_tx *t, enum direction d)
{
    t->side[d].is_dns = false;
    t->side[d].dns.len = 0;
    app_tx_event(&t->tx, d == TO_SERVER ? H2_DNS_REQUEST_TOO_LONG : H2_DNS_RESPONSE_TOO_LONG);
}

static void collect_dns(struct h2_tx *t, enum direction d, struct slice data)
{
    struct h2_side *side = &t->side[d];
    uint32_t room = MAX(side->dns_room, 512u);
    uint8_t *to;

    if (!side->is_dns || data.len == 0)
        return;
    if (side->dns.len + data.len > DNS_MAX) {
        too_long(t, d);
        return;
    }
    while (room < side->dns.len + data.len)
        room *= 2;
    to = (uint8_t *)(uintptr_t)side->dns.data;
    if (room > side->dns_room) {
        to = arena_alloc(&t->tx.arena, room);
        if (to == NULL)
            return;
        if (side->dns.len > 0)
            memcpy(to, side->dns.data, side->dns.len);
        side->dns.data = to;
        side->dns_room = room;
    }
    memcpy(to + side->dns.len, data.data, data.len);
    side->dns.len += data.len;
}

/* --- files ------------------------------------------------------------------------------------ */

static void open_file(struct h2_tx *t, enum direction d)
{
    struct h2_side *side = &t->side[d];

    if (side->data_seen)
        return;
    side->data_seen = true;
    t->tx.progress[d] = MAX(t->tx.progress[d], H2_BODY);
    side->file = app_file_open(&t->tx, d, (struct slice){ 0 }, &window);
}

static void store(struct h2_tx *t, enum direction d, struct slice data)
{
    if (data.len == 0)
        return;
    app_file_append(t->side[d].file, data.data, data.len);
    collect_dns(t, d, data);
}

/* --- codings ---------------------------------------------------------------------------------- */

static bool is_bomb(const struct h2_tx *t, const struct h2_decoder *dec)
{
    const struct h2_state *st = t->tx.flow->state;
    uint64_t in = st->in + h2_decoder_in(dec), out = st->out + h2_decoder_out(dec);

    return out > h2_settings_of(t->tx.flow)->bomb_limit && out / BOMB_RATIO > in;
}

static void drop_decoder(struct h2_tx *t, enum direction d)
{
    struct h2_state *st = t->tx.flow->state;
    struct h2_side *side = &t->side[d];

    if (side->decoder == NULL)
        return;
    st->in += h2_decoder_in(side->decoder);
    st->out += h2_decoder_out(side->decoder);
    h2_decoder_free(side->decoder);
    side->decoder = NULL;
}

static bool decode(struct h2_tx *t, enum direction d, struct slice data)
{
    struct h2_decoder *dec = t->side[d].decoder;
    enum h2_decoded result;
    struct slice piece;

    do {
        result = h2_decode(dec, &data, &piece);
        store(t, d, piece);
        if (is_bomb(t, dec)) {
            app_tx_event(&t->tx, H2_COMPRESSION_BOMB);
            return false;
        }
    } while (result == H2_DECODED);
    if (result == H2_DECODE_FAILED) {
        app_tx_event(&t->tx, H2_FAILED_DECOMPRESSION);
        drop_decoder(t, d);
    }
    return true;
}

bool h2_body_data(struct h2_tx *t, enum direction d, struct slice data)
{
    open_file(t, d);
    if (data.len == 0)
        return true;
    if (t->side[d].decoder != NULL)
        return decode(t, d, data);
    store(t, d, data);
    return true;
}

void h2_body_end(struct h2_tx *t, enum direction d)
{
    drop_decoder(t, d);
    if (t->side[d].dns.len > 0)
        doh2_message(t, d, t->side[d].dns);
    app_file_close(t->side[d].file, FILE_CLOSED);
    t->side[d].file = NULL;
    h2_tx_ended(t, d);
}
