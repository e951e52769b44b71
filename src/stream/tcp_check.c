/* SPDX-License-Identifier: GPL-2.0-or-later */
/* stream/tcp_check.c - whether the receiving host would accept an ACK, a reset or a timestamp. An
 * attacker can send packets that hosts ignore, to make an IDS lose the stream. */
#include "stream/segment.h"
#include "stream/snapshot.h"
#include "stream/tcp.h"
#include "stream/tcp_seq.h"
#include "stream/tcp_session.h"

/* The receiver's system decides; it is looked up once per stream. */
enum os_policy tcp_receiver_os(struct tcp_in *in)
{
    if (UNLIKELY(in->snd->os == OS_UNKNOWN))
        in->snd->os = (uint8_t)os_policy_find(in->st->conf->os, &in->p->dst);
    return (enum os_policy)in->snd->os;
}

/* RFC 9293, section 3.10.7.4: not beyond what may have been sent, and not older than a window. */
static bool ack_in_window(const struct tcp_in *in, const struct tcp_stream *acked)
{
    if (in->ack == acked->last_ack)
        return true;
    if (seq_lt(in->ack, acked->last_ack))
        return acked->window == 0 || !seq_lt(in->ack, acked->last_ack - acked->window);
    if (seq_leq(in->ack, acked->next_win) || (in->ssn->flags & SSN_ASYNC))
        return true;
    /* the answer to a SYN that was refused */
    return in->ssn->state == TCP_SYN_SENT && !in_to_server(in) && in_has(in, TCP_RST) &&
           in->ack == acked->isn + 1;
}

bool tcp_ack_ok(const struct tcp_in *in, const struct tcp_stream *acked)
{
    if (!in_has(in, TCP_ACK) || LIKELY(ack_in_window(in, acked)))
        return true;
    in_event(in, EVENT_STREAM_PKT_INVALID_ACK);
    return false;
}

void tcp_ack_update(struct tcp_stream *s, uint32_t ack)
{
    if (!seq_gt(ack, s->last_ack) || !seq_gt(ack, s->base_seq))
        return;
    s->last_ack = ack;
    if (s->holes != NULL)
        sack_prune(&s->holes->sack, ack);
}

/* If only one side is seen, everything sent counts as received. */
void tcp_next_seq_update(const struct tcp_session *ssn, struct tcp_stream *s, uint32_t seq)
{
    s->next_seq = seq;
    if ((ssn->flags & SSN_ASYNC) && seq_gt(seq, s->last_ack))
        s->last_ack = seq;
}

void tcp_window_update(struct tcp_in *in)
{
    struct tcp_stream *s = in->rcv;
    uint32_t limit;

    sack_take(in, s);
    limit = s->last_ack + s->window + (s->holes != NULL ? sack_size(&s->holes->sack) : 0);
    if (seq_gt(limit, s->next_win))
        s->next_win = limit;
}

/* The event is raised even if the data are different: overlaps are handled on insertion. */
bool tcp_is_retransmission(struct tcp_in *in)
{
    if (in->len == 0 || !(seq_leq(in_end(in), in->snd->next_seq) ||
                          seq_lt(in->seq, in->snd->last_ack)))
        return false;
    stream_slot(in->p)->flags |= STREAM_PKT_RETRANSMISSION;
    in_event(in, EVENT_STREAM_PKT_RETRANSMISSION);
    return true;
}

/* ---- resets ---- */

#define OPTION_END 0
#define OPTION_NOP 1
#define OPTION_MD5 19
#define OPTION_AO 29

/* RFC 2385, RFC 5925: a host ignores a reset with a wrong signature, which ids cannot check. */
static COLD bool has_signature(const struct packet *p)
{
    struct bytes in = bytes_of(p->l4, p->l4_header_len);

    take_skip(&in, 20);
    while (bytes_have(&in, 1)) {
        uint8_t kind = take_u8(&in), len;

        if (kind == OPTION_END)
            break;
        if (kind == OPTION_NOP)
            continue;
        if (kind == OPTION_MD5 || kind == OPTION_AO)
            return true;
        len = take_u8(&in);
        take_skip(&in, len > 2 ? len - 2u : 0);
    }
    return false;
}

/* Checks how close to the expected sequence number a reset is, by system. RFC 5961, section 3.2,
 * requires the exact number; older systems accept more. */
static bool rst_seq_ok(const struct tcp_in *in, enum os_policy os)
{
    const struct tcp_stream *s = in->snd;

    switch (os) {
    case OS_HPUX11:
        return seq_geq(in->seq, s->next_seq);
    case OS_OLD_LINUX:
    case OS_LINUX:
    case OS_SOLARIS:
        return seq_geq(in_end(in), s->last_ack) && seq_lt(in->seq, s->next_seq + s->window);
    default:
        return in->seq == s->next_seq;
    }
}

/* A liberal session (after loss) accepts every reset. */
bool tcp_rst_ok(struct tcp_in *in)
{
    if (in->ssn->flags & SSN_LIBERAL)
        return true;
    if ((in->ssn->flags & SSN_TIMESTAMP) && !tcp_timestamp_ok(in))
        return false;
    if (in->len > 0)
        in_event(in, EVENT_STREAM_RST_WITH_DATA);
    if (in_has(in, TCP_ACK) && in->ack != 0 && !tcp_ack_ok(in, in->rcv)) {
        in_event(in, EVENT_STREAM_RST_INVALID_ACK);
        return false;
    }
    if (has_signature(in->p))
        in->rcv->flags |= STREAM_RST_RECEIVED;
    if (in->ssn->flags & SSN_ASYNC)
        return seq_geq(in->seq, in->snd->next_seq);
    return rst_seq_ok(in, tcp_receiver_os(in));
}

/* --- timestamps: PAWS, RFC 7323, section 5 --- */

enum ts_check {
    TS_COMPARE = 1,             /* else it is accepted unchecked */
    TS_IS_FIRST = 2,            /* replaces the newest one */
    TS_CLEAR = 4,              /* this host does not use timestamps after a zero one */
};

/* After a SYN with timestamp 0, systems treat the next timestamp differently. */
static unsigned ts_after_zero(const struct tcp_in *in, enum os_policy os)
{
    bool in_order = in->snd->next_seq == in->seq;

    switch (os) {
    case OS_LINUX:
    case OS_WINDOWS2K3:
        return TS_CLEAR;
    case OS_OLD_LINUX:
    case OS_WINDOWS:
    case OS_VISTA:
        return in_order ? TS_IS_FIRST : TS_COMPARE;
    default:
        return TS_COMPARE;
    }
}

/* Returns bits of enum ts_check. */
static unsigned ts_how(const struct tcp_in *in, enum os_policy os)
{
    unsigned check = TS_COMPARE;

    if (in->snd->flags & STREAM_ZERO_TIMESTAMP)
        check = ts_after_zero(in, os);
    if (os == OS_HPUX11 && in->snd->next_seq != in->seq)
        check &= ~(unsigned)TS_COMPARE;
    return check;
}

static bool ts_zero_ok(enum os_policy os)
{
    return os == OS_OLD_LINUX || os == OS_WINDOWS || os == OS_WINDOWS2K3 || os == OS_VISTA ||
           os == OS_SOLARIS;
}

enum ts_result { TS_NEWER, TS_AFTER_PAUSE, TS_OLD };

/* An older timestamp is refused, unless the connection was silent for so long that the timestamp
 * may have wrapped. */
static enum ts_result ts_compare(const struct tcp_in *in, enum os_policy os, uint32_t last_ts_s)
{
    const struct tcp_stream *s = in->snd;
    uint32_t slack = os == OS_LINUX || in->st->conf->liberal_timestamps ? 1 : 0;
    bool paused = in_seconds(in) > last_ts_s + TCP_PAWS_24_DAYS_S;

    if ((int32_t)(in->p->tcp_options.ts_value - s->last_ts + slack) >= 0 &&
        !(s->last_ts != 0 && paused))
        return TS_NEWER;
    return paused && s->next_seq == in->seq ? TS_AFTER_PAUSE : TS_OLD;
}

static uint32_t ts_last_seen(const struct tcp_in *in)
{
    if (in->snd->last_ts_s == 0 && (in->ssn->flags & SSN_MIDSTREAM))
        return in_seconds(in);
    return in->snd->last_ts_s;
}

bool tcp_timestamp_ok(struct tcp_in *in)
{
    enum os_policy os = tcp_receiver_os(in);
    bool refused;

    if (!in_has_ts(in))
        return true;
    refused = in->p->tcp_options.ts_value == 0 && !ts_zero_ok(os);
    if (!refused && (ts_how(in, os) & TS_COMPARE))
        refused = ts_compare(in, os, ts_last_seen(in)) == TS_OLD;
    if (refused)
        in_event(in, EVENT_STREAM_PKT_INVALID_TIMESTAMP);
    return !refused;
}

void tcp_timestamp_take(struct tcp_in *in)
{
    enum os_policy os = tcp_receiver_os(in);
    struct tcp_stream *s = in->snd;
    unsigned check;

    if (!in_has_ts(in)) {
        if (os == OS_SOLARIS)
            in->ssn->flags &= ~(uint32_t)SSN_TIMESTAMP;
        return;
    }
    check = ts_how(in, os);
    if (check & TS_CLEAR)
        in->ssn->flags &= ~(uint32_t)SSN_TIMESTAMP;
    else if ((s->flags & STREAM_ZERO_TIMESTAMP) && os != OS_BSD)
        s->flags &= (uint16_t)~STREAM_ZERO_TIMESTAMP;
    if (check & TS_IS_FIRST)
        s->last_ts = in->p->tcp_options.ts_value;
    if (in->p->tcp_options.ts_value == 0 && !ts_zero_ok(os)) {
        in_event(in, EVENT_STREAM_PKT_INVALID_TIMESTAMP);
        return;
    }
    if ((check & TS_COMPARE) == 0)
        return;
    s->last_ts_s = ts_last_seen(in);
    switch (ts_compare(in, os, s->last_ts_s)) {
    case TS_NEWER:
        if (s->next_seq == in->seq)
            s->last_ts = in->p->tcp_options.ts_value;
        s->last_ts_s = in_seconds(in);
        break;
    case TS_AFTER_PAUSE:
        s->last_ts = in->p->tcp_options.ts_value;
        s->last_ts_s = in_seconds(in);
        break;
    case TS_OLD:
        in_event(in, EVENT_STREAM_PKT_INVALID_TIMESTAMP);
        break;
    }
}
