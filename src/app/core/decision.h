/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/core/decision.h - which protocol a direction of a flow speaks, as a decision about its
 * pending bytes. Recognition changes nothing of a session but its own `detect_state` and what was
 * announced for the flow. The driver carries the decision out. */
#ifndef APP_CORE_DECISION_H
#define APP_CORE_DECISION_H

#include "app/core/session.h"

enum proto_action {
    PROTO_WAIT,             /* nothing, until more bytes come */
    PROTO_FEED,             /* parse the direction, as `protocol` */
    PROTO_FEED_AS_OTHER,    /* it is unknown for good: parse it as the other direction's protocol */
    PROTO_NAME_AS_OTHER,    /* no more bytes come: only take the other direction's name */
    PROTO_DISABLE,          /* the flow has no protocol, for good */
};

struct proto_decision {
    enum proto_action action;
    uint16_t found;         /* PROTO_FEED: the protocol of this direction, ... */
    uint16_t protocol;      /* ... and that of the flow, when both directions differ */
    uint16_t events;        /* to be raised, a bit per event */
    bool swap;              /* first exchange client and server: the direction is the other one */
    bool other_first;       /* first parse the other direction, whose bytes came before */
};

/* The pending bytes of direction d; `end`: no more come. */
struct proto_decision tcp_detection(struct app_session *s, enum direction d, bool end);
/* Whether direction d is parsed now that the flow's protocol is known: PROTO_FEED, PROTO_WAIT for
 * the side that has to speak first, or PROTO_DISABLE, because the wrong side did. */
struct proto_decision tcp_sender_decision(const struct app_session *s, enum direction d);
/* Events of a flow whose protocol has changed to another one than expected. */
uint16_t tcp_change_events(const struct flow *f);

/* The first datagram of its direction. `found` and `protocol` are always set: the flow takes both,
 * with or without a session. */
struct proto_decision udp_detection(const struct app_thread *at, struct packet *p);

static inline bool proto_is_known(uint16_t id)
{
    return id != APP_PROTO_UNKNOWN && id != APP_PROTO_FAILED;
}
/* An event's bit in proto_decision.events and app_session.events. */
static inline uint16_t proto_event_bit(unsigned event)
{
    return (uint16_t)(1u << event);
}

#endif
