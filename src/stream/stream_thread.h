/* SPDX-License-Identifier: GPL-2.0-or-later */
/* stream/stream_thread.h - what one thread of the stream module works with, how its packets wait
 * for detection, and how its flows end. */
#ifndef STREAM_STREAM_THREAD_H
#define STREAM_STREAM_THREAD_H

#include "base/memory/pool.h"
#include "flow/exception.h"
#include "flow/memcap.h"
#include "stream/blocks.h"
#include "stream/stream.h"
#include "stream/stream_conf.h"
#include "stream/tcp_session.h"

struct tcp_counters {
    counter_id sessions, active_sessions, ssn_memcap_drop, ssn_from_cache, ssn_from_pool, pseudo,
        invalid_checksum, midstream_pickups, ack_unseen_data, segment_memcap_drop,
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
    bool has_usual;                     /* tcp_usual() may be asked */
    uint32_t vector_number;             /* chunks of this vector pin their buffers */
    uint64_t now_us;
    uint64_t end_us;                    /* all_finished: the time of what is left; 0: now_us */
    uint8_t datalink;                   /* of the last packet; logs use it for pseudo packets */
    const struct capture_file *file;    /* of the last packet, borrowed; NULL: none */
    bool all_finished;
    struct packet_vector input;         /* packets with a seqno, in order of arrival */
    unsigned input_at;                  /* index of the next one */
    const struct flow *ahead[STREAM_AHEAD];     /* probable flows of the next packets; or NULL */
    uint32_t fresh;                     /* of these: see stream.c */
    unsigned looked;                    /* packets of the vector for which this was done */
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
    struct {
        uint64_t hand;                  /* where flow_table_visit() continues */
        uint32_t grown;                 /* blocks.grown as of the last look */
        uint32_t flows;                 /* to look at for each slab more */
    } shrink;
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
/* Flows that may have timed out by then have packets in the vector. */
bool stream_time_leaps(const struct stream_thread *st, const struct packet_vector *v,
                       uint64_t seqno);
/* Callback of the flow table. */
void stream_wait_inflight(struct flow *flow, void *arg);

/* Continues a flow of another process, in the new flow; false: there is none. stream_export.c */
bool stream_continue(struct stream_thread *st, struct flow *flow, struct packet *p);

/* ---- flows that end, flow_end.c ---- */

/* Passes ended flows down as pseudo packets after position `at` of the vector, as long as there are
 * packets for it, and at most max; returns how many packets were inserted. */
unsigned flow_ends_insert(struct stream_thread *st, struct packet_vector *v, unsigned at,
                          unsigned max);
/* At the end of the vector; false: more ended flows are left than it should take. */
bool flow_ends_push(struct stream_thread *st, struct packet_vector *v);

#endif
