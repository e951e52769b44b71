/* SPDX-License-Identifier: GPL-2.0-or-later */
/* stream/stream_export.c - TCP sessions on their way to another process, and those of another one.
 *
 * The data that both processes know are not the same: what the other one has seen is gone. So the
 * data of a session begin at the next sequence number, as after a midstream pickup. But windows,
 * options and the direction are known. */
#include "stream/stream_thread.h"
#include "stream/tcp.h"

#define FLAGS_THAT_GO                                                                             \
    (STREAM_NO_REASSEMBLY | STREAM_DEPTH_REACHED | STREAM_DEPTH_SIGNALLED | STREAM_TIMESTAMP |    \
     STREAM_ZERO_TIMESTAMP | STREAM_RST_RECEIVED)
#define SESSION_FLAGS_LEFT_BEHIND                                                                 \
    (SSN_WAITS(TO_SERVER) | SSN_WAITS(TO_CLIENT) | SSN_PROBE(TO_SERVER) | SSN_PROBE(TO_CLIENT))

void stream_export(const struct flow *flow, struct tcp_export *out)
{
    const struct tcp_session *ssn = flow->tcp;

    *out = (struct tcp_export){ 0 };
    if (ssn == NULL)
        return;
    out->has_session = 1;
    out->flags = ssn->flags & ~(uint32_t)SESSION_FLAGS_LEFT_BEHIND;
    out->state = ssn->state;
    out->former_state = ssn->former_state;
    out->tcp_flags = ssn->tcp_flags;
    for (unsigned dir = 0; dir < 2; dir++) {
        const struct tcp_stream *s = &ssn->stream[dir];

        out->dir[dir] = (struct tcp_export_dir){
            .isn = s->isn, .next_seq = s->next_seq, .last_ack = s->last_ack,
            .next_win = s->next_win, .window = s->window, .last_ts = s->last_ts,
            .last_ts_s = s->last_ts_s, .flags = s->flags & FLAGS_THAT_GO, .wscale = s->wscale,
            .tcp_flags = s->tcp_flags,
        };
    }
}

struct slice stream_tail(const struct flow *flow, enum direction d, uint32_t len)
{
    const struct tcp_session *ssn = flow->tcp;
    const struct tcp_stream *s = ssn != NULL ? &ssn->stream[d] : NULL;
    const struct flow_tail *earlier = flow_tail(flow, d);
    bool has_stored = s != NULL && s->buffer != NULL;
    int64_t from;

    if (!has_stored && earlier != NULL && earlier->bytes.len == earlier->old)
        return buf_slice(&earlier->bytes);
    if (!has_stored || s->delivered != stream_edge(s) ||
        s->delivered != stream_abs(s, s->next_seq))
        return (struct slice){ 0 };
    from = MAX(s->delivered - MIN(len, FLOW_TAIL_MAX), s->offset);
    return (struct slice){ s->buffer + s->start + (from - s->offset),
                           (uint32_t)(s->delivered - from) };
}

/* The session's own start (isn) stays: it recognises repeated SYNs. */
static void take_stream(struct tcp_stream *s, const struct tcp_export_dir *from)
{
    s->isn = from->isn;
    s->next_seq = s->base_seq = s->right_edge = from->next_seq;
    s->last_ack = from->last_ack;
    s->next_win = from->next_win;
    s->window = from->window;
    s->last_ts = from->last_ts;
    s->last_ts_s = from->last_ts_s;
    s->flags = from->flags & FLAGS_THAT_GO;
    s->wscale = MIN(from->wscale, (uint8_t)TCP_WSCALE_LIMIT);
    s->tcp_flags = from->tcp_flags;
}

static void take_session(struct stream_thread *st, struct flow *flow, struct packet *p,
                         const struct tcp_export *from)
{
    struct tcp_in in = { .st = st, .p = p, .flow = flow, .dir = packet_direction(p) };
    struct tcp_session *ssn = tcp_session_new(&in);

    if (ssn == NULL)
        return;                         /* at the memcap: its policy has decided */
    ssn->flags = from->flags & ~(uint32_t)SESSION_FLAGS_LEFT_BEHIND;
    ssn->state = (uint8_t)MIN(from->state, (uint8_t)TCP_CLOSED);
    ssn->former_state = (uint8_t)MIN(from->former_state, (uint8_t)TCP_CLOSED);
    ssn->tcp_flags = from->tcp_flags;
    if (ssn->state >= TCP_ESTABLISHED)
        ssn->flags |= SSN_MIDSTREAM;
    for (unsigned dir = 0; dir < 2; dir++)
        take_stream(&ssn->stream[dir], &from->dir[dir]);
}

bool stream_continue(struct stream_thread *st, struct flow *flow, struct packet *p)
{
    struct flow_import from;

    if (!flow_table_continue(st->flows, flow, &from))
        return false;
    if (packet_is_tcp(p) && from.flow.tcp.has_session)
        take_session(st, flow, p, &from.flow.tcp);
    return true;
}
