/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/core/tcp_detection.c - recognition of TCP flows, direction by direction. Each direction is
 * recognised by itself from its first bytes, which wait as pending bytes meanwhile. The side that
 * spoke first is parsed first. When only one side is recognised, the other is parsed as the same
 * protocol. When both are and differ, the server's side wins unless the parser has had bytes
 * already. */
#include "app/core/decision.h"

#include "app/core/detect_proto.h"
#include "app/core/expectations.h"
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

/* --- decisions -------------------------------------------------------------------------------- */

static const struct proto_decision wait_for_more = { .action = PROTO_WAIT };
static const struct proto_decision disable = { .action = PROTO_DISABLE };

/* Neither side is known. After a change of protocol the new one has APP_CHANGE_DETECT_MAX bytes to
 * show itself. */
static struct proto_decision both_unknown(const struct app_session *s, enum direction d, bool end)
{
    if (s->redetecting)
        return end || s->ds[d].len >= APP_CHANGE_DETECT_MAX ? disable : wait_for_more;
    if (is_hopeless(s))
        return disable;
    if (waits_too_long(s))
        return (struct proto_decision){ .action = PROTO_DISABLE,
                                        .events = proto_event_bit(APPLAYER_SKIPPED) };
    return wait_for_more;
}

/* The direction will not be recognised, while the other one is, or has failed. */
static struct proto_decision as_other(uint16_t other)
{
    struct proto_decision decision = { .action = PROTO_FEED_AS_OTHER };

    if (other != APP_PROTO_FAILED)
        decision.events = proto_event_bit(APPLAYER_ONE_DIRECTION);
    return decision;
}

/* This side is not recognised with the bytes so far. */
static struct proto_decision not_detected(const struct app_session *s, enum direction d, bool end)
{
    const struct flow *f = s->flow.flow;
    uint16_t other = f->app_proto_dir[OTHER_DIRECTION(d)];
    uint8_t first;

    /* The request may have begun before we did; parsing from its middle would invent
     * transactions, even if the answer is detected. */
    if (s->midstream && f->app_proto_dir[TO_SERVER] == APP_PROTO_UNKNOWN &&
        state_done(&s->ds[TO_SERVER]))
        return disable;
    if (other == APP_PROTO_UNKNOWN)
        return both_unknown(s, d, end);
    /* The protocol demands that the other side speaks first, but this side did: not that
     * protocol. */
    first = first_sender_of(s, other);
    if (s->first_sender != FIRST_SENDER_PARSED && first != 0 &&
        (first & APP_DIRECTION_BIT(d)) == 0)
        return disable;
    if (state_done(&s->ds[d]))
        return as_other(other);
    if (end)
        return (struct proto_decision){ .action = PROTO_NAME_AS_OTHER };
    return wait_for_more;
}

/* Both sides are recognised and differ. A parser that has run keeps the flow; else the server's
 * side wins. */
static void resolve_mismatch(const struct app_session *s, enum direction d, uint16_t other,
                             struct proto_decision *decision)
{
    if (other == APP_PROTO_UNKNOWN || other == decision->found)
        return;
    decision->events |= proto_event_bit(APPLAYER_MISMATCH);
    if (s->first_sender == FIRST_SENDER_PARSED || d == TO_SERVER)
        decision->protocol = other;
}

/* The first match of a direction. With midstream pickup it may show that the sides are
 * exchanged. */
static struct proto_decision detected(const struct app_session *s, enum direction d,
                                      enum app_proto_id found, bool reversed)
{
    uint16_t other = s->flow.flow->app_proto_dir[OTHER_DIRECTION(d)];
    struct proto_decision decision = { .action = PROTO_FEED, .found = (uint16_t)found,
                                       .protocol = (uint16_t)found };

    resolve_mismatch(s, d, other, &decision);
    decision.swap = reversed && s->midstream && other == APP_PROTO_UNKNOWN;
    decision.other_first = (s->first_sender & APP_BOTH) != 0 &&
                           (s->first_sender & APP_DIRECTION_BIT(d)) == 0;
    return decision;
}

struct proto_decision tcp_detection(struct app_session *s, enum direction d, bool end)
{
    bool reversed = false;
    enum app_proto_id found = detect_proto_of(s, d, &reversed);

    if (found != APP_PROTO_UNKNOWN)
        return detected(s, d, found, reversed);
    return not_detected(s, d, end);
}

struct proto_decision tcp_sender_decision(const struct app_session *s, enum direction d)
{
    uint8_t first = first_sender_of(s, s->flow.flow->app_proto);

    if (s->first_sender == FIRST_SENDER_PARSED || first == 0)
        return (struct proto_decision){ .action = PROTO_FEED };
    if ((first & s->first_sender) == 0)
        return (struct proto_decision){ .action = PROTO_DISABLE,
                                        .events = proto_event_bit(APPLAYER_WRONG_DIRECTION) };
    if ((first & APP_DIRECTION_BIT(d)) == 0)
        return wait_for_more;
    return (struct proto_decision){ .action = PROTO_FEED };
}

/* Another protocol than the expected one, for example after STARTTLS. */
uint16_t tcp_change_events(const struct flow *f)
{
    const struct app_proto *expected = app_proto_by_id((enum app_proto_id)f->app_proto_expected);
    uint16_t events;

    if (f->app_proto_expected == APP_PROTO_UNKNOWN || f->app_proto == f->app_proto_expected)
        return 0;
    events = proto_event_bit(APPLAYER_UNEXPECTED);
    if (expected != NULL && app_absent_event(expected) != 0)
        events |= proto_event_bit(app_absent_event(expected));
    return events;
}
