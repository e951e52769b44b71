/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/core/session.h - the state of a flow between two packets: the bytes that its parser has not
 * consumed, and what is known of its protocol. Owned by the flow's thread. */
#ifndef APP_CORE_SESSION_H
#define APP_CORE_SESSION_H

#include "app/core/detect_proto.h"
#include "app/core/thread.h"
#include "app/proto.h"
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
    uint8_t transport : 6;
    uint8_t first_gaps : 2;       /* APP_TS, APP_TC: a gap came before the protocol was known */
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
    bool untold : 1;            /* what is under way cannot be handed over */
    bool withheld : 1;          /* unfinished transactions are the other process's */
    bool hears : 1;             /* it has a struct app_handover */
    bool replaying : 1;         /* the parser gets what another process has heard */
    bool replayed : 1;          /* ... has had it */
    uint8_t resume : 2;         /* APP_TS, APP_TC: waits for the next message, see resume.c */
    uint16_t change_port;
    uint16_t events;            /* bit per event, see app_layer_event_name() */
    struct app_dir ds[2];       /* last, and only over TCP: see app_dir_of() */
};

_Static_assert(sizeof(struct app_session) <= 4 * CACHE_LINE, "there are as many as connections");
_Static_assert(offsetof(struct app_session, ds) == 2 * CACHE_LINE, "there are as many over UDP");

static inline size_t app_session_size(unsigned transport)
{
    return transport == TRANSPORT_UDP ? offsetof(struct app_session, ds)
                                      : sizeof(struct app_session);
}

static inline struct app_session *app_session_of(const struct app_flow *af)
{
    return (struct app_session *)(uintptr_t)af;
}
/* A datagram leaves nothing pending: over UDP the thread has both directions, for the datagram at
 * work. Code that is for TCP only reads `ds`. */
static inline struct app_dir *app_dir_of(const struct app_session *s, enum direction d)
{
    if (UNLIKELY(s->transport == TRANSPORT_UDP))
        return &s->flow.thread->datagram[d];
    return (struct app_dir *)(uintptr_t)&s->ds[d];
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

/* --- resume.c: an exchange that is not over when another process takes over ------------------- */

/* What a parser has heard since a fresh one could have begun. From a pool of the thread. */
struct app_handover {
    struct buf heard;           /* steps: bytes that the parser has consumed */
    struct buf alerts;          /* steps: rules that have matched its transactions */
    size_t last;                /* position of the last step in `heard`; SIZE_MAX: none */
    uint64_t first_tx;          /* the id of its first transaction */
};

/* The pointer is behind the parser's state, because few protocols have it and a session is full. */
static inline size_t app_state_size(const struct app_proto *proto)
{
    size_t size = (proto->state_size + sizeof(void *) - 1) & ~(sizeof(void *) - 1);

    return size + (proto->handover != NULL ? sizeof(struct app_handover *) : 0);
}
static inline struct app_handover **app_handover_slot(const struct app_session *s)
{
    const struct app_flow *af = &s->flow;

    return (struct app_handover **)(void *)((uint8_t *)af->state + app_state_size(af->proto) -
                                            sizeof(struct app_handover *));
}
/* NULL: nothing was heard yet. */
static inline struct app_handover *app_handover_of(const struct app_session *s)
{
    return LIKELY(!s->hears) ? NULL : *app_handover_slot(s);
}

/* One part of what the other process gets. The first two are the directions of their bytes. */
enum app_step_kind {
    STEP_TO_SERVER, STEP_TO_CLIENT,
    STEP_TXS,                   /* be32: how many transactions the bytes begin */
    STEP_OPEN,                  /* be32: this one is unfinished, counted from 0; be32: is logged */
    STEP_ALERT,                 /* be32: transaction, gid, sid */
    STEP_STATE,                 /* before the first bytes: for adopt() of the protocol */
};
struct app_step {
    unsigned kind;
    struct slice data;
};
/* Takes the next step. False: there is none, or it is cut off. */
bool app_step_take(struct bytes *in, struct app_step *out);

/* Before the parser gets bytes, and after it has consumed some. */
void app_handover_begin(struct app_session *s);
void app_handover_heard(struct app_session *s, enum direction d, struct slice data);
/* A gap, or too much: another process cannot parse what is under way as a whole. */
void app_handover_lose(struct app_session *s);
/* Drops what was heard if a fresh parser can begin here. */
void app_handover_rest(struct app_session *s);
void app_handover_free(struct app_session *s);

/* With the last packet of a flow that goes to another process. True: what is unfinished neither
 * ends here, nor is it logged or inspected any more. */
bool app_handover_withhold(struct app_session *s);
/* The same, or the parser's state goes along: then bytes that it has not consumed do, too. */
bool app_handover_keeps(struct app_session *s);
/* Writes the steps into the thread's buffer. */
void app_handover_write(struct app_session *s);

/* In the process that has taken over: a transaction that begins while steps are played. What the
 * other process has finished is neither inspected nor logged again. */
void app_handover_tx(struct app_tx *tx);

/* Flows whose first part another process has parsed. */
/* With the flow's first data here, if flow->app_resume is set. True: what the other process has
 * heard is to be played. */
bool app_resume(struct app_session *s);
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
