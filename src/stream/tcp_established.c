/* SPDX-License-Identifier: GPL-2.0-or-later */
/* stream/tcp_established.c - the established state: data in both directions, and the first FIN. */
#include "stream/reassembly.h"
#include "stream/segment.h"
#include "stream/snapshot.h"
#include "stream/tcp.h"
#include "stream/tcp_seq.h"
#include "stream/tcp_session.h"

/* RFC 7323: only when both sides have offered timestamps. */
static void take_timestamp(struct tcp_in *in)
{
    if (in->ssn->flags & SSN_TIMESTAMP)
        tcp_timestamp_take(in);
}

static bool timestamp_refused(struct tcp_in *in)
{
    return (in->ssn->flags & SSN_TIMESTAMP) && !tcp_timestamp_ok(in);
}

/* RFC 9293, section 3.5.3: a valid reset ends the connection. Bytes up to it are still
 * reassembled. */
static int established_rst(struct tcp_in *in)
{
    struct tcp_stream *snd = in->snd, *rcv = in->rcv;

    if (!tcp_rst_ok(in))
        return -1;
    tcp_close_by_rst(in);
    rcv->next_seq = in->ack;
    snd->next_seq = in_end(in) + (in_to_server(in) ? 0 : 1);
    snd->window = (uint32_t)in->window << snd->wscale;
    if (in_has(in, TCP_ACK) && tcp_ack_ok(in, rcv))
        tcp_ack_update(rcv, in->ack);
    tcp_ack_update(snd, in->seq);
    take_timestamp(in);
    stream_reassemble(in, snd);
    return 0;
}

/* Usually the server's FIN comes first. It is counted in next_seq; the client's is not. */
int tcp_fin(struct tcp_in *in)
{
    struct tcp_stream *snd = in->snd, *rcv = in->rcv;

    if (!tcp_ack_ok(in, rcv))
        return in_refuse(in, EVENT_STREAM_FIN_INVALID_ACK);
    if (!seq_geq(in->seq, snd->last_ack) || !seq_leq(in_end(in), snd->next_win))
        return in_refuse(in, EVENT_STREAM_FIN_OUT_OF_WINDOW);
    if (in_to_server(in) && in_has(in, TCP_SYN))
        return in_refuse(in, EVENT_STREAM_FIN_SYN);
    tcp_set_state(in, in_to_server(in) ? TCP_CLOSE_WAIT : TCP_FIN_WAIT1);
    snd->next_seq = in_end(in) + (in_to_server(in) ? 0 : 1);
    rcv->window = (uint32_t)in->window << rcv->wscale;
    take_timestamp(in);
    if (seq_lt(rcv->next_seq, in->ack))
        rcv->next_seq = in->ack;
    if (in_has(in, TCP_ACK))
        tcp_ack_update(rcv, in->ack);
    stream_reassemble(in, snd);
    return 0;
}

/* A second SYN/ACK is only normal while the client's ACK may have been lost. */
static int established_synack(struct tcp_in *in)
{
    if (in_to_server(in))
        return in_refuse(in, EVENT_STREAM_EST_SYNACK_TOSERVER);
    if (in->ack != in->rcv->last_ack)
        return in_refuse(in, EVENT_STREAM_EST_SYNACK_RESEND_WITH_DIFF_ACK);
    if (in->seq != in->snd->isn)
        return in_refuse(in, EVENT_STREAM_EST_SYNACK_RESEND_WITH_DIFF_SEQ);
    if (in->ssn->flags & SSN_3WHS_CONFIRMED)
        return in_refuse(in, EVENT_STREAM_EST_SYNACK_RESEND);
    return 0;
}

/* Distinguishes a resent SYN from another one by the ACK field. That is questionable, but existing
 * rules expect these events. */
static int established_syn(struct tcp_in *in)
{
    if (!in_to_server(in))
        return in_refuse(in, EVENT_STREAM_EST_SYN_TOCLIENT);
    if (in->ack != in->snd->isn)
        return in_refuse(in, EVENT_STREAM_EST_SYN_RESEND_DIFF_SEQ);
    return in_refuse(in, EVENT_STREAM_EST_SYN_RESEND);
}

/* A segment that ends before what the other side has acknowledged. If one side is unseen, that ACK
 * was only assumed and is moved. After packet loss here the ACK may be ahead of what was seen. */
static bool before_last_ack_ok(struct tcp_in *in)
{
    struct tcp_session *ssn = in->ssn;
    struct tcp_stream *snd = in->snd;
    bool oneside = in->st->conf->async_oneside && (ssn->flags & SSN_MIDSTREAM);

    if (ssn->flags & SSN_ASYNC) {
        if (in_to_server(in))
            tcp_ack_update(snd, in->seq);
        else
            snd->last_ack = in->seq;
        return true;
    }
    if (in_to_server(in) && oneside &&
        (in->seq == snd->next_seq || snd->last_ack == snd->isn + 1)) {
        tcp_ack_update(snd, in->seq);
        ssn->flags |= SSN_ASYNC;
        return true;
    }
    return seq_gt(snd->last_ack, snd->next_seq) && seq_gt(in_end(in), snd->next_seq);
}

/* A keep-alive has sequence number next_seq - 1 and at most one byte (RFC 9293, section 3.8.4). */
static bool is_keepalive_like(const struct tcp_in *in)
{
    return in->len <= 1 && in->seq == in->snd->next_seq - 1;
}

/* A zero-window probe carries the next byte although the receiver has no space for it. */
static bool is_window_probe(const struct tcp_in *in)
{
    return UNLIKELY(in->snd->window == 0) && in->len == 1 && in->seq == in->snd->next_seq;
}

/* An ACK of a zero-window probe's byte (RFC 9293, section 3.8.6.1) is valid, though that byte is
 * not data. */
static int ack_check(struct tcp_in *in)
{
    if (UNLIKELY(in->acks_probe) && in->ack == in->rcv->next_seq + 1) {
        in_event(in, EVENT_STREAM_EST_ACK_ZWP_DATA);
        return 0;
    }
    return tcp_ack_ok(in, in->rcv) ? 0 : in_refuse(in, EVENT_STREAM_EST_INVALID_ACK);
}

/* The first packet of a side that was not seen before shows its window. */
static void learn_midstream_window(struct tcp_in *in)
{
    struct tcp_stream *snd = in->snd;

    snd->window = (uint32_t)in->window << snd->wscale;
    snd->next_win = snd->last_ack + snd->window;
    in->ssn->flags &= ~(uint32_t)SSN_MIDSTREAM_ESTABLISHED;
}

/* The ACK moves last_ack. Beyond next_seq, it acknowledges data that were lost on the way here. */
static void take_ack(struct tcp_in *in)
{
    struct tcp_stream *rcv = in->rcv;

    tcp_ack_update(rcv, in->ack);
    if (UNLIKELY(seq_gt(rcv->last_ack, rcv->next_seq)) && !(in->ssn->flags & SSN_ASYNC)) {
        stream_slot(in->p)->flags |= STREAM_PKT_ACK_UNSEEN_DATA;
        counter_inc(in->st->counters, in->st->id.ack_unseen_data);
    }
}

#define PICKED_UP_TO_CLIENT (SSN_MIDSTREAM | SSN_MIDSTREAM_ESTABLISHED)

/* Data and acknowledgments: nearly all packets. */
static int established_ack(struct tcp_in *in)
{
    struct tcp_stream *snd = in->snd, *rcv = in->rcv;

    if (UNLIKELY(ack_check(in) < 0))
        return -1;
    if (UNLIKELY((in->ssn->flags & PICKED_UP_TO_CLIENT) == PICKED_UP_TO_CLIENT) &&
        !in_to_server(in))
        learn_midstream_window(in);
    if (UNLIKELY(!is_keepalive_like(in) && seq_lt(in_end(in), snd->last_ack)) &&
        !before_last_ack_ok(in))
        return in_refuse(in, EVENT_STREAM_EST_PKT_BEFORE_LAST_ACK);
    if (is_window_probe(in)) {
        in->ssn->flags |= SSN_PROBE(in->dir);
        stream_slot(in->p)->flags |= STREAM_PKT_ZERO_WINDOW_PROBE;
        stream_reassemble(in, snd);
        return 0;
    }
    if (seq_geq(in_end(in), snd->next_seq))
        tcp_next_seq_update(in->ssn, snd, in_end(in));
    if (UNLIKELY(!seq_leq(in_end(in), snd->next_win)) &&
        !(in->ssn->flags & (SSN_MIDSTREAM | SSN_ASYNC)))
        return in_refuse(in, EVENT_STREAM_EST_PACKET_OUT_OF_WINDOW);
    rcv->window = (uint32_t)in->window << rcv->wscale;
    take_ack(in);
    take_timestamp(in);
    tcp_window_update(in);
    stream_reassemble(in, snd);
    return 0;
}

/* Entry of the state. -1: refuse the packet; in IPS mode with drop-invalid it is dropped. */
int tcp_state_established(struct tcp_in *in)
{
    if (UNLIKELY(in->flags & (TCP_RST | TCP_FIN | TCP_SYN))) {
        if (in_has(in, TCP_RST))
            return established_rst(in);
        if (in_has(in, TCP_FIN))
            return timestamp_refused(in) ? -1 : tcp_fin(in);
        return in_has(in, TCP_ACK) ? established_synack(in) : established_syn(in);
    }
    if (!in_has(in, TCP_ACK))
        return 0;
    if (timestamp_refused(in))
        return -1;
    if (!in_to_server(in))
        in->ssn->flags |= SSN_3WHS_CONFIRMED;
    /* such a segment is not taken, but is not what drop-invalid is for */
    (void)established_ack(in);
    return 0;
}
