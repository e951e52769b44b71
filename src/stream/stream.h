/* SPDX-License-Identifier: GPL-2.0-or-later */
/* stream/stream.h - the transport state at work: flows found, TCP followed, data put in order.
 *
 * For each packet: its flow and direction, what TCP makes of it (RFC 9293, with the choices real
 * hosts make), and the in-order data that became available by it, as stream_slot.chunk. In IDS mode
 * data becomes available when the receiver acknowledged it, as only then it is known what the
 * receiver took; inline when it arrives. Data are handed off once. What does not fit in the
 * packet's chunks comes with the flow's next packet. */
#ifndef STREAM_STREAM_H
#define STREAM_STREAM_H

#include "base/containers/ring.h"
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
/* Does anything look back over the edge of a chunk? If not, data are let go as soon as they are
 * handed off. Any thread, also while packets flow. */
void stream_conf_set_lookback(struct stream_conf *conf, bool required);

/* Does anything ask whether data that came again were others? If so, a window of acknowledged data
 * is kept to compare them with; as the configuration says so, in any case. Likewise. */
void stream_conf_set_compare(struct stream_conf *conf, bool required);

/* Packets with one of these flags (enum stream_pkt_flag, or STREAM_PKT_ALL) take a snapshot of
 * their session along. Before threads start. */
void stream_conf_require_snapshots(struct stream_conf *conf, uint16_t flags);

/* One per thread that runs the stream module. copy_chunks: detect runs elsewhere, so chunk bytes
 * are copied to the packet's own memory. */
struct stream_thread;
struct stream_thread *stream_thread_new(const struct stream_conf *conf,
                                        const struct flow_conf *flows, struct packet_pool *pool,
                                        struct counters *counters, bool copy_chunks,
                                        struct err *err);
void stream_thread_free(struct stream_thread *st);

/* On its thread, between two vectors: the flow of this id, or NULL. */
const struct flow *stream_find_flow(struct stream_thread *st, uint64_t id);

/* Who is asked in front of the flow table (the packet has no flow yet) and in front of the stream
 * (it has); false: the packet goes no further here. NULL: nobody. `alone`: they may wait for all
 * that stands before the packet, so of a file that has left when they are asked, flow ends
 * included, and the vector before has told the packet's place. */
struct stream_early_hooks {
    bool (*pre_flow)(void *arg, struct packet *p);
    bool (*pre_stream)(void *arg, struct packet *p);
    void *arg;
    bool alone;
};
void stream_thread_set_early_hooks(struct stream_thread *st,
                                   const struct stream_early_hooks *early_hooks);

/* Where what detection decides of a packet changes how the flow's next one is followed - a drop,
 * a bypass, flow variables that rules in front of the stream read - the next one waits until
 * detection has answered, so that it is no matter how many packets are under way. With `always`
 * each packet does; without, only one of a file that meets the depth. `eventcount` is woken when a
 * packet has been inspected; sleeps and wakes stand around a wait. */
struct stream_inflight {
    struct eventcount *eventcount;
    void (*sleeps)(void *self);
    void (*wakes)(void *self);
    void *self;
};
void stream_configure_inflight(struct stream_thread *st, const struct stream_inflight *how,
                           bool by_packet_time, bool always);

/* All packets of the vector; flow ends (by timeout, TCP reuse) are inserted where they fall due,
 * at most a bounded number per call. A flow end is a pseudo packet, PACKET_PSEUDO |
 * PACKET_FLOW_END, with the last chunks of both directions; detect inspects it both ways when it
 * is PACKET_DETECT_ONLY (a TCP session not closed, or with data left) or transactions are open.
 * Chunks that do not fit come before it in pseudo packets without PACKET_FLOW_END. The flow's
 * last packet frees the flow when it returns to the pool to the pool.
 *
 * Where packets stand in an order (v->order_at), flow ends stand in it too, whichever flows this
 * thread has. So packets may have to wait until many ends before them have gone: true says that
 * it wants to be called again, with an empty vector. */
bool stream_vector(struct stream_thread *st, struct packet_vector *v);

/* At the end: appends flow ends for what is left, as many as the pool has packets for; false
 * when none is left; then time may begin anew. v->order_at, if there is an order, is behind the
 * last packet of all. */
bool stream_flush(struct stream_thread *st, struct packet_vector *v, uint64_t final_us);

/* With this packet a side has closed, or all is over: what there is of the stream is all. */
bool stream_is_closing(const struct packet *p);
bool stream_is_closed(const struct packet *p);          /* ... and nothing more belongs to it */

/* For EVE flow records and keywords; NULL-safe. Only while the caller may read the transport
 * state (same thread, or after the flow's end). */
struct tcp_summary {
    uint8_t flags_ts, flags_tc, flags;
    const char *state;                      /* "closed", "established" ... */
    uint32_t ts_max_regions, tc_max_regions;
    bool ts_gap, tc_gap, midstream;
    uint32_t ts_urgent_oob, tc_urgent_oob;
};
bool stream_tcp_summary(const struct flow *flow, struct tcp_summary *out);

#endif
