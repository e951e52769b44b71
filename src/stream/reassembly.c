/* SPDX-License-Identifier: GPL-2.0-or-later */
/* stream/reassembly.c - the effect of an accepted segment on the data of both sides: which data
 * become available, how much of the payload is needed, and what can be released. */
#include "stream/reassembly.h"

#include "base/memory/traffic_memory.h"
#include "stream/segment.h"
#include "stream/stream_conf.h"
#include "stream/stream_thread.h"
#include "stream/tcp.h"
#include "stream/tcp_seq.h"
#include "stream/tcp_session.h"

/* ---- directions whose data become available ---- */

struct available {
    bool own, other;
};

/* Usually an ACK makes the other side's data available. In IPS mode, or if the other side is not
 * seen, data are available at once. At a close both sides' are, because an acknowledgment may never
 * come. */
static struct available who(const struct tcp_in *in)
{
    const struct tcp_session *ssn = in->ssn;

    if (in->st->conf->is_inline || in_has(in, TCP_RST))
        return (struct available){ .own = true };
    if (in_has(in, TCP_FIN) && ssn->state > TCP_TIME_WAIT)
        return (struct available){ .own = true, .other = in_has(in, TCP_ACK) };
    if (ssn->state == TCP_CLOSED)
        return (struct available){ .own = true, .other = true };
    if (ssn->flags & SSN_ASYNC)
        return (struct available){ .own = true };
    return (struct available){ .other = true };
}

/* ---- required depth ---- */

/* In bytes; 0: no limit. Parsers and rules may ask for more than the configured depth. */
uint32_t stream_depth_of(const struct tcp_in *in, enum direction dir)
{
    uint32_t required = __atomic_load_n(&in->flow->depth, __ATOMIC_RELAXED);
    uint32_t free_of = dir == TO_SERVER ? FLOW_REQ_DEPTH_FREE_TS : FLOW_REQ_DEPTH_FREE_TC;

    if (required == UINT32_MAX || (flow_requests(in->flow) & free_of))
        return 0;
    if (in->ssn->depth == 0)
        return required;
    return MAX(in->ssn->depth, required);
}

/* The segment that would cross the depth is the first that is not stored. */
static bool within_depth(struct tcp_in *in, struct tcp_stream *s, uint32_t seq, uint32_t len)
{
    uint32_t depth = stream_depth_of(in, (enum direction)(s == &in->ssn->stream[TO_CLIENT]));

    if (LIKELY(depth == 0 || (!(s->flags & STREAM_DEPTH_REACHED) &&
                              stream_abs(s, seq) + len <= depth)))
        return true;
    if (!(s->flags & STREAM_DEPTH_REACHED) && seq_leq(seq + len, s->base_seq))
        return false;
    s->flags |= STREAM_DEPTH_REACHED;
    in_event(in, EVENT_STREAM_REASSEMBLY_DEPTH_REACHED);
    counter_inc(in->st->counters, in->st->id.depth_reached);
    return false;
}

/* Whether the packet would reach the depth: then it waits for detection (inflight.c), which may
 * lift it. */
bool stream_meets_depth(const struct flow *flow, const struct packet *p)
{
    const struct tcp_session *ssn = flow->tcp;
    const struct tcp_stream *s;

    if (ssn == NULL || ssn->depth == 0 || p->payload_len == 0)
        return false;
    s = &ssn->stream[(flow->key.src_port != p->src_port) != flow->swapped];
    return !(s->flags & (STREAM_DEPTH_REACHED | STREAM_NO_REASSEMBLY)) &&
           stream_abs(s, p->tcp.seq) + p->payload_len > ssn->depth;
}

/* ---- urgent data ---- */

static uint16_t urgent_pointer(const struct tcp_in *in)
{
    return get_be16(in->p->l4 + 18);
}

#define URGENT_LIMIT UINT16_MAX

/* Urgent data. RFC 6093: hosts remove the last byte before the pointer from the stream, which
 * shifts all later data by one against the sequence numbers. Returns how many bytes at the
 * payload's end are not stream data. *refused: the limit of such bytes is reached and the packet is
 * dropped. */
static COLD uint32_t take_urgent(struct tcp_in *in, bool *refused)
{
    const struct stream_conf *conf = in->st->conf;
    uint16_t pointer = urgent_pointer(in), *offset = &in->ssn->urgent_offset[in->dir];

    if (pointer == 0 || pointer > in->len ||
        (conf->urgent != URGENT_OOB && conf->urgent != URGENT_GAP))
        return 0;
    if (*offset < URGENT_LIMIT) {
        if (conf->urgent == URGENT_OOB)
            (*offset)++;
        if (*offset == URGENT_LIMIT)
            in_event(in, EVENT_STREAM_REASSEMBLY_URGENT_OOB_LIMIT_REACHED);
    } else if (conf->urgent_limit == URGENT_DROP) {
        packet_drop(in->p, DROP_STREAM_URGENT);
        *refused = true;
        return 0;
    }
    if (conf->urgent == URGENT_GAP)
        return 1;
    counter_inc(in->st->counters, in->st->id.urgent_oob);
    in->ssn->urgent_seen[in->dir]++;
    return *offset == URGENT_LIMIT && conf->urgent_limit == URGENT_INLINE ? 0 : 1;
}

/* ---- storing ---- */

/* Data in a SYN (TCP Fast Open, RFC 7413) start one after the SYN's sequence number. */
static bool carries_fast_open(const struct tcp_in *in)
{
    return (in->p->tcp_options.has & TCP_HAS_FASTOPEN) && in_has(in, TCP_SYN);
}

/* The result is that of stream_insert(). */
static COLD int note_refused(struct tcp_in *in, int result)
{
    const struct stream_conf *conf = in->st->conf;

    if (result == -2)
        in_event(in, EVENT_STREAM_REASSEMBLY_INSERT_LIMIT);
    else
        counter_inc(in->st->counters, in->st->id.segment_memcap_drop);
    in->ssn->flags |= SSN_LIBERAL;
    exception_policy_apply(conf->data_memcap_policy, in->p, DROP_STREAM_REASSEMBLY, conf->ips);
    exception_counters_inc(&in->st->id.data_memcap, in->st->counters, conf->data_memcap_policy);
    return -1;
}

static int store(struct tcp_in *in, struct tcp_stream *s)
{
    uint32_t seq = in->seq - in->ssn->urgent_offset[in->dir], len = in->len;
    bool refused = false;
    int result;

    (void)tcp_receiver_os(in);
    if (s->os == OS_UNKNOWN)
        s->os = in->snd->os;
    if (UNLIKELY(in_has(in, TCP_URG)))
        len -= take_urgent(in, &refused);
    if (refused || len == 0)
        return 0;
    if (UNLIKELY(carries_fast_open(in)))
        seq++;
    if (UNLIKELY(!within_depth(in, s, seq, len)))
        return 0;
    result = stream_insert(in, s, seq, len);
    return LIKELY(result == 0) ? 0 : note_refused(in, result);
}

/* Called when the connection has closed in order and all data were handed off. After a reset data
 * may still follow, so a reset does not count. */
static COLD void signal_depth(struct tcp_in *in)
{
    uint32_t flags = in->ssn->flags;

    if (flags & SSN_CLOSED_BY_RST)
        return;
    if (!(flags & SSN_WAITS(TO_SERVER)))
        in->p->flags |= PACKET_END_TO_SERVER;
    if (!(flags & SSN_WAITS(TO_CLIENT)))
        in->p->flags |= PACKET_END_TO_CLIENT;
}

/* IPS mode: each packet is inspected when it comes, also one that adds nothing, such as a
 * retransmission of a dropped packet. Without new chunks it is inspected by itself. */
static void look_at_packet(struct tcp_in *in, enum direction dir, unsigned chunks)
{
    for (unsigned i = chunks; i < stream_slot(in->p)->chunk_count; i++)
        if (stream_slot(in->p)->chunk[i].direction == dir)
            return;
    in->p->flags &= ~(uint32_t)PACKET_STREAM_ADDED;
}

/* `s` is the sender's stream. The ACK first: it may free space for the payload. */
void stream_reassemble(struct tcp_in *in, struct tcp_stream *s)
{
    enum direction dir = (enum direction)(s == &in->ssn->stream[TO_CLIENT]);
    struct available available = who(in);
    unsigned chunks = stream_slot(in->p)->chunk_count;
    int64_t delivered;

    if (available.other)
        stream_emit(in->st, in->ssn, in->p, OTHER_DIRECTION(dir), false);
    if (in->len > 0 && !(s->flags & STREAM_NO_REASSEMBLY) && !in_has(in, TCP_RST)) {
        if (UNLIKELY(store(in, s) < 0))
            return;
        in->p->flags |= PACKET_STREAM_ADDED;
    }
    if (UNLIKELY(s->flags & STREAM_DEPTH_REACHED))
        available.own = true;
    delivered = s->delivered;
    if (available.own)
        stream_emit(in->st, in->ssn, in->p, dir, false);
    if (UNLIKELY(in->st->conf->is_inline) && (in->p->flags & PACKET_STREAM_ADDED)) {
        if (s->delivered == delivered)
            stream_emit_reinspect(in, s, in->seq - in->ssn->urgent_offset[in->dir], in->len);
        look_at_packet(in, dir, chunks);
    }
    if (UNLIKELY(in->ssn->state == TCP_CLOSED))
        signal_depth(in);
}

/* The segment of tcp_usual.c: it continues the sender's data, and its ACK is for the other side's,
 * of which there may be none. */
void stream_reassemble_usual(struct tcp_in *in)
{
    int result;

    if (in->rcv->buffer != NULL)
        stream_emit(in->st, in->ssn, in->p, OTHER_DIRECTION(in->dir), false);
    if (in->len == 0 || (in->snd->flags & STREAM_NO_REASSEMBLY))
        return;
    result = stream_insert_next(in, in->snd, in->seq, in->len);
    if (LIKELY(result == 0))
        in->p->flags |= PACKET_STREAM_ADDED;
    else
        (void)note_refused(in, result);
}

/* --- releasing --- */

/* Returns the offset up to which a stream is finished: handed off and acknowledged. If
 * retransmissions are compared with earlier data, some distance before that. */
static int64_t done_edge(const struct tcp_in *in, const struct tcp_stream *s, enum direction dir)
{
    const struct stream_conf *conf = in->st->conf;
    int64_t edge = s->delivered;

    if (conf->is_inline)
        edge -= stream_lookback(conf, dir);
    edge = MIN(edge, stream_acked(s));
    return edge - stream_history(in->st, s);
}

/* Frees records that are acknowledged and handed off: overlaps need their bounds until then. */
static void release_records(struct stream_thread *st, struct tcp_stream *s)
{
    while (s->merged.first != NULL &&
           seq_leq(s->merged.first->seq + s->merged.first->len, s->base_seq)) {
        struct segment *seg = s->merged.first;

        s->merged.first = seg->next;
        if (seg->next == NULL)
            s->merged.last = NULL;
        s->segments_merged--;
        segment_free(st, seg);
    }
}

#define MUCH ((uint32_t)64 << 10)
#define MANY_WAIT 32

static bool holds_much(const struct tcp_stream *s)
{
    return (s->buffer != NULL && block_size(s->block_class) >= MUCH) ||
           (s->holes != NULL && s->holes->segments_out >= MANY_WAIT);
}

void stream_prune(struct tcp_in *in, struct tcp_stream *s)
{
    enum direction dir = (enum direction)(s == &in->ssn->stream[TO_CLIENT]);
    uint32_t unwanted = dir == TO_SERVER ? FLOW_REQ_NO_STREAM_TS : FLOW_REQ_NO_STREAM_TC;
    int64_t edge;

    if (s->flags & STREAM_NO_REASSEMBLY)
        return;
    if (UNLIKELY((s->flags & STREAM_DEPTH_SIGNALLED) || (flow_requests(in->flow) & unwanted)) ||
        (UNLIKELY(holds_much(s)) && traffic_memory_gives_back(PRESSURE_LARGEST))) {
        s->flags |= STREAM_NO_REASSEMBLY;
        stream_release_data(in->st, s);
        return;
    }
    if (in->len == 0)
        stream_release(in->st, in->flow, s, dir);
    edge = done_edge(in, s, dir);
    if (edge <= s->base_offset)
        return;
    s->base_seq += (uint32_t)(edge - s->base_offset);
    s->base_offset = edge;
    release_records(in->st, s);
}
