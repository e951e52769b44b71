/* SPDX-License-Identifier: GPL-2.0-or-later */
/* stream/tcp.c - processes a TCP packet with its session. */
#include "stream/tcp.h"

#include "stream/reassembly.h"
#include "stream/segment.h"
#include "stream/snapshot.h"
#include "stream/stream_conf.h"
#include "stream/stream_thread.h"
#include "stream/tcp_session.h"

#include <string.h>

const char *tcp_state_name(enum tcp_state state)
{
    static const char *const names[TCP_STATE_COUNT] = {
        [TCP_NONE] = "none",
        [TCP_LISTEN] = "listen",
        [TCP_SYN_SENT] = "syn_sent",
        [TCP_SYN_RECV] = "syn_recv",
        [TCP_ESTABLISHED] = "established",
        [TCP_FIN_WAIT1] = "fin_wait1",
        [TCP_FIN_WAIT2] = "fin_wait2",
        [TCP_TIME_WAIT] = "time_wait",
        [TCP_LAST_ACK] = "last_ack",
        [TCP_CLOSE_WAIT] = "close_wait",
        [TCP_CLOSING] = "closing",
        [TCP_CLOSED] = "closed",
    };

    return (unsigned)state < TCP_STATE_COUNT ? names[state] : "unknown";
}

/* ---- sessions ---- */

/* NULL at the memcap. */
static struct tcp_session *session_alloc(struct stream_thread *st)
{
    struct tcp_session *ssn;
    bool was_used = st->sessions.free_list != NULL;

    if (!memcap_take(&st->session_memory, sizeof(*ssn)))
        return NULL;
    ssn = pool_get(&st->sessions);
    if (ssn == NULL) {
        memcap_release(&st->session_memory, sizeof(*ssn));
        return NULL;
    }
    counter_inc(st->counters, was_used ? st->id.ssn_from_cache : st->id.ssn_from_pool);
    memset(ssn, 0, sizeof(*ssn));
    return ssn;
}

static COLD void session_refused(struct tcp_in *in)
{
    const struct stream_conf *conf = in->st->conf;

    exception_policy_apply(conf->session_memcap_policy, in->p, DROP_STREAM_MEMCAP, conf->ips);
    exception_counters_inc(&in->st->id.session_memcap, in->st->counters,
                           conf->session_memcap_policy);
    counter_inc(in->st->counters, in->st->id.ssn_memcap_drop);
}

struct tcp_session *tcp_session_new(struct tcp_in *in)
{
    struct stream_thread *st = in->st;
    struct tcp_session *ssn = session_alloc(st);

    if (ssn == NULL) {
        session_refused(in);
        return NULL;
    }
    ssn->depth = st->conf->depth;
    ssn->tcp_flags = in->flags;
    ssn->stream[in->dir].tcp_flags = in->flags;
    in->flow->tcp = ssn;
    counter_inc(st->counters, st->id.sessions);
    counter_inc(st->counters, st->id.active_sessions);
    return ssn;
}

void tcp_session_free(struct stream_thread *st, struct tcp_session *ssn)
{
    for (unsigned dir = 0; dir < 2; dir++) {
        stream_release_data(st, &ssn->stream[dir]);
        stream_holes_free(st, &ssn->stream[dir]);
    }
    syn_queue_free(st, ssn);
    pool_put(&st->sessions, ssn);
    memcap_release(&st->session_memory, sizeof(*ssn));
}

/* Also sets the flow's state, which decides its timeout. */
void tcp_set_state(struct tcp_in *in, enum tcp_state state)
{
    struct tcp_session *ssn = in->ssn;

    if (ssn->state == state)
        return;
    ssn->former_state = ssn->state;
    ssn->state = (uint8_t)state;
    stream_slot(in->p)->flags |= STREAM_PKT_STATE_UPDATE;
    if (state >= TCP_ESTABLISHED && in->flow->state < FLOW_LOCAL_BYPASSED) {
        bool is_over = state == TCP_LAST_ACK || state == TCP_TIME_WAIT || state == TCP_CLOSED;

        flow_table_set_state(in->st->flows, in->flow, is_over ? FLOW_CLOSED : FLOW_ESTABLISHED);
    }
}

void tcp_close_by_rst(struct tcp_in *in)
{
    in->ssn->flags |= SSN_CLOSED_BY_RST;
    tcp_set_state(in, TCP_CLOSED);
}

int tcp_dispatch(struct tcp_in *in, enum tcp_state state)
{
    switch (state) {
    case TCP_SYN_SENT:
        return tcp_state_syn_sent(in);
    case TCP_SYN_RECV:
        return tcp_state_syn_recv(in);
    case TCP_ESTABLISHED:
        return tcp_state_established(in);
    case TCP_FIN_WAIT1:
        return tcp_state_fin_wait1(in);
    case TCP_FIN_WAIT2:
        return tcp_state_fin_wait2(in);
    case TCP_CLOSING:
        return tcp_state_closing(in);
    case TCP_CLOSE_WAIT:
        return tcp_state_close_wait(in);
    case TCP_LAST_ACK:
        return tcp_state_last_ack(in);
    case TCP_TIME_WAIT:
        return tcp_state_time_wait(in);
    case TCP_CLOSED:
        return tcp_state_closed(in);
    default:
        return 0;
    }
}

/* --- a new session on an existing flow --- */

/* Only a SYN, or with midstream pick-up a SYN/ACK, can start a session. */
static bool may_start(const struct stream_conf *conf, uint8_t flags)
{
    if (flags & (TCP_RST | TCP_FIN))
        return false;
    if ((flags & (TCP_SYN | TCP_ACK)) == TCP_SYN)
        return true;
    return (flags & (TCP_SYN | TCP_ACK)) == (TCP_SYN | TCP_ACK) &&
           (conf->midstream || conf->async_oneside);
}

/* The direction of the packet; the flow's own swap by midstream pick-up counts. */
static enum direction way_of(const struct flow *flow, const struct packet *p)
{
    bool as_key = p->src_port != p->dst_port ? flow->key.src_port == p->src_port
                                             : ip_equal(&flow->key.src, &p->src);

    return as_key != flow->swapped ? TO_SERVER : TO_CLIENT;
}

/* For a flow that is dropped: its state at that time. */
static enum tcp_state state_of(const struct flow *flow, const struct tcp_session *ssn)
{
    uint32_t requests = flow_requests(flow);

    return requests & FLOW_REQ_DROP_STATES ? (enum tcp_state)(requests >> FLOW_REQ_TCP_STATE & 0x1f)
                                          : (enum tcp_state)ssn->state;
}

/* Whether the packet starts a new session on the flow (port reuse). */
bool tcp_starts_anew(const struct stream_conf *conf, const struct flow *flow,
                     const struct packet *p)
{
    const struct tcp_session *ssn = flow->tcp;
    bool is_synack = (p->tcp.flags & TCP_ACK) != 0;
    enum tcp_state state;
    enum direction dir;

    if (LIKELY(!(p->tcp.flags & TCP_SYN)) || !may_start(conf, p->tcp.flags))
        return false;
    dir = way_of(flow, p);
    if (ssn == NULL)
        return !(is_synack && dir == TO_CLIENT);
    if (!is_synack && dir == TO_SERVER && (ssn->flags & SSN_FAST_OPEN_IGNORED))
        return true;
    if (dir == (is_synack ? TO_CLIENT : TO_SERVER) && ssn->stream[dir].isn == p->tcp.seq)
        return false;
    state = state_of(flow, ssn);
    return state >= TCP_LAST_ACK || state == TCP_NONE;
}

/* ---- the packet ---- */

static bool checksum_is_valid(const struct tcp_in *in)
{
    return !in->st->conf->validate_checksum || (in->p->flags & PACKET_NO_CHECKSUM) ||
           LIKELY(packet_l4_checksum_ok(in->p));
}

static bool checksum_ok(struct tcp_in *in)
{
    if (checksum_is_valid(in))
        return true;
    in->p->flags |= PACKET_BAD_CHECKSUM;
    counter_inc(in->st->counters, in->st->id.invalid_checksum);
    return false;
}

static void note_flags(struct tcp_in *in)
{
    struct tcp_session *ssn = in->ssn;

    ssn->tcp_flags |= in->flags;
    in->snd->tcp_flags |= in->flags;
    if (UNLIKELY(ssn->flags & SSN_ASYNC) && in->rcv->tcp_flags != 0)
        ssn->flags &= ~(uint32_t)SSN_ASYNC;
}

/* The connection continues after a reset, so the reset did not come from the host. */
static void check_after_rst(struct tcp_in *in)
{
    if (LIKELY(!(in->rcv->flags & STREAM_RST_RECEIVED)) || in_has(in, TCP_RST))
        return;
    in->rcv->flags &= (uint16_t)~STREAM_RST_RECEIVED;
    in->ssn->flags &= ~(uint32_t)SSN_CLOSED_BY_RST;
    in_event(in, EVENT_STREAM_SUSPECTED_RST_INJECT);
}

/* Returns -1 if the packet is refused. */
static int meet_session(struct tcp_in *in)
{
    int result;

    if (in->ssn == NULL || in->ssn->state == TCP_NONE)
        return tcp_state_none(in);
    if (UNLIKELY(in->ssn->flags & SSN_WAITS(TO_SERVER)))
        stream_emit(in->st, in->ssn, in->p, TO_SERVER, false);
    if (UNLIKELY(in->ssn->flags & SSN_WAITS(TO_CLIENT)))
        stream_emit(in->st, in->ssn, in->p, TO_CLIENT, false);
    if (tcp_is_special(in)) {
        check_after_rst(in);
        return 0;
    }
    result = tcp_dispatch(in, (enum tcp_state)in->ssn->state);
    if (result == 0)
        check_after_rst(in);
    return result;
}

static void annotate(struct tcp_in *in)
{
    struct tcp_session *ssn = in->ssn;

    if (ssn->flags & SSN_MIDSTREAM)
        in->p->flags |= PACKET_MIDSTREAM;
    if (UNLIKELY(ssn->flags & SSN_ASYNC) && ssn->stream[OTHER_DIRECTION(in->dir)].tcp_flags == 0)
        in->p->flags |= PACKET_UNIDIRECTIONAL;
    if (ssn->state >= TCP_ESTABLISHED ||
        (in->len > 0 && in_has(in, TCP_SYN) && (ssn->flags & SSN_FAST_OPEN)))
        in->p->flags |= PACKET_STREAM_OPEN;
    if (UNLIKELY((ssn->stream[0].flags | ssn->stream[1].flags) & STREAM_DEPTH_REACHED) &&
        in->st->conf->bypass_at_depth)
        flow_table_set_state(in->st->flows, in->flow, FLOW_LOCAL_BYPASSED);
}

/* IPS mode with drop-invalid: the packet must not reach the receiver. */
static COLD void refuse(struct tcp_in *in)
{
    const struct stream_conf *conf = in->st->conf;

    if (!conf->is_inline || !conf->drop_invalid)
        return;
    in->p->flags |= PACKET_NO_PAYLOAD_INSPECT | PACKET_STREAM_NO_APP;
    packet_drop(in->p, DROP_STREAM_ERROR);
}

/* After an orderly close no data come that would be inspected with earlier ones. The session itself
 * stays, so that late packets are recognised. */
static COLD void release_data(struct tcp_in *in)
{
    struct tcp_session *ssn = in->ssn;

    if (in->st->conf->is_inline || (ssn->flags & SSN_CLOSED_BY_RST))
        return;
    for (unsigned dir = 0; dir < 2; dir++) {
        struct tcp_stream *s = &ssn->stream[dir];

        if (stream_waiting(s) == NULL && s->delivered == stream_edge(s))
            stream_release_data(in->st, s);
    }
}

static void look_at(struct tcp_in *in)
{
    const struct stream_conf *conf = in->st->conf;

    if (in->ssn != NULL)
        note_flags(in);
    if (UNLIKELY(!in_has(in, TCP_ACK) && in->ack != 0))
        in_event(in, EVENT_STREAM_PKT_BROKEN_ACK);
    if (UNLIKELY(in_has(in, TCP_URG)) && conf->is_inline && conf->urgent == URGENT_DROP) {
        packet_drop(in->p, DROP_STREAM_URGENT);
        return;
    }
    if (UNLIKELY(in->flow->drop_all) && conf->ips)
        return;
    if (meet_session(in) < 0)
        refuse(in);
    else if (in->ssn != NULL)
        annotate(in);
    if (in->ssn == NULL)
        return;
    for (unsigned dir = 0; dir < 2; dir++) {
        stream_slot(in->p)->sent[dir] = in->ssn->stream[dir].next_seq - in->ssn->stream[dir].isn;
        stream_slot(in->p)->history[dir] = stream_history(in->st, &in->ssn->stream[dir]);
    }
    if (UNLIKELY(in->st->conf->snapshots != 0))
        stream_snapshot(in->st->conf, in->p);
    stream_prune(in, in->snd);
    if (UNLIKELY(in->ssn->state == TCP_CLOSED))
        release_data(in);
}

void tcp_note_dropped(struct stream_thread *st, struct flow *flow, struct packet *p)
{
    enum direction dir = packet_direction(p);
    struct tcp_in in = {
        .st = st, .p = p, .flow = flow, .ssn = flow->tcp, .flags = p->tcp.flags, .dir = dir,
        .snd = &flow->tcp->stream[dir], .rcv = &flow->tcp->stream[OTHER_DIRECTION(dir)],
    };

    if (checksum_is_valid(&in))
        note_flags(&in);
}

/* A wrong checksum: the receiver ignores the packet, so the session does not see it. */
void tcp_packet(struct stream_thread *st, struct flow *flow, struct packet *p)
{
    enum direction dir = packet_direction(p);
    struct tcp_in in = {
        .st = st, .p = p, .flow = flow, .ssn = flow->tcp, .seq = p->tcp.seq, .ack = p->tcp.ack,
        .len = p->payload_len, .window = p->tcp.window, .flags = p->tcp.flags, .dir = dir,
    };

    if (in.ssn != NULL) {
        in.snd = &in.ssn->stream[dir];
        in.rcv = &in.ssn->stream[OTHER_DIRECTION(dir)];
        if (in.ssn->state >= TCP_ESTABLISHED)
            p->flags |= PACKET_ESTABLISHED;
    }
    if (LIKELY(checksum_ok(&in)) && !(LIKELY(st->has_usual) && in.ssn != NULL && tcp_usual(&in)))
        look_at(&in);
    if (UNLIKELY(st->conf->snapshots != 0) && !(stream_slot(p)->flags & STREAM_PKT_SNAPSHOT))
        stream_snapshot(st->conf, p);
}
