/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/log.h - what a protocol declares for outputs: the EVE records of its transactions. */
#ifndef APP_LOG_H
#define APP_LOG_H

#include "app/tx.h"
#include "base/report/json.h"
#include "conf/conf.h"

/* One EVE event type of the protocol. */
struct app_log {
    const char *conf_name;      /* under outputs.eve-log.types: "http" */
    const char *event_type;     /* EVE: "http" */
    const char *key;            /* of the object in the record; NULL: log() writes its own keys */
    /* Logged once when progress reaches these in both directions, with the flow's addresses from
     * client to server; or, with each_direction, once a direction when that one is reached,
     * with the addresses as that direction goes; or with those of the packet that led there. */
    uint8_t progress[2];
    bool each_direction;
    bool as_packet;
    bool has_tx_id;             /* the record says which transaction it is of */
    /* Settings of one eve-log instance, made once; NULL when there are none. Freed with free(). */
    void *(*configure)(const struct conf_node *node, struct err *err);
    /* What these settings need of the protocol, see app_buffer.feature; NULL: nothing. */
    uint32_t (*features)(const void *conf);
    /* Writes the members; false: nothing to log after all. direction: for each_direction. */
    bool (*log)(struct json *j, struct app_tx *tx, enum direction direction, const void *conf);
    /* In its place, when a transaction has several records: n from 0 until false. */
    bool (*log_nth)(struct json *j, struct app_tx *tx, unsigned n, const void *conf);
};

enum { APP_CONTENTS_BASE64 = 1, APP_CONTENTS_PRINTABLE = 2 };

#endif
