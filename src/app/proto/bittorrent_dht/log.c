/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/proto/bittorrent_dht/log.c - EVE bittorrent_dht: a record for each message.
 *
 * Identifiers are binary and written as hexadecimal digits. */
#include "app/proto/bittorrent_dht/dht.h"

static void log_hex(struct json *j, const char *key, const struct dht_text *text)
{
    if (text->has)
        json_hex(j, key, text->bytes.data, text->bytes.len);
}

/* One address with its port. IPv6 addresses are written with all of their digits. Writes nothing
 * when bytes are missing. */
static void log_endpoint(struct json *j, struct bytes *in, unsigned address_len)
{
    const uint8_t *a = take_bytes(in, address_len);
    uint16_t port = take_be16(in);

    if (in->failed)
        return;
    if (address_len == 4)
        json_printf(j, "ip", "%u.%u.%u.%u", a[0], a[1], a[2], a[3]);
    else
        json_printf(j, "ip", "%04x:%04x:%04x:%04x:%04x:%04x:%04x:%04x", get_be16(a),
                    get_be16(a + 2), get_be16(a + 4), get_be16(a + 6), get_be16(a + 8),
                    get_be16(a + 10), get_be16(a + 12), get_be16(a + 14));
    json_u64(j, "port", port);
}

/* A string of compact nodes: 20 bytes of identifier, address, port. An incomplete node at the end
 * is left out. */
static void log_nodes(struct json *j, const char *key, const struct dht_text *nodes,
                      unsigned address_len)
{
    unsigned len = DHT_ID_LEN + address_len + 2;
    struct bytes in = bytes_of_slice(nodes->bytes);

    if (!nodes->has || nodes->bytes.len < len)
        return;
    json_array(j, key);
    while (bytes_left(&in) >= len) {
        const uint8_t *id = take_bytes(&in, DHT_ID_LEN);

        json_object(j, NULL);
        json_hex(j, "id", id, DHT_ID_LEN);
        log_endpoint(j, &in, address_len);
        json_object_end(j);
    }
    json_array_end(j);
}

/* The parser checked that each value has at least 6 bytes; from 18 on it is an IPv6 peer. */
static void log_peers(struct json *j, struct slice values)
{
    struct bytes in = bytes_of_slice(values);
    struct bencode value;

    if (values.len == 0)
        return;
    json_array(j, "values");
    while (bytes_left(&in) > 0 && bencode_take(&in, 1, &value)) {
        struct bytes peer = bytes_of_slice(value.bytes);

        json_object(j, NULL);
        log_endpoint(j, &peer, value.bytes.len < 18 ? 4 : 16);
        json_object_end(j);
    }
    json_array_end(j);
}

/* Arguments that the query did not have are absent. */
static void log_query(struct json *j, const struct dht_query *q)
{
    json_object(j, "request");
    log_hex(j, "id", &q->id);
    log_hex(j, "target", &q->target);
    log_hex(j, "info_hash", &q->info_hash);
    log_hex(j, "token", &q->token);
    if (q->has_implied_port)
        json_u64(j, "implied_port", q->implied_port);
    if (q->has_port)
        json_u64(j, "port", q->port);
    json_object_end(j);
}

static void log_response(struct json *j, const struct dht_response *r)
{
    json_object(j, "response");
    log_hex(j, "id", &r->id);
    log_nodes(j, "nodes", &r->nodes, 4);
    log_nodes(j, "nodes6", &r->nodes6, 16);
    log_peers(j, r->values);
    log_hex(j, "token", &r->token);
    json_object_end(j);
}

static void log_error(struct json *j, const struct dht_error *e)
{
    json_object(j, "error");
    json_u64(j, "num", e->number);
    json_slice(j, "msg", e->text);
    json_object_end(j);
}

/* The parser left at most one of error, query and response. */
static bool bittorrent_dht_log(struct json *j, struct app_tx *tx, enum direction d UNUSED,
                               const void *conf UNUSED)
{
    const struct dht_message *m = &dht_tx_of(tx)->message;

    if (m->transaction.has) {
        log_hex(j, "transaction_id", &m->transaction);
        log_hex(j, "client_version", &m->version);
    } else {
        json_string(j, "transaction_id", "");   /* malformed; the key is there all the same */
    }
    if (m->query_type.has)
        json_slice(j, "request_type", m->query_type.bytes);
    if (m->error.has)
        log_error(j, &m->error);
    if (m->query.has)
        log_query(j, &m->query);
    if (m->response.has)
        log_response(j, &m->response);
    return true;
}

/* The same fields within an alert. */
void bittorrent_dht_alert_metadata(struct json *j, struct app_tx *tx)
{
    json_object(j, "bittorrent_dht");
    bittorrent_dht_log(j, tx, TO_SERVER, NULL);
    json_object_end(j);
}

static const struct app_log eve = {
    .conf_name = "bittorrent-dht", .event_type = "bittorrent_dht", .key = "bittorrent_dht",
    .progress = { 1, 1 }, .as_packet = true, .log = bittorrent_dht_log,
};

const struct app_log *const dht_logs[] = { &eve, NULL };
