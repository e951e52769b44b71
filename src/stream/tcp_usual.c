/* SPDX-License-Identifier: GPL-2.0-or-later */
/* stream/tcp_usual.c - the usual segment of an established session: it continues what its sender
 * has sent, and acknowledges what the other side has sent.
 *
 * Nearly all segments are like that, and for them the tests of tcp_peek.c, tcp_established.c and
 * tcp_check.c come to a few comparisons, which are here together. Everything else takes the general
 * path, so a test that is too strict costs time only. What is done here is what the general path
 * does with such a segment: tests/usual_test.c plays random segments through both. */
#include "stream/reassembly.h"
#include "stream/segment.h"
#include "stream/stream_conf.h"
#include "stream/stream_thread.h"
#include "stream/tcp.h"
#include "stream/tcp_seq.h"
#include "stream/tcp_session.h"

#define UNUSUAL_SESSION                                                                        \
    (SSN_MIDSTREAM | SSN_MIDSTREAM_ESTABLISHED | SSN_ASYNC | SSN_PROBE(TO_SERVER) |            \
     SSN_PROBE(TO_CLIENT) | SSN_WAITS(TO_SERVER) | SSN_WAITS(TO_CLIENT))
#define UNUSUAL_STREAM                                                                         \
    (STREAM_KEEPALIVE | STREAM_DEPTH_REACHED | STREAM_DEPTH_SIGNALLED | STREAM_ZERO_TIMESTAMP | \
     STREAM_RST_RECEIVED)

#define OTHER_THAN_ACK (TCP_SYN | TCP_FIN | TCP_RST | TCP_URG | TCP_ACK)

/* Settings under which each packet has more to be looked at. */
bool tcp_has_usual(const struct stream_conf *conf)
{
    return !conf->is_inline && !conf->ips && conf->snapshots == 0;
}

static bool session_is_usual(const struct tcp_in *in)
{
    const struct tcp_session *ssn = in->ssn;
    const struct tcp_stream *snd = in->snd, *rcv = in->rcv;

    return ssn->state == TCP_ESTABLISHED && (ssn->flags & UNUSUAL_SESSION) == 0 &&
           ((snd->flags | rcv->flags) & UNUSUAL_STREAM) == 0 && snd->holes == NULL &&
           rcv->holes == NULL && ssn->urgent_offset[in->dir] == 0 && snd->os != OS_UNKNOWN &&
           snd->window != 0 && !stream_compares(in->st->conf);
}

/* An ACK that acknowledges nothing and brings no data may be a probe, a window update or a
 * duplicate. */
static bool numbers_are_usual(const struct tcp_in *in)
{
    const struct tcp_stream *snd = in->snd, *rcv = in->rcv;
    uint32_t acked = in->ack - rcv->last_ack, sent = rcv->next_seq - rcv->last_ack;

    return in->seq == snd->next_seq && (int32_t)sent >= 0 && acked <= sent &&
           (acked | in->len) != 0 && seq_leq(in->ack, rcv->next_win) &&
           seq_leq(in_end(in), snd->next_win) && seq_leq(snd->last_ack, in->seq) &&
           seq_leq(snd->base_seq, in->seq);
}

/* As tcp_timestamp_ok(), where no system does anything of its own. */
static bool timestamp_is_usual(const struct tcp_in *in)
{
    const struct tcp_stream *snd = in->snd;
    uint32_t value = in->p->tcp_options.ts_value;

    if ((in->ssn->flags & SSN_TIMESTAMP) == 0)
        return true;
    return in_has_ts(in) && value != 0 && snd->os != OS_HPUX11 &&
           (int32_t)(value - snd->last_ts) >= 0 &&
           in_seconds(in) <= snd->last_ts_s + TCP_PAWS_24_DAYS_S;
}

/* The data are not beyond the depth, and follow directly on what there is. */
static bool data_are_usual(const struct tcp_in *in)
{
    const struct tcp_stream *snd = in->snd;
    int64_t at;
    uint32_t depth;

    if (in->len == 0 || (snd->flags & STREAM_NO_REASSEMBLY))
        return true;
    at = stream_abs(snd, in->seq);
    depth = stream_depth_of(in, in->dir);
    return at == stream_edge(snd) && (depth == 0 || at + in->len <= depth);
}

/* Both sides, as established_ack() and what it calls. */
static void take_header(struct tcp_in *in)
{
    struct tcp_session *ssn = in->ssn;
    struct tcp_stream *snd = in->snd, *rcv = in->rcv;
    uint32_t limit;

    ssn->tcp_flags |= in->flags;
    snd->tcp_flags |= in->flags;
    if (!in_to_server(in))
        ssn->flags |= SSN_3WHS_CONFIRMED;
    snd->next_seq = in_end(in);
    rcv->window = (uint32_t)in->window << rcv->wscale;
    tcp_ack_update(rcv, in->ack);
    if (ssn->flags & SSN_TIMESTAMP) {
        if (in->len == 0)
            snd->last_ts = in->p->tcp_options.ts_value;
        snd->last_ts_s = in_seconds(in);
    }
    limit = rcv->last_ack + rcv->window;
    if (seq_gt(limit, rcv->next_win))
        rcv->next_win = limit;
}

/* False: nothing has been done, the general path has to. */
bool tcp_usual(struct tcp_in *in)
{
    if (!session_is_usual(in) || (in->flags & OTHER_THAN_ACK) != TCP_ACK ||
        (in->p->tcp_options.has & ~TCP_HAS_TS) != 0 || !numbers_are_usual(in) ||
        !timestamp_is_usual(in) || !data_are_usual(in))
        return false;
    take_header(in);
    stream_reassemble_usual(in);
    in->p->flags |= PACKET_STREAM_OPEN;
    for (unsigned dir = 0; dir < 2; dir++)
        stream_slot(in->p)->sent[dir] = in->ssn->stream[dir].next_seq - in->ssn->stream[dir].isn;
    stream_prune(in, in->snd);
    return true;
}
