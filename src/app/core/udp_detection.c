/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/core/udp_detection.c - recognition of UDP flows: each direction gets one try, with its first
 * datagram, even an empty one. A flow that is not recognised takes no memory here. */
#include "app/core/decision.h"

#include "app/core/detect_proto.h"
#include "app/core/settings.h"
#include "app/core/thread.h"

/* Expectations are not looked up: parsers announce only TCP flows. */
static enum app_proto_id detect_proto_of(const struct app_thread *at, struct packet *p,
                                         enum direction d, bool *reversed)
{
    struct flow *f = p->flow;
    struct proto_detect_state detect_state = { 0 }, other = { 0 };
    bool to_server = d == TO_SERVER;
    struct proto_detect_input q = {
        .data = { p->payload, p->payload_len }, .transport = TRANSPORT_UDP, .direction = d,
        .flow = f, .source_port = to_server ? p->src_port : p->dst_port,
        .dest_port = to_server ? p->dst_port : p->src_port,
        .other = f->app_proto_dir[OTHER_DIRECTION(d)],
    };

    return app_detect(&at->conf->detect, &q, &detect_state, &other, reversed);
}

/* Sets the flow's protocol after this direction's first datagram. The first recognised side
 * wins. */
static struct proto_decision conclude(const struct flow *f, enum direction d, uint16_t found)
{
    uint16_t other = f->app_proto_dir[OTHER_DIRECTION(d)];
    struct proto_decision decision = { .action = PROTO_FEED, .found = found, .protocol = found };

    if (found == APP_PROTO_UNKNOWN) {
        decision.found = other != APP_PROTO_UNKNOWN ? other : APP_PROTO_FAILED;
        decision.protocol = decision.found;
    } else if (proto_is_known(other)) {
        decision.protocol = f->app_proto;
        if (other != found)
            decision.events = proto_event_bit(APPLAYER_MISMATCH);
    }
    return decision;
}

/* When the pattern shows that the answer came first, client and server are exchanged. */
struct proto_decision udp_detection(const struct app_thread *at, struct packet *p)
{
    enum direction d = packet_direction(p);
    bool reversed = false;
    enum app_proto_id found = detect_proto_of(at, p, d, &reversed);
    struct proto_decision decision = conclude(p->flow, d, (uint16_t)found);

    decision.swap = reversed;
    return decision;
}
