/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/core/tcp_detection.c - recognition of TCP flows, direction by direction. Each direction is
 * recognised by itself from its first bytes, which wait as pending bytes meanwhile. The side that
 * spoke first is parsed first. When only one side is recognised, the other is parsed as the same
 * protocol. When both are and differ, the server's side wins unless the parser has had bytes
 * already. */
#include "app/core/detect_proto.h"
#include "app/core/expectations.h"
#include "app/core/feed.h"
#include "app/core/thread.h"
#include "stream/slot.h"

#define WAIT_LIMIT 100000           /* bytes that one side may wait for the other */

/* True if neither patterns nor probes can still detect this direction's protocol. */
static bool state_done(const struct app_dir *ds)
{
    return ds->detect_state.patterns_done && ds->detect_state.probes_done;
}

/* The side that has to speak first in this protocol; 0: either may. */
static uint8_t first_sender_of(const struct app_session *s, uint16_t id)
{
    const struct app_proto *proto = s->flow.thread->conf->proto[id].proto;

    return proto != NULL && proto->first_sender != APP_BOTH ? proto->first_sender : 0;
}

/* Takes an announced flow and its parent's data. Only called when patterns and probes found
 * nothing. */
static enum app_proto_id take_expected(struct app_session *s, struct packet *p,
                                        enum direction d)
{
    struct app_ext *ext = s->flow.ext;
    struct expectation_data *owned = ext != NULL ? ext->expected : NULL;
    enum app_proto_id found = expectation_take(s->flow.thread, p, d, &owned);

    if (LIKELY(owned == NULL) && ext == NULL)
        return found;
    ext = app_ext_make(&s->flow);
    if (ext != NULL)
        ext->expected = owned;
    else
        expectation_data_free(&owned);
    return found;
}

/* Ports are the client's and the server's, whichever side the packet came from. */
static enum app_proto_id detect_proto_of(struct app_session *s, enum direction d, bool *reversed)
{
    struct flow *f = s->flow.flow;
    struct packet *p = s->flow.thread->packet;
    bool to_server = packet_direction(p) == TO_SERVER;
    struct app_dir *ds = &s->ds[d];
    struct proto_detect_input q = {
        .data = { ds->data, ds->len }, .transport = TRANSPORT_TCP, .direction = d, .flow = f,
        .source_port = to_server ? p->src_port : p->dst_port,
        .dest_port = to_server ? p->dst_port : p->src_port,
        .other = f->app_proto_dir[OTHER_DIRECTION(d)], .expected = f->app_proto_expected,
    };
    enum app_proto_id found;

    if (s->change_port != 0)
        q.dest_port = s->change_port;
    found = app_detect(&s->flow.thread->conf->detect, &q, &ds->detect_state,
                       &s->ds[OTHER_DIRECTION(d)].detect_state, reversed);
    /* When the other side is known, do not look up announcements: it may mean waiting for other
     * threads. */
    if (found != APP_PROTO_UNKNOWN || ds->detect_state.expected_done ||
        q.other != APP_PROTO_UNKNOWN)
        return found;
    ds->detect_state.expected_done = true;
    return take_expected(s, p, d);
}

/* --- giving up -------------------------------------------------------------------------------- */

/* What a side has sent: pending bytes, and those that wait in the stream for their acknowledgment.
 * Suricata counts these, too. Bytes behind a hole do not count, so one far segment ends nothing. */
static uint64_t sent_by(const struct app_session *s, enum direction d)
{
    const struct stream_slot *slot = stream_slot(s->flow.thread->packet);
    const struct app_dir *ds = &s->ds[d];
    uint64_t size = ds->len + ds->lost;

    for (unsigned i = slot->chunk_count; i-- > 0;)
        if (slot->chunk[i].direction == d && slot->chunk[i].kind == CHUNK_DATA)
            return size + slot->chunk[i].unacked;
    return size;
}

/* Bounds the bytes that recognition may buffer. Three cases: a side has twice the limit; one side
 * is done and over the limit while the other is silent; one side is done and over the limit while
 * the other only waits for more bytes of a pattern. */
static bool waits_too_long(const struct app_session *s)
{
    const struct app_dir *ts = &s->ds[TO_SERVER], *tc = &s->ds[TO_CLIENT];
    uint64_t size_ts = sent_by(s, TO_SERVER), size_tc = sent_by(s, TO_CLIENT);

    if (size_tc > 2 * WAIT_LIMIT || size_ts > 2 * WAIT_LIMIT)
        return true;
    if (state_done(ts) && size_ts > WAIT_LIMIT && size_tc == 0)
        return true;
    if (state_done(tc) && size_tc > WAIT_LIMIT && size_ts == 0)
        return true;
    if (size_tc > WAIT_LIMIT && state_done(tc) && ts->detect_state.probes_done &&
        !ts->detect_state.patterns_done)
        return true;
    return size_ts > WAIT_LIMIT && state_done(ts) && tc->detect_state.probes_done &&
           !tc->detect_state.patterns_done;
}

/* True if no protocol can be detected any more, in either direction. */
static bool is_hopeless(const struct app_session *s)
{
    const struct app_dir *ts = &s->ds[TO_SERVER], *tc = &s->ds[TO_CLIENT];

    return (ts->detected || state_done(ts)) && (tc->detected || state_done(tc));
}

/* Neither side is known. After a change of protocol the new one has APP_CHANGE_DETECT_MAX bytes to
 * show itself. */
static void both_unknown(struct app_session *s, enum direction d, bool end)
{
    if (s->redetecting) {
        if (end || s->ds[d].len >= APP_CHANGE_DETECT_MAX)
            app_disable(s);
        return;
    }
    if (is_hopeless(s)) {
        app_disable(s);
    } else if (waits_too_long(s)) {
        app_layer_event(s, APPLAYER_SKIPPED);
        app_disable(s);
    }
}

/* --- only the other side is detected -------------------------------------------------------- */

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
        app_layer_event(s, APPLAYER_ONE_DIRECTION);
        app_count_flow(s);
    }
    f->app_proto_dir[d] = given_up ? other : APP_PROTO_FAILED;
    s->ds[d].detected = true;
    app_signal_proto_detected(f, s->flow.thread, d);
}

/* This side is not recognised with the bytes so far. */
static void proto_not_detected(struct app_session *s, enum direction d, bool end)
{
    struct flow *f = s->flow.flow;
    uint16_t other = f->app_proto_dir[OTHER_DIRECTION(d)];
    uint8_t first;

    /* The request may have begun before we did; parsing from its middle would invent
     * transactions, even if the answer is detected. */
    if (s->midstream && f->app_proto_dir[TO_SERVER] == APP_PROTO_UNKNOWN &&
        state_done(&s->ds[TO_SERVER])) {
        app_disable(s);
        return;
    }
    if (other == APP_PROTO_UNKNOWN) {
        both_unknown(s, d, end);
        return;
    }
    /* The protocol demands that the other side speaks first, but this side did: not that
     * protocol. */
    first = first_sender_of(s, other);
    if (s->first_sender != FIRST_SENDER_PARSED && first != 0 &&
        (first & APP_DIRECTION_BIT(d)) == 0) {
        app_disable(s);
        return;
    }
    if (state_done(&s->ds[d])) {
        parse_as_other(s, d, end);
    } else if (end) {
        f->app_proto_dir[d] = f->app_proto;
        s->ds[d].detected = true;
        app_count_flow(s);
    }
}

/* --- detected --------------------------------------------------------------------------------- */

/* Both sides are recognised and differ. A parser that has run keeps the flow; else the server's
 * side wins. */
static enum app_proto_id resolve_proto_mismatch(struct app_session *s, enum direction d,
                                        enum app_proto_id found, enum app_proto_id other)
{
    if (other == APP_PROTO_UNKNOWN || other == found)
        return found;
    app_layer_event(s, APPLAYER_MISMATCH);
    if (s->first_sender == FIRST_SENDER_PARSED)
        return other;
    return d == TO_CLIENT ? found : other;
}

/* Parses the bytes of the direction that came first and had to wait for this one. If its parser
 * requests a change of protocol at once, this direction's bytes are not the expected ones. */
static void parse_first_sender(struct app_session *s, enum direction d)
{
    uint8_t bit = APP_DIRECTION_BIT(d);

    if ((s->first_sender & APP_BOTH) == 0 || (s->first_sender & bit) != 0)
        return;
    app_tcp_data(s, OTHER_DIRECTION(d), false);
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

/* Checks whether the direction that came first fits the protocol. 0: yes, 1: this direction must
 * wait, -1: no. */
static int check_first_sender(struct app_session *s, enum direction d)
{
    uint8_t first = first_sender_of(s, s->flow.flow->app_proto);

    if (s->first_sender == FIRST_SENDER_PARSED || first == 0)
        return 0;
    if ((first & s->first_sender) == 0)
        return -1;
    return (first & APP_DIRECTION_BIT(d)) == 0;
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

/* Handles the first match of a direction. With midstream pickup the match may show that the sides
 * are exchanged; after flow_swap() the bytes belong to the other direction. */
static void proto_detected(struct app_session *s, enum direction d, enum app_proto_id found,
                       bool reversed, bool end)
{
    struct flow *f = s->flow.flow;
    enum app_proto_id other = (enum app_proto_id)f->app_proto_dir[OTHER_DIRECTION(d)];
    int order;

    f->app_proto_dir[d] = (uint16_t)found;
    app_session_set_proto(s, resolve_proto_mismatch(s, d, found, other));
    s->ds[d].detected = true;
    app_signal_proto_detected(f, s->flow.thread, d);
    if (reversed && s->midstream && other == APP_PROTO_UNKNOWN) {
        flow_swap(s, s->flow.thread->packet);
        d = OTHER_DIRECTION(d);
    }
    if (other != APP_PROTO_UNKNOWN)
        app_count_flow(s);
    parse_first_sender(s, d);
    if (s->off) {
        parse_answer_to_failure(s, d, end);
        return;
    }
    order = check_first_sender(s, d);
    if (order < 0) {
        app_layer_event(s, APPLAYER_WRONG_DIRECTION);
        app_disable(s);
    } else if (order > 0) {
        reset_direction(s, d);
    } else {
        s->first_sender = FIRST_SENDER_PARSED;
        if (app_feed(s, d, end) == 0 && other == APP_PROTO_UNKNOWN &&
            s->ds[OTHER_DIRECTION(d)].detected)
            app_count_flow(s);
    }
}

static void detect(struct app_session *s, enum direction d, bool end)
{
    bool reversed = false;
    enum app_proto_id found = detect_proto_of(s, d, &reversed);

    if (found != APP_PROTO_UNKNOWN)
        proto_detected(s, d, found, reversed, end);
    else
        proto_not_detected(s, d, end);
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

/* Applies the new protocol. Another protocol than the expected one, for example after STARTTLS,
 * raises an event. */
static void changed(struct app_session *s)
{
    struct flow *f = s->flow.flow;
    const struct app_proto *expected = app_proto_by_id((enum app_proto_id)f->app_proto_expected);

    if (f->app_proto_expected == APP_PROTO_UNKNOWN || f->app_proto == f->app_proto_expected)
        return;
    app_layer_event(s, APPLAYER_UNEXPECTED);
    if (expected != NULL && app_absent_event(expected) != 0)
        app_layer_event(s, app_absent_event(expected));
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
    changed(s);
}

/* --- entry ------------------------------------------------------------------------------------ */

/* Processes the buffered bytes of a direction; `end`: no more will come. */
void app_tcp_data(struct app_session *s, enum direction d, bool end)
{
    struct flow *f = s->flow.flow;
    uint16_t found = f->app_proto_dir[d];

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
void app_tcp_gap(struct app_session *s, enum direction d)
{
    struct flow *f = s->flow.flow;

    if (f->app_proto_dir[d] == APP_PROTO_UNKNOWN) {
        s->ds[d].detected = true;
        if (f->app_proto == APP_PROTO_UNKNOWN)
            return;
        app_count_flow(s);
    }
    if (s->changing) {
        s->changing = false;
        app_disable(s);
        return;
    }
    app_feed(s, d, false);
}
