/* SPDX-License-Identifier: GPL-2.0-or-later */
/* stream/snapshot.h - a TCP session as it was after one packet, for records that show it.
 *
 * The session lives with the thread that follows it; records are made where detection runs. So
 * what they show goes with the packet. It is taken only for packets that somebody has asked for by
 * their marks, with stream_conf_want_snapshots(). */
#ifndef STREAM_SNAPSHOT_H
#define STREAM_SNAPSHOT_H

#include "packet/packet.h"

/* What a packet was to its session: packet.stream_marks. */
enum stream_mark {
    MARK_RETRANSMISSION          = 1u << 0,
    MARK_SPURIOUS_RETRANSMISSION = 1u << 1,
    MARK_KEEPALIVE               = 1u << 2,
    MARK_KEEPALIVE_ACK           = 1u << 3,
    MARK_WINDOW_UPDATE           = 1u << 4,
    MARK_EVENT_SET               = 1u << 5,
    MARK_STATE_UPDATE            = 1u << 6,
    MARK_DUP_ACK                 = 1u << 7,
    MARK_DSACK                   = 1u << 8,     /* reports what came twice */
    MARK_ACK_UNSEEN_DATA         = 1u << 9,
    MARK_SESSION_REUSE           = 1u << 10,
    MARK_ZERO_WINDOW_PROBE       = 1u << 11,
    MARK_ZERO_WINDOW_PROBE_ACK   = 1u << 12,
    MARK_SNAPSHOT                = 1u << 15,    /* packet.session is this packet's */
};
#define MARKS_ALL 0xffffu               /* to be asked for: whatever the marks are */

struct tcp_side_snapshot {
    uint32_t isn, next_seq, last_ack, next_win, base_seq, right_edge, window;
    uint32_t segments, buffer_size;
    uint16_t flags;
    uint8_t wscale;
    bool reassembled;
};

struct tcp_snapshot {
    uint32_t flags;
    uint8_t state, former_state;
    struct tcp_side_snapshot side[2];   /* by direction of its data */
};

/* Bits and their names, NULL-ended: of packet.stream_marks, tcp_snapshot.flags and a side's. */
struct stream_word {
    uint32_t bit;
    const char *name;
};
extern const struct stream_word stream_mark_words[], session_flag_words[], side_flag_words[];

const char *tcp_snapshot_state(uint8_t state);

/* As the session is; only while the caller may read the transport half. False: there is none. */
struct flow;
bool tcp_snapshot_of(const struct flow *flow, struct tcp_snapshot *out);

#endif
