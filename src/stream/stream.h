/* SPDX-License-Identifier: GPL-2.0-or-later */
/* stream/stream.h - tracks the transport state: finds flows, follows TCP, orders data.
 *
 * For each packet it sets the flow, the direction, the TCP flags (RFC 9293, with the choices of
 * real hosts), and the in-order data that became available, as stream_slot.chunk. In IDS mode data
 * become available when the receiver has acknowledged them, because only then it is known what the
 * receiver took; inline they do when they arrive. Data are handed off once. What does not fit in
 * the packet's chunks goes with the flow's next packet. */
#ifndef STREAM_STREAM_H
#define STREAM_STREAM_H

#include "base/containers/ring.h"
#include "flow/flow_export.h"
#include "flow/flow_table.h"
#include "packet/decode.h"
#include "stream/slot.h"

struct stream_conf;
struct stream_conf *stream_conf_new(const struct conf_node *root, bool is_inline,
                                    struct err *err);
void stream_conf_free(struct stream_conf *conf);
struct memcap;
struct memcap *stream_conf_session_memcap(struct stream_conf *conf);
struct memcap *stream_conf_data_memcap(struct stream_conf *conf);
/* Sets whether a consumer reads bytes before a chunk. If not, data are freed as soon as they are
 * handed off. Any thread, also while packets flow. */
void stream_conf_set_lookback(struct stream_conf *conf, bool required);

/* Sets whether a consumer needs to know that retransmitted data differ. If so, or if the
 * configuration requires it, a window of acknowledged data is kept for comparison. Any thread, also
 * while packets flow. */
void stream_conf_set_compare(struct stream_conf *conf, bool required);

/* Makes packets with one of these flags (enum stream_pkt_flag, or STREAM_PKT_ALL) carry a snapshot
 * of their session. Call it before threads start. */
void stream_conf_require_snapshots(struct stream_conf *conf, uint16_t flags);

/* Resources of a thread; all borrowed, and needed as long as the thread. */
struct stream_env {
    const struct stream_conf *conf;
    const struct flow_conf *flows;
    struct packet_pool *pool;
    struct counters *counters;
    bool copy_chunks;           /* detect runs on another thread, so chunk bytes are copied to the
                                 * packet's own memory */
};

/* One per thread that runs the stream module. env is copied. NULL with *err: no flow table. */
struct stream_thread;
struct stream_thread *stream_thread_new(const struct stream_env *env, struct err *err);
void stream_thread_free(struct stream_thread *st);

/* Returns the flow of this id, or NULL. Only on its own thread, between two vectors. */
const struct flow *stream_find_flow(struct stream_thread *st, uint64_t id);

/* Hooks before the flow table (the packet has no flow yet) and before the stream module (it has
 * one). False: the packet goes no further. NULL: no hook. `alone`: a hook may wait for all earlier
 * packets of a file. So when it runs, all earlier packets and flow ends have been handed off, and
 * the packet's position was published with the previous vector. */
struct stream_early_hooks {
    bool (*pre_flow)(void *arg, struct packet *p);
    bool (*pre_stream)(void *arg, struct packet *p);
    void *arg;
    bool alone;
};
void stream_thread_set_early_hooks(struct stream_thread *st,
                                   const struct stream_early_hooks *early_hooks);

/* Detection of a packet can change how the flow's next packet is tracked: by a drop, a bypass, or
 * flow variables that early rules read. The next packet then waits until detection has finished, so
 * that results do not depend on timing. With `always` each packet waits; without it only a packet
 * of a file that reaches the depth. `eventcount` is woken when a packet has been inspected; sleeps
 * and wakes are called around a wait. */
struct stream_inflight {
    struct eventcount *eventcount;
    void (*sleeps)(void *self);
    void (*wakes)(void *self);
    void *self;
};
void stream_configure_inflight(struct stream_thread *st, const struct stream_inflight *how,
                           bool by_packet_time, bool always);

/* Processes all packets of the vector; inserts flow ends (by timeout, TCP reuse) where they fall
 * due, at most a bounded number per call. A flow end is a pseudo packet, PACKET_PSEUDO |
 * PACKET_FLOW_END, with the last chunks of both directions; detect inspects both directions when it
 * is PACKET_DETECT_ONLY (a TCP session not closed, or with data left) or transactions are open.
 * Chunks that do not fit come before it in pseudo packets without PACKET_FLOW_END. The flow's last
 * packet frees the flow when it returns to the pool.
 *
 * Where packets have a seqno (v->seqno_at), flow ends have one too, whichever flows this thread
 * has. Packets may then have to wait until many earlier ends have been handed off: true means that
 * it needs another call, with an empty vector. */
bool stream_vector(struct stream_thread *st, struct packet_vector *v);

/* At the end: appends flow ends for the remaining flows, as many as the pool has packets for. False
 * when none is left; time may then start again. v->seqno_at, if packets have a seqno, is after the
 * last packet of all. final_us: the newest time. last_us: the time of the last packet, which the
 * ends get; 0: not known. */
bool stream_flush(struct stream_thread *st, struct packet_vector *v, uint64_t final_us,
                  uint64_t last_us);

/* True if a direction has closed, or the flow has ended, with this packet: the stream data are
 * complete. */
bool stream_is_closing(const struct packet *p);
bool stream_is_closed(const struct packet *p);     /* the same, and no later packet belongs to it */
/* True if one of the sides has sent its FIN, with this packet or earlier, and the session has
 * not closed yet. */
bool stream_has_fin(const struct packet *p);

/* stream_export.c: the session of a flow that has ended here, for the process that goes on with it.
 * On the inspecting thread, at the end. */
void stream_export(const struct flow *flow, struct tcp_export *out);
/* The last bytes of a direction that were handed off, at most so many; those before which the other
 * process goes on. Where no data came here, the tail that an earlier process left. Empty: they are
 * gone, or there is a hole behind them. */
struct slice stream_tail(const struct flow *flow, enum direction d, uint32_t len);

/* For EVE flow records and keywords; f may be NULL. Only while the caller may read the transport
 * state (same thread, or after the flow's end). */
struct tcp_summary {
    uint8_t flags_ts, flags_tc, flags;
    const char *state;                      /* "closed", "established" ... */
    uint32_t ts_max_regions, tc_max_regions;
    bool midstream;
    uint32_t ts_urgent_oob, tc_urgent_oob;
};
bool stream_tcp_summary(const struct flow *flow, struct tcp_summary *out);

#endif
