/* SPDX-License-Identifier: GPL-2.0-or-later */
/* stream/segment.h - the data of one direction: segments, merged or after a hole. Owned by the
 * session's thread. */
#ifndef STREAM_SEGMENT_H
#define STREAM_SEGMENT_H

#include "stream/sack.h"
#include "stream/tcp_seq.h"

enum stream_flag {
    STREAM_GAP            = 1u << 0,
    STREAM_NO_REASSEMBLY  = 1u << 1,
    STREAM_KEEPALIVE      = 1u << 2,
    STREAM_DEPTH_REACHED  = 1u << 3,
    STREAM_DEPTH_SIGNALLED     = 1u << 4,        /* a chunk has reported it */
    STREAM_TIMESTAMP      = 1u << 5,
    STREAM_ZERO_TIMESTAMP = 1u << 6,
    STREAM_RST_RECEIVED   = 1u << 7,        /* an RST that the host may well ignore */
    STREAM_SEEN_DATA      = 1u << 8,
};

/* Out-of-order segments of one stream; more are refused. */
#define WAITING_MAX 8192

/* One segment's data. Merged ones have their bytes in the stream's buffer, others own a block.
 * Their bounds are kept after the merge, because the overlap policies need them. */
struct segment {
    struct segment *next;
    uint32_t seq, len;
    uint8_t *data;                      /* NULL: in the buffer */
    uint8_t block_class;
};

struct segment_list {
    struct segment *first, *last;
};

/* State of a stream with missing data. */
struct stream_holes {
    struct segment_list waiting;        /* after a hole, by sequence */
    uint16_t segments_out;              /* how many */
    uint16_t regions_max;
    uint16_t run_count;
    struct ooo_run *runs;               /* index of waiting: ooo_index.h; NULL: few segments wait */
    struct sack_set sack;
};

/* One direction's data. */
struct tcp_stream {
    uint32_t isn, next_seq, last_ack, next_win, window;
    uint32_t last_ts, last_ts_s;        /* newest timestamp and the second it came in */
    uint32_t base_seq;                  /* bytes before it have been processed */
    uint16_t flags;                     /* enum stream_flag */
    uint8_t wscale, tcp_flags;          /* flags: all flags seen */

    /* Contiguous data, [offset, offset + len) of the stream, at buffer + start. */
    uint8_t block_class, os;            /* os: enum os_policy of the host that receives them */
    uint16_t segments_merged;
    uint8_t *buffer;
    uint32_t start, len;
    uint32_t pinned;                    /* number of the vector whose chunks point here */
    uint32_t right_edge;                /* sequence number after the last byte seen */
    int64_t offset, base_offset;        /* of buffer + start, of base_seq */
    int64_t delivered;                  /* stream offset up to which data were handed off */
    struct segment_list merged;         /* by sequence */
    struct stream_holes *holes;         /* NULL: no hole yet; stream_holes_make() */
};

/* The first segment after a hole; NULL: none waits. */
static inline struct segment *stream_waiting(const struct tcp_stream *s)
{
    return UNLIKELY(s->holes != NULL) ? s->holes->waiting.first : NULL;
}

/* The offset of a sequence number in its stream; below 0 before its start. */
static inline int64_t stream_abs(const struct tcp_stream *s, uint32_t seq)
{
    return s->base_offset + (int32_t)(seq - s->base_seq);
}
/* The offset after the last contiguous byte. */
static inline int64_t stream_edge(const struct tcp_stream *s) { return s->offset + s->len; }
static inline int64_t stream_acked(const struct tcp_stream *s)
{
    return seq_gt(s->last_ack, s->base_seq) ? stream_abs(s, s->last_ack) : s->base_offset;
}
static inline void stream_set_base(struct tcp_stream *s, uint32_t isn)
{
    s->base_seq = isn + 1;
}

#endif
