/* SPDX-License-Identifier: GPL-2.0-or-later */
/* stream/tcp_queue.c - several SYNs, or several SYN/ACKs, before one of them is answered.
 *
 * Only the answer shows which one the other host accepted, so each is kept, up to a limit against
 * floods. */
#include "stream/segment.h"
#include "stream/stream_thread.h"
#include "stream/tcp.h"
#include "stream/tcp_session.h"

void syn_queue_free(struct stream_thread *st, struct tcp_session *ssn)
{
    while (ssn->queue != NULL) {
        struct syn_record *next = ssn->queue->next;

        pool_put(&st->syns, ssn->queue);
        memcap_release(&st->session_memory, sizeof(struct syn_record));
        ssn->queue = next;
    }
    ssn->queue_len = 0;
}

/* Extracts what a SYN or SYN/ACK offers, in the form that both queues store. */
struct syn_record syn_record_of(const struct tcp_in *in)
{
    const struct tcp_options *o = &in->p->tcp_options;
    struct syn_record r = { .seq = in->seq, .ack = in->ack, .window = in->window,
                            .seen_s = in_seconds(in) };

    if (o->has & TCP_HAS_SACK_OK)
        r.flags |= SYN_HAS_SACK;
    if (o->has & TCP_HAS_WSCALE) {
        r.flags |= SYN_HAS_WSCALE;
        r.wscale = o->window_scale;
    }
    if (o->has & TCP_HAS_TS) {
        r.flags |= SYN_HAS_TS;
        r.ts = o->ts_value;
    }
    return r;
}

/* The SYN that the session has seen last, as a record. */
static struct syn_record syn_record_of_session(const struct tcp_session *ssn)
{
    const struct tcp_stream *client = &ssn->stream[TO_SERVER], *server = &ssn->stream[TO_CLIENT];
    struct syn_record r = { .seq = client->isn, .window = (uint16_t)server->window,
                            .seen_s = client->last_ts_s };

    if (ssn->flags & SSN_CLIENT_SACK_OK)
        r.flags |= SYN_HAS_SACK;
    if (ssn->flags & SSN_SERVER_WSCALE) {
        r.flags |= SYN_HAS_WSCALE;
        r.wscale = server->wscale;
    }
    if (client->flags & STREAM_TIMESTAMP) {
        r.flags |= SYN_HAS_TS;
        r.ts = client->last_ts;
    }
    return r;
}

/* Records count against stream.memcap, so a SYN flood cannot take other memory. */
static struct syn_record *record_new(struct stream_thread *st)
{
    struct syn_record *r;

    if (!memcap_take(&st->session_memory, sizeof(*r)))
        return NULL;
    r = pool_get(&st->syns);
    if (r == NULL)
        memcap_release(&st->session_memory, sizeof(*r));
    return r;
}

/* ---- SYN/ACKs: newest first ---- */

/* A retransmission is the same in all fields, and is not queued again. */
static bool same_synack(const struct syn_record *a, const struct syn_record *b)
{
    return a->flags == b->flags && a->wscale == b->wscale && a->window == b->window &&
           a->seq == b->seq && a->ack == b->ack && a->ts == b->ts;
}

/* -1: the packet is refused, at the limit or the memcap. */
int synack_queue_add(struct tcp_in *in)
{
    struct syn_record synack = syn_record_of(in), *r;

    for (r = in->ssn->queue; r != NULL; r = r->next)
        if (same_synack(r, &synack))
            return 0;
    if (in->ssn->queue_len == in->st->conf->max_synack_queued)
        return in_refuse(in, EVENT_STREAM_3WHS_SYNACK_FLOOD);
    r = record_new(in->st);
    if (r == NULL)
        return -1;
    synack.next = in->ssn->queue;
    *r = synack;
    in->ssn->queue = r;
    in->ssn->queue_len++;
    return 0;
}

const struct syn_record *synack_queue_find(const struct tcp_session *ssn, uint32_t seq,
                                           uint32_t ack)
{
    const struct syn_record *r = ssn->queue;

    while (r != NULL && !(r->seq == seq && r->ack == ack))
        r = r->next;
    return r;
}

/* --- SYNs: oldest first; when the queue is full, the oldest is dropped --- */

/* With timestamps, a response must echo the SYN's (RFC 7323, section 3.2); without them the
 * sequence number must suffice. */
static struct syn_record *find_syn(struct tcp_session *ssn, const struct syn_record *want,
                                   bool ignore_ts)
{
    for (struct syn_record *r = ssn->queue; r != NULL; r = r->next) {
        if (r->seq != want->seq)
            continue;
        if (want->flags & SYN_HAS_TS) {
            if ((r->flags & SYN_HAS_TS) && r->ts == want->ts)
                return r;
        } else if (ignore_ts) {
            return r;
        }
    }
    return NULL;
}

static void append(struct tcp_session *ssn, struct syn_record *r)
{
    struct syn_record **at = &ssn->queue;

    while (*at != NULL)
        at = &(*at)->next;
    r->next = NULL;
    *at = r;
}

/* Queues the SYN that the session has now, before a newer one replaces it. */
static void remember_syn(struct tcp_in *in)
{
    struct syn_record syn = syn_record_of_session(in->ssn), *r;

    if (find_syn(in->ssn, &syn, false) != NULL)
        return;
    if (in->ssn->queue_len > 0 && in->ssn->queue_len == in->st->conf->max_syn_queued) {
        in_event(in, EVENT_STREAM_3WHS_SYN_FLOOD);
        r = in->ssn->queue;
        in->ssn->queue = r->next;
    } else {
        r = record_new(in->st);
        if (r == NULL)
            return;
        in->ssn->queue_len++;
    }
    *r = syn;
    append(in->ssn, r);
}

/* Sets the session to the state after this SYN, as if no other had come. */
void syn_record_apply(struct tcp_session *ssn, const struct syn_record *syn)
{
    struct tcp_stream *client = &ssn->stream[TO_SERVER], *server = &ssn->stream[TO_CLIENT];

    if (syn->flags & SYN_HAS_TS) {
        client->last_ts_s = syn->seen_s;
        client->last_ts = syn->ts;
        client->flags |= STREAM_TIMESTAMP;
    }
    ssn->flags &= ~(uint32_t)(SSN_SERVER_WSCALE | SSN_CLIENT_SACK_OK);
    server->wscale = 0;
    if (syn->flags & SYN_HAS_WSCALE) {
        ssn->flags |= SSN_SERVER_WSCALE;
        server->wscale = syn->wscale;
    }
    if (syn->flags & SYN_HAS_SACK)
        ssn->flags |= SSN_CLIENT_SACK_OK;
    server->window = syn->window;
    client->isn = syn->seq;
    stream_set_base(client, syn->seq);
    client->next_seq = syn->seq + 1;
}

static bool same_syn(const struct syn_record *a, const struct syn_record *b)
{
    return a->flags == b->flags && a->wscale == b->wscale && a->window == b->window &&
           a->seq == b->seq && a->ts == b->ts && a->seen_s == b->seen_s;
}

/* The newest SYN becomes the session's. Hosts answer one of them; which one is not known yet. */
void syn_queue_add(struct tcp_in *in)
{
    struct syn_record new_syn = syn_record_of(in), known = syn_record_of_session(in->ssn);

    if (!same_syn(&new_syn, &known))
        remember_syn(in);
    syn_record_apply(in->ssn, &new_syn);
}

/* Finds the SYN that this SYN/ACK answers, if it is not the newest one. */
bool syn_queue_take(struct tcp_in *in)
{
    struct syn_record want = syn_record_of(in), *found;

    want.seq = in->ack - 1;
    want.ts = in->p->tcp_options.ts_echo;
    found = find_syn(in->ssn, &want, in->st->conf->liberal_timestamps);
    if (found == NULL)
        return false;
    syn_record_apply(in->ssn, found);
    return true;
}
