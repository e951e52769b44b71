/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/log.h - the EVE records that a protocol declares for its transactions. */
#ifndef APP_LOG_H
#define APP_LOG_H

#include "app/tx.h"
#include "base/report/json.h"
#include "conf/conf.h"

/* One EVE event type of the protocol. */
struct app_log {
    const char *conf_name;      /* under outputs.eve-log.types: "http" */
    const char *event_type;     /* in EVE: "http" */
    const char *key;            /* of the object in the record; NULL: log() writes its own keys */
    /* When the record is written: once, when progress reaches these steps in both directions, with
     * the flow's addresses from client to server. With each_direction: once per direction, when
     * that direction reaches its step, with that direction's addresses. Or with the addresses of
     * the packet that led there. */
    uint8_t progress[2];
    bool each_direction;
    bool as_packet;
    /* Whether it writes anything for this flow; NULL: always. */
    bool (*is_used)(const struct app_flow *af);
    bool has_tx_id;             /* the record names its transaction */
    /* Settings of one eve-log instance, created once; NULL when there are none. Freed with
     * free(). */
    void *(*configure)(const struct conf_node *node, struct err *err);
    /* True if these settings write no record of this log; NULL: they do. */
    bool (*is_off)(const void *conf);
    /* The features that these settings require, see app_buffer.feature; NULL: none. */
    uint32_t (*features)(const void *conf);
    /* The record's time, where it is not that of the packet with which it is written; 0 or NULL:
     * the packet's. */
    uint64_t (*time_us)(const struct app_tx *tx);
    /* Writes the members. False: there is nothing to log. direction: for each_direction. */
    bool (*log)(struct json *j, struct app_tx *tx, enum direction direction, const void *conf);
    /* Used instead of log() when a transaction has several records: called with n from 0 until it
     * returns false. */
    bool (*log_nth)(struct json *j, struct app_tx *tx, unsigned n, const void *conf);
};

enum { APP_CONTENTS_BASE64 = 1, APP_CONTENTS_PRINTABLE = 2 };

#endif
