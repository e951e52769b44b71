/* SPDX-License-Identifier: GPL-2.0-or-later */
/* stream/emit.c - hands data on: contiguous bytes that the receiver has acknowledged, or inline
 * all there are; and holes that will not be filled any more. */
#include "stream/ooo_index.h"

#include <string.h>

/* At the end of a flow what was sent counts, acknowledged or not: who knows what arrived. Only an
 * orderly close says that the rest did not. */
static bool takes_unacked(const struct tcp_session *ssn, bool eof)
{
    return eof && (ssn->state < TCP_CLOSED || (ssn->flags & SSN_CLOSED_BY_RST));
}

static int64_t emit_limit(const struct stream_thread *st, const struct tcp_session *ssn,
                          const struct tcp_stream *s, bool eof)
{
    int64_t edge = stream_edge(s);

    if (st->conf->is_inline || takes_unacked(ssn, eof))
        return edge;
    return MIN(edge, stream_acked(s));
}

static struct stream_chunk *chunk_new(struct packet *p, enum direction dir,
                                      enum stream_chunk_kind kind, int64_t offset, uint32_t len)
{
    struct stream_chunk *chunk = &p->chunk[p->chunk_count++];

    *chunk = (struct stream_chunk){
        .kind = (uint8_t)kind, .direction = (uint8_t)dir, .offset = (uint64_t)offset, .len = len,
    };
    return chunk;
}

/* For another thread the bytes go with the packet, and so do those that a packet says again. */
static bool goes_with_packet(const struct stream_thread *st, const struct stream_chunk *c)
{
    return c->kind == CHUNK_REINSPECT || (st->copy_chunks && c->kind == CHUNK_DATA);
}

/* In front of the newest chunk's bytes. */
static void handoff_buf_begin(const struct stream_thread *st, struct packet *p)
{
    for (unsigned i = 0; i + 1 < p->chunk_count; i++)
        if (goes_with_packet(st, &p->chunk[i]))
            return;
    buf_clear(&p->handoff_buf);
}

/* As the packet's memory may have moved when it grew, all its chunks are pointed into it anew;
 * they lie there one behind the other. */
static void handoff_buf_end(const struct stream_thread *st, struct packet *p)
{
    size_t at = 0;

    for (unsigned i = 0; i < p->chunk_count; i++) {
        struct stream_chunk *c = &p->chunk[i];

        if (!goes_with_packet(st, c))
            continue;
        c->data = p->handoff_buf.data + at + c->lookbehind;
        at += (size_t)c->lookbehind + c->len;
    }
}

/* Without memory data are a gap to those who inspect, and what is only said again is not. */
static COLD void copy_refused(struct packet *p, struct stream_chunk *chunk)
{
    if (chunk->kind == CHUNK_REINSPECT) {
        p->chunk_count--;
        return;
    }
    chunk->kind = CHUNK_GAP;
    chunk->data = NULL;
    chunk->lookbehind = 0;
}

/* Of the newest chunk. */
static void copy_bytes(const struct stream_thread *st, struct packet *p,
                       struct stream_chunk *chunk, const uint8_t *from)
{
    handoff_buf_begin(st, p);
    if (UNLIKELY(!buf_add(&p->handoff_buf, from, (size_t)chunk->lookbehind + chunk->len)))
        copy_refused(p, chunk);
    handoff_buf_end(st, p);
}

static void emit_data(struct stream_thread *st, struct tcp_stream *s, struct packet *p,
                      enum direction dir, int64_t to)
{
    struct stream_chunk *chunk =
        chunk_new(p, dir, CHUNK_DATA, s->delivered, (uint32_t)(to - s->delivered));
    const uint8_t *data = s->buffer + s->start + (s->delivered - s->offset);

    chunk->lookbehind = (uint32_t)MIN(s->delivered - s->offset,
                                  (int64_t)stream_lookback(st->conf, dir));
    chunk->data = data;
    s->delivered = to;
    if (st->copy_chunks)
        copy_bytes(st, p, chunk, data - chunk->lookbehind);
    else
        s->pinned = st->vector_number;
}

/* ---- what only rules look at ---- */

/* Waiting segments that touch each other, between two holes. */
struct ooo_block {
    const struct segment *first, *behind;
    uint32_t from, to;                  /* sequence numbers */
};

/* At least up to `until`. */
static struct ooo_block ooo_block_at(const struct segment *seg, uint32_t until)
{
    struct ooo_block is = { .first = seg, .from = seg->seq, .to = seg->seq + seg->len };

    for (seg = seg->next; seg != NULL && seq_leq(seg->seq, is.to) && seq_lt(is.to, until);
         seg = seg->next)
        is.to = seq_max(is.to, seg->seq + seg->len);
    is.behind = seg;
    return is;
}

#define OOO_BLOCK_MAX 65536
#define OOO_LOOKBACK_MAX (1u << 24)     /* more has no place in memory */

/* Its bytes from `from` to `to`, of which those before `at` are only to be looked back upon. */
static void ooo_block_emit(struct stream_thread *st, const struct tcp_stream *s, struct packet *p,
                        enum direction dir, const struct ooo_block *is, uint32_t from, uint32_t at,
                        uint32_t to)
{
    struct stream_chunk *chunk = chunk_new(p, dir, CHUNK_REINSPECT, stream_abs(s, at), to - at);
    uint32_t next = from;

    chunk->lookbehind = at - from;
    handoff_buf_begin(st, p);
    if (UNLIKELY(!buf_reserve(&p->handoff_buf, to - from))) {
        copy_refused(p, chunk);
        handoff_buf_end(st, p);
        return;
    }
    for (const struct segment *seg = is->first; seg != is->behind; seg = seg->next) {
        uint32_t end = seq_min(seg->seq + seg->len, to);

        if (seg->data == NULL || seq_leq(end, next))
            continue;
        buf_add(&p->handoff_buf, seg->data + (next - seg->seq), end - next);
        next = end;
    }
    handoff_buf_end(st, p);
}

/* What stands behind holes that nobody has acknowledged is never handed off. When all is over
 * rules get to see it. */
static COLD void emit_ooo_blocks(struct stream_thread *st, const struct tcp_stream *s,
                              struct packet *p, enum direction dir)
{
    const struct segment *seg = stream_waiting(s);

    while (seg != NULL && p->chunk_count < PACKET_CHUNKS_MAX) {
        struct ooo_block is = ooo_block_at(seg, seg->seq + INT32_MAX);

        ooo_block_emit(st, s, p, dir, &is, is.from, is.from,
                    seq_min(is.to, is.from + OOO_BLOCK_MAX));
        seg = is.behind;
    }
}

/* Inline a segment is judged with what lies in front of it, be there a hole before that or not. */
static void emit_waiting(struct tcp_in *in, const struct tcp_stream *s, enum direction dir,
                         uint32_t seq, uint32_t len)
{
    uint32_t lookback = stream_lookback(in->st->conf, dir);
    struct ooo_scan scan;

    /* What ends before the bytes to look back upon has no part in it. */
    ooo_scan_begin(&scan, s, seq - MIN(lookback, (uint32_t)OOO_LOOKBACK_MAX), seq + len);
    for (const struct segment *seg = ooo_scan_next(&scan);
         seg != NULL && seq_leq(seg->seq, seq);) {
        struct ooo_block is = ooo_block_at(seg, seq + len);

        if (seq_leq(is.from, seq) && seq_leq(seq + len, is.to)) {
            ooo_block_emit(in->st, s, in->p, dir, &is, seq - MIN(seq - is.from, lookback), seq,
                        seq + len);
            return;
        }
        seg = is.behind;
    }
}

/* A packet that makes nothing new available is judged inline all the same. */
COLD void stream_emit_reinspect(struct tcp_in *in, struct tcp_stream *s, uint32_t seq, uint32_t len)
{
    struct stream_thread *st = in->st;
    enum direction dir = (enum direction)(s == &in->ssn->stream[TO_CLIENT]);
    int64_t from = MAX(stream_abs(s, seq), s->offset);
    int64_t to = MIN(stream_abs(s, seq) + len, s->delivered);
    struct stream_chunk *chunk;

    if (len == 0 || (s->flags & STREAM_NO_REASSEMBLY) || in->p->chunk_count == PACKET_CHUNKS_MAX)
        return;
    if (s->buffer == NULL || from >= to) {
        emit_waiting(in, s, dir, seq, len);
        return;
    }
    chunk = chunk_new(in->p, dir, CHUNK_REINSPECT, from, (uint32_t)(to - from));
    chunk->lookbehind = (uint32_t)MIN(from - s->offset, (int64_t)stream_lookback(st->conf, dir));
    copy_bytes(st, in->p, chunk, s->buffer + s->start + (from - s->offset) - chunk->lookbehind);
}

/* ---- holes and the end ---- */

/* How much is missing and will not come: acknowledged by the receiver, so it arrived, but not
 * here. 0: nothing that is known to be missing. */
static uint32_t gap_length(const struct stream_thread *st, const struct tcp_session *ssn,
                           const struct tcp_stream *s, bool eof)
{
    int64_t acked = stream_acked(s), edge = stream_edge(s), next;
    const struct segment *waiting = stream_waiting(s);

    if (waiting == NULL || s->delivered != edge ||
        acked - (ssn->state >= TCP_FIN_WAIT1 ? 1 : 0) <= edge)
        return 0;
    next = stream_abs(s, waiting->seq);
    if (!st->conf->is_inline && !takes_unacked(ssn, eof))
        next = MIN(next, acked);
    return next > edge ? (uint32_t)(next - edge) : 0;
}

/* Data behind the hole start afresh: there is nothing to look back upon. What stands in the buffer
 * stays untouched, as chunks may point there. */
static void skip_gap(struct tcp_stream *s, uint32_t len)
{
    s->start += s->len;
    s->offset += (int64_t)s->len + len;
    s->len = 0;
    s->delivered = s->offset;
    s->flags |= STREAM_GAP;
}

static COLD void emit_gap(struct stream_thread *st, struct tcp_session *ssn, struct packet *p,
                          enum direction dir, uint32_t len)
{
    struct tcp_stream *s = &ssn->stream[dir];

    (void)chunk_new(p, dir, CHUNK_GAP, s->delivered, len);
    skip_gap(s, len);
    ssn->flags |= SSN_LIBERAL;
    packet_set_event(p, EVENT_STREAM_REASSEMBLY_SEQ_GAP);
    counter_inc(st->counters, st->id.gap);
    stream_merge_waiting(st, p->flow, s);
}

/* That no more will come is said with the last data, or alone. */
static COLD void emit_depth(struct tcp_stream *s, struct packet *p, enum direction dir,
                            unsigned first_chunk)
{
    static const uint8_t nothing;
    struct stream_chunk *last = p->chunk_count > first_chunk ? &p->chunk[p->chunk_count - 1]
                                                             : NULL;

    if (last == NULL || last->kind != CHUNK_DATA) {
        if (p->chunk_count == PACKET_CHUNKS_MAX)
            return;
        last = chunk_new(p, dir, CHUNK_DATA, s->delivered, 0);
        last->data = &nothing;
    }
    last->depth_reached = true;
    s->flags |= STREAM_DEPTH_SIGNALLED;
}

/* All has been handed off, nobody looks back at it, and no retransmission is compared with it. */
void stream_release(struct stream_thread *st, const struct flow *flow, struct tcp_stream *s,
                   enum direction dir)
{
    const struct stream_conf *conf = st->conf;

    if (s->buffer != NULL && s->delivered == stream_edge(s) && !conf->is_inline &&
        stream_history(st, s) == 0 && stream_retained_from(conf, flow, s, dir) == s->delivered)
        stream_release_buffer(st, s);
}

void stream_emit(struct stream_thread *st, struct tcp_session *ssn, struct packet *p,
                 enum direction dir, bool eof)
{
    struct tcp_stream *s = &ssn->stream[dir];
    unsigned first_chunk = p->chunk_count;

    ssn->flags &= ~SSN_WAITS(dir);
    if (UNLIKELY(s->flags & STREAM_NO_REASSEMBLY))
        return;
    for (;;) {
        int64_t limit = emit_limit(st, ssn, s, eof);
        uint32_t gap = 0;

        if (limit <= s->delivered) {
            gap = gap_length(st, ssn, s, eof);
            if (LIKELY(gap == 0))
                break;
        }
        if (UNLIKELY(p->chunk_count == PACKET_CHUNKS_MAX)) {
            ssn->flags |= SSN_WAITS(dir);
            return;
        }
        if (gap > 0)
            emit_gap(st, ssn, p, dir, gap);
        else
            emit_data(st, s, p, dir, limit);
    }
    if (UNLIKELY(eof && stream_waiting(s) != NULL) && !st->conf->is_inline &&
        takes_unacked(ssn, eof))
        emit_ooo_blocks(st, s, p, dir);
    stream_release(st, p->flow, s, dir);
    if (UNLIKELY((s->flags & (STREAM_DEPTH_REACHED | STREAM_DEPTH_SIGNALLED)) ==
                 STREAM_DEPTH_REACHED))
        emit_depth(s, p, dir, first_chunk);
}
