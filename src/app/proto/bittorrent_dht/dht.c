/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/proto/bittorrent_dht/dht.c - the DHT of BitTorrent (BEP 5): protocol detection and messages.
 *
 * Reads one dictionary. Keys that are not known are ignored: clients add their own. A known key
 * with a value of the wrong kind makes the message malformed. */
#include "app/proto/bittorrent_dht/dht.h"

#include "app/lib/log_text.h"
#include "app/proto.h"
#include "app/rules.h"

#define DEPTH_MAX    3          /* levels: message, response, its list of peers */
#define PEER_LEN     6          /* bytes of a compact peer: IPv4 address and port (BEP 5) */
#define PEER6_LEN    18         /* with an IPv6 address (BEP 32) */

/* --- fields ----------------------------------------------------------------------------------- */

/* False when the value is not a string; `has` is set all the same, which does not matter, because
 * the message is then discarded. */
static bool set_text(struct dht_text *out, const struct bencode *value)
{
    out->has = true;
    out->bytes = value->bytes;
    return value->kind == BENCODE_BYTES;
}

/* False for another kind, a negative number and one above `max`. */
static bool set_number(bool *has, int64_t max, const struct bencode *value)
{
    *has = true;
    return value->kind == BENCODE_INT && value->number >= 0 && value->number <= max;
}

/* The arguments of a query, "a" (BEP 5, "DHT Queries"): each kind of query uses a part of these
 * keys, but all have the sender's `id`. */
static bool read_query(const struct bencode *dict, struct dht_query *q)
{
    struct bytes in = bytes_of_slice(dict->bytes);
    struct bencode value;
    struct slice key;
    bool good = dict->kind == BENCODE_DICT;

    q->has = true;
    while (good && bencode_take_pair(&in, &key, &value)) {
        if (slice_is(key, "id"))
            good = set_text(&q->id, &value);
        else if (slice_is(key, "target"))
            good = set_text(&q->target, &value);
        else if (slice_is(key, "info_hash"))
            good = set_text(&q->info_hash, &value);
        else if (slice_is(key, "token"))
            good = set_text(&q->token, &value);
        else if (slice_is(key, "implied_port"))
            /* Other numbers than 0 and 1 are kept. */
            good = set_number(&q->has_implied_port, UINT8_MAX, &value),
            q->implied_port = (uint8_t)value.number;
        else if (slice_is(key, "port"))
            good = set_number(&q->has_port, UINT16_MAX, &value),
            q->port = (uint16_t)value.number;
    }
    return good && q->id.has;
}

/* A list of peers in compact form: address and port. Shorter strings make the list malformed. */
static bool values_hold(const struct bencode *list)
{
    struct bytes in = bytes_of_slice(list->bytes);
    struct bencode value;

    while (bytes_left(&in) > 0)
        if (!bencode_take(&in, DEPTH_MAX, &value) || value.kind != BENCODE_BYTES ||
            value.bytes.len < PEER_LEN)
            return false;
    return true;
}

/* The values of a response, "r" (BEP 5): `nodes` is one string of compact nodes, `values` a list of
 * peers. All have the sender's `id`. */
static bool read_response(const struct bencode *dict, struct dht_response *r)
{
    struct bytes in = bytes_of_slice(dict->bytes);
    struct bencode value;
    struct slice key;
    bool good = dict->kind == BENCODE_DICT;

    r->has = true;
    while (good && bencode_take_pair(&in, &key, &value)) {
        if (slice_is(key, "id")) {
            good = set_text(&r->id, &value);
        } else if (slice_is(key, "nodes")) {
            good = set_text(&r->nodes, &value);
        } else if (slice_is(key, "nodes6")) {
            good = set_text(&r->nodes6, &value);
        } else if (slice_is(key, "token")) {
            good = set_text(&r->token, &value);
        } else if (slice_is(key, "values") && value.kind == BENCODE_LIST) {
            good = values_hold(&value);
            r->values = value.bytes;
        }
    }
    return good && r->id.has;
}

/* An error, "e" (BEP 5, "Errors"): a list with a number and a text. Their order is not checked, and
 * the last of several counts. */
static bool read_error(const struct bencode *list, struct dht_error *e)
{
    struct bytes in = bytes_of_slice(list->bytes);
    struct bencode value;
    bool good = list->kind == BENCODE_LIST;

    e->has = true;
    while (good && bytes_left(&in) > 0 && bencode_take(&in, DEPTH_MAX, &value)) {
        if (value.kind == BENCODE_INT) {
            good = set_number(&e->has_number, UINT16_MAX, &value);
            e->number = (uint16_t)value.number;
        } else if (value.kind == BENCODE_BYTES) {
            e->has_text = true;
            e->text = value.bytes;
        }
    }
    return good && e->has_number && e->has_text;
}

/* False: a known key has a malformed value. */
static bool read_field(struct slice key, const struct bencode *value, struct dht_message *m)
{
    if (slice_is(key, "y"))
        return set_text(&m->type, value);
    if (slice_is(key, "q"))
        return set_text(&m->query_type, value);
    if (slice_is(key, "t"))
        return set_text(&m->transaction, value);
    if (slice_is(key, "v"))
        return set_text(&m->version, value);
    if (slice_is(key, "a"))
        return read_query(value, &m->query);
    if (slice_is(key, "r"))
        return read_response(value, &m->response);
    if (slice_is(key, "e"))
        return read_error(value, &m->error);
    return true;
}

/* A message must have the field of its type: "a" and "q" for a query, "r" for a response, "e" for
 * an error. Fields of the other types are dropped. */
static bool has_fields_of_type(struct dht_message *m)
{
    bool query = m->type.has && slice_is(m->type.bytes, "q");
    bool response = m->type.has && slice_is(m->type.bytes, "r");
    bool error = m->type.has && slice_is(m->type.bytes, "e");

    m->query.has &= query && m->query_type.has;
    m->query_type.has &= m->query.has;
    m->response.has &= response;
    m->error.has &= error;
    return m->query.has || m->response.has || m->error.has;
}

/* `datagram` must live as long as `m`, which points into it. Bytes behind the dictionary are
 * ignored. */
static bool read_message(struct slice datagram, struct dht_message *m)
{
    struct bytes in = bytes_of_slice(datagram), inside;
    struct bencode dict, value;
    struct slice key;
    bool good = bencode_take(&in, DEPTH_MAX, &dict) && dict.kind == BENCODE_DICT;

    if (!good)
        return false;
    inside = bytes_of_slice(dict.bytes);
    while (good && bencode_take_pair(&inside, &key, &value))
        good = read_field(key, &value, m);
    return good && has_fields_of_type(m);
}

/* --- declaration ------------------------------------------------------------------------------ */

/* Peers exchange other datagrams on the same port. Those are ignored; only a datagram with the
 * start of a DHT message can be malformed. */
static bool looks_right(const struct app_input *in)
{
    /* A query, a response, a response with the key of BEP 42, an error. */
    static const char *const heads[] = { "d1:ad", "d1:rd", "d2:ip", "d1:el" };

    for (unsigned i = 0; i < ARRAY_LEN(heads); i++)
        if (in->len > 5 && memcmp(in->data, heads[i], 5) == 0)
            return true;
    return false;
}

/* One transaction for each datagram. A malformed one has an event, no record, and ends the parser.
 * A message without a transaction identifier "t" is malformed, too, but has a record. */
static enum parse_status bittorrent_dht_parse(struct app_flow *af, struct app_input *in)
{
    struct slice datagram = { in->data, in->len };
    struct dht_tx *t;

    if (!looks_right(in))
        return PARSE_OK;
    t = dht_tx_of(app_tx_new(af));
    if (t == NULL)
        return PARSE_STOP;
    /* The slices of the message point into this copy. */
    datagram = arena_slice(&t->tx.arena, datagram);
    t->tx.progress[in->direction] = 1;
    t->tx.unidirectional[OTHER_DIRECTION(in->direction)] = true;
    if (!read_message(datagram, &t->message)) {
        t->message = (struct dht_message){ 0 };
        t->tx.no_log = true;
    } else if (t->message.transaction.has) {
        return PARSE_OK;
    }
    app_tx_event(&t->tx, DHT_MALFORMED_PACKET);
    return PARSE_STOP;
}

const struct app_proto app_bittorrent_dht = {
    .id = APP_PROTO_bittorrent_dht,
    .name = "bittorrent-dht",
    .transports = APP_UDP,
    .patterns = (const struct app_pattern[]){
        /* The start of a query or a response, on any port. */
        { .transport = APP_UDP, .directions = APP_BOTH, .bytes = "d1:ad2:id20:" },
        { .bytes = NULL } },
    .tx_size = sizeof(struct dht_tx),
    .parse = bittorrent_dht_parse,
    .progress_done = { 1, 1 },
    .events = (const struct app_name[]){ DHT_EVENT_LIST(APP_EVENT_ROW) { NULL, 0 } },
    .logs = dht_logs,
    .alert_metadata = bittorrent_dht_alert_metadata,
};
