/* SPDX-License-Identifier: GPL-2.0-or-later */
/* stream/tcp_close.c - the states from the first FIN to the end (RFC 9293, section 3.6).
 *
 *     server's FIN first:  FIN_WAIT1 -> FIN_WAIT2 -> TIME_WAIT -> CLOSED, or through CLOSING
 *     client's FIN first:  CLOSE_WAIT -> LAST_ACK -> CLOSED
 *
 * The server's FIN counts in its next_seq, the client's does not. That is why the directions below
 * differ by one. */
#include "stream/reassembly.h"
#include "stream/segment.h"
#include "stream/snapshot.h"
#include "stream/tcp.h"
#include "stream/tcp_seq.h"
#include "stream/tcp_session.h"

static void take_timestamp(struct tcp_in *in)
{
    if (in->ssn->flags & SSN_TIMESTAMP)
        tcp_timestamp_take(in);
}

static bool timestamp_refused(struct tcp_in *in)
{
    return (in->ssn->flags & SSN_TIMESTAMP) && !tcp_timestamp_ok(in);
}

static void receiver_window(struct tcp_in *in)
{
    in->rcv->window = (uint32_t)in->window << in->rcv->wscale;
}

static bool within_window_of(const struct tcp_in *in, const struct tcp_stream *s)
{
    return !seq_gt(in->seq, s->last_ack + s->window);
}

static bool ends_in_window(const struct tcp_in *in)
{
    return seq_leq(in_end(in), in->snd->next_win) ||
           (in->ssn->flags & (SSN_MIDSTREAM | SSN_ASYNC));
}

/* Acknowledged data must have been sent, even if they were not seen here. */
static void raise_receiver_next_seq(struct tcp_in *in)
{
    if (seq_lt(in->rcv->next_seq, in->ack))
        in->rcv->next_seq = in->ack;
}

/* The last step of most closing states. */
static int take_segment(struct tcp_in *in)
{
    take_timestamp(in);
    raise_receiver_next_seq(in);
    if (in_has(in, TCP_ACK))
        tcp_ack_update(in->rcv, in->ack);
    stream_reassemble(in, in->snd);
    return 0;
}

static int closing_rst(struct tcp_in *in)
{
    if (!tcp_rst_ok(in))
        return -1;
    tcp_close_by_rst(in);
    if (in_has(in, TCP_ACK) && tcp_ack_ok(in, in->rcv))
        tcp_ack_update(in->rcv, in->ack);
    tcp_ack_update(in->snd, in->seq);
    take_timestamp(in);
    stream_reassemble(in, in->snd);
    return 0;
}

/* The checks that all closing states share. True: handled, with the result in *result. */
static bool closing_common(struct tcp_in *in, int *result)
{
    if (in_has(in, TCP_RST)) {
        *result = closing_rst(in);
        return true;
    }
    if (in_has(in, TCP_SYN) && !in_has(in, TCP_FIN)) {
        *result = in_refuse(in, EVENT_STREAM_SHUTDOWN_SYN_RESEND);
        return true;
    }
    *result = 0;
    if (!in_has(in, TCP_FIN) && !in_has(in, TCP_ACK))
        return true;
    return false;
}

/* Data that continue the sender's stream advance its next_seq. */
static void advance_sender(struct tcp_in *in, uint32_t fin_counted)
{
    if (in->snd->next_seq - fin_counted == in->seq)
        tcp_next_seq_update(in->ssn, in->snd, in_end(in));
}

/* ---- FIN_WAIT1 ---- */

static int fin_wait1_fin(struct tcp_in *in)
{
    bool has_ack = in_has(in, TCP_ACK);
    uint32_t counted = in_to_server(in) && has_ack ? 0 : 1;
    bool again = tcp_is_retransmission(in);

    if (!again && has_ack && !in_to_server(in) && in->seq == in->snd->next_seq - 1 &&
        in->ack == in->rcv->last_ack)
        again = true;
    if (!again && (seq_lt(in->seq, in->snd->next_seq - 1) || !within_window_of(in, in->snd)))
        return in_refuse(in, EVENT_STREAM_FIN1_FIN_WRONG_SEQ);
    if (!tcp_ack_ok(in, in->rcv))
        return in_refuse(in, EVENT_STREAM_FIN1_INVALID_ACK);
    if (!again) {
        tcp_set_state(in, has_ack ? TCP_TIME_WAIT : TCP_CLOSING);
        receiver_window(in);
    }
    take_timestamp(in);
    if (!again || in_to_server(in) || !has_ack) {
        raise_receiver_next_seq(in);
        advance_sender(in, counted);
        if (has_ack)
            tcp_ack_update(in->rcv, in->ack);
    }
    stream_reassemble(in, in->snd);
    return 0;
}

/* From the client: it has acknowledged the server's FIN if it has acknowledged everything. From the
 * server: only if it continues after its FIN. */
static int fin_wait1_progress(struct tcp_in *in)
{
    if (in_to_server(in) && in->ack != in->rcv->next_seq)
        return 0;
    if (!ends_in_window(in))
        return in_refuse(in, EVENT_STREAM_FIN1_ACK_WRONG_SEQ);
    if (in->seq == in->snd->next_seq - (in_to_server(in) ? 0 : 1))
        tcp_set_state(in, TCP_FIN_WAIT2);
    receiver_window(in);
    return 0;
}

static int fin_wait1_ack(struct tcp_in *in)
{
    bool again = tcp_is_retransmission(in);

    if (!tcp_ack_ok(in, in->rcv))
        return in_refuse(in, EVENT_STREAM_FIN1_INVALID_ACK);
    if (!again && fin_wait1_progress(in) < 0)
        return -1;
    take_timestamp(in);
    raise_receiver_next_seq(in);
    advance_sender(in, in_to_server(in) ? 0 : 1);
    tcp_ack_update(in->rcv, in->ack);
    tcp_window_update(in);
    stream_reassemble(in, in->snd);
    return 0;
}

int tcp_state_fin_wait1(struct tcp_in *in)
{
    int result;

    if (closing_common(in, &result))
        return result;
    if (timestamp_refused(in))
        return -1;
    return in_has(in, TCP_FIN) ? fin_wait1_fin(in) : fin_wait1_ack(in);
}

/* ---- FIN_WAIT2 ---- */

static int fin_wait2_fin(struct tcp_in *in)
{
    bool again = (in->seq == in->snd->next_seq - 1 && in->ack == in->rcv->last_ack);

    if (again)
        stream_slot(in->p)->flags |= STREAM_PKT_RETRANSMISSION;
    else
        again = tcp_is_retransmission(in);
    if (!again && (seq_lt(in->seq, in->snd->next_seq) || !within_window_of(in, in->snd)))
        return in_refuse(in, EVENT_STREAM_FIN2_FIN_WRONG_SEQ);
    if (!tcp_ack_ok(in, in->rcv))
        return in_refuse(in, EVENT_STREAM_FIN2_INVALID_ACK);
    if (!again) {
        tcp_set_state(in, TCP_TIME_WAIT);
        if (in_to_server(in))
            advance_sender(in, 0);
        receiver_window(in);
    }
    return take_segment(in);
}

static int fin_wait2_ack(struct tcp_in *in)
{
    bool again = tcp_is_retransmission(in);

    if (!tcp_ack_ok(in, in->rcv))
        return in_refuse(in, EVENT_STREAM_FIN2_INVALID_ACK);
    if (!again) {
        if (!ends_in_window(in))
            return in_refuse(in, EVENT_STREAM_FIN2_ACK_WRONG_SEQ);
        receiver_window(in);
    }
    take_timestamp(in);
    advance_sender(in, 0);
    tcp_ack_update(in->rcv, in->ack);
    tcp_window_update(in);
    stream_reassemble(in, in->snd);
    return 0;
}

int tcp_state_fin_wait2(struct tcp_in *in)
{
    int result;

    if (closing_common(in, &result))
        return result;
    if (timestamp_refused(in))
        return -1;
    return in_has(in, TCP_FIN) ? fin_wait2_fin(in) : fin_wait2_ack(in);
}

/* ---- CLOSING: both FINs, neither acknowledged ---- */

int tcp_state_closing(struct tcp_in *in)
{
    int result;
    bool again;

    if (closing_common(in, &result) || !in_has(in, TCP_ACK))
        return result;
    if (timestamp_refused(in))
        return -1;
    again = tcp_is_retransmission(in);
    if (in->seq != in->snd->next_seq)
        return in_refuse(in, EVENT_STREAM_CLOSING_ACK_WRONG_SEQ);
    if (!tcp_ack_ok(in, in->rcv))
        return in_refuse(in, EVENT_STREAM_CLOSING_INVALID_ACK);
    if (!again) {
        tcp_set_state(in, TCP_TIME_WAIT);
        receiver_window(in);
    }
    return take_segment(in);
}

/* --- CLOSE_WAIT: the client has closed, the server has not --- */

static int close_wait_fin(struct tcp_in *in)
{
    bool again = tcp_is_retransmission(in);

    if (!again && (seq_lt(in->seq, in->snd->next_seq) || !within_window_of(in, in->snd)))
        return in_refuse(in, EVENT_STREAM_CLOSEWAIT_FIN_OUT_OF_WINDOW);
    if (!tcp_ack_ok(in, in->rcv))
        return in_refuse(in, EVENT_STREAM_CLOSEWAIT_INVALID_ACK);
    if (!again) {
        if (!in_to_server(in))
            tcp_set_state(in, TCP_LAST_ACK);
        receiver_window(in);
    }
    return take_segment(in);
}

static int close_wait_ack(struct tcp_in *in)
{
    bool again = tcp_is_retransmission(in);

    if (in->len > 0 && seq_leq(in_end(in), in->snd->last_ack))
        return in_refuse(in, EVENT_STREAM_CLOSEWAIT_PKT_BEFORE_LAST_ACK);
    if (!within_window_of(in, in->snd))
        return in_refuse(in, EVENT_STREAM_CLOSEWAIT_ACK_OUT_OF_WINDOW);
    if (!tcp_ack_ok(in, in->rcv))
        return in_refuse(in, EVENT_STREAM_CLOSEWAIT_INVALID_ACK);
    if (!again)
        receiver_window(in);
    take_timestamp(in);
    raise_receiver_next_seq(in);
    advance_sender(in, 0);
    tcp_ack_update(in->rcv, in->ack);
    stream_reassemble(in, in->snd);
    return 0;
}

int tcp_state_close_wait(struct tcp_in *in)
{
    int result;

    if (closing_common(in, &result))
        return result;
    if (timestamp_refused(in))
        return -1;
    return in_has(in, TCP_FIN) ? close_wait_fin(in) : close_wait_ack(in);
}

/* ---- LAST_ACK ---- */

/* Only the client's ACK of the server's FIN is missing. Older segments change nothing. */
int tcp_state_last_ack(struct tcp_in *in)
{
    int result;
    bool again;

    if (closing_common(in, &result) || in_has(in, TCP_FIN))
        return result;
    if (timestamp_refused(in))
        return -1;
    if (!in_to_server(in))
        return 0;
    again = tcp_is_retransmission(in);
    if (!tcp_ack_ok(in, in->rcv))
        return in_refuse(in, EVENT_STREAM_LASTACK_INVALID_ACK);
    if (!again) {
        if (!seq_lt(in->seq, in->snd->next_seq)) {
            if (in->seq != in->snd->next_seq && in->seq != in->snd->next_seq + 1)
                return in_refuse(in, EVENT_STREAM_LASTACK_ACK_WRONG_SEQ);
            tcp_set_state(in, TCP_CLOSED);
        }
        receiver_window(in);
    }
    return take_segment(in);
}

/* ---- TIME_WAIT ---- */

static bool time_wait_seq_ok(const struct tcp_in *in)
{
    if (in->seq == in->snd->next_seq)
        return true;
    return in->seq == (in_to_server(in) ? in->snd->next_seq + 1 : in->snd->next_seq - 1);
}

int tcp_state_time_wait(struct tcp_in *in)
{
    int result;
    bool again;

    if (closing_common(in, &result) || in_has(in, TCP_FIN))
        return result;
    if (timestamp_refused(in))
        return -1;
    again = tcp_is_retransmission(in);
    if (!again && !time_wait_seq_ok(in)) {
        if (!in_to_server(in) && in->len > 0 && in->seq == in->snd->last_ack)
            return 0;
        return in_refuse(in, EVENT_STREAM_TIMEWAIT_ACK_WRONG_SEQ);
    }
    if (!tcp_ack_ok(in, in->rcv))
        return in_refuse(in, EVENT_STREAM_TIMEWAIT_INVALID_ACK);
    if (!again) {
        tcp_set_state(in, TCP_CLOSED);
        receiver_window(in);
    }
    return take_segment(in);
}

/* ---- CLOSED ---- */

/* Comes after a reset that the host may have ignored: if the connection continues, so does the
 * session. */
int tcp_state_closed(struct tcp_in *in)
{
    if (in_has(in, TCP_RST) || (in->snd->flags & STREAM_RST_RECEIVED) ||
        !(in->rcv->flags & STREAM_RST_RECEIVED))
        return 0;
    if (tcp_dispatch(in, in->ssn->former_state) < 0)
        return -1;
    if (in->ssn->state == TCP_CLOSED)
        in->ssn->state = in->ssn->former_state;
    return 0;
}
