/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/proto/bittorrent_dht/dht.h - messages of the DHT. All slices lie in the transaction's
 * arena. */
#ifndef APP_BITTORRENT_DHT_DHT_H
#define APP_BITTORRENT_DHT_DHT_H

#include "app/log.h"
#include "app/proto/bittorrent_dht/bencode.h"
#include "app/rules.h"

#define DHT_EVENT_LIST(E)                       \
    E(DHT_MALFORMED_PACKET, "malformed_packet")

enum { DHT_EVENT_NONE, DHT_EVENT_LIST(APP_EVENT_ID) };

struct dht_text {
    bool has;
    struct slice bytes;
};

struct dht_query {
    bool has;
    struct dht_text id, target, info_hash, token;
    bool has_implied_port, has_port;
    uint8_t implied_port;
    uint16_t port;
};

struct dht_response {
    bool has;
    struct dht_text id, nodes, nodes6, token;
    struct slice values;        /* the inside of a list of strings */
};

struct dht_error {
    bool has, has_number, has_text;
    uint16_t number;
    struct slice text;
};

struct dht_message {
    struct dht_text type, query_type, transaction, version;
    struct dht_query query;
    struct dht_response response;
    struct dht_error error;
};

struct dht_tx {
    struct app_tx tx;
    struct dht_message message;
};
static inline struct dht_tx *dht_tx_of(const struct app_tx *tx)
{
    return (struct dht_tx *)(uintptr_t)tx;
}

#define DHT_ID_LEN 20           /* of a node */

extern const struct app_log *const dht_logs[];
void bittorrent_dht_alert_metadata(struct json *j, struct app_tx *tx);

#endif
