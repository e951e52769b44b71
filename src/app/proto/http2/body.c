/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/proto/http2/body.c - the content of DATA frames: decoded, and one file for each direction. */
#include "app/proto/http2/body.h"

#include "app/core/ranges.h"
#include "app/parser.h"
#include "app/proto/http1/http1.h"
#include "app/proto/http2/events.h"
#include "app/proto/http2/state.h"
#include "app/proto/http2/tx.h"

#include <string.h>

#define BOMB_RATIO 2048         /* output bytes per input byte, beyond bomb_limit */
#define DNS_MAX 0xffff          /* bytes: the largest DNS message */
#define RANGE_CHUNK (1u << 30)  /* app_file_append() takes 32 bits */

/* Bytes: Suricata's defaults for the content of files. */
static const struct file_window window = {
    .limit = 100000, .min_inspect = 32768, .window = 4096,
};

/* --- DNS messages ----------------------------------------------------------------------------- */

/* A body longer than any DNS message is not collected further. */
static void too_long(struct h2_tx *t, enum direction d)
{
    t->ds[d].is_dns = false;
    t->ds[d].dns.len = 0;
    app_tx_event(&t->tx, d == TO_SERVER ? H2_DNS_REQUEST_TOO_LONG : H2_DNS_RESPONSE_TOO_LONG);
}

/* DNS messages are joined in the arena. The space doubles, so that copying costs no more than the
 * data. */
static void collect_dns(struct h2_tx *t, enum direction d, struct slice data)
{
    struct h2_dir *ds = &t->ds[d];
    uint32_t space = MAX(ds->dns_space, 512u);
    uint8_t *to;

    if (!ds->is_dns || data.len == 0)
        return;
    if (ds->dns.len + data.len > DNS_MAX) {
        too_long(t, d);
        return;
    }
    while (space < ds->dns.len + data.len)
        space *= 2;
    to = (uint8_t *)(uintptr_t)ds->dns.data;
    if (space > ds->dns_space) {
        to = arena_alloc(&t->tx.arena, space);
        if (to == NULL)
            return;
        if (ds->dns.len > 0)
            memcpy(to, ds->dns.data, ds->dns.len);
        ds->dns.data = to;
        ds->dns_space = space;
    }
    memcpy(to + ds->dns.len, data.data, data.len);
    ds->dns.len += data.len;
}

/* --- files ------------------------------------------------------------------------------------ */

static struct slice up_to(struct slice s, uint8_t end)
{
    const uint8_t *at = s.len > 0 ? memchr(s.data, end, s.len) : NULL;

    if (at != NULL)
        s.len = (uint32_t)(at - s.data);
    return s;
}

/* The last part of the path, with its slash, without the query. */
static struct slice path_end(struct slice path)
{
    struct slice s = up_to(path, '?');

    for (uint32_t i = s.len; i > 0; i--)
        if (s.data[i - 1] == '/')
            return (struct slice){ .data = s.data + i - 1, .len = s.len - i + 1 };
    return s;
}

/* Ranges of one file share name and host, also with HTTP/1. */
static void open_range(struct h2_tx *t, const struct http_range *r)
{
    struct h2_dir *ds = &t->ds[TO_CLIENT];
    const struct h2_header *host = h2_header_find(t, TO_SERVER, ":authority");
    const struct h2_header *path = h2_header_find(t, TO_SERVER, ":path");
    struct slice name, server;
    uint8_t *key;

    if (host == NULL || path == NULL)
        return;
    server = up_to(host->value, ':');
    name = path_end(path->value);
    key = arena_alloc(&t->tx.arena, server.len + name.len + 1);
    if (key == NULL)
        return;
    if (server.len > 0)
        memcpy(key, server.data, server.len);
    if (name.len > 0)
        memcpy(key + server.len, name.data, name.len);
    ds->full_name = name;
    ds->range = app_range_open(t->tx.flow, (struct slice){ key, server.len + name.len },
                                 (uint64_t)r->start, (uint64_t)r->end, (uint64_t)r->size);
}

/* Content-Range, RFC 9110 section 14.4. Bounds that contradict the size are an event. */
static void check_range(struct h2_tx *t)
{
    const struct h2_header *h = h2_header_find(t, TO_CLIENT, "content-range");
    struct http_range r;

    if (h == NULL || t->ds[TO_CLIENT].file == NULL)
        return;
    if (!http_range_parse(h->value, &r) ||
        (http_range_is_part(&r) && (r.start > r.end || r.end >= r.size)))
        app_tx_event(&t->tx, H2_INVALID_RANGE);
    else if (http_range_is_part(&r))
        open_range(t, &r);
}

/* The last range came in: the complete file is a further file of this transaction. */
static void finish_range(struct h2_tx *t, enum direction d)
{
    struct h2_dir *ds = &t->ds[d];
    struct app_file *file;
    struct buf complete;

    if (app_range_close(ds->range, &complete)) {
        file = app_file_open(&t->tx, d, ds->full_name, &window);
        for (size_t at = 0; at < complete.len; at += RANGE_CHUNK)
            app_file_append(file, complete.data + at,
                            (uint32_t)MIN(complete.len - at, RANGE_CHUNK));
        app_file_close(file, FILE_CLOSED);
        buf_fini(&complete);
    }
    ds->range = NULL;
}

/* The file opens with the first DATA frame, even an empty one. Suricata gives it no name. */
static void open_file(struct h2_tx *t, enum direction d)
{
    struct h2_dir *ds = &t->ds[d];

    if (ds->data_seen)
        return;
    ds->data_seen = true;
    t->tx.progress[d] = MAX(t->tx.progress[d], H2_BODY);
    ds->file = app_file_open(&t->tx, d, (struct slice){ 0 }, &window);
    if (ds->file != NULL)
        ds->file->unpacked = ds->decoder != NULL;
    if (d == TO_CLIENT)
        check_range(t);
}

/* All three consumers get the decoded content. */
static void store(struct h2_tx *t, enum direction d, struct slice data)
{
    if (data.len == 0)
        return;
    app_file_append(t->ds[d].file, data.data, data.len);
    app_range_add(t->ds[d].range, data.data, data.len);
    collect_dns(t, d, data);
}

/* --- codings ---------------------------------------------------------------------------------- */

/* Each decoder of a body is judged by its own input and output, because the output of the first is
 * the input of the second. Decoders of earlier streams on the connection count, too: many small
 * bombs are one. */
static bool is_bomb(const struct h2_tx *t, const struct h2_decoder *dec)
{
    const struct h2_state *st = t->tx.flow->state;
    uint64_t in = st->in + h2_decoder_in(dec), out = st->out + h2_decoder_out(dec);

    return out > h2_settings_of(t->tx.flow)->bomb_limit && out / BOMB_RATIO > in;
}

/* Adds the totals to those of the connection, see is_bomb(). */
static bool is_too_much(const struct h2_tx *t, const struct h2_decoder *dec)
{
    struct h2_state *st = t->tx.flow->state;
    uint64_t in = st->in + h2_decoder_in(dec), out = st->out + h2_decoder_out(dec);
    const uint32_t times = h2_settings_of(t->tx.flow)->body_expansion;

    while (out > decoder_output_most(in, times, st->drawn))
        if (!decoder_output_draw(t->tx.flow, in, times, &st->drawn))
            return true;
    return false;
}

/* The body ends here; the connection goes on. */
static void stop_decoders(struct h2_tx *t, enum direction d)
{
    for (struct h2_decoder *dec = t->ds[d].decoder; dec != NULL; dec = h2_decoder_next(dec))
        h2_decoder_stop(dec);
    if (!app_tx_has_event(&t->tx, H2_COMPRESSION_BOMB))
        app_tx_event(&t->tx, H2_COMPRESSION_BOMB);
}

static void drop_decoder(struct h2_tx *t, enum direction d)
{
    struct h2_state *st = t->tx.flow->state;
    struct h2_dir *ds = &t->ds[d];

    for (const struct h2_decoder *dec = ds->decoder; dec != NULL; dec = h2_decoder_next(dec)) {
        st->in += h2_decoder_in(dec);
        st->out += h2_decoder_out(dec);
    }
    h2_decoder_free(ds->decoder);
    ds->decoder = NULL;
}

enum decoding { DECODING_ON, DECODING_FAILED, DECODING_TOO_MUCH, DECODING_BOMB };

static enum decoding decode(struct h2_tx *t, enum direction d, struct h2_decoder *dec,
                            struct slice data);

/* Output goes to the next decoder, or to the file. */
static enum decoding hand_on(struct h2_tx *t, enum direction d, const struct h2_decoder *dec,
                             struct slice data)
{
    if (data.len == 0)
        return DECODING_ON;
    if (h2_decoder_next(dec) != NULL)
        return decode(t, d, h2_decoder_next(dec), data);
    store(t, d, data);
    return DECODING_ON;
}

/* The decoder was refused memory: input that gave no output passes unchanged. */
static enum decoding refuse(struct h2_tx *t, enum direction d, struct h2_decoder *dec,
                            struct slice data)
{
    enum decoding result;

    h2_decoder_event(t, h2_decoder_refusal(dec));
    h2_decoder_pass(dec);
    result = hand_on(t, d, dec, h2_decoder_kept(dec));
    return result == DECODING_ON ? hand_on(t, d, dec, data) : result;
}

/* Decodes all of `data`. The recursion through hand_on() is at most DECODERS_MAX deep. */
static enum decoding decode(struct h2_tx *t, enum direction d, struct h2_decoder *dec,
                            struct slice data)
{
    enum decoding next;
    enum h2_decoded result;
    struct slice part, rest = data;

    do {
        result = h2_decode(dec, &data, &part);
        next = hand_on(t, d, dec, part);
        if (next != DECODING_ON)
            return next;
        if (result == H2_DECODE_REFUSED)
            return refuse(t, d, dec, part.len > 0 ? data : rest);
        rest = data;
        if (is_bomb(t, dec))
            return DECODING_BOMB;
        if (is_too_much(t, dec))
            return DECODING_TOO_MUCH;
    } while (result == H2_DECODED);
    return result == H2_DECODE_FAILED ? DECODING_FAILED : DECODING_ON;
}

/* After a failure the rest of the body is stored as sent. A bomb stops the parser. */
static bool decode_body(struct h2_tx *t, enum direction d, struct slice data)
{
    switch (decode(t, d, t->ds[d].decoder, data)) {
    case DECODING_ON:
        return true;
    case DECODING_FAILED:
        app_tx_event(&t->tx, H2_FAILED_DECOMPRESSION);
        drop_decoder(t, d);
        return true;
    case DECODING_TOO_MUCH:
        stop_decoders(t, d);
        return true;
    case DECODING_BOMB:
        break;
    }
    app_tx_event(&t->tx, H2_COMPRESSION_BOMB);
    return false;
}

bool h2_body_data(struct h2_tx *t, enum direction d, struct slice data)
{
    open_file(t, d);
    if (data.len == 0)
        return true;
    if (t->ds[d].decoder != NULL) {
        bool goes_on = decode_body(t, d, data);

        h2_decoders_rest(t->ds[d].decoder);
        return goes_on;
    }
    store(t, d, data);
    return true;
}

/* END_STREAM: the content is complete. */
void h2_body_end(struct h2_tx *t, enum direction d)
{
    if (h2_decoder_is_bomb_at_end(t->ds[d].decoder))
        stop_decoders(t, d);
    drop_decoder(t, d);
    if (t->ds[d].dns.len > 0)
        doh2_message(t, d, t->ds[d].dns);
    finish_range(t, d);
    app_file_close(t->ds[d].file, FILE_CLOSED);
    t->ds[d].file = NULL;
    h2_tx_finished(t, d);
}

/* The transaction ends before its content does. */
void h2_body_free(struct h2_tx *t, enum direction d)
{
    h2_decoder_free(t->ds[d].decoder);
    app_range_drop(t->ds[d].range);
    t->ds[d].decoder = NULL;
    t->ds[d].range = NULL;
}
