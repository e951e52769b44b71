/* SPDX-License-Identifier: GPL-2.0-or-later */
/* stream/tcp.h - a packet with its session, and the state machine that it goes through. */
#ifndef STREAM_TCP_H
#define STREAM_TCP_H

#include "stream/stream_thread.h"

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

/* tcp.c */
void tcp_packet(struct stream_thread *st, struct flow *flow, struct packet *p);
/* A packet of a dropped flow, which has a session: only its flags are noted, for records. */
void tcp_note_dropped(struct stream_thread *st, struct flow *flow, struct packet *p);
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

/* RFC 7323, section 5.5: after 24 days of silence a timestamp may have wrapped. */
#define TCP_PAWS_24_DAYS_S 2073600

/* tcp_usual.c: the usual segment of an established session. False: it is not such a one. */
bool tcp_has_usual(const struct stream_conf *conf);
bool tcp_usual(struct tcp_in *in);

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

#endif
