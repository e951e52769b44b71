/* SPDX-License-Identifier: GPL-2.0-or-later */
/* stream/reassembly.h - turns segments into chunks: stores a payload, hands off available data,
 * frees data that are no longer needed. */
#ifndef STREAM_REASSEMBLY_H
#define STREAM_REASSEMBLY_H

#include "stream/tcp.h"

/* The offset from which handed-off data must be kept: rules read them again until they have
 * finished. */
static inline int64_t stream_retained_from(const struct stream_conf *conf, const struct flow *flow,
                                       const struct tcp_stream *s, enum direction dir)
{
    uint32_t lookback = stream_lookback(conf, dir);
    int64_t raw_progress;

    if (lookback == 0)
        return s->delivered;
    raw_progress = (int64_t)flow_raw_progress(flow, dir);
    return MAX(s->delivered - lookback, MIN(raw_progress, s->delivered));
}
/* Number of acknowledged bytes that are retained, to compare later copies with them. The last
 * quarter of the memory is reserved for data that no consumer has seen. */
static inline uint32_t stream_history(const struct stream_thread *st, const struct tcp_stream *s)
{
    const struct memcap *memory = &st->conf->data_memcap;

    if (LIKELY(!stream_compares(st->conf)) || st->conf->is_inline ||
        memcap_used(memory) > memcap_limit(memory) / 4 * 3)
        return 0;
    return s->window != 0 ? s->window : 4096;
}

/* reassembly.c */
/* Called for a packet that the state machine accepted, with data of `s` and an ACK of the other
 * side: stores its payload and hands off what is available. */
void stream_reassemble(struct tcp_in *in, struct tcp_stream *s);
void stream_reassemble_usual(struct tcp_in *in);
/* The depth that applies, in bytes; 0: no limit. */
uint32_t stream_depth_of(const struct tcp_in *in, enum direction dir);
void stream_prune(struct tcp_in *in, struct tcp_stream *s);
/* Frees only the buffer. */
void stream_release_buffer(struct stream_thread *st, struct tcp_stream *s);
void stream_release_data(struct stream_thread *st, struct tcp_stream *s);
/* Gives back space of the buffer that its data do not need. The buffer moves. */
void stream_fit_buffer(struct stream_thread *st, const struct flow *flow, struct tcp_stream *s);

/* shrink.c: stream data have grown; looks at some flows whose buffers may be larger than needed. */
void stream_shrink(struct stream_thread *st);

/* insert.c: 0, -1 at the memcap, -2 at another limit */
int stream_insert(struct tcp_in *in, struct tcp_stream *s, uint32_t seq, uint32_t len);
/* The same where the data directly follow the contiguous ones, and nothing waits. */
int stream_insert_next(struct tcp_in *in, struct tcp_stream *s, uint32_t seq, uint32_t len);
void stream_merge_waiting(struct stream_thread *st, const struct flow *flow,
                          struct tcp_stream *s);
void segment_free(struct stream_thread *st, struct segment *seg);
/* A block counted as stream data; NULL: at the memcap. */
uint8_t *stream_block_get(struct stream_thread *st, unsigned block_class);
void stream_block_put(struct stream_thread *st, uint8_t *data, unsigned block_class);
struct stream_holes *stream_holes_make(struct stream_thread *st, struct tcp_stream *s);
void stream_holes_free(struct stream_thread *st, struct tcp_stream *s);    /* when nothing waits */

/* emit.c */
/* eof: the flow has ended, so unacknowledged data are handed off too. */
void stream_emit(struct stream_thread *st, struct tcp_session *ssn, struct packet *p,
                 enum direction dir, bool eof);
void stream_emit_end(struct stream_thread *st, struct tcp_session *ssn, struct packet *p);
void stream_emit_reinspect(struct tcp_in *in, struct tcp_stream *s, uint32_t seq, uint32_t len);

/* When the flow is idle: frees the buffer, unless its data may be read again. */
void stream_release(struct stream_thread *st, const struct flow *flow, struct tcp_stream *s,
                   enum direction dir);

/* overlap.c: true when the policy takes the new segment's bytes where it overlaps the old. */
bool overlap_takes_new(enum os_policy os, uint32_t new_seq, uint32_t new_end, uint32_t old_seq,
                       uint32_t old_end);

#endif
