/* SPDX-License-Identifier: GPL-2.0-or-later */
/* stream/tcp_peek.c - segments that change nothing and must not reach the state functions:
 * keep-alives, answers to window probes, old ACKs, window updates out of nowhere. */
#include "stream/segment.h"
#include "stream/snapshot.h"
#include "stream/tcp.h"
#include "stream/tcp_seq.h"
#include "stream/tcp_session.h"

#define NOT_PLAIN (TCP_SYN | TCP_FIN | TCP_RST)

/* RFC 9293, section 3.8.4: no byte, or one that was sent already, directly before the next sequence
 * number. A byte that was not seen before (an ACK ran ahead of it) is data. */
static bool is_keepalive(struct tcp_in *in)
{
    if (in->len == 1 && seq_lt(in->snd->right_edge, in_end(in)))
        return false;
    if (in->len > 1 || in_has(in, NOT_PLAIN) || in->ack != in->rcv->last_ack ||
        in->seq != in->snd->next_seq - 1)
        return false;
    in->snd->flags |= STREAM_KEEPALIVE;
    stream_slot(in->p)->flags |= STREAM_PKT_KEEPALIVE;
    return true;
}

static bool is_keepalive_ack(struct tcp_in *in)
{
    struct tcp_stream *rcv = in->rcv;

    if (!(rcv->flags & STREAM_KEEPALIVE) || in->len > 0 || in_has(in, NOT_PLAIN) ||
        in->window == 0)
        return false;
    if ((uint32_t)in->window << rcv->wscale != rcv->window || in->ack != rcv->last_ack ||
        in->seq != in->snd->next_seq)
        return false;
    rcv->flags &= (uint16_t)~STREAM_KEEPALIVE;
    stream_slot(in->p)->flags |= STREAM_PKT_KEEPALIVE_ACK;
    return true;
}

static bool is_bare_ack(const struct tcp_in *in)
{
    return in->ssn->state >= TCP_ESTABLISHED && in->len == 0 &&
           (in->flags & (TCP_ACK | NOT_PLAIN)) == TCP_ACK;
}

/* The receiver of a zero-window probe answers that its window is still closed. */
static bool is_probe_ack(const struct tcp_in *in)
{
    return is_bare_ack(in) && in->window == 0 && in->rcv->window == 0 &&
           in->seq == in->snd->next_seq && in->ack == in->rcv->last_ack;
}

/* The last ACK of a shutdown counts the FINs. */
static bool is_shutdown_ack(const struct tcp_in *in)
{
    uint8_t state = in->ssn->state;

    return (state == TCP_TIME_WAIT || state == TCP_CLOSE_WAIT || state == TCP_LAST_ACK) &&
           in->flags == TCP_ACK && in->len == 0 && in->seq == in->snd->next_seq + 1 &&
           in->ack == in->rcv->next_seq + 1;
}

static bool is_window_update(const struct tcp_in *in)
{
    if (in->ssn->state < TCP_ESTABLISHED || in->len != 0 || in_has(in, NOT_PLAIN) ||
        in->window == 0 || (uint32_t)in->window << in->rcv->wscale == in->rcv->window ||
        in->ack != in->rcv->last_ack || in->seq != in->snd->next_seq)
        return false;
    stream_slot(in->p)->flags |= STREAM_PKT_WINDOW_UPDATE;
    return true;
}

/* Only computed if an output or rule needs it. */
static COLD void flag_dup_ack(const struct tcp_in *in)
{
    uint32_t window = (uint32_t)in->window << in->snd->wscale;

    if (is_bare_ack(in) && window != 0 && window == in->rcv->window &&
        in->seq == in->snd->next_seq && in->ack == in->rcv->last_ack)
        stream_slot(in->p)->flags |= STREAM_PKT_DUP_ACK;
}

/* A window that shrinks by more than the data that came in, in a segment that is ahead on both
 * sides, was injected on the path. Small windows may shrink exactly, larger ones with some
 * slack. */
static bool is_bad_window_update(const struct tcp_in *in)
{
    const struct tcp_stream *rcv = in->rcv;
    uint32_t window = (uint32_t)in->window << rcv->wscale, shrunk, acked;

    if (in->ssn->state < TCP_ESTABLISHED || in->ssn->state == TCP_CLOSED ||
        in_has(in, NOT_PLAIN) || window >= rcv->window)
        return false;
    shrunk = rcv->window - window;
    if (shrunk <= in->len || !seq_gt(in->ack, rcv->next_seq) ||
        !seq_gt(in->seq, in->snd->next_seq))
        return false;
    acked = in->ack - rcv->last_ack;
    if (shrunk <= (window > 1024 ? acked + 32 : acked))
        return false;
    in_event(in, EVENT_STREAM_PKT_BAD_WINDOW_UPDATE);
    return true;
}

static bool is_outdated_ack(const struct tcp_in *in)
{
    if (!is_bare_ack(in) || in->seq != in->snd->next_seq ||
        !seq_lt(in->ack, in->rcv->last_ack))
        return false;
    return !(in->p->tcp_options.has & TCP_HAS_SACK) || sack_is_outdated(in, in->rcv);
}

/* Data that were acknowledged before. They are only ignored when they are done with; otherwise
 * overlaps are still compared. */
static bool is_spurious_retransmission(const struct tcp_in *in)
{
    const struct tcp_stream *snd = in->snd;
    bool done = !(snd->flags & STREAM_NO_REASSEMBLY) && seq_leq(in_end(in), snd->base_seq);

    if (in->len == 0 || !(done || seq_leq(in_end(in), snd->last_ack)))
        return false;
    stream_slot(in->p)->flags |= STREAM_PKT_SPURIOUS_RETRANSMISSION;
    in_event(in, EVENT_STREAM_PKT_SPURIOUS_RETRANSMISSION);
    return done;
}

bool tcp_is_special(struct tcp_in *in)
{
    bool probe_ack;

    if (is_keepalive(in))
        return true;
    if (is_keepalive_ack(in)) {
        in->snd->flags &= (uint16_t)~STREAM_KEEPALIVE;
        return true;
    }
    in->snd->flags &= (uint16_t)~STREAM_KEEPALIVE;
    in->acks_probe = (in->ssn->flags & SSN_PROBE(OTHER_DIRECTION(in->dir))) != 0;
    probe_ack = in->acks_probe && is_probe_ack(in);
    in->ssn->flags &= ~SSN_PROBE(OTHER_DIRECTION(in->dir));
    if (probe_ack) {
        stream_slot(in->p)->flags |= STREAM_PKT_ZERO_WINDOW_PROBE_ACK;
        return true;
    }
    if (UNLIKELY(in->st->conf->snapshots != 0))
        flag_dup_ack(in);
    if (!is_shutdown_ack(in) && !is_window_update(in) &&
        (is_bad_window_update(in) || is_outdated_ack(in)))
        return true;
    return is_spurious_retransmission(in);
}
