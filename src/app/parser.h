/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/parser.h - what a parser gets, and what it may ask of the framework.
 *
 * A parser sees bytes and its own state, nothing else: neither packets nor segments, neither rules
 * nor logs. Its functions are listed in its `struct app_proto` (app/proto.h). */
#ifndef APP_PARSER_H
#define APP_PARSER_H

#include "app/tx.h"
#include "base/text/bytes.h"

/* --- parsing ------------------------------------------------------------------------------ */

enum parse_status {
    PARSE_OK,           /* took in->consumed bytes; called again at once while some are left */
    PARSE_MORE,         /* took in->consumed; call again when in->need bytes are there */
    PARSE_STOP,         /* cannot be parsed any further: parser off for this flow (UDP: for this
                         * datagram), counted, error policy applied */
};

/* A piece of one direction. Bytes not consumed are kept by the framework (bounded) and come
 * again in front of what follows. For UDP: one datagram, nothing is kept.
 *
 * A gap comes by itself: gap > 0, data NULL. Bytes that were kept when it came are lost with
 * it and counted in it, so that `offset` + `gap` is always where the next data begin. */
struct app_input {
    const uint8_t *data;
    uint32_t len;
    uint32_t consumed;          /* out; preset to len */
    uint32_t need;              /* out with PARSE_MORE: bytes to have from the first one not
                                 * consumed on; 0: any more will do */
    uint32_t gap;
    uint64_t offset;            /* of data[0] in its direction of the stream */
    bool start;                 /* first bytes of this direction for this parser */
    bool end;                   /* nothing follows in this direction; data may be empty */
    bool truncated;                   /* with end: stream depth reached, the rest goes unseen */
    bool is_udp;
    enum direction direction;
    uint64_t now_us;
    const struct packet *packet;        /* the packet being worked on (not its payload!) */
};

static inline struct bytes app_input_bytes(const struct app_input *in)
{
    return bytes_of(in->data, in->len);
}

/* --- transactions ------------------------------------------------------------------------- */

/* New, appended. When more than max-tx are open the oldest are ended with the protocol's
 * too_many_tx_event. NULL at the hard limit of the framework. */
struct app_tx *app_tx_new(struct app_flow *af);
struct app_tx *app_tx_find(struct app_flow *af, uint64_t id);
/* Takes one out that turned out to be nothing: as if it had never been. */
void app_tx_discard(struct app_tx *tx);
void app_tx_event(struct app_tx *tx, unsigned event);
/* Something about it has changed: rules and logs look at it with the packets that follow. A new
 * one is marked, and so is one that gets an event or bytes of a file. Only parsers of protocols
 * that set marks_tx need to call it, and they do so whenever they have found one. */
void app_tx_mark(struct app_tx *tx);
/* Event of the flow when there is no transaction to hang it on: the newest, or one made for it
 * that is done in both directions. */
void app_event(struct app_flow *af, enum direction direction, unsigned event);

/* --- the flow --------------------------------------------------------------------------------- */

/* NULL: no memory. */
struct app_ext *app_ext_make(struct app_flow *af);

/* What follows in both directions is another protocol (CONNECT, STARTTLS, upgrade): from the
 * next packet on detection runs again; this protocol's transactions are inspected and logged as
 * they are before. `expected` APP_PROTO_UNKNOWN: any. port: whose probes to try (0: the flow's).
 * False when a change is under way already. */
bool app_change_protocol(struct app_flow *af, enum app_proto_id expected, uint16_t port);
/* Within open(), after a change of protocol: what was before. NULL: nothing, or not in open(). */
const struct app_flow *app_previous(const struct app_flow *af);

/* The flow is more than its protocol: from here on one that narrows it (DNS over HTTP/2). Rules
 * look at this transaction anew. False when that one is switched off. */
bool app_set_subprotocol(struct app_tx *tx, enum app_proto_id to);

/* A flow between the same two hosts that will come, within 30 s. Ports as its first packet has
 * them; 0: any. */
struct app_expected {
    uint16_t src_port, dst_port;
    uint8_t directions;                 /* data of which direction may prove it; 0: both */
    enum app_proto_id proto;
    void *data;                         /* for the new flow's parser, by app_expected_data() */
    void (*free_data)(void *data);      /* from any thread; NULL: lib_free() */
};
/* Takes over data, also on failure. */
bool app_expect(struct app_flow *af, const struct app_expected *expected);
void *app_expected_data(struct app_flow *af);   /* lives as long as the flow; NULL: none */

/* Something is complete with what has been parsed: rules on the raw stream report what they have so
 * far, with the next packet of this direction. */
void app_trigger_raw_inspection(struct app_flow *af, enum direction direction);

enum app_stop {
    APP_STOP_PAYLOAD    = 1u << 0,      /* rules no longer see payload (encrypted) */
    APP_STOP_PARSER     = 1u << 1,      /* the parser wants nothing more */
    APP_STOP_REASSEMBLY = 1u << 2,
    APP_STOP_BYPASS     = 1u << 3,      /* the flow may be bypassed, where that is set up */
};
void app_stop(struct app_flow *af, unsigned what);

/* Frames: named stretches of the stream (of the datagram), for the frame keyword and EVE.
 * len -1: not known yet. Gives its id, 0 when frames of this type are not wanted (no rule, no
 * log: then it costs nothing). Type 0 is "stream" where the first name says so; the framework
 * makes that one. */
uint32_t app_frame(struct app_flow *af, enum direction direction, unsigned type, uint64_t offset,
                   int64_t len, uint64_t tx_id);
#define APP_FRAME_NO_TX UINT64_MAX
void app_frame_set_length(struct app_flow *af, enum direction direction, uint32_t frame,
                          int64_t len);
void app_frame_set_tx(struct app_flow *af, enum direction direction, uint32_t frame,
                      uint64_t tx_id);

/* The engine may drop packets (IPS): what is inspected late passes. */
bool app_is_inline(const struct app_flow *af);

/* What rules and outputs asked of the protocol: its own bits, see app_buffer.feature. */
bool app_feature(const struct app_flow *af, uint32_t bit);

#endif
