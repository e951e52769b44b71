/* SPDX-License-Identifier: GPL-2.0-or-later */
/* stream/flow_end.c - the last packet of a flow, a pseudo packet. It carries the data that are
 * left, and the flow itself, which is freed when the packet returns to the pool. */
#include "packet/capture_file.h"
#include "packet/checksum.h"
#include "packet/pseudo_headers.h"
#include "sequencer/sequencer.h"
#include "stream/reassembly.h"
#include "stream/segment.h"
#include "stream/snapshot.h"
#include "stream/stream_thread.h"
#include "stream/tcp_session.h"

#include <string.h>

#define PROTO_TCP 6

/* Sets the addresses from client to server, as in the first packet. */
static void address(struct packet *p, const struct flow *flow)
{
    const struct flow_key *key = &flow->key;
    bool has_ports = key->proto == PROTO_TCP || key->proto == 17 || key->proto == 132;

    p->src = flow->swapped ? key->dst : key->src;
    p->dst = flow->swapped ? key->src : key->dst;
    p->ip_proto = key->proto;
    p->recursion = key->recursion;
    memcpy(p->vlan, key->vlan, sizeof(p->vlan));
    while (p->vlan_count < PACKET_VLANS_MAX && p->vlan[p->vlan_count] != 0)
        p->vlan_count++;
    if (!has_ports)
        return;
    p->src_port = flow->swapped ? key->dst_port : key->src_port;
    p->dst_port = flow->swapped ? key->src_port : key->dst_port;
}

/* Dropped or bypassed flows are not inspected at their end. */
static bool is_abandoned(const struct flow *flow)
{
    return flow->drop_all || flow->state >= FLOW_LOCAL_BYPASSED;
}

/* The flag that makes detection inspect the end of this direction; 0 if nothing is left. */
static uint32_t last_inspection(const struct tcp_session *ssn, enum direction dir)
{
    const struct tcp_stream *s = &ssn->stream[dir];
    bool closed = ssn->state < TCP_ESTABLISHED || ssn->state == TCP_CLOSED;

    if (closed && (!(s->flags & STREAM_SEEN_DATA) || (s->flags & STREAM_NO_REASSEMBLY) ||
                   stream_abs(s, s->right_edge) <= s->delivered))
        return 0;
    return dir == TO_SERVER ? PACKET_LAST_TO_SERVER : PACKET_LAST_TO_CLIENT;
}

/* Returns which sides may need a last inspection: the connection is not closed, or data were not
 * handed off. */
static uint32_t last_inspections(const struct flow *flow)
{
    if (flow->tcp == NULL || is_abandoned(flow))
        return 0;
    return last_inspection(flow->tcp, TO_SERVER) | last_inspection(flow->tcp, TO_CLIENT);
}

/* Sets the position of the end in the order of the capture: after the packet whose time ended the
 * flow, before the packet that replaced it, or after everything. */
static void place(const struct stream_thread *st, const struct flow *flow, struct packet *p)
{
    if (flow->last_seqno == 0)
        return;                 /* live */
    if (st->all_finished) {
        p->seqno = SEQNO_SHUTDOWN | flow->start_rank;
        return;
    }
    p->seqno = flow->last_seqno;
    p->seqno_sub = flow->start_rank;
}

/* A live packet has the link of the last one. */
static void note_origin(struct stream_thread *st, struct packet *p)
{
    if (st->file != NULL && p->seqno != 0)
        st->file = capture_file_at(st->file, p->seqno);
    p->file = st->file;
    p->datalink = st->file != NULL ? st->file->datalink : st->datalink;
}

/* Always the time of a packet. What the end of a capture ends has the time of the last packet, as
 * in Suricata, even if that lies before others. After a timeout before that, it is the time of the
 * flow's last packet, because the time at which this thread noticed the end depends on its other
 * flows. */
static uint64_t end_time(const struct stream_thread *st, const struct flow *flow)
{
    if (st->all_finished && st->end_us != 0)
        return st->end_us;
    if (flow->end_reason == FLOW_END_TIMEOUT)
        return flow->last_us;
    return MAX(st->now_us, flow->last_us);
}

static void fill(struct stream_thread *st, struct flow *flow, struct packet *p)
{
    struct tcp_session *ssn = flow->tcp;
    uint32_t inspections;

    p->flags |= PACKET_PSEUDO;
    p->source = PACKET_STREAM_END;
    p->time_us = end_time(st, flow);
    place(st, flow, p);
    note_origin(st, p);
    p->flow = flow;
    p->flow_hash = flow->hash;          /* the scheduler picks the thread of the flow */
    address(p, flow);
    if (ssn == NULL) {
        packet_make_pseudo_headers(p, flow->key.proto == PROTO_TCP);
        return;
    }
    p->tcp.seq = ssn->stream[TO_SERVER].next_seq;
    p->tcp.ack = ssn->stream[TO_CLIENT].next_seq;
    packet_make_pseudo_headers(p, true);
    packet_fix_checksums(p);
    if (ssn->state >= TCP_ESTABLISHED)
        p->flags |= PACKET_ESTABLISHED | PACKET_STREAM_OPEN;
    if (ssn->flags & SSN_MIDSTREAM)
        p->flags |= PACKET_MIDSTREAM;
    for (unsigned dir = 0; dir < 2; dir++)
        stream_slot(p)->sent[dir] = ssn->stream[dir].next_seq - ssn->stream[dir].isn;
    inspections = last_inspections(flow);
    if (inspections == 0) {     /* what waits will not be inspected, and must not keep the flow */
        ssn->flags &= ~(SSN_WAITS(TO_SERVER) | SSN_WAITS(TO_CLIENT));
        return;
    }
    if (UNLIKELY(st->conf->snapshots != 0))
        stream_snapshot(st->conf, p);
    p->flags |= PACKET_DETECT_ONLY | inspections;
    stream_emit_end(st, ssn, p);
}

static bool chunks_wait(const struct flow *flow)
{
    return flow->tcp != NULL &&
           (flow->tcp->flags & (SSN_WAITS(TO_SERVER) | SSN_WAITS(TO_CLIENT))) != 0;
}

static void count_end(struct stream_thread *st, const struct flow *flow, bool inspected)
{
    const struct tcp_session *ssn = flow->tcp;

    counter_inc(st->counters, st->id.evicted);
    if (ssn == NULL)
        return;
    counter_sub(st->counters, st->id.active_sessions, 1);
    counter_inc(st->counters, st->id.end_state[ssn->state]);
    if (ssn->flags & SSN_LIBERAL)
        counter_inc(st->counters, st->id.end_liberal);
    if (inspected) {
        counter_inc(st->counters, st->id.evicted_work);
        counter_add(st->counters, st->id.evicted_inject, 2);
    }
}

/* One packet of the flow that ends; the last one carries PACKET_FLOW_END. There are several if
 * chunks do not fit into one. */
static struct packet *next_packet(struct stream_thread *st)
{
    struct flow *flow = st->ending;
    struct packet *p = packet_pool_get(st->pool);

    if (p == NULL)
        return NULL;
    fill(st, flow, p);
    if (chunks_wait(flow))
        return p;
    p->flags |= PACKET_FLOW_END;
    count_end(st, flow, (p->flags & PACKET_DETECT_ONLY) != 0);
    st->ending = NULL;
    return p;
}

/* Ends per call: a vector must not become too large, and the pool must not run dry. */
#define ENDS_AT_ONCE 64

/* Live: false if more flows wait; the engine calls again (MODULE_MORE). */
bool flow_ends_push(struct stream_thread *st, struct packet_vector *v)
{
    for (;;) {
        struct packet *p;

        if (st->ending == NULL)
            st->ending = flow_table_take_finished(st->flows);
        if (st->ending == NULL)
            return true;
        if (st->ends_pushed == ENDS_AT_ONCE || !vector_has_space(v) ||
            (p = next_packet(st)) == NULL)
            return false;
        st->ends_pushed++;
        vector_push(v, p);
    }
}

/* Offline: inserts at position `at`, so that ends are in the order of the capture. */
unsigned flow_ends_insert(struct stream_thread *st, struct packet_vector *v, unsigned at,
                          unsigned max)
{
    unsigned count = 0;

    while (count < max) {
        struct packet *p;

        if (st->ending == NULL)
            st->ending = flow_table_take_finished(st->flows);
        if (st->ending == NULL || !vector_has_space(v))
            break;
        p = next_packet(st);
        if (p == NULL)
            break;
        vector_insert(v, at + count, p);
        count++;
    }
    return count;
}
