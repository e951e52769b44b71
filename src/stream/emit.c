/* SPDX-License-Identifier: GPL-2.0-or-later */
/* stream/emit.c - hands data on to detection: contiguous bytes that the receiver has acknowledged,
 * in IPS mode all bytes; and holes that will not be filled. */
#include "stream/ooo_index.h"
#include "stream/reassembly.h"
#include "stream/segment.h"
#include "stream/stream_conf.h"
#include "stream/stream_thread.h"
#include "stream/tcp.h"
#include "stream/tcp_seq.h"
#include "stream/tcp_session.h"

#include <string.h>

/* At the end of a flow all data that were sent count, acknowledged or not, because they may have
 * arrived. Only after an orderly close is it known that they did not. */
static bool takes_unacked(const struct tcp_session *ssn, bool eof)
{
    return eof && (ssn->state < TCP_CLOSED || (ssn->flags & SSN_CLOSED_BY_RST));
}

/* Returns the stream offset up to which data may be handed off now. */
static int64_t emit_limit(const struct stream_thread *st, const struct tcp_session *ssn,
                          const struct tcp_stream *s, bool eof)
{
    int64_t edge = stream_edge(s);

    if (st->conf->is_inline || takes_unacked(ssn, eof))
        return edge;
    return MIN(edge, stream_acked(s));
}

/* The caller has checked that a chunk is left. */
static struct stream_chunk *chunk_new(struct packet *p, enum direction dir,
                                      enum stream_chunk_kind kind, int64_t offset, uint32_t len)
{
    struct stream_slot *slot = stream_slot(p);
    struct stream_chunk *chunk = &slot->chunk[slot->chunk_count++];

    *chunk = (struct stream_chunk){
        .kind = (uint8_t)kind, .direction = (uint8_t)dir, .offset = (uint64_t)offset, .len = len,
    };
    return chunk;
}

/* If detection runs on another thread, bytes go with the packet. So do bytes that are inspected
 * again. */
static bool goes_with_packet(const struct stream_thread *st, const struct stream_chunk *c)
{
    return c->kind == CHUNK_REINSPECT || (st->copy_chunks && c->kind == CHUNK_DATA);
}

/* Before the newest chunk's bytes: the first chunk that goes with the packet clears the buffer. */
static void handoff_buf_begin(const struct stream_thread *st, struct packet *p)
{
    for (unsigned i = 0; i + 1 < stream_slot(p)->chunk_count; i++)
        if (goes_with_packet(st, &stream_slot(p)->chunk[i]))
            return;
    buf_clear(&p->memory[PACKET_MEMORY_CHUNKS]);
}

/* The buffer may have moved when it grew, so all chunks get their addresses again. They are in it
 * one after the other. */
static void handoff_buf_end(const struct stream_thread *st, struct packet *p)
{
    size_t at = 0;

    for (unsigned i = 0; i < stream_slot(p)->chunk_count; i++) {
        struct stream_chunk *c = &stream_slot(p)->chunk[i];

        if (!goes_with_packet(st, c))
            continue;
        c->data = p->memory[PACKET_MEMORY_CHUNKS].data + at + c->lookbehind;
        at += (size_t)c->lookbehind + c->len;
    }
}

/* Without memory, new data become a gap for inspection, and data for reinspection are dropped. */
static COLD void copy_refused(struct packet *p, struct stream_chunk *chunk)
{
    if (chunk->kind == CHUNK_REINSPECT) {
        stream_slot(p)->chunk_count--;
        return;
    }
    chunk->kind = CHUNK_GAP;
    chunk->data = NULL;
    chunk->lookbehind = 0;
}

/* Copies the bytes of the newest chunk. */
static void copy_bytes(const struct stream_thread *st, struct packet *p,
                       struct stream_chunk *chunk, const uint8_t *from)
{
    handoff_buf_begin(st, p);
    if (UNLIKELY(!buf_add(&p->memory[PACKET_MEMORY_CHUNKS], from,
                          (size_t)chunk->lookbehind + chunk->len)))
        copy_refused(p, chunk);
    handoff_buf_end(st, p);
}

/* A pinned buffer must not move before this vector has been inspected. */
static struct stream_chunk *emit_data(struct stream_thread *st, struct tcp_stream *s,
                                      struct packet *p, enum direction dir, int64_t to)
{
    struct stream_chunk *chunk =
        chunk_new(p, dir, CHUNK_DATA, s->delivered, (uint32_t)(to - s->delivered));
    const uint8_t *data = s->buffer + s->start + (s->delivered - s->offset);

    chunk->lookbehind = (uint32_t)MIN(s->delivered - s->offset,
                                  (int64_t)stream_lookback(st->conf, dir));
    chunk->data = data;
    chunk->unacked = (uint32_t)(stream_edge(s) - to);
    s->delivered = to;
    if (st->copy_chunks)
        copy_bytes(st, p, chunk, data - chunk->lookbehind);
    else
        s->pinned = st->vector_number;
    return chunk;
}

/* --- what only rules inspect --- */

/* Segments behind a hole that touch each other: the stream between two holes. */
struct ooo_block {
    const struct segment *first, *behind;
    uint32_t from, to;                  /* sequence numbers */
};

/* The block that begins with `seg`, at least up to `until`. */
static struct ooo_block ooo_block_at(const struct segment *seg, uint32_t until)
{
    struct ooo_block is = { .first = seg, .from = seg->seq, .to = seg->seq + seg->len };

    for (seg = seg->next; seg != NULL && seq_leq(seg->seq, is.to) && seq_lt(is.to, until);
         seg = seg->next)
        is.to = seq_max(is.to, seg->seq + seg->len);
    is.behind = seg;
    return is;
}

/* Bytes of one block that rules see at the end of a flow. */
#define OOO_BLOCK_MAX 65536
#define OOO_LOOKBACK_MAX (1u << 24)     /* more cannot be in memory */

/* Copies the bytes of a chunk, which begins with the lookbehind at sequence number `from`. */
static void ooo_block_copy(struct stream_thread *st, struct packet *p, struct stream_chunk *chunk,
                           const struct ooo_block *is, uint32_t from)
{
    uint32_t next = from, to = from + chunk->lookbehind + chunk->len;

    handoff_buf_begin(st, p);
    if (UNLIKELY(!buf_reserve(&p->memory[PACKET_MEMORY_CHUNKS], to - from))) {
        copy_refused(p, chunk);
        handoff_buf_end(st, p);
        return;
    }
    for (const struct segment *seg = is->first; seg != is->behind; seg = seg->next) {
        uint32_t end = seq_min(seg->seq + seg->len, to);

        if (seg->data == NULL || seq_leq(end, next))
            continue;
        buf_add(&p->memory[PACKET_MEMORY_CHUNKS], seg->data + (next - seg->seq), end - next);
        next = end;
    }
    handoff_buf_end(st, p);
}

/* Unacknowledged data after holes are never handed off. At the end of the flow rules inspect
 * them. */
static COLD void emit_ooo_blocks(struct stream_thread *st, const struct tcp_stream *s,
                              struct packet *p, enum direction dir)
{
    const struct segment *seg = stream_waiting(s);

    while (seg != NULL && stream_slot(p)->chunk_count < PACKET_CHUNKS_MAX) {
        struct ooo_block is = ooo_block_at(seg, seg->seq + INT32_MAX);
        uint32_t to = seq_min(is.to, is.from + OOO_BLOCK_MAX);
        struct stream_chunk *chunk = chunk_new(p, dir, CHUNK_REINSPECT, stream_abs(s, is.from),
                                               to - is.from);

        ooo_block_copy(st, p, chunk, &is, is.from);
        seg = is.behind;
    }
}

/* IPS mode: a segment is inspected together with the data before it, even if a hole is before
 * these. */
static void emit_waiting(struct tcp_in *in, const struct tcp_stream *s, enum direction dir,
                         uint32_t seq, uint32_t len)
{
    uint32_t lookback = stream_lookback(in->st->conf, dir);
    struct ooo_scan scan;

    /* Segments that end before the lookbehind have no part in it. */
    ooo_scan_begin(&scan, s, seq - MIN(lookback, (uint32_t)OOO_LOOKBACK_MAX), seq + len);
    for (const struct segment *seg = ooo_scan_next(&scan);
         seg != NULL && seq_leq(seg->seq, seq);) {
        struct ooo_block is = ooo_block_at(seg, seq + len);

        if (seq_leq(is.from, seq) && seq_leq(seq + len, is.to)) {
            struct stream_chunk *chunk = chunk_new(in->p, dir, CHUNK_REINSPECT,
                                                   stream_abs(s, seq), len);

            chunk->lookbehind = MIN(seq - is.from, lookback);
            ooo_block_copy(in->st, in->p, chunk, &is, seq - chunk->lookbehind);
            return;
        }
        seg = is.behind;
    }
}

/* IPS mode: a packet that makes no new data available is inspected too, since it will be
 * forwarded. */
COLD void stream_emit_reinspect(struct tcp_in *in, struct tcp_stream *s, uint32_t seq, uint32_t len)
{
    struct stream_thread *st = in->st;
    enum direction dir = (enum direction)(s == &in->ssn->stream[TO_CLIENT]);
    int64_t from = MAX(stream_abs(s, seq), s->offset);
    int64_t to = MIN(stream_abs(s, seq) + len, s->delivered);
    struct stream_chunk *chunk;

    if (len == 0 || (s->flags & STREAM_NO_REASSEMBLY) ||
        stream_slot(in->p)->chunk_count == PACKET_CHUNKS_MAX)
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

/* Length of the data that are missing and will not come: the receiver has acknowledged them, so
 * they arrived there but not here. 0: nothing is known to be missing. */
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

/* Data after the hole start afresh, without lookbehind. Bytes in the buffer stay untouched, because
 * chunks may point to them. */
static void skip_gap(struct tcp_stream *s, uint32_t len)
{
    s->start += s->len;
    s->offset += (int64_t)s->len + len;
    s->len = 0;
    s->delivered = s->offset;
    s->flags |= STREAM_GAP;
}

/* After a gap the session is liberal: its ACKs and windows may seem wrong because of the lost
 * packets. */
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

/* Signals the end at the depth, with the last data or with an empty chunk. */
static COLD void emit_depth(struct tcp_stream *s, struct packet *p, enum direction dir,
                            unsigned first_chunk)
{
    static const uint8_t nothing;
    struct stream_slot *slot = stream_slot(p);
    struct stream_chunk *last = slot->chunk_count > first_chunk
                                    ? &slot->chunk[slot->chunk_count - 1] : NULL;

    if (last == NULL || last->kind != CHUNK_DATA) {
        if (slot->chunk_count == PACKET_CHUNKS_MAX)
            return;
        last = chunk_new(p, dir, CHUNK_DATA, s->delivered, 0);
        last->data = &nothing;
    }
    last->depth_reached = true;
    s->flags |= STREAM_DEPTH_SIGNALLED;
}

/* Frees the buffer if all data are handed off, no rule reads them again, and no retransmission is
 * compared with them. */
void stream_release(struct stream_thread *st, const struct flow *flow, struct tcp_stream *s,
                   enum direction dir)
{
    const struct stream_conf *conf = st->conf;

    if (s->buffer != NULL && s->delivered == stream_edge(s) && !conf->is_inline &&
        stream_history(st, s) == 0 && stream_retained_from(conf, flow, s, dir) == s->delivered)
        stream_release_buffer(st, s);
}

/* Chunks are limited per packet. Data that do not fit wait for the next packet (SSN_WAITS). `eof`:
 * the flow ends. */
void stream_emit(struct stream_thread *st, struct tcp_session *ssn, struct packet *p,
                 enum direction dir, bool eof)
{
    struct tcp_stream *s = &ssn->stream[dir];
    unsigned first_chunk = stream_slot(p)->chunk_count;

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
        if (UNLIKELY(stream_slot(p)->chunk_count == PACKET_CHUNKS_MAX)) {
            ssn->flags |= SSN_WAITS(dir);
            return;
        }
        if (gap > 0)
            emit_gap(st, ssn, p, dir, gap);
        else
            emit_data(st, s, p, dir, limit)->never_acked =
                !st->conf->is_inline && eof && limit > stream_acked(s);
    }
    stream_release(st, p->flow, s, dir);
    if (UNLIKELY((s->flags & (STREAM_DEPTH_REACHED | STREAM_DEPTH_SIGNALLED)) ==
                 STREAM_DEPTH_REACHED))
        emit_depth(s, p, dir, first_chunk);
}

static bool has_ooo_blocks(const struct tcp_stream *s)
{
    return stream_waiting(s) != NULL && !(s->flags & STREAM_NO_REASSEMBLY);
}

/* Hands off all that is left. Blocks behind holes go only into the last packet of the flow: they
 * are not marked as handed off, so the next packet would bring them again, for ever. */
COLD void stream_emit_end(struct stream_thread *st, struct tcp_session *ssn, struct packet *p)
{
    bool is_waiting = false;

    for (enum direction dir = TO_SERVER; dir <= TO_CLIENT; dir++) {
        stream_emit(st, ssn, p, dir, true);
        is_waiting |= has_ooo_blocks(&ssn->stream[dir]);
    }
    if (!is_waiting || st->conf->is_inline || !takes_unacked(ssn, true) ||
        (ssn->flags & (SSN_WAITS(TO_SERVER) | SSN_WAITS(TO_CLIENT))) != 0)
        return;
    if (stream_slot(p)->chunk_count == PACKET_CHUNKS_MAX) {
        ssn->flags |= SSN_WAITS(TO_SERVER);
        return;
    }
    for (enum direction dir = TO_SERVER; dir <= TO_CLIENT; dir++)
        if (has_ooo_blocks(&ssn->stream[dir]))
            emit_ooo_blocks(st, &ssn->stream[dir], p, dir);
}
