/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/parser.h - the input of a parser, and the functions of the framework that it may call.
 *
 * A parser sees only bytes and its own state: no packets, no segments, no rules and no logs. Its
 * functions are listed in its `struct app_proto` (app/proto.h). */
#ifndef APP_PARSER_H
#define APP_PARSER_H

#include "app/tx.h"
#include "base/text/bytes.h"

/* --- parsing ------------------------------------------------------------------------------ */

enum parse_status {
    PARSE_OK,           /* took in->consumed bytes; called again at once while bytes are left */
    PARSE_MORE,         /* took in->consumed bytes; called again when in->need bytes are there */
    PARSE_STOP,         /* cannot continue: the parser stops for this flow (UDP: for this datagram),
                         * the error is counted and the error policy applies */
};

/* Data of one direction. The framework keeps bytes that were not consumed (up to a limit) and
 * passes them again before the next ones. For UDP it is one datagram, and nothing is kept.
 *
 * A gap is passed alone: gap > 0, data NULL. Bytes that were kept when it came are lost with it and
 * counted in it, so that `offset` + `gap` is always the offset of the next data. */
struct app_input {
    const uint8_t *data;
    uint32_t len;
    uint32_t consumed;          /* out; preset to len */
    uint32_t need;              /* out with PARSE_MORE: how many bytes to wait for, from the first
                                 * one not consumed; 0: any more will do */
    uint32_t gap;
    uint64_t offset;            /* of data[0] in its direction of the stream */
    bool start;                 /* first bytes of this direction for this parser */
    bool end;                   /* nothing follows in this direction; data may be empty */
    bool truncated;                   /* with end: stream depth reached, later bytes are not seen */
    bool is_udp;
    enum direction direction;
    uint64_t now_us;
    const struct packet *packet;      /* the current packet; its payload is not the data to parse */
};

static inline struct bytes app_input_bytes(const struct app_input *in)
{
    return bytes_of(in->data, in->len);
}

/* --- transactions ------------------------------------------------------------------------- */

/* Appends a new transaction. When more than max-tx are open the oldest are ended with the
 * protocol's too_many_tx_event. NULL at the hard limit of the framework. */
struct app_tx *app_tx_new(struct app_flow *af);
struct app_tx *app_tx_find(struct app_flow *af, uint64_t id);
/* Removes a transaction that was created by mistake, without inspecting or logging it. */
void app_tx_discard(struct app_tx *tx);
void app_tx_event(struct app_tx *tx, unsigned event);
/* Marks a transaction as changed: rules and logs inspect it with the following packets. A new
 * transaction is marked, and so is one that gets an event or bytes of a file. Only parsers of
 * protocols that set marks_tx need to call it, for each transaction that they change. */
void app_tx_mark(struct app_tx *tx);
/* Transactions by a key of 64 bits, such as the id of a request that waits for its answer: found in
 * constant time. The key is given with the transaction's creation, and dropped when nothing may
 * find it any more; a limit that ends it drops it as well. */
void app_tx_key(struct app_tx *tx, uint64_t key);
void app_tx_key_drop(struct app_tx *tx);
/* The oldest one with this key, and the next of the same key. What is found is marked. */
struct app_tx *app_tx_by_key(struct app_flow *af, uint64_t key);
struct app_tx *app_tx_next_by_key(struct app_tx *tx);
/* Sets an event of the flow that belongs to no transaction. It goes to the newest transaction, or
 * to one created for it that is finished in both directions. */
void app_event(struct app_flow *af, enum direction direction, unsigned event);

/* --- the flow --------------------------------------------------------------------------------- */

/* NULL: out of memory. */
struct app_ext *app_ext_make(struct app_flow *af);

/* Another protocol follows in both directions (CONNECT, STARTTLS, upgrade). Detection runs again
 * from the next packet on; this protocol's transactions are inspected and logged before that.
 * `expected` APP_PROTO_UNKNOWN: any protocol. port: the one whose probes to try (0: the flow's).
 * False when a change is already under way. */
bool app_change_protocol(struct app_flow *af, enum app_proto_id expected, uint16_t port);
/* For open() after a change of protocol: the previous application state. NULL: there was none, or
 * the caller is not in open(). */
const struct app_flow *app_previous(const struct app_flow *af);

/* The flow uses a protocol within its protocol from now on (DNS over HTTP/2). Rules inspect this
 * transaction again. False when that protocol is disabled. */
bool app_set_subprotocol(struct app_tx *tx, enum app_proto_id to);

/* Expects a flow between the same two hosts within 30 s. Ports are those of its first packet; 0:
 * any. */
struct app_expected {
    uint16_t src_port, dst_port;
    uint8_t directions;                 /* directions whose data may confirm the protocol; 0:
                                         * both */
    enum app_proto_id proto;
    void *data;                         /* for the new flow's parser, by app_expected_data() */
    void (*free_data)(void *data);      /* from any thread; NULL: lib_free() */
};
/* Takes ownership of data, also on failure. */
bool app_expect(struct app_flow *af, const struct app_expected *expected);
void *app_expected_data(struct app_flow *af);   /* valid as long as the flow; NULL: none */

/* Signals that a message is complete. With the next packet of this direction, rules on the raw
 * stream inspect what they have so far. */
void app_trigger_raw_inspection(struct app_flow *af, enum direction direction);

enum app_stop {
    APP_STOP_PAYLOAD    = 1u << 0,      /* rules no longer see payload (encrypted) */
    APP_STOP_PARSER     = 1u << 1,      /* the parser needs no more data */
    APP_STOP_REASSEMBLY = 1u << 2,
    APP_STOP_BYPASS     = 1u << 3,      /* the flow may be bypassed, if that is configured */
};
void app_stop(struct app_flow *af, unsigned what);

/* Frames: named ranges of the stream or of the datagram, for the frame keyword and EVE. len -1: not
 * known yet. Returns the frame's id, or 0 when no rule and no log needs frames of this type; it
 * then costs nothing. If the first type is called "stream", the framework creates frames of type
 * 0. */
uint32_t app_frame(struct app_flow *af, enum direction direction, unsigned type, uint64_t offset,
                   int64_t len, uint64_t tx_id);
#define APP_FRAME_NO_TX UINT64_MAX
void app_frame_set_length(struct app_flow *af, enum direction direction, uint32_t frame,
                          int64_t len);
void app_frame_set_tx(struct app_flow *af, enum direction direction, uint32_t frame,
                      uint64_t tx_id);

/* True in IPS mode: data must be inspected before their packet is forwarded. */
bool app_is_inline(const struct app_flow *af);

/* True if rules or outputs require this feature of the protocol, see app_buffer.feature. */
bool app_feature(const struct app_flow *af, uint32_t bit);

#endif
