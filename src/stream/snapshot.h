/* SPDX-License-Identifier: GPL-2.0-or-later */
/* stream/snapshot.h - a TCP session as it was after one packet, for records that show it.
 *
 * The session belongs to the stream thread; records are written where detection runs. So the packet
 * carries what they show. A snapshot is taken only for packets with flags that an output has
 * requested by stream_conf_require_snapshots(). */
#ifndef STREAM_SNAPSHOT_H
#define STREAM_SNAPSHOT_H

#include "stream/slot.h"

/* Facts of TCP tracking about a packet: stream_slot.flags. */
enum stream_pkt_flag {
    STREAM_PKT_RETRANSMISSION          = 1u << 0,
    STREAM_PKT_SPURIOUS_RETRANSMISSION = 1u << 1,
    STREAM_PKT_KEEPALIVE               = 1u << 2,
    STREAM_PKT_KEEPALIVE_ACK           = 1u << 3,
    STREAM_PKT_WINDOW_UPDATE           = 1u << 4,
    STREAM_PKT_EVENT_SET               = 1u << 5,
    STREAM_PKT_STATE_UPDATE            = 1u << 6,
    STREAM_PKT_DUP_ACK                 = 1u << 7,
    STREAM_PKT_DSACK                   = 1u << 8,     /* reports data received twice */
    STREAM_PKT_ACK_UNSEEN_DATA         = 1u << 9,
    STREAM_PKT_SESSION_REUSE           = 1u << 10,
    STREAM_PKT_ZERO_WINDOW_PROBE       = 1u << 11,
    STREAM_PKT_ZERO_WINDOW_PROBE_ACK   = 1u << 12,
    STREAM_PKT_SNAPSHOT                = 1u << 15,    /* packet_session() is valid */
};
#define STREAM_PKT_ALL 0xffffu               /* for requests: any flags */

struct tcp_dir_snapshot {
    uint32_t isn, next_seq, last_ack, next_win, base_seq, right_edge, window;
    uint32_t segments, buffer_size;
    uint16_t flags;
    uint8_t wscale;
    bool reassembled;
};

struct tcp_snapshot {
    uint32_t flags;
    uint8_t state, former_state;
    struct tcp_dir_snapshot ds[2];   /* by direction of its data */
};

/* Names of bits, NULL-ended: of stream_slot.flags, of tcp_snapshot.flags and of a direction's
 * flags. */
struct stream_word {
    uint32_t bit;
    const char *name;
};
extern const struct stream_word stream_pkt_flag_words[], session_flag_words[], dir_flag_words[];

/* The packet's snapshot, if STREAM_PKT_SNAPSHOT is set. */
static inline struct tcp_snapshot *packet_session(const struct packet *p)
{
    return (void *)p->memory[PACKET_MEMORY_SESSION].data;
}

const char *tcp_snapshot_state(uint8_t state);

/* Returns the current session; only while the caller may read the transport state. False: no
 * session. */
struct flow;
bool tcp_snapshot_of(const struct flow *flow, struct tcp_snapshot *out);
/* Called by the stream thread: adds the session to the packet if its flags request it. */
struct stream_conf;
void stream_snapshot(const struct stream_conf *conf, struct packet *p);

#endif
