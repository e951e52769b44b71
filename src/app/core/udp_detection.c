/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/core/udp_detection.c - recognition of UDP flows: each direction gets one try, with its first
 * datagram, even an empty one. A flow that is not recognised takes no memory here. */
#include "app/core/detect_proto.h"
#include "app/core/feed.h"
#include "app/core/settings.h"
#include "app/core/thread.h"

/* Expectations are not looked up: parsers announce only TCP flows. */
static enum app_proto_id detect_proto_of(struct app_thread *at, struct packet *p, enum direction d,
                             bool *reversed)
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

static bool is_known(uint16_t id)
{
    return id != APP_PROTO_UNKNOWN && id != APP_PROTO_FAILED;
}

/* Sets the flow's protocol after this direction's first datagram. The first recognised side
 * wins. */
static void conclude(struct flow *f, enum direction d, enum app_proto_id found, bool *mismatch)
{
    uint16_t other = f->app_proto_dir[OTHER_DIRECTION(d)];

    if (found == APP_PROTO_UNKNOWN) {
        f->app_proto_dir[d] = other != APP_PROTO_UNKNOWN ? other : APP_PROTO_FAILED;
        f->app_proto = f->app_proto_dir[d];
        return;
    }
    f->app_proto_dir[d] = (uint16_t)found;
    if (!is_known(other))
        f->app_proto = (uint16_t)found;
    else if (other != found)
        *mismatch = true;
}

/* The flow is counted with its first datagram, recognised or not. */
static void count_first(struct app_thread *at, struct flow *f)
{
    app_count(at->counters, at->conf->counter[TRANSPORT_UDP][f->app_proto].flow, 1);
}

/* When the pattern shows that the answer came first, client and server are exchanged. */
static void detect(struct app_thread *at, struct packet *p)
{
    enum direction d = packet_direction(p);
    struct flow *f = p->flow;
    bool reversed = false, mismatch = false;
    bool first = f->app_proto_dir[OTHER_DIRECTION(d)] == APP_PROTO_UNKNOWN;
    enum app_proto_id found = detect_proto_of(at, p, d, &reversed);
    struct app_session *s;

    conclude(f, d, found, &mismatch);
    at->packet = p;
    app_signal_proto_detected(f, at, TO_SERVER);
    app_signal_proto_detected(f, at, TO_CLIENT);
    if (first)
        count_first(at, f);
    if (!is_known(f->app_proto))
        return;
    s = f->app != NULL ? app_session_of(f->app) : app_session_new(at, f, TRANSPORT_UDP);
    if (s == NULL)
        return;
    if (mismatch)
        app_layer_event(s, APPLAYER_MISMATCH);
    if (reversed)
        flow_swap(s, p);
}

/* A datagram starts at offset 0 and leaves nothing buffered: the parser must consume all of it. */
static void feed(struct app_session *s, struct packet *p)
{
    enum direction d = packet_direction(p);
    struct app_dir *ds = &s->ds[d];

    ds->data = p->payload;
    ds->len = p->payload_len;
    ds->borrowed = true;
    ds->offset = 0;
    ds->started = false;
    app_feed(s, d, false);
    ds->len = 0;
}

/* A flow that failed in both directions costs one comparison per packet. */
void app_udp_packet(struct app_thread *at, struct packet *p)
{
    struct flow *f = p->flow;

    if (f->app_proto_dir[TO_SERVER] == APP_PROTO_FAILED &&
        f->app_proto_dir[TO_CLIENT] == APP_PROTO_FAILED)
        return;
    if (f->app_proto_dir[packet_direction(p)] == APP_PROTO_UNKNOWN)
        detect(at, p);
    if (!is_known(f->app_proto) || f->app == NULL || p->payload_len == 0)
        return;
    struct app_session *s = app_session_of(f->app);

    s->flow.thread = at;
    at->packet = p;
    feed(s, p);
}
