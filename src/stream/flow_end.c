/* SPDX-License-Identifier: GPL-2.0-or-later */
/* stream/flow_end.c - the last packet of a flow, made by us: it carries what data are left, and
 * the flow itself, which is freed when the packet comes home. */
#include "stream/stream_private.h"

#include "packet/turn.h"

#include <string.h>

#define IP4_HEADER 20
#define IP6_HEADER 40
#define TCP_HEADER 20
#define PROTO_TCP 6
#define HOP_LIMIT 64

static void put_be16(uint8_t *at, uint16_t n)
{
    at[0] = (uint8_t)(n >> 8);
    at[1] = (uint8_t)n;
}

static void put_be32(uint8_t *at, uint32_t n)
{
    put_be16(at, (uint16_t)(n >> 16));
    put_be16(at + 2, (uint16_t)n);
}

static void write_ip(uint8_t *ip, const struct packet *p, uint16_t payload)
{
    if (p->src.version == 4) {
        ip[0] = 0x45;
        put_be16(ip + 2, (uint16_t)(IP4_HEADER + payload));
        ip[8] = HOP_LIMIT;
        ip[9] = p->ip_proto;
        memcpy(ip + 12, p->src.b, 4);
        memcpy(ip + 16, p->dst.b, 4);
        return;
    }
    ip[0] = 0x60;
    put_be16(ip + 4, payload);
    ip[6] = p->ip_proto;
    ip[7] = HOP_LIMIT;
    memcpy(ip + 8, p->src.b, 16);
    memcpy(ip + 24, p->dst.b, 16);
}

static void write_tcp(struct packet *p)
{
    put_be16(p->l4, p->src_port);
    put_be16(p->l4 + 2, p->dst_port);
    put_be32(p->l4 + 4, p->tcp.seq);
    p->l4[12] = (TCP_HEADER / 4) << 4;
    put_be16(p->l4 + 14, p->tcp.window);
}

/* Headers for rules and logs that look at them: bare IP, and TCP without flags. */
static void add_headers(struct packet *p, bool has_tcp)
{
    uint16_t ip_len = p->src.version == 4 ? IP4_HEADER : IP6_HEADER;
    uint16_t l4_len = has_tcp ? TCP_HEADER : 0;

    buf_clear(&p->frame);
    buf_reserve(&p->frame, (size_t)ip_len + l4_len);
    p->frame.len = (size_t)ip_len + l4_len;
    memset(p->frame.data, 0, p->frame.len);
    p->data = p->l3 = p->frame.data;
    p->len = p->wire_len = (uint32_t)p->frame.len;
    p->l3_len = ip_len;
    p->ethertype = p->src.version == 4 ? 0x0800 : 0x86dd;
    write_ip(p->l3, p, l4_len);
    if (!has_tcp)
        return;
    p->l4 = p->l3 + ip_len;
    p->l4_len = p->l4_header_len = TCP_HEADER;
    p->payload = p->l4 + TCP_HEADER;
    p->tcp.window = 10;
    write_tcp(p);
}

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

static bool is_given_up(const struct flow *flow)
{
    return flow->drop_all || flow->state >= FLOW_LOCAL_BYPASSED;
}

/* Something may remain to be inspected: the connection is not closed, or data have not been
 * handed on. */
static bool needs_inspection(const struct flow *flow)
{
    const struct tcp_session *ssn = flow->tcp;

    if (ssn == NULL || is_given_up(flow))
        return false;
    if (ssn->state >= TCP_ESTABLISHED && ssn->state != TCP_CLOSED)
        return true;
    for (unsigned dir = 0; dir < 2; dir++) {
        const struct tcp_stream *s = &ssn->side[dir];

        if ((s->flags & STREAM_SEEN_DATA) && !(s->flags & STREAM_NO_REASSEMBLY) &&
            stream_abs(s, s->right_edge) > s->delivered)
            return true;
    }
    return false;
}

/* Between the packets of the capture: behind what let its time run out, in front of what ended
 * it, or behind everything. */
static void place(const struct stream_thread *st, const struct flow *flow, struct packet *p)
{
    if (flow->last_order == 0)
        return;                 /* live */
    if (st->all_ended) {
        p->order = ORDER_SHUTDOWN | flow->start_rank;
        return;
    }
    p->order = flow->last_order;
    if (p->order & 1)
        p->order_sub = flow->start_rank;
}

static void fill(struct stream_thread *st, struct flow *flow, struct packet *p)
{
    struct tcp_session *ssn = flow->tcp;

    p->flags |= PACKET_PSEUDO;
    p->source = PACKET_STREAM_END;
    p->datalink = st->datalink;
    /* When it was due, not when this thread happened to notice: that depends on what other flows
     * the thread has. */
    p->time_us = flow->end_reason == FLOW_END_TIMEOUT ? flow_table_due_us(st->flows, flow)
                                                      : MAX(st->now_us, flow->last_us);
    place(st, flow, p);
    p->flow = flow;
    p->flow_hash = flow->hash;          /* dealt to the thread that inspects the flow */
    address(p, flow);
    if (ssn == NULL) {
        add_headers(p, flow->key.proto == PROTO_TCP);
        return;
    }
    p->tcp.seq = ssn->side[TO_SERVER].next_seq;
    add_headers(p, true);
    if (ssn->state >= TCP_ESTABLISHED)
        p->flags |= PACKET_ESTABLISHED;
    if (ssn->flags & SSN_MIDSTREAM)
        p->flags |= PACKET_MIDSTREAM;
    for (unsigned dir = 0; dir < 2; dir++)
        p->stream_bytes[dir] = ssn->side[dir].next_seq - ssn->side[dir].isn;
    if (!needs_inspection(flow))
        return;
    p->flags |= PACKET_DETECT_ONLY;
    stream_emit(st, ssn, p, TO_SERVER, true);
    stream_emit(st, ssn, p, TO_CLIENT, true);
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

/* One packet of the flow that is being ended; the last one carries the end. */
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

/* What the vector can still take; the pool must not run dry with it. */
#define ENDS_AT_ONCE 64

bool flow_ends_push(struct stream_thread *st, struct packet_vector *v)
{
    for (;;) {
        struct packet *p;

        if (st->ending == NULL)
            st->ending = flow_table_take_ended(st->flows);
        if (st->ending == NULL)
            return true;
        if (st->ends_pushed == ENDS_AT_ONCE || (p = next_packet(st)) == NULL)
            return false;
        st->ends_pushed++;
        vector_push(v, p);
    }
}

unsigned flow_ends_insert(struct stream_thread *st, struct packet_vector *v, unsigned at,
                          unsigned max)
{
    unsigned count = 0;

    while (count < max) {
        struct packet *p;

        if (st->ending == NULL)
            st->ending = flow_table_take_ended(st->flows);
        if (st->ending == NULL)
            break;
        p = next_packet(st);
        if (p == NULL)
            break;
        vector_insert(v, at + count, p);
        count++;
    }
    return count;
}
