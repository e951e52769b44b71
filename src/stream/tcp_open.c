/* SPDX-License-Identifier: GPL-2.0-or-later */
/* stream/tcp_open.c - the states up to an established session: no session, SYN sent, SYN received
 * (RFC 9293, section 3.5).
 *
 * Besides the three-way handshake: four-way (a SYN answered by a SYN), TCP Fast Open, several SYNs
 * or SYN/ACKs, one side only, and sessions that are picked up midstream. */
#include "stream/reassembly.h"
#include "stream/segment.h"
#include "stream/stream_conf.h"
#include "stream/tcp.h"
#include "stream/tcp_seq.h"
#include "stream/tcp_session.h"

static struct tcp_stream *client_of(const struct tcp_in *in) { return &in->ssn->stream[TO_SERVER]; }
static struct tcp_stream *server_of(const struct tcp_in *in) { return &in->ssn->stream[TO_CLIENT]; }

/* The first data byte has sequence number isn + 1: the SYN counts as one. */
static void stream_start(struct tcp_stream *s, uint32_t isn)
{
    s->isn = isn;
    stream_set_base(s, isn);
    s->next_seq = isn + 1;
}

/* A timestamp of 0 is legal, so the flag distinguishes it from "none yet". */
static void first_timestamp(const struct tcp_in *in, struct tcp_stream *s)
{
    s->last_ts = in->p->tcp_options.ts_value;
    s->last_ts_s = in_seconds(in);
    if (s->last_ts == 0)
        s->flags |= STREAM_ZERO_TIMESTAMP;
}

/* ---- no session ---- */

/* Makes the session of a packet that starts one; false at the memcap. */
static bool open_session(struct tcp_in *in, bool is_pickup)
{
    if (in->ssn != NULL)
        return true;
    in->ssn = tcp_session_new(in);
    if (in->ssn == NULL)
        return false;
    if (is_pickup)
        counter_inc(in->st->counters, in->st->id.midstream_pickups);
    return true;
}

static bool policy_allows_pickup(const struct stream_conf *conf)
{
    return conf->midstream_policy == EXCEPTION_IGNORE ||
           conf->midstream_policy == EXCEPTION_PASS_FLOW;
}

static void midstream_policy(struct tcp_in *in)
{
    const struct stream_conf *conf = in->st->conf;

    exception_policy_apply(conf->midstream_policy, in->p, DROP_STREAM_MIDSTREAM, conf->ips);
    exception_counters_inc(&in->st->id.midstream, in->st->counters, conf->midstream_policy);
}

/* One packet shows both timestamps: the sender's, and the one that it echoes. */
static void pickup_timestamps(struct tcp_in *in)
{
    struct tcp_stream *snd = in->snd, *rcv = in->rcv;

    snd->last_ts = rcv->last_ts = 0;
    if (!in_has_ts(in))
        return;
    first_timestamp(in, snd);
    rcv->last_ts = in->p->tcp_options.ts_echo;
    if (rcv->last_ts == 0)
        rcv->flags |= STREAM_ZERO_TIMESTAMP;
    in->ssn->flags |= SSN_TIMESTAMP;
}

/* Picks up a session from a segment. Its sender counts as the client. Windows are unknown, so the
 * largest scaling is assumed. `closing`: the segment has a FIN. */
static int pick_up(struct tcp_in *in, bool closing)
{
    struct tcp_stream *client, *server;

    if (!open_session(in, true))
        return -1;
    client = in->snd = client_of(in);
    server = in->rcv = server_of(in);
    tcp_set_state(in, closing ? TCP_FIN_WAIT1 : TCP_ESTABLISHED);
    in->ssn->flags = SSN_MIDSTREAM | SSN_MIDSTREAM_ESTABLISHED | SSN_SACK_OK;
    if (in->st->conf->async_oneside)
        in->ssn->flags |= SSN_ASYNC;
    client->wscale = server->wscale = TCP_WSCALE_LIMIT;
    stream_start(client, in->seq - 1);
    client->next_seq = in_end(in) + (closing ? 1 : 0);
    client->window = (uint32_t)in->window << client->wscale;
    client->last_ack = in->seq;
    client->next_win = client->last_ack + client->window;
    stream_start(server, in->ack - 1);
    server->last_ack = server->next_win = in->ack;
    pickup_timestamps(in);
    stream_reassemble(in, client);
    return 0;
}

/* A SYN/ACK whose SYN was not seen: client and server are the reverse of what the first packet
 * suggested. */
static void swap_flow(struct tcp_in *in)
{
    in->flow->swapped = !in->flow->swapped;
    in->dir = OTHER_DIRECTION(in->dir);
    in->p->flags ^= PACKET_TO_CLIENT;
    in->flow->seen[TO_CLIENT] = in->flow->seen[TO_SERVER];
    in->flow->seen[TO_SERVER] = 0;
    in->flow->min_ttl[TO_CLIENT] = in->flow->min_ttl[TO_SERVER];
    in->flow->max_ttl[TO_CLIENT] = in->flow->max_ttl[TO_SERVER];
    in->flow->min_ttl[TO_SERVER] = in->flow->max_ttl[TO_SERVER] = 0;
}

/* Picks up from a SYN/ACK: the server's window is known, the client's scaling is assumed. */
static int pick_up_synack(struct tcp_in *in)
{
    struct tcp_stream *client, *server;

    if (!open_session(in, true))
        return -1;
    if (in_to_server(in))
        swap_flow(in);
    client = in->rcv = client_of(in);
    server = in->snd = server_of(in);
    server->tcp_flags = in->flags;
    client->tcp_flags = 0;
    tcp_set_state(in, TCP_SYN_RECV);
    in->ssn->flags |= SSN_MIDSTREAM | SSN_MIDSTREAM_SYNACK;
    if (in->st->conf->async_oneside)
        in->ssn->flags |= SSN_ASYNC;
    stream_start(server, in->seq);
    server->window = in->window;
    stream_start(client, in->ack - 1);
    client->last_ack = in->ack;
    server->last_ack = in->seq;
    server->next_win = server->last_ack + server->window;
    if (in->p->tcp_options.has & TCP_HAS_WSCALE) {
        client->wscale = in->p->tcp_options.window_scale;
        server->wscale = TCP_WSCALE_LIMIT;
    }
    pickup_timestamps(in);
    if (in->p->tcp_options.has & TCP_HAS_SACK_OK)
        in->ssn->flags |= SSN_SACK_OK;
    return 0;
}

/* RFC 7413: the SYN may carry data. */
static void take_fast_open(struct tcp_in *in)
{
    in->ssn->flags |= SSN_FAST_OPEN;
    if (in->len == 0)
        return;
    tcp_next_seq_update(in->ssn, in->snd, in->snd->next_seq + in->len);
    stream_reassemble(in, in->snd);
}

/* The usual start. Options count once the SYN/ACK agrees to them; see synack_apply(). */
static int open_by_syn(struct tcp_in *in)
{
    const struct tcp_options *o = &in->p->tcp_options;
    struct tcp_stream *client, *server;

    if (!open_session(in, false))
        return -1;
    client = in->snd = client_of(in);
    server = in->rcv = server_of(in);
    tcp_set_state(in, TCP_SYN_SENT);
    if (in->st->conf->async_oneside)
        in->ssn->flags |= SSN_ASYNC;
    stream_start(client, in->seq);
    if (in_has_ts(in)) {
        first_timestamp(in, client);
        client->flags |= STREAM_TIMESTAMP;
    }
    server->window = in->window;
    if (o->has & TCP_HAS_WSCALE) {
        in->ssn->flags |= SSN_SERVER_WSCALE;
        server->wscale = o->window_scale;
    }
    if (o->has & TCP_HAS_SACK_OK)
        in->ssn->flags |= SSN_CLIENT_SACK_OK;
    if (o->has & TCP_HAS_FASTOPEN)
        take_fast_open(in);
    return 0;
}

/* No session yet. A reset never makes one; FIN and data only do with midstream pickup, a SYN/ACK
 * with async-oneside, too. */
int tcp_state_none(struct tcp_in *in)
{
    const struct stream_conf *conf = in->st->conf;

    if (in_has(in, TCP_RST))
        return in_refuse(in, EVENT_STREAM_RST_BUT_NO_SESSION);
    if (in_has(in, TCP_FIN)) {
        midstream_policy(in);
        if (!conf->midstream || in->len == 0 || !policy_allows_pickup(conf))
            return in_refuse(in, EVENT_STREAM_FIN_BUT_NO_SESSION);
        return pick_up(in, true);
    }
    if ((in->flags & (TCP_SYN | TCP_ACK)) == TCP_SYN)
        return open_by_syn(in);
    if (!in_has(in, TCP_ACK))
        return 0;
    midstream_policy(in);
    if (!policy_allows_pickup(conf))
        return 0;
    if (in_has(in, TCP_SYN))
        return conf->midstream || conf->async_oneside ? pick_up_synack(in) : 0;
    return conf->midstream ? pick_up(in, false) : 0;
}

/* ---- SYN sent ---- */

/* Applies a SYN/ACK, from the queue or from the packet: both sides are known now. */
static void synack_apply(struct tcp_in *in, const struct syn_record *synack)
{
    struct tcp_session *ssn = in->ssn;
    struct tcp_stream *client = client_of(in), *server = server_of(in);

    tcp_set_state(in, TCP_SYN_RECV);
    stream_start(server, synack->seq);
    client->window = synack->window;
    if ((synack->flags & SYN_HAS_TS) && (client->flags & STREAM_TIMESTAMP)) {
        server->last_ts = synack->ts;
        server->last_ts_s = synack->seen_s;
        ssn->flags |= SSN_TIMESTAMP;
        if (server->last_ts == 0)
            server->flags |= STREAM_ZERO_TIMESTAMP;
    } else {
        client->last_ts = server->last_ts = 0;
        client->flags &= (uint16_t)~STREAM_ZERO_TIMESTAMP;
    }
    client->last_ack = synack->ack;
    server->last_ack = server->isn + 1;
    client->wscale = 0;
    if ((ssn->flags & SSN_SERVER_WSCALE) && (synack->flags & SYN_HAS_WSCALE))
        client->wscale = synack->wscale;
    ssn->flags &= ~(uint32_t)(SSN_SACK_OK | SSN_4WHS);
    if ((ssn->flags & SSN_CLIENT_SACK_OK) && (synack->flags & SYN_HAS_SACK))
        ssn->flags |= SSN_SACK_OK;
    server->next_win = server->last_ack + server->window;
    client->next_win = client->last_ack + client->window;
}

/* The SYN/ACK must echo the SYN's timestamp, and must not echo one that was not sent (RFC 7323,
 * section 3.2). */
static bool synack_timestamp_ok(const struct tcp_in *in)
{
    const struct tcp_stream *client = client_of(in);
    uint32_t echo = in->p->tcp_options.ts_echo;

    if (in_to_server(in) || !in_has_ts(in) || echo == 0)
        return true;
    if (client->flags & STREAM_TIMESTAMP)
        return client->last_ts == 0 || echo == client->last_ts;
    return client->last_ts != 0;
}

/* The data in a Fast Open SYN are either acknowledged with it, or will be sent again (RFC 7413,
 * section 4.2.2). */
static bool synack_ack_ok(struct tcp_in *in, bool fast_open)
{
    struct tcp_stream *client = client_of(in);

    if (!fast_open)
        return in->ack == client->isn + 1;
    if (in->ack == client->next_seq)
        return true;
    if (in->ack != client->isn + 1)
        return false;
    client->next_seq = client->isn;
    in_event(in, EVENT_STREAM_3WHS_SYNACK_TFO_DATA_IGNORED);
    in->ssn->flags |= SSN_FAST_OPEN_IGNORED;
    return true;
}

/* The SYN/ACK has to answer the newest SYN, else one from the queue. */
static int syn_sent_synack(struct tcp_in *in)
{
    bool fast_open = (in->p->tcp_options.has & TCP_HAS_FASTOPEN) ||
                     (in->ssn->flags & SSN_FAST_OPEN);
    bool ts_ok = in->st->conf->liberal_timestamps || synack_timestamp_ok(in);
    const struct tcp_stream *client = client_of(in);
    bool ack_fits = in->ack == client->isn + 1 || (fast_open && in->ack == client->next_seq);
    struct syn_record synack;

    if (!(ts_ok && ack_fits && synack_ack_ok(in, fast_open)) && !syn_queue_take(in))
        return in_refuse(in, ack_fits ? EVENT_STREAM_PKT_INVALID_TIMESTAMP
                                      : EVENT_STREAM_3WHS_SYNACK_WITH_WRONG_ACK);
    if (fast_open)
        in->ssn->flags |= SSN_FAST_OPEN;
    syn_queue_free(in->st, in->ssn);
    synack = syn_record_of(in);
    synack_apply(in, &synack);
    return 0;
}

/* After two SYNs the first side answers with a SYN/ACK that repeats its own SYN. */
static int syn_sent_4whs_synack(struct tcp_in *in)
{
    struct tcp_session *ssn = in->ssn;
    struct tcp_stream *client = client_of(in), *server = server_of(in);
    const struct tcp_options *o = &in->p->tcp_options;

    if (!(ssn->flags & SSN_4WHS))
        return in_refuse(in, EVENT_STREAM_3WHS_SYNACK_IN_WRONG_DIRECTION);
    if (in->ack != server->isn + 1)
        return in_refuse(in, EVENT_STREAM_4WHS_SYNACK_WITH_WRONG_ACK);
    if (in->seq != client->isn)
        return in_refuse(in, EVENT_STREAM_4WHS_SYNACK_WITH_WRONG_SYN);
    tcp_set_state(in, TCP_SYN_RECV);
    stream_start(client, in->seq);
    server->window = in->window;
    if (in_has_ts(in) && (server->flags & STREAM_TIMESTAMP)) {
        first_timestamp(in, client);
        ssn->flags |= SSN_TIMESTAMP;
    } else {
        server->last_ts = client->last_ts = 0;
        server->flags &= (uint16_t)~STREAM_ZERO_TIMESTAMP;
    }
    server->last_ack = in->ack;
    client->last_ack = client->isn + 1;
    server->wscale = 0;
    if ((ssn->flags & SSN_SERVER_WSCALE) && (o->has & TCP_HAS_WSCALE))
        server->wscale = o->window_scale;
    if ((ssn->flags & SSN_CLIENT_SACK_OK) && (o->has & TCP_HAS_SACK_OK))
        ssn->flags |= SSN_SACK_OK;
    client->next_win = client->last_ack + client->window;
    server->next_win = server->last_ack + server->window;
    return 0;
}

/* A reset answers the SYN. From the client's side only a reset that gives up its own SYN counts. */
static int syn_sent_rst(struct tcp_in *in)
{
    const struct tcp_stream *client = client_of(in);

    if (!tcp_rst_ok(in))
        return -1;
    if (in_to_server(in) && !(in->seq == client->isn && in->window == 0 &&
                              in->ack == client->isn + 1))
        return 0;
    in->rcv->flags |= STREAM_RST_RECEIVED;
    tcp_close_by_rst(in);
    syn_queue_free(in->st, in->ssn);
    return 0;
}

/* A SYN that answers a SYN: simultaneous open (RFC 9293, section 3.5). */
static void syn_sent_4whs_syn(struct tcp_in *in)
{
    struct tcp_session *ssn = in->ssn;
    struct tcp_stream *server = server_of(in);
    const struct tcp_options *o = &in->p->tcp_options;

    ssn->flags |= SSN_4WHS;
    stream_start(server, in->seq);
    if (in_has_ts(in)) {
        first_timestamp(in, server);
        server->flags |= STREAM_TIMESTAMP;
    }
    server->window = in->window;
    ssn->flags &= ~(uint32_t)(SSN_SERVER_WSCALE | SSN_CLIENT_SACK_OK);
    server->wscale = 0;
    if (o->has & TCP_HAS_WSCALE) {
        ssn->flags |= SSN_SERVER_WSCALE;
        server->wscale = o->window_scale;
    }
    if (o->has & TCP_HAS_SACK_OK)
        ssn->flags |= SSN_CLIENT_SACK_OK;
}

/* The response to the SYN takes another path and is never seen. The client's ACK shows what it
 * was. */
static int syn_sent_async(struct tcp_in *in)
{
    struct tcp_session *ssn = in->ssn;
    struct tcp_stream *client = client_of(in), *server = server_of(in);

    if (!in->st->conf->async_oneside)
        return 0;
    if (in->seq != client->next_seq)
        return in_refuse(in, EVENT_STREAM_3WHS_ASYNC_WRONG_SEQ);
    ssn->flags |= SSN_ASYNC;
    tcp_set_state(in, TCP_ESTABLISHED);
    syn_queue_free(in->st, ssn);
    client->window = in->window;
    client->last_ack = in->seq;
    client->next_win = client->last_ack + client->window;
    stream_start(server, in->ack - 1);
    server->last_ack = server->next_win = server->next_seq;
    if (ssn->flags & SSN_SERVER_WSCALE)
        client->wscale = TCP_WSCALE_LIMIT;
    if (in_has_ts(in) && (client->flags & STREAM_TIMESTAMP)) {
        ssn->flags |= SSN_TIMESTAMP;
        client->flags &= (uint16_t)~STREAM_TIMESTAMP;
        client->last_ts_s = in_seconds(in);
    } else {
        client->last_ts = 0;
        client->flags &= (uint16_t)~STREAM_ZERO_TIMESTAMP;
    }
    if (ssn->flags & SSN_CLIENT_SACK_OK)
        ssn->flags |= SSN_SACK_OK;
    stream_reassemble(in, client);
    return 0;
}

/* A SYN was seen. synack_timestamp_ok() also refuses packets with an echo that was never sent. */
int tcp_state_syn_sent(struct tcp_in *in)
{
    if ((in->flags & (TCP_SYN | TCP_ACK)) == (TCP_SYN | TCP_ACK))
        return in_to_server(in) ? syn_sent_4whs_synack(in) : syn_sent_synack(in);
    if (!synack_timestamp_ok(in))
        return in_refuse(in, EVENT_STREAM_PKT_INVALID_TIMESTAMP);
    if (in_has(in, TCP_RST))
        return syn_sent_rst(in);
    if (in_has(in, TCP_FIN))
        return 0;
    if (in_has(in, TCP_SYN)) {
        if (in_to_server(in))
            syn_queue_add(in);
        else
            syn_sent_4whs_syn(in);
        return 0;
    }
    return in_has(in, TCP_ACK) ? syn_sent_async(in) : 0;
}

/* ---- SYN received ---- */

/* A reset closes the session, unless the handshake had a wrong ACK and the host's system ignores
 * what follows one. */
static int syn_recv_rst(struct tcp_in *in)
{
    enum os_policy os;

    if (!tcp_rst_ok(in))
        return -1;
    os = tcp_receiver_os(in);
    if ((in->ssn->flags & SSN_EVASION) &&
        (os == OS_LINUX || os == OS_OLD_LINUX || os == OS_SOLARIS))
        return 0;
    tcp_close_by_rst(in);
    if (in->ssn->flags & SSN_TIMESTAMP)
        tcp_timestamp_take(in);
    return 0;
}

/* A second SYN/ACK: repeated, or another one that the client may accept instead. */
static int syn_recv_synack(struct tcp_in *in)
{
    if (in_to_server(in))
        return in_refuse(in, EVENT_STREAM_3WHS_SYNACK_TOSERVER_ON_SYN_RECV);
    if (in->ack != client_of(in)->last_ack)
        return in_refuse(in, EVENT_STREAM_3WHS_SYNACK_RESEND_WITH_DIFF_ACK);
    return in->seq == server_of(in)->isn ? 0 : synack_queue_add(in);
}

/* A repeated SYN is ignored; hosts in this state answer it with their SYN/ACK again. */
static int syn_recv_syn(struct tcp_in *in)
{
    if (!in_to_server(in))
        return in_refuse(in, EVENT_STREAM_3WHS_SYN_TOCLIENT_ON_SYN_RECV);
    if (in->seq != client_of(in)->isn)
        return in_refuse(in, EVENT_STREAM_3WHS_SYN_RESEND_DIFF_SEQ_ON_SYN_RECV);
    return 0;
}

static void take_timestamp(struct tcp_in *in)
{
    if (in->ssn->flags & SSN_TIMESTAMP)
        tcp_timestamp_take(in);
}

/* The last step after a simultaneous open: the other side acknowledges the SYN/ACK. */
static int syn_recv_4whs_ack(struct tcp_in *in)
{
    struct tcp_stream *client = client_of(in), *server = server_of(in);

    if (in->seq != server->next_seq)
        return in_refuse(in, EVENT_STREAM_4WHS_WRONG_SEQ);
    if (!tcp_ack_ok(in, client))
        return in_refuse(in, EVENT_STREAM_4WHS_INVALID_ACK);
    take_timestamp(in);
    tcp_ack_update(client, in->ack);
    tcp_next_seq_update(in->ssn, server, server->next_seq + in->len);
    client->window = (uint32_t)in->window << client->wscale;
    client->next_win = client->last_ack + client->window;
    tcp_set_state(in, TCP_ESTABLISHED);
    stream_reassemble(in, server);
    return 0;
}

/* Both ends are only known in part, so the largest window scaling is assumed. */
static void assume_wide_windows(struct tcp_in *in)
{
    client_of(in)->wscale = server_of(in)->wscale = TCP_WSCALE_LIMIT;
    in->ssn->flags |= SSN_SACK_OK;
}

/* Windows of segments without SYN are scaled (RFC 7323, section 2.2). */
static void set_window(struct tcp_in *in, struct tcp_stream *s)
{
    s->window = (uint32_t)in->window << s->wscale;
    s->next_win = s->last_ack + s->window;
}

/* The regular last step of the handshake. */
static int finish_handshake(struct tcp_in *in)
{
    struct tcp_stream *client = client_of(in), *server = server_of(in);

    take_timestamp(in);
    tcp_ack_update(server, in->ack);
    tcp_next_seq_update(in->ssn, client, client->next_seq + in->len);
    set_window(in, server);
    if (in->ssn->flags & SSN_MIDSTREAM) {
        set_window(in, client);
        if (!(in->ssn->flags & SSN_MIDSTREAM_SYNACK))
            assume_wide_windows(in);
    }
    tcp_set_state(in, TCP_ESTABLISHED);
    if (in->len > 0)
        in->p->flags |= PACKET_ESTABLISHED;
    stream_reassemble(in, client);
    return 0;
}

/* The client's ACK takes another path: the server's next data show that it arrived. */
static int finish_async(struct tcp_in *in)
{
    struct tcp_stream *client = client_of(in), *server = server_of(in);

    in->ssn->flags |= SSN_ASYNC;
    server->next_seq += in->len;
    server->last_ack = in->seq;
    client->window = (uint32_t)in->window << client->wscale;
    client->last_ack = in->ack;
    take_timestamp(in);
    if (in->ssn->flags & SSN_MIDSTREAM) {
        server->window = in->window;
        server->next_win = server->last_ack + server->window;
        assume_wide_windows(in);
    }
    tcp_set_state(in, TCP_ESTABLISHED);
    stream_reassemble(in, server);
    return 0;
}

/* The client's ACK, and perhaps data, were lost on the way here; the server continues. */
static int finish_by_server_ahead(struct tcp_in *in)
{
    struct tcp_stream *client = client_of(in), *server = server_of(in);

    take_timestamp(in);
    tcp_ack_update(client, in->ack);
    server->next_seq = in_end(in);
    set_window(in, client);
    client->window = in->window;
    server->next_win = server->last_ack + server->window;
    tcp_set_state(in, TCP_ESTABLISHED);
    stream_reassemble(in, server);
    return 0;
}

/* Data after the handshake's ACK came here first; the ACK itself was lost or is late. */
static int finish_with_data_missing(struct tcp_in *in)
{
    struct tcp_stream *client = client_of(in), *server = server_of(in);

    take_timestamp(in);
    client->next_seq = in_end(in);
    tcp_ack_update(server, in->ack);
    set_window(in, server);
    if (in->ssn->flags & SSN_MIDSTREAM) {
        client->window = in->window;
        assume_wide_windows(in);
    }
    tcp_set_state(in, TCP_ESTABLISHED);
    stream_reassemble(in, client);
    return 0;
}

/* The client's ACK was missed; the server's data show that the handshake is complete. */
static int finish_by_server(struct tcp_in *in)
{
    struct tcp_stream *server = server_of(in);

    tcp_next_seq_update(in->ssn, server, in_end(in));
    set_window(in, server);
    tcp_set_state(in, TCP_ESTABLISHED);
    stream_reassemble(in, server);
    return 0;
}

/* IPS mode has forwarded the SYN/ACK and would have seen the answer. A server that continues
 * without one is not the real server. */
static int refuse_server_ack(struct tcp_in *in)
{
    if (in->len > 0 && in->ack == client_of(in)->last_ack && in->seq == server_of(in)->next_seq)
        return in_refuse(in, EVENT_STREAM_3WHS_ACK_DATA_INJECT);
    return in_refuse(in, EVENT_STREAM_3WHS_ACK_IN_WRONG_DIR);
}

/* Tries each way in which a handshake can end, from the regular one to the loss of packets here. A
 * right sequence number with a wrong ACK counts as an evasion attempt, see syn_recv_rst(). */
static int syn_recv_ack(struct tcp_in *in)
{
    const struct stream_conf *conf = in->st->conf;
    struct tcp_stream *client = client_of(in), *server = server_of(in);
    uint32_t flags = in->ssn->flags;
    bool ack_was_missed = !in_to_server(in) && !(flags & (SSN_MIDSTREAM_SYNACK | SSN_FAST_OPEN));

    if (ack_was_missed && conf->is_inline)
        return refuse_server_ack(in);
    if (in->seq == client->next_seq && in->ack == server->next_seq)
        return finish_handshake(in);
    if (conf->async_oneside && in->seq == server->next_seq)
        return finish_async(in);
    if (in->seq == client->next_seq) {
        in->ssn->flags |= SSN_EVASION;
        return in_refuse(in, EVENT_STREAM_3WHS_RIGHT_SEQ_WRONG_ACK_EVASION);
    }
    if (!in_to_server(in) && !conf->is_inline && seq_gt(in->seq, client->next_seq) &&
        seq_gt(in->ack, client->last_ack))
        return finish_by_server_ahead(in);
    if (seq_gt(in->seq, client->next_seq) && seq_leq(in->seq, client->next_win) &&
        in->ack == server->next_seq)
        return finish_with_data_missing(in);
    if ((ack_was_missed || (flags & SSN_FAST_OPEN)) && in->ack == client->last_ack &&
        in->seq == server->next_seq)
        return finish_by_server(in);
    return in_refuse(in, EVENT_STREAM_3WHS_WRONG_SEQ_WRONG_ACK);
}

/* With several SYN/ACKs, the ACK shows which one the client accepted. */
static void choose_synack(struct tcp_in *in)
{
    const struct syn_record *synack = synack_queue_find(in->ssn, in->ack - 1, in->seq);

    if (synack != NULL)
        synack_apply(in, synack);
}

/* The SYN/ACK was seen. Queued ones are decided before timestamps are checked against them. */
int tcp_state_syn_recv(struct tcp_in *in)
{
    if (in_has(in, TCP_RST))
        return syn_recv_rst(in);
    if (in_has(in, TCP_FIN)) {
        if ((in->ssn->flags & SSN_TIMESTAMP) && !tcp_timestamp_ok(in))
            return -1;
        return tcp_fin(in);
    }
    if (in_has(in, TCP_SYN))
        return in_has(in, TCP_ACK) ? syn_recv_synack(in) : syn_recv_syn(in);
    if (!in_has(in, TCP_ACK))
        return 0;
    if (in->ssn->queue_len > 0)
        choose_synack(in);
    if ((in->ssn->flags & SSN_TIMESTAMP) && !tcp_timestamp_ok(in))
        return -1;
    if ((in->ssn->flags & SSN_4WHS) && !in_to_server(in))
        return syn_recv_4whs_ack(in);
    return syn_recv_ack(in);
}
