/* SPDX-License-Identifier: GPL-2.0-or-later */
/* stream/stream_private.h - declarations for this directory: settings, the TCP session, and the
 * context that joins a packet with its session. */
#ifndef STREAM_STREAM_PRIVATE_H
#define STREAM_STREAM_PRIVATE_H

#include "base/memory/pool.h"
#include "flow/exception.h"
#include "flow/memcap.h"
#include "stream/blocks.h"
#include "stream/os_policy.h"
#include "stream/sack.h"
#include "stream/snapshot.h"
#include "stream/stream.h"

/* ---- sequence numbers: half of the space is ahead of a number (RFC 9293, 3.4) ---- */

static inline bool seq_lt(uint32_t a, uint32_t b) { return (int32_t)(a - b) < 0; }
static inline bool seq_leq(uint32_t a, uint32_t b) { return (int32_t)(a - b) <= 0; }
static inline bool seq_gt(uint32_t a, uint32_t b) { return (int32_t)(a - b) > 0; }
static inline bool seq_geq(uint32_t a, uint32_t b) { return (int32_t)(a - b) >= 0; }
static inline uint32_t seq_min(uint32_t a, uint32_t b) { return seq_lt(a, b) ? a : b; }
static inline uint32_t seq_max(uint32_t a, uint32_t b) { return seq_gt(a, b) ? a : b; }

/* ---- settings ---- */

enum urgent_policy { URGENT_OOB, URGENT_INLINE, URGENT_DROP, URGENT_GAP };

struct stream_conf {
    struct memcap session_memcap, data_memcap;
    uint32_t prealloc_sessions, prealloc_segments;
    uint32_t depth;                     /* bytes; 0: no limit */
    uint32_t lookback[2];               /* earlier bytes kept before the next chunk, by direction */
    bool no_lookback;                   /* no consumer reads them; atomic */
    bool compares;                      /* overlapping data are compared; atomic */
    uint8_t max_syn_queued, max_synack_queued;
    bool ips;                           /* the run can drop packets */
    bool is_inline;                     /* data are handed off on arrival, not on acknowledgment */
    bool midstream, async_oneside, validate_checksum, drop_invalid, bypass_at_depth;
    bool liberal_timestamps, compares_always, count_events;
    uint16_t snapshots;                 /* enum stream_pkt_flag: packets that carry a snapshot */
    enum urgent_policy urgent, urgent_limit;
    enum exception_policy flow_memcap_policy, session_memcap_policy, data_memcap_policy,
        midstream_policy;
    struct os_policies *os;
};

static inline uint32_t stream_lookback(const struct stream_conf *conf, enum direction dir)
{
    return __atomic_load_n(&conf->no_lookback, __ATOMIC_RELAXED) ? 0 : conf->lookback[dir];
}

/* True if retransmitted data are compared with the earlier copy, as always in IPS mode. */
static inline bool stream_compares(const struct stream_conf *conf)
{
    return __atomic_load_n(&conf->compares, __ATOMIC_RELAXED);
}

/* ---- the session ---- */

/* The order matters: from FIN_WAIT1 on a side has closed; above TIME_WAIT the client's FIN was seen
 * or the session has ended. */
enum tcp_state {
    TCP_NONE, TCP_LISTEN, TCP_SYN_SENT, TCP_SYN_RECV, TCP_ESTABLISHED, TCP_FIN_WAIT1,
    TCP_FIN_WAIT2, TCP_TIME_WAIT, TCP_LAST_ACK, TCP_CLOSE_WAIT, TCP_CLOSING, TCP_CLOSED,
    TCP_STATE_COUNT
};
const char *tcp_state_name(enum tcp_state state);       /* EVE tcp.state */

enum session_flag {
    SSN_MIDSTREAM             = 1u << 0,    /* picked up without its handshake */
    SSN_MIDSTREAM_ESTABLISHED = 1u << 1,    /* and the other side has not been seen yet */
    SSN_MIDSTREAM_SYNACK      = 1u << 2,
    SSN_TIMESTAMP             = 1u << 3,    /* both sides use timestamps */
    SSN_SERVER_WSCALE         = 1u << 4,    /* the SYN had a window scale */
    SSN_CLOSED_BY_RST         = 1u << 5,
    SSN_ASYNC                 = 1u << 6,    /* only one direction is seen */
    SSN_4WHS                  = 1u << 7,    /* SYN answered by SYN */
    SSN_EVASION               = 1u << 8,    /* wrong ACK in the handshake */
    SSN_CLIENT_SACK_OK        = 1u << 9,
    SSN_SACK_OK               = 1u << 10,
    SSN_LIBERAL               = 1u << 11,   /* data were lost: checks of RST are lenient */
    SSN_3WHS_CONFIRMED        = 1u << 12,   /* the server has shown that it is established */
    SSN_FAST_OPEN             = 1u << 13,
    SSN_FAST_OPEN_IGNORED     = 1u << 14,   /* SYN/ACK did not take the SYN's data */
    SSN_ZERO_WINDOW_PROBE     = 1u << 15,   /* and the next bit: by direction of the probe */
    SSN_CHUNKS_WAIT           = 1u << 17,   /* and the next bit: did not fit in a packet */
};
#define SSN_PROBE(dir) ((uint32_t)SSN_ZERO_WINDOW_PROBE << (dir))
#define SSN_WAITS(dir) ((uint32_t)SSN_CHUNKS_WAIT << (dir))

enum stream_flag {
    STREAM_GAP            = 1u << 0,
    STREAM_NO_REASSEMBLY  = 1u << 1,
    STREAM_KEEPALIVE      = 1u << 2,
    STREAM_DEPTH_REACHED  = 1u << 3,
    STREAM_DEPTH_SIGNALLED     = 1u << 4,        /* a chunk has reported it */
    STREAM_TIMESTAMP      = 1u << 5,
    STREAM_ZERO_TIMESTAMP = 1u << 6,
    STREAM_RST_RECEIVED   = 1u << 7,        /* an RST that the host may have ignored */
    STREAM_SEEN_DATA      = 1u << 8,
};

#define TCP_WSCALE_LIMIT 14
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

/* A SYN or SYN/ACK that may turn out to belong to the real handshake. */
struct syn_record {
    struct syn_record *next;
    uint32_t seq, ack, ts, seen_s;
    uint16_t window;
    uint8_t flags, wscale;              /* SYN_HAS_* */
};
#define SYN_HAS_TS     0x01
#define SYN_HAS_WSCALE 0x02
#define SYN_HAS_SACK   0x04

struct tcp_session {
    uint32_t flags;                     /* enum session_flag */
    uint8_t state, former_state;        /* enum tcp_state */
    uint8_t tcp_flags, queue_len;
    uint32_t depth;
    uint32_t urgent_seen[2];            /* urgent segments with data, for the record */
    uint16_t urgent_offset[2];          /* sequence numbers that went out of band */
    struct syn_record *queue;
    struct tcp_stream stream[2];  /* by direction of the data: stream[TO_SERVER] is the client's */
};

_Static_assert(sizeof(struct tcp_session) <= 4 * CACHE_LINE, "there are as many as connections");

/* The first segment after a hole; NULL: none waits. */
static inline struct segment *stream_waiting(const struct tcp_stream *s)
{
    return UNLIKELY(s->holes != NULL) ? s->holes->waiting.first : NULL;
}

/* ---- the thread ---- */

struct tcp_counters {
    counter_id sessions, active_sessions, ssn_memcap_drop, ssn_from_cache, ssn_from_pool, pseudo,
        invalid_checksum, midstream_pickups, wrong_thread, ack_unseen_data, segment_memcap_drop,
        segment_from_cache, segment_from_pool, depth_reached, gap, overlap, overlap_diff_data,
        insert_normal_fail, insert_overlap_fail, urgent_oob, memuse,
        reassembly_memuse, reuse;
    counter_id end_state[TCP_STATE_COUNT], end_liberal;
    counter_id evicted, evicted_work, evicted_inject;
    counter_id bypass_packets, bypass_bytes, pressure, pressure_max;
    counter_id event[PACKET_EVENT_COUNT];
    struct exception_counters flow_memcap, session_memcap, data_memcap, midstream;
};

struct retired_block {
    uint8_t *data;
    uint8_t block_class;
};

#define STREAM_AHEAD 16

struct stream_thread {
    const struct stream_conf *conf;
    struct flow_table *flows;
    struct packet_pool *pool;
    struct counters *counters;
    bool copy_chunks;
    uint32_t vector_number;             /* chunks of this vector pin their buffers */
    uint64_t now_us;
    uint8_t datalink;                   /* of the last packet; logs use it for pseudo packets */
    const char *file_name;              /* its capture file, borrowed; NULL: none */
    bool all_finished;
    struct packet_vector input;         /* packets with a seqno, in order of arrival */
    unsigned input_at;                  /* index of the next one */
    const struct flow *ahead[STREAM_AHEAD];     /* probable flows of the next packets; or NULL */
    struct flow *input_flow;            /* its flow, when is_found */
    bool has_input, is_found;
    bool is_announced;  /* the next packet's position has been published: early_hooks.alone */
    unsigned ends_pushed;               /* into the current vector */
    struct flow *ending;                /* its chunks did not fit in one packet; more follow */
    struct memcap_reservation session_memory, data_memory;
    const struct memcap *flow_memory;
    struct pool sessions, segments, syns, holes;
    struct blocks blocks;
    struct { struct retired_block *at; size_t count, cap; } retired;
    uint8_t *scratch;                   /* 64 KiB: a payload as the overlap policy changed it */
    struct tcp_counters id;
    struct stream_early_hooks early_hooks;
    struct stream_inflight inflight;
    bool waits_inflight;
    uint64_t vector_from;               /* seqno at which the current vector begins */
};

/* ---- waits for detection, inflight.c ---- */

/* False: detection must finish the packets under way before p is processed; call again. */
bool stream_may_go_on(struct stream_thread *st, const struct packet_vector *v,
                      const struct packet *p);
/* The same check when p may be the first packet beyond the flow's depth. */
bool stream_may_cross_depth(struct stream_thread *st, const struct packet_vector *v,
                            struct flow *flow, const struct packet *p);
bool stream_meets_depth(const struct flow *flow, const struct packet *p);
/* True if flows that may have timed out by then have packets in the vector. */
bool stream_time_leaps(const struct stream_thread *st, const struct packet_vector *v,
                       uint64_t order);
/* Callback of the flow table. */
void stream_wait_inflight(struct flow *flow, void *arg);

/* ---- a packet and its session ---- */

struct tcp_in {
    struct stream_thread *st;
    struct packet *p;
    struct flow *flow;
    struct tcp_session *ssn;            /* NULL until there is one */
    struct tcp_stream *snd, *rcv;       /* the packet's sender, and the other side */
    uint32_t seq, ack, len;             /* len: of the payload */
    uint16_t window;
    uint8_t flags;                      /* TCP_* */
    bool acks_probe;                 /* the other side has sent a zero window probe */
    enum direction dir;
};

static inline bool in_has(const struct tcp_in *in, uint8_t tcp_flag)
{
    return (in->flags & tcp_flag) != 0;
}
static inline bool in_to_server(const struct tcp_in *in) { return in->dir == TO_SERVER; }
static inline uint32_t in_end(const struct tcp_in *in) { return in->seq + in->len; }
static inline uint32_t in_seconds(const struct tcp_in *in)
{
    return (uint32_t)(in->p->time_us / 1000000);
}
static inline bool in_has_ts(const struct tcp_in *in)
{
    return (in->p->tcp_options.has & TCP_HAS_TS) != 0;
}
static inline void in_event(const struct tcp_in *in, enum packet_event event)
{
    packet_set_event(in->p, event);
}
/* Sets the event and refuses the packet. */
static inline int in_refuse(const struct tcp_in *in, enum packet_event event)
{
    packet_set_event(in->p, event);
    return -1;
}

/* Returns the offset of a sequence number in its stream; below 0 before its start. */
static inline int64_t stream_abs(const struct tcp_stream *s, uint32_t seq)
{
    return s->base_offset + (int32_t)(seq - s->base_seq);
}
/* Returns the offset after the last contiguous byte. */
static inline int64_t stream_edge(const struct tcp_stream *s) { return s->offset + s->len; }
static inline int64_t stream_acked(const struct tcp_stream *s)
{
    return seq_gt(s->last_ack, s->base_seq) ? stream_abs(s, s->last_ack) : s->base_offset;
}
/* Returns the offset from which handed-off data must be kept: rules read them again until they have
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
/* Returns how many acknowledged bytes are kept for comparison with later copies. The last quarter
 * of the memory is reserved for data that no consumer has seen. */
static inline uint32_t stream_history(const struct stream_thread *st, const struct tcp_stream *s)
{
    const struct memcap *memory = &st->conf->data_memcap;

    if (LIKELY(!stream_compares(st->conf)) || st->conf->is_inline ||
        memcap_used(memory) > memcap_limit(memory) / 4 * 3)
        return 0;
    return s->window != 0 ? s->window : 4096;
}
static inline void stream_set_base(struct tcp_stream *s, uint32_t isn)
{
    s->base_seq = isn + 1;
}

/* tcp.c */
void tcp_packet(struct stream_thread *st, struct flow *flow, struct packet *p);
bool tcp_starts_anew(const struct stream_conf *conf, const struct flow *flow,
                     const struct packet *p);
struct tcp_session *tcp_session_new(struct tcp_in *in);
void tcp_session_free(struct stream_thread *st, struct tcp_session *ssn);
void tcp_set_state(struct tcp_in *in, enum tcp_state state);
void tcp_close_by_rst(struct tcp_in *in);
int tcp_dispatch(struct tcp_in *in, enum tcp_state state);

/* tcp_check.c: acknowledgments, windows, resets, timestamps */
bool tcp_ack_ok(const struct tcp_in *in, const struct tcp_stream *acked);
bool tcp_rst_ok(struct tcp_in *in);
bool tcp_timestamp_ok(struct tcp_in *in);
void tcp_timestamp_take(struct tcp_in *in);
bool tcp_is_retransmission(struct tcp_in *in);
void tcp_ack_update(struct tcp_stream *s, uint32_t ack);
void tcp_next_seq_update(const struct tcp_session *ssn, struct tcp_stream *s, uint32_t seq);
void tcp_window_update(struct tcp_in *in);      /* the sender's window, and the limit that it
                                                 * sets */
enum os_policy tcp_receiver_os(struct tcp_in *in);

/* tcp_peek.c: packets that need no state function: keep-alives, probes, old ACKs */
bool tcp_is_special(struct tcp_in *in);

/* tcp_open.c, tcp_established.c, tcp_close.c: one function a state; -1 refuses the packet */
int tcp_state_none(struct tcp_in *in);
int tcp_state_syn_sent(struct tcp_in *in);
int tcp_state_syn_recv(struct tcp_in *in);
int tcp_state_established(struct tcp_in *in);
int tcp_state_fin_wait1(struct tcp_in *in);
int tcp_state_fin_wait2(struct tcp_in *in);
int tcp_state_closing(struct tcp_in *in);
int tcp_state_close_wait(struct tcp_in *in);
int tcp_state_last_ack(struct tcp_in *in);
int tcp_state_time_wait(struct tcp_in *in);
int tcp_state_closed(struct tcp_in *in);
int tcp_fin(struct tcp_in *in);

/* tcp_queue.c: candidates of the handshake */
void syn_queue_free(struct stream_thread *st, struct tcp_session *ssn);
struct syn_record syn_record_of(const struct tcp_in *in);
int synack_queue_add(struct tcp_in *in);
const struct syn_record *synack_queue_find(const struct tcp_session *ssn, uint32_t seq,
                                           uint32_t ack);
void syn_queue_add(struct tcp_in *in);
bool syn_queue_take(struct tcp_in *in);
void syn_record_apply(struct tcp_session *ssn, const struct syn_record *syn);

/* reassembly.c */
/* Called for a packet that the state machine accepted, with data of `s` and an ACK of the other
 * side: stores its payload and hands off what is available. -1: not stored. */
void stream_reassemble(struct tcp_in *in, struct tcp_stream *s);
void stream_prune(struct tcp_in *in, struct tcp_stream *s);
/* Frees only the buffer. */
void stream_release_buffer(struct stream_thread *st, struct tcp_stream *s);
void stream_release_data(struct stream_thread *st, struct tcp_stream *s);

/* insert.c: 0, -1 at the memcap, -2 at another limit */
int stream_insert(struct tcp_in *in, struct tcp_stream *s, uint32_t seq, uint32_t len);
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
void stream_emit_reinspect(struct tcp_in *in, struct tcp_stream *s, uint32_t seq, uint32_t len);

/* For an idle flow: frees the buffer, unless its data may be read again. */
void stream_release(struct stream_thread *st, const struct flow *flow, struct tcp_stream *s,
                   enum direction dir);

/* snapshot.c: adds the session to the packet when its flags ask for it. */
void stream_snapshot(const struct stream_conf *conf, struct packet *p);

/* overlap.c: true when the policy takes the new segment's bytes where it overlaps the old. */
bool overlap_takes_new(enum os_policy os, uint32_t new_seq, uint32_t new_end, uint32_t old_seq,
                       uint32_t old_end);

/* flow_end.c */
/* Passes ended flows down as pseudo packets after position `at` of the vector, as long as there are
 * packets for it, and at most max; returns how many packets were inserted. */
unsigned flow_ends_insert(struct stream_thread *st, struct packet_vector *v, unsigned at,
                          unsigned max);
/* At the end of the vector; false: more ended flows are left than it should take. */
bool flow_ends_push(struct stream_thread *st, struct packet_vector *v);

#endif
