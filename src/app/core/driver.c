/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/core/driver.c - one packet of a flow: chunks, recognition, the parser, and the end. This file
 * alone knows the order of these steps. Recognition returns decisions (decision.h), and they are
 * carried out here. */
#include "app/core/expectations.h"
#include "app/core/feed.h"
#include "app/core/frames.h"
#include "app/core/decision.h"
#include "app/core/settings.h"
#include "flow/flow_export.h"
#include "base/memory/lib_memory.h"
#include "stream/slot.h"
#include "stream/stream.h"

#include <string.h>

/* --- no protocol ------------------------------------------------------------------------------ */

/* A direction without a protocol is FAILED: rules on "failed" match, and recognition is over. */
static void fail_direction(struct app_session *s, enum direction d)
{
    struct flow *f = s->flow.flow;

    if (f->app_proto_dir[d] == APP_PROTO_FAILED)
        return;
    if (f->app_proto_dir[d] == APP_PROTO_UNKNOWN)
        f->app_proto_dir[d] = APP_PROTO_FAILED;
    app_signal_proto_detected(f, s->flow.thread, d);
}

/* Protocol detection or a change of protocol has failed. Frees the parser's state, its transactions
 * and the frames at once. */
static void disable(struct app_session *s)
{
    struct flow *f = s->flow.flow;

    app_close_parser(s);
    s->flow.next_tx_id = 0;             /* they were not of this flow's protocol */
    app_frames_free(s);
    app_stop_parsing(s);
    s->changing = s->replace = false;
    s->first_sender = FIRST_SENDER_PARSED;
    f->app_proto = APP_PROTO_FAILED;
    app_count_flow(s);
    fail_direction(s, TO_SERVER);
    fail_direction(s, TO_CLIENT);
}

/* --- decisions of recognition on TCP ---------------------------------------------------------- */

static void tcp_data(struct app_session *s, enum direction d, bool end);

/* Parses the bytes of the direction that came first and had to wait for this one. If its parser
 * requests a change of protocol at once, this direction's bytes are not the expected ones. */
static void parse_first_sender(struct app_session *s, enum direction d)
{
    tcp_data(s, OTHER_DIRECTION(d), false);
    if (s->changing) {
        s->changing = false;
        app_layer_event(s, APPLAYER_UNEXPECTED);
    }
}

/* The parser gave up at what the first sender said. The answer that shows the protocol is parsed
 * all the same, as far as it has come, as in Suricata: a client must not hide it behind a bad
 * byte. */
static void parse_answer_to_failure(struct app_session *s, enum direction d, bool end)
{
    if (s->flow.proto == NULL || s->parser_stopped || s->flow.flow->app_proto <= APP_PROTO_FAILED)
        return;
    s->off = false;
    (void)app_feed(s, d, end);
    app_stop_parsing(s);
}

/* Clears the detected protocol: the bytes stay buffered until the side that must send first is
 * parsed. */
static void reset_direction(struct app_session *s, enum direction d)
{
    struct flow *f = s->flow.flow;

    s->ds[d].detected = false;
    s->ds[d].detect_state = (struct proto_detect_state){ 0 };
    f->app_proto_dir[d] = APP_PROTO_UNKNOWN;
    f->app_proto = f->app_proto_dir[OTHER_DIRECTION(d)];
}

/* Parses the direction unless the other side has to speak first. True: its parser has had the
 * bytes. */
static bool parse_in_order(struct app_session *s, enum direction d, bool end)
{
    struct proto_decision decision = tcp_sender_decision(s, d);

    s->events |= decision.events;
    if (decision.action == PROTO_DISABLE) {
        disable(s);
        return false;
    }
    if (decision.action == PROTO_WAIT) {
        reset_direction(s, d);
        return false;
    }
    s->first_sender = FIRST_SENDER_PARSED;
    return app_feed(s, d, end) == 0;
}

/* The first match of a direction. After flow_swap() its bytes belong to the other one. */
static void start_protocol(struct app_session *s, enum direction d, bool end,
                           const struct proto_decision *decision)
{
    struct flow *f = s->flow.flow;
    bool other_unknown = f->app_proto_dir[OTHER_DIRECTION(d)] == APP_PROTO_UNKNOWN;

    f->app_proto_dir[d] = decision->found;
    app_session_set_proto(s, (enum app_proto_id)decision->protocol);
    s->ds[d].detected = true;
    app_signal_proto_detected(f, s->flow.thread, d);
    if (decision->swap) {
        flow_swap(s, s->flow.thread->packet);
        d = OTHER_DIRECTION(d);
    }
    if (!other_unknown)
        app_count_flow(s);
    if (decision->other_first)
        parse_first_sender(s, d);
    if (s->off)
        parse_answer_to_failure(s, d, end);
    else if (parse_in_order(s, d, end) && other_unknown && s->ds[OTHER_DIRECTION(d)].detected)
        app_count_flow(s);
}

/* Records have "failed" for a direction that was parsed without detection. If its parser gives up
 * at once, the direction has the name of the other one, as in Suricata. */
static void parse_as_other(struct app_session *s, enum direction d, bool end)
{
    struct flow *f = s->flow.flow;
    uint16_t other = f->app_proto_dir[OTHER_DIRECTION(d)];
    bool given_up = false;

    if (s->ds[d].len > 0)
        s->first_sender = FIRST_SENDER_PARSED;
    if (other != APP_PROTO_FAILED) {
        given_up = app_feed(s, d, end) < 0;
        app_count_flow(s);
    }
    f->app_proto_dir[d] = given_up ? other : APP_PROTO_FAILED;
    s->ds[d].detected = true;
    app_signal_proto_detected(f, s->flow.thread, d);
}

static void name_as_other(struct app_session *s, enum direction d)
{
    s->flow.flow->app_proto_dir[d] = s->flow.flow->app_proto;
    s->ds[d].detected = true;
    app_count_flow(s);
}

static void detect(struct app_session *s, enum direction d, bool end)
{
    struct proto_decision decision = tcp_detection(s, d, end);

    s->events |= decision.events;
    switch (decision.action) {
    case PROTO_WAIT:
        break;
    case PROTO_FEED:
        start_protocol(s, d, end, &decision);
        break;
    case PROTO_FEED_AS_OTHER:
        parse_as_other(s, d, end);
        break;
    case PROTO_NAME_AS_OTHER:
        name_as_other(s, d);
        break;
    case PROTO_DISABLE:
        disable(s);
        break;
    }
}

/* --- change of protocol ----------------------------------------------------------------------- */

/* Both directions at once, with recognition as at the flow's start. */
static void set_both(struct app_session *s, uint16_t id)
{
    struct flow *f = s->flow.flow;

    f->app_proto = f->app_proto_dir[TO_SERVER] = f->app_proto_dir[TO_CLIENT] = id;
    for (unsigned d = 0; d < 2; d++) {
        s->ds[d].detected = id != APP_PROTO_UNKNOWN;
        s->ds[d].detect_state = (struct proto_detect_state){ 0 };
    }
}

/* Detects the new protocol as if the flow began here. Until the bytes suffice, the old protocol
 * stays, and the next bytes try again from the start. */
static void detect_changed(struct app_session *s, enum direction d, bool end)
{
    struct flow *f = s->flow.flow;
    uint16_t old = f->app_proto;
    bool counted = s->counted;

    set_both(s, APP_PROTO_UNKNOWN);
    s->replace = true;
    s->changing = s->counted = false;
    s->redetecting = true;
    detect(s, d, end);
    s->redetecting = false;
    if (f->app_proto == APP_PROTO_UNKNOWN) {
        set_both(s, old);
        s->replace = false;
        s->changing = true;
        s->counted = counted;
        return;
    }
    s->events |= tcp_change_events(f);
}

/* --- pending bytes, parsed or recognised ------------------------------------------------------ */

/* Processes the buffered bytes of a direction; `end`: no more will come. */
static void tcp_data(struct app_session *s, enum direction d, bool end)
{
    struct flow *f = s->flow.flow;
    uint16_t found = f->app_proto_dir[d];

    if (UNLIKELY((s->resume & APP_DIRECTION_BIT(d)) != 0) && !s->off && !app_resume_at(s, d, end))
        return;
    if (s->off)
        app_dir_drop(s, d);
    else if (found == APP_PROTO_UNKNOWN && !s->ds[d].detected)
        detect(s, d, end);
    else if (s->changing) {
        if (!s->change_fresh)
            detect_changed(s, d, end);
    } else if (f->app_proto > APP_PROTO_FAILED)
        app_feed(s, d, end);
}

/* ds->lost is the size of the gap. A gap before detection ends it for this direction, because no
 * pattern or probe can know the missing bytes. */
static void tcp_gap(struct app_session *s, enum direction d)
{
    struct flow *f = s->flow.flow;

    if (UNLIKELY((s->resume & APP_DIRECTION_BIT(d)) != 0)) {
        app_dir_drop(s, d);
        return;
    }
    if (f->app_proto_dir[d] == APP_PROTO_UNKNOWN) {
        s->ds[d].detected = true;
        if (f->app_proto == APP_PROTO_UNKNOWN)
            return;
        app_count_flow(s);
    }
    if (s->changing) {
        s->changing = false;
        disable(s);
        return;
    }
    app_feed(s, d, false);
}

/* --- segments --------------------------------------------------------------------------------- */

/* The parser gets the bytes up to the protocol's own depth, the last of them with `end`. */
static uint32_t within_depth(struct app_session *s, enum direction d,
                             const struct stream_chunk *c, bool *end)
{
    const struct app_proto_conf *pc = app_session_conf(s);

    *end = c->depth_reached;
    if (!pc->own_depth || c->offset + c->len < pc->stream_depth)
        return c->len;
    *end = true;
    s->ds[d].depth_reached = true;
    return c->offset >= pc->stream_depth ? 0 : (uint32_t)(pc->stream_depth - c->offset);
}

/* Positions count from what another process has heard. */
static uint64_t stream_offset(const struct app_session *s, const struct stream_chunk *c)
{
    if (LIKELY(!s->replayed))
        return c->offset;
    return c->offset + s->flow.flow->ext->replay->played[c->direction];
}

/* Chunks arrive in stream order. CHUNK_REINSPECT repeats bytes for rules that the parser has had. A
 * gap makes pending bytes useless: they count as lost with it. */
static void take_chunk(struct app_session *s, const struct stream_chunk *c)
{
    enum direction d = (enum direction)c->direction;
    struct app_dir *ds = &s->ds[d];
    bool end = false;
    uint32_t len;

    if (s->off || ds->eof_sent || c->kind == CHUNK_REINSPECT)
        return;
    if (c->kind == CHUNK_GAP) {
        ds->lost += ds->len + c->len;
        ds->len = 0;
        tcp_gap(s, d);
        return;
    }
    if (ds->len == 0 && ds->lost == 0)
        ds->offset = stream_offset(s, c);
    len = within_depth(s, d, c, &end);
    if (len > 0) {
        app_frames_data(s, d, stream_offset(s, c), (struct slice){ c->data, len });
        if (!app_dir_add(ds, c->data, len)) {
            (void)app_no_memory(s);
            return;
        }
    }
    if (end) {
        ds->depth_reached = true;
        s->flow.disrupted[d] = true;
    }
    tcp_data(s, d, end);
}

/* Nearly always there is nothing: the parser took all bytes. */
static bool has_rest(const struct app_session *s)
{
    return s->off || s->ds[0].data != NULL || s->ds[1].data != NULL ||
           s->ds[0].buffered.data != NULL || s->ds[1].buffered.data != NULL;
}

static void buffer_rest(struct app_session *s)
{
    if (s->transport == TRANSPORT_UDP || LIKELY(!has_rest(s)))
        return;
    for (unsigned d = 0; d < 2; d++) {
        if (s->off)
            app_dir_drop(s, (enum direction)d);
        if (UNLIKELY(!app_dir_buffer_rest(s, &s->ds[d]))) {
            (void)app_no_memory(s);
            app_dir_drop(s, (enum direction)d);
            s->ds[d].borrowed = false;
        }
    }
}

/* What another process has heard, with the flow's first data here. It is before the stream that
 * this process sees. */
static COLD void replay(struct app_session *s)
{
    struct bytes in = bytes_of_slice(flow_replay(s->flow.flow));
    struct app_step step;

    s->replaying = s->replayed = true;
    while (!s->off && app_step_take(&in, &step)) {
        if (step.kind == STEP_STATE)
            (void)app_adopt(s, step.data);
        if (step.kind > STEP_TO_CLIENT || step.data.len == 0)
            continue;
        if (s->first_sender == 0)
            s->first_sender = (uint8_t)APP_DIRECTION_BIT(step.kind);
        s->flow.flow->ext->replay->played[step.kind] += step.data.len;
        if (!app_dir_add(&s->ds[step.kind], step.data.data, step.data.len))
            (void)app_no_memory(s);
        else
            tcp_data(s, (enum direction)step.kind, false);
        buffer_rest(s);
    }
    s->replaying = false;
}

/* A flow that another process has parsed goes on with its protocol. */
static struct app_session *session_begin(struct app_thread *at, struct packet *p,
                                         unsigned transport)
{
    struct flow *f = p->flow;
    struct app_session *s = app_session_new(at, f, transport);
    bool replays;

    if (LIKELY(f->app_resume == 0) || s == NULL)
        return s;
    replays = app_resume(s);
    if (f->app_proto != APP_PROTO_UNKNOWN)
        app_count_flow(s);
    at->packet = p;
    if (replays && transport == TRANSPORT_TCP)
        replay(s);
    return s;
}

/* Bytes that came after a change of protocol have waited until rules had seen the old protocol. */
static void resume_change(struct app_session *s)
{
    s->change_fresh = false;
    for (unsigned d = 0; d < 2; d++)
        if (s->changing && s->ds[d].len > 0)
            tcp_data(s, (enum direction)d, false);
}

/* True if the stream has ended, or the flow ends and these were its last data of this direction. */
static bool is_closed(const struct inspection *in, enum direction d)
{
    static const uint32_t end_flags[2] = { PACKET_END_TO_SERVER, PACKET_END_TO_CLIENT };

    return (in->packet->flags & end_flags[d]) != 0 ||
           (in->reason == INSPECT_LAST_DATA && d == packet_direction(in->packet));
}

/* The connection has closed, so bytes that still wait are complete now. The direction that this
 * packet acknowledges goes first. */
static void end_closed(struct app_session *s, const struct inspection *in)
{
    enum direction first = OTHER_DIRECTION(packet_direction(in->packet));

    for (unsigned i = 0; i < 2; i++) {
        enum direction d = i == 0 ? first : OTHER_DIRECTION(first);

        if (is_closed(in, d) && !s->off && !s->change_fresh && !s->ds[d].eof_sent)
            tcp_data(s, d, true);
    }
}

/* A reset that the stream engine believes. It ends no data: the host may know better. */
static COLD void tell_reset(struct app_session *s, const struct packet *p)
{
    const struct app_proto *proto = s->flow.proto;

    if (proto != NULL && proto->reset != NULL && !s->off && stream_is_closed(p))
        proto->reset(&s->flow, packet_direction(p));
}

/* The flow goes on in another process. True: so does what is unfinished. */
static COLD bool hand_over(struct app_session *s)
{
    bool withheld = app_handover_withhold(s);

    app_handover_write(s);
    return withheld && s->flow.thread->handover.len > 0;
}

/* The flow ends (closed or timed out): every direction gets its last call, then the protocol may
 * finish transactions that waited for an answer. */
static void end_flow(struct app_session *s)
{
    struct app_flow *af = &s->flow;

    if (s->transport == TRANSPORT_TCP)
        for (unsigned d = 0; d < 2; d++)
            if (!s->off && !s->ds[d].eof_sent)
                tcp_data(s, (enum direction)d, true);
    af->end[TO_SERVER] = af->end[TO_CLIENT] = true;
    if (af->proto != NULL && af->proto->finish != NULL)
        af->proto->finish(af);
}

/* NULL for a flow without data so far: handshakes need no session. What another process has heard
 * may be all there is. */
static struct app_session *tcp_session(struct app_thread *at, const struct inspection *in)
{
    struct flow *f = in->flow;
    struct app_session *s;

    if (f->app != NULL)
        return app_session_of(f->app);
    if (in->chunk_count == 0 && in->packet->payload_len == 0 &&
        f->app_resume != FLOW_APP_REPLAYS)
        return NULL;
    s = session_begin(at, in->packet, TRANSPORT_TCP);
    if (UNLIKELY(s == NULL)) {
        app_count(at->counters, at->conf->policy_total[at->conf->error_policy], 1);
        exception_policy_apply(at->conf->error_policy, in->packet, DROP_APP_ERROR,
                               at->conf->is_inline);
    }
    return s;
}

/* Suricata tells of a hole when a parser comes to it: not behind bytes whose protocol is not known,
 * nor in packets after the one in which the parser gave up. The counter tcp.reassembly_gap has all
 * holes. */
static COLD void tell_gap(struct app_session *s, struct packet *p, enum direction d)
{
    if (s->flow.proto != NULL || (!s->off && s->ds[d].len == 0))
        s->flow.flow->parser_gaps |= (1u << d) & 3u;
    else
        packet_clear_event(p, EVENT_STREAM_REASSEMBLY_SEQ_GAP);
    if (s->flow.proto == NULL && !s->off && s->ds[d].len == 0)
        s->first_gaps |= APP_DIRECTION_BIT(d) & 3u;
}

/* A hole before the first data of a flow whose protocol is not known by its end is told there once
 * more, as in Suricata, if the end of that direction is inspected. */
static COLD void tell_first_gaps(const struct app_session *s, const struct inspection *in)
{
    static const uint32_t last[2] = { PACKET_LAST_TO_SERVER, PACKET_LAST_TO_CLIENT };
    struct packet *p = in->packet;

    if (!inspection_ends_flow(in) || s->flow.flow->app_proto != APP_PROTO_UNKNOWN)
        return;
    for (enum direction d = TO_SERVER; d <= TO_CLIENT; d++)
        if ((s->first_gaps & APP_DIRECTION_BIT(d)) != 0 && (p->flags & last[d]) != 0)
            packet_set_event(p, EVENT_STREAM_REASSEMBLY_SEQ_GAP);
}

/* Nothing is parsed any more, so no hole is told. */
static void pass_chunks(const struct inspection *in)
{
    if (LIKELY(in->packet->event_count == 0))
        return;
    for (unsigned i = 0; i < in->chunk_count; i++)
        if (in->chunk[i].kind == CHUNK_GAP)
            packet_clear_event(in->packet, EVENT_STREAM_REASSEMBLY_SEQ_GAP);
}

/* All work on a TCP packet by its flow's inspecting thread: chunks first, then ends. */
static void tcp_packet(struct app_thread *at, const struct inspection *in)
{
    struct app_session *s = tcp_session(at, in);
    struct packet *p = in->packet;

    if (s == NULL)
        return;
    s->parser_stopped = false;
    if (s->off) {
        pass_chunks(in);
        return;
    }
    s->flow.thread = at;
    at->packet = p;
    s->midstream |= (p->flags & PACKET_MIDSTREAM) != 0;
    if (s->first_sender == 0 && p->payload_len > 0)
        s->first_sender = APP_DIRECTION_BIT(packet_direction(p));
    if (s->changing)
        resume_change(s);
    if (UNLIKELY(s->first_gaps != 0))
        tell_first_gaps(s, in);
    if (UNLIKELY(p->flags & PACKET_UNIDIRECTIONAL))
        s->flow.disrupted[OTHER_DIRECTION(packet_direction(p))] = true;
    for (unsigned i = 0; i < in->chunk_count; i++) {
        if (UNLIKELY(in->chunk[i].kind == CHUNK_GAP))
            tell_gap(s, p, (enum direction)in->chunk[i].direction);
        take_chunk(s, &in->chunk[i]);
        buffer_rest(s);
    }
    if (UNLIKELY((p->flags & (PACKET_END_TO_SERVER | PACKET_END_TO_CLIENT)) != 0 ||
                 in->reason == INSPECT_LAST_DATA) &&
        !(in->hands_over && app_handover_keeps(s)))
        end_closed(s, in);
    if (UNLIKELY(p->tcp.flags & TCP_RST))
        tell_reset(s, p);
}

/* --- datagrams -------------------------------------------------------------------------------- */

/* The flow is counted with its first datagram, recognised or not. */
static void count_first(struct app_thread *at, struct flow *f)
{
    app_count(at->counters, at->conf->counter[TRANSPORT_UDP][f->app_proto].flow, 1);
}

/* A flow that is not recognised gets no session. */
static void detect_datagram(struct app_thread *at, struct packet *p)
{
    enum direction d = packet_direction(p);
    struct flow *f = p->flow;
    bool first = f->app_proto_dir[OTHER_DIRECTION(d)] == APP_PROTO_UNKNOWN;
    struct proto_decision decision = udp_detection(at, p);
    struct app_session *s;

    f->app_proto_dir[d] = decision.found;
    f->app_proto = decision.protocol;
    at->packet = p;
    app_signal_proto_detected(f, at, TO_SERVER);
    app_signal_proto_detected(f, at, TO_CLIENT);
    if (first)
        count_first(at, f);
    if (!proto_is_known(f->app_proto))
        return;
    s = f->app != NULL ? app_session_of(f->app) : session_begin(at, p, TRANSPORT_UDP);
    if (s == NULL)
        return;
    s->events |= decision.events;
    if (decision.swap)
        flow_swap(s, p);
}

/* A datagram starts at offset 0 and leaves nothing buffered: the parser must consume all of it. */
static void feed_datagram(struct app_session *s, struct packet *p)
{
    enum direction d = packet_direction(p);
    struct app_dir *ds = app_dir_of(s, d);

    memset(s->flow.thread->datagram, 0, 2 * sizeof(*ds));
    ds->data = p->payload;
    ds->len = p->payload_len;
    ds->borrowed = true;
    app_feed(s, d, false);
    ds->len = 0;
    ds->data = NULL;
    ds->borrowed = false;
}

/* A flow that failed in both directions costs one comparison per packet. */
static void udp_packet(struct app_thread *at, struct packet *p)
{
    struct flow *f = p->flow;
    struct app_session *s;

    if (f->app_proto_dir[TO_SERVER] == APP_PROTO_FAILED &&
        f->app_proto_dir[TO_CLIENT] == APP_PROTO_FAILED)
        return;
    if (UNLIKELY(f->app_resume != 0))
        (void)session_begin(at, p, TRANSPORT_UDP);      /* NULL: the datagram is not parsed */
    if (f->app_proto_dir[packet_direction(p)] == APP_PROTO_UNKNOWN)
        detect_datagram(at, p);
    if (!proto_is_known(f->app_proto) || f->app == NULL || p->payload_len == 0)
        return;
    s = app_session_of(f->app);
    s->flow.thread = at;
    at->packet = p;
    feed_datagram(s, p);
}

/* --- packets ---------------------------------------------------------------------------------- */

/* Moves the flow's mark to a packet, once. A pseudo packet does not take it. */
static void take_proto_detected(struct flow *f, struct packet *p)
{
    enum direction d = packet_direction(p);

    if (LIKELY(!(f->detect_flags & FLOW_PROTO_DETECTED(d))) || (p->flags & PACKET_PSEUDO))
        return;
    f->detect_flags &= (uint8_t)~FLOW_PROTO_DETECTED(d);
    p->flags |= PACKET_PROTO_DETECTED;
}

/* Entry for every packet of a flow. Direction first: client and server may be exchanged since the
 * packet was made. */
static void parse_packet(struct app_thread *at, const struct inspection *in)
{
    struct packet *p = in->packet;
    struct flow *f = in->flow;
    struct app_session *s;

    at->packet = NULL;
    at->place.list = NULL;                  /* parsers may free what it is in */
    if (f == NULL)
        return;
    if (UNLIKELY(f->swap != 0))
        flow_swap_packet(f, p);
    take_proto_detected(f, p);
    if (f->key.proto == 6)
        tcp_packet(at, in);
    else if (packet_is_udp(p) && (p->flags & PACKET_PSEUDO) == 0)
        udp_packet(at, p);
    if (f->app == NULL)
        return;
    s = app_session_of(f->app);
    if (inspection_ends_flow(in)) {
        at->packet = p;
        if (LIKELY(!in->hands_over) || !hand_over(s))
            end_flow(s);
    }
    app_txs_due(s, p);
    buffer_rest(s);
    at->packet = NULL;
}

void app_packet(struct app_thread *at, struct inspection *in)
{
    parse_packet(at, in);
    in->direction = packet_direction(in->packet);
}

/* --- after rules and outputs ------------------------------------------------------------------ */

/* Both sides have ended and nothing is left to inspect or log. The flow may stay in the table for a
 * long time until its timeout; its parser need not. */
static bool is_over(const struct app_flow *af)
{
    const struct app_session *s = CONTAINER_OF(af, const struct app_session, flow);

    return s->transport == TRANSPORT_TCP && s->ds[TO_SERVER].eof_sent &&
           s->ds[TO_CLIENT].eof_sent && af->proto != NULL &&
           af->first == NULL && af->proto->finish == NULL && !s->changing && !s->replace &&
           frame_count(frames_of(s, TO_SERVER)) == 0 &&
           frame_count(frames_of(s, TO_CLIENT)) == 0;
}

/* After rules and outputs have had the packet, on the same thread. */
void app_cleanup(struct app_thread *at, const struct inspection *in)
{
    struct app_flow *af = in->flow != NULL ? in->flow->app : NULL;

    if (af == NULL)
        return;
    app_session_of(af)->events = 0;
    if (af->due != NULL)
        app_txs_cleanup(at, af, in);
    if (af->first != NULL && af->proto->rest != NULL)
        af->proto->rest(af);
    app_frames_prune(app_session_of(af), in);
    if (af->first == NULL && (app_session_of(af)->hears || app_session_of(af)->untold))
        app_handover_rest(app_session_of(af));
    if (UNLIKELY(is_over(af)))
        app_close_parser(app_session_of(af));
}

/* --- the end ---------------------------------------------------------------------------------- */

static COLD void ext_free(struct app_session *s)
{
    app_frames_free(s);
    buf_fini(&s->flow.ext->buffered);
    expectation_data_free(&s->flow.ext->expected);
    lib_free(s->flow.ext);
    s->flow.ext = NULL;
}

/* Called by the thread that owns the flow's inspection, when the flow ends. */
void app_flow_free(struct flow *flow)
{
    struct app_session *s = flow->app != NULL ? app_session_of(flow->app) : NULL;
    struct app_thread *at;

    if (s == NULL)
        return;
    at = s->flow.thread;
    app_close_parser(s);
    if (UNLIKELY(s->flow.ext != NULL))
        ext_free(s);
    for (unsigned d = 0; d < 2 && s->transport == TRANSPORT_TCP; d++)
        app_buf_release(at, &s->ds[d].buffered);
    pool_put(&at->sessions[s->transport], s);
    flow->app = NULL;
}
