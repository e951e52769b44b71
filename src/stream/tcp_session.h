/* SPDX-License-Identifier: GPL-2.0-or-later */
/* stream/tcp_session.h - the state of a TCP session: what both hosts have agreed on, and the data
 * of each direction. Owned by the session's thread. */
#ifndef STREAM_TCP_SESSION_H
#define STREAM_TCP_SESSION_H

#include "stream/segment.h"

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

#define TCP_WSCALE_LIMIT 14

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

#endif
