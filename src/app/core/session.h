/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/core/session.h - the state of a flow between two packets: the bytes that its parser has not
 * consumed, and what is known of its protocol. Owned by the flow's thread. */
#ifndef APP_CORE_SESSION_H
#define APP_CORE_SESSION_H

#include "app/core/detect_proto.h"
#include "app/session.h"
#include "base/memory/buf.h"

/* One direction. Pending bytes are those that the parser has not consumed, in the current chunk or
 * in `buffered`. They are copied only when they must outlive the packet. */
struct app_dir {
    const uint8_t *data;
    uint32_t len;
    uint32_t need;              /* the parser waits for so many bytes */
    uint64_t offset : 59;       /* of data[0] in the stream */
    uint64_t borrowed : 1;      /* data points to the chunk, not to `buffered` */
    uint64_t detected : 1;      /* protocol detection is over */
    uint64_t started : 1;       /* the parser has received bytes */
    uint64_t depth_reached : 1; /* stream depth reached */
    uint64_t eof_sent : 1;
    uint64_t lost;              /* number of bytes missing before data, not reported to the
                                 * parser yet */
    struct buf buffered;
    struct proto_detect_state detect_state;
};

enum { FIRST_SENDER_PARSED = 0x80 };

struct app_session {
    struct app_flow flow;       /* first: the part that all others see */
    struct app_dir ds[2];
    uint8_t transport;
    uint8_t first_sender;         /* APP_TS or APP_TC; FIRST_SENDER_PARSED */
    bool off : 1;               /* nothing is parsed any more */
    bool midstream : 1;
    bool changing : 1;          /* another protocol is about to follow */
    bool change_fresh : 1;      /* requested by the current packet */
    bool parser_stopped : 1;    /* it stopped itself, with this packet */
    bool redetecting : 1;
    bool replace : 1;           /* the next parser replaces the present one */
    bool counted : 1;           /* in app_layer.flow.X */
    bool no_memory : 1;         /* the parser at work was refused memory */
    uint8_t resume : 2;         /* APP_TS, APP_TC: waits for the next message, see resume.c */
    uint16_t change_port;
    uint16_t events;            /* bit per event, see app_layer_event_name() */
};

_Static_assert(sizeof(struct app_session) <= 4 * CACHE_LINE, "there are as many as connections");

static inline struct app_session *app_session_of(const struct app_flow *af)
{
    return (struct app_session *)(uintptr_t)af;
}
#define APP_CHANGE_DETECT_MAX 4096          /* bytes after which a change of protocol fails */

struct app_session *app_session_new(struct app_thread *at, struct flow *f, unsigned transport);
void app_session_set_proto(struct app_session *s, enum app_proto_id id);
/* The parser is not called any more. */
void app_stop_parsing(struct app_session *s);
/* Pending bytes: those behind the last ones, the parser has consumed n, none is wanted any more. */
bool app_dir_add(struct app_dir *ds, const uint8_t *data, uint32_t len);
void app_dir_advance(struct app_dir *ds, uint32_t n);
void app_dir_drop(struct app_session *s, enum direction d);
/* Copies those in the current chunk, which is about to go. False: no memory. */
bool app_dir_buffer_rest(struct app_session *s, struct app_dir *ds);
/* Makes rules on protocols see this direction's protocol, or that it has none. */
void app_signal_proto_detected(struct flow *f, const struct app_thread *at, enum direction d);
void app_layer_event(struct app_session *s, unsigned event);
void flow_swap(struct app_session *s, struct packet *p);             /* client <-> server */
void flow_swap_packet(const struct flow *f, struct packet *p);       /* p left stream before */

/* --- resume.c: flows whose first part another process has parsed --- */
/* With the flow's first data here, if flow->app_resume is set. */
void app_resume(struct app_session *s);
/* While s->resume has the direction: true if the parser gets the pending bytes, because a message
 * begins with them or the direction ends. Else they wait for more or are dropped. */
bool app_resume_at(struct app_session *s, enum direction d, bool end);

void app_tx_free(struct app_tx *tx);
/* tx.c. Frees changed transactions that are over, inspected and logged. */
void app_txs_cleanup(struct app_thread *at, struct app_flow *af, const struct inspection *in);
void app_tx_index_free(struct app_flow *af);
/* tx_due.c. Processes the changes that a parser made with this packet; all transactions are due
 * when either direction has ended. */
void app_txs_due(struct app_session *s, const struct packet *p);
/* Moves a transaction from the list of changed ones to those that wait for direction d, or takes it
 * off the latter. */
void app_tx_defer(struct app_tx *tx, enum direction d);
void app_tx_undefer(struct app_tx *tx);
/* Ids of events that belong to no transaction. Those that protocols name, see
 * app_proto.absent_event, lie between FIRST and LAST. */
enum {
    APPLAYER_MISMATCH = 1, APPLAYER_WRONG_DIRECTION, APPLAYER_ONE_DIRECTION, APPLAYER_SKIPPED,
    APPLAYER_ABSENT_FIRST, APPLAYER_ABSENT_LAST = APP_LAYER_EVENT_MAX - 1, APPLAYER_UNEXPECTED,
};
_Static_assert(APPLAYER_UNEXPECTED == APP_LAYER_EVENT_MAX, "app_session.events has 16 bits");
/* 0: the protocol has no such event. */
unsigned app_absent_event(const struct app_proto *proto);

#endif
