/* SPDX-License-Identifier: GPL-2.0-or-later */
/* detect/explain/life_stream.c - what a packet did to its TCP session: states, holes, overlaps,
 * what was refused and why, and the data that became available. */
#include "detect/explain/life_private.h"
#include "detect/explain/notes.h"
#include "flow/flow.h"
#include "stream/reassembly.h"
#include "stream/snapshot.h"

#include <stdio.h>

#define LL(n) ((long long)(n))

/* --- before the packet ------------------------------------------------------------------------ */

/* The bytes of an older segment from offset `from` on; NULL: they are no longer there. */
static const uint8_t *older_bytes(const struct tcp_stream *s, const struct segment *seg,
                                  int64_t from, int64_t to)
{
    if (seg->data != NULL)
        return seg->data + (from - stream_abs(s, seg->seq));
    if (s->buffer == NULL || from < s->offset || to > stream_edge(s))
        return NULL;
    return s->buffer + s->start + (from - s->offset);
}

static void meet(struct life_before *b, const struct packet *p, const struct tcp_stream *s,
                 const struct segment *seg)
{
    int64_t start = stream_abs(s, seg->seq), end = b->at + p->payload_len;
    struct life_meeting m = { .seq = seg->seq, .end = seg->seq + seg->len,
                              .from = MAX(start, b->at), .to = MIN(start + seg->len, end) };
    const uint8_t *old;

    if (m.from >= m.to)
        return;
    if (b->meetings++ >= LIFE_MEETINGS_MAX)
        return;
    old = older_bytes(s, seg, m.from, m.to);
    m.is_known = old != NULL;
    m.differs = old != NULL &&
                memcmp(old, p->payload + (m.from - b->at), (size_t)(m.to - m.from)) != 0;
    b->meeting[b->meetings - 1] = m;
}

static void meet_all(struct life_before *b, const struct packet *p, const struct tcp_stream *s)
{
    for (const struct segment *seg = s->merged.first; seg != NULL; seg = seg->next)
        meet(b, p, s, seg);
    for (const struct segment *seg = stream_waiting(s); seg != NULL; seg = seg->next)
        meet(b, p, s, seg);
}

static unsigned waiting_of(const struct tcp_stream *s)
{
    return s->holes != NULL ? s->holes->segments_out : 0;
}

static void session_note(struct life_before *b, const struct packet *p,
                         const struct tcp_session *ssn)
{
    enum direction d = packet_direction(p);
    bool takes_one = (p->tcp.flags & TCP_SYN) != 0;

    b->has_session = true;
    b->state = ssn->state;
    b->flags = ssn->flags;
    for (unsigned i = 0; i < 2; i++) {
        const struct tcp_stream *s = &ssn->stream[i];

        b->dir[i].edge = stream_edge(s);
        b->dir[i].delivered = s->delivered;
        b->dir[i].waiting = waiting_of(s);
        b->dir[i].flags = s->flags;
    }
    b->seq = p->tcp.seq + takes_one - ssn->urgent_offset[d];
    b->at = stream_abs(&ssn->stream[d], b->seq);
    if (p->payload_len > 0)
        meet_all(b, p, &ssn->stream[d]);
}

void life_before_stream(struct life *l, const struct packet *p)
{
    struct life_before *b = &l->before;

    b->packet = NULL;
    if (!packet_is_tcp(p) || p->flow == NULL || !flow_is_wanted(&l->wanted, p))
        return;
    b->packet = p;
    b->has_session = false;
    b->state = TCP_NONE;
    b->flags = 0;
    b->meetings = 0;
    b->at = 0;
    memset(b->dir, 0, sizeof(b->dir));
    if (p->flow->tcp != NULL)
        session_note(b, p, p->flow->tcp);
}

/* --- states ----------------------------------------------------------------------------------- */

static void tell_state(struct life *l, const struct tcp_session *ssn)
{
    enum direction d = packet_direction(l->in->packet);
    const char *from = tcp_state_name((enum tcp_state)l->before.state);
    const char *to = tcp_state_name((enum tcp_state)ssn->state);
    struct life_record *r;

    if (ssn->state == l->before.state)
        return;
    r = life_log(l, LIFE_STATE, d, "tcp: %s -> %s", from, to);
    life_word(l, r, "from", from);
    life_word(l, r, "to", to);
    life_word(l, r, "of", "tcp");
}

static void tell_flags(struct life *l, const struct tcp_session *ssn)
{
    static const struct { uint32_t flag; const char *text; } flags[] = {
        { SSN_MIDSTREAM, "picked up in the middle: its handshake was not seen" },
        { SSN_ASYNC, "only one direction is seen" },
        { SSN_4WHS, "the server answered the SYN with a SYN" },
        { SSN_EVASION, "wrong ACK in the handshake" },
        { SSN_FAST_OPEN, "TCP Fast Open" },
        { SSN_FAST_OPEN_IGNORED, "the SYN/ACK did not take the data of the SYN" },
        { SSN_CLOSED_BY_RST, "closed by a reset" },
        { SSN_LIBERAL, "data were lost: resets are checked leniently from here on" },
    };
    enum direction d = packet_direction(l->in->packet);

    for (unsigned i = 0; i < ARRAY_LEN(flags); i++)
        if (ssn->flags & ~l->before.flags & flags[i].flag)
            (void)life_log(l, LIFE_NOTE, d, "%s", flags[i].text);
}

static const struct { uint16_t flag; const char *text; } packet_notes[] = {
    { STREAM_PKT_SESSION_REUSE, "a new connection with the addresses and ports of the one before" },
    { STREAM_PKT_RETRANSMISSION, "retransmission" },
    { STREAM_PKT_SPURIOUS_RETRANSMISSION, "retransmission of data that were acknowledged before" },
    { STREAM_PKT_KEEPALIVE, "keep-alive" },
    { STREAM_PKT_KEEPALIVE_ACK, "answer to a keep-alive" },
    { STREAM_PKT_DUP_ACK, "the same ACK once more" },
    { STREAM_PKT_DSACK, "the receiver reports data that came twice" },
    { STREAM_PKT_ACK_UNSEEN_DATA, "acknowledges data that were never seen" },
    { STREAM_PKT_ZERO_WINDOW_PROBE, "probe of a closed window" },
    { STREAM_PKT_ZERO_WINDOW_PROBE_ACK, "answer to a probe of a closed window" },
};

static void tell_packet_notes(struct life *l)
{
    const struct packet *p = l->in->packet;

    for (unsigned i = 0; i < ARRAY_LEN(packet_notes); i++)
        if (stream_slot(p)->flags & packet_notes[i].flag)
            (void)life_log(l, LIFE_NOTE, packet_direction(p), "%s", packet_notes[i].text);
}

/* --- the payload ------------------------------------------------------------------------------ */

static void tell_refused(struct life *l)
{
    const struct packet *p = l->in->packet;
    const char *why = stream_refusal(p, l->stream->midstream);
    struct life_record *r = life_log(l, LIFE_REFUSED, packet_direction(p),
                                     "its %u bytes are not stored: %s", p->payload_len, why);

    life_number(r, "length", p->payload_len);
    life_word(l, r, "why", why);
    life_repeats(l, r, why);
}

/* Which copy counts; bytes that were handed on stay as they are. */
static bool takes_new(const struct life *l, const struct tcp_stream *s,
                      const struct life_meeting *m)
{
    const struct life_before *b = &l->before;
    enum direction d = packet_direction(l->in->packet);

    return !l->stream->is_inline && m->to > b->dir[d].delivered &&
           overlap_takes_new((enum os_policy)s->os, b->seq, b->seq + l->in->packet->payload_len,
                             m->seq, m->end);
}

static void describe_overlap(const struct life *l, const struct tcp_stream *s,
                             const struct life_meeting *m, char out[200])
{
    enum direction d = packet_direction(l->in->packet);
    const char *policy = os_policy_name((enum os_policy)s->os);

    if (m->is_known && !m->differs)
        snprintf(out, 200, "the same bytes");
    else if (l->stream->is_inline)
        snprintf(out, 200, "other bytes; inline the first copy counts, and the packet is changed");
    else if (m->to <= l->before.dir[d].delivered)
        snprintf(out, 200, "%s; they were handed on before and stay as they were",
                 m->is_known ? "other bytes" : "too long ago to compare");
    else
        snprintf(out, 200, "%s; policy %s takes the %s ones",
                 m->is_known ? "other bytes" : "too long ago to compare", policy,
                 takes_new(l, s, m) ? "new" : "old");
}

static void tell_overlaps(struct life *l, const struct tcp_stream *s)
{
    enum direction d = packet_direction(l->in->packet);

    for (unsigned i = 0; i < MIN(l->before.meetings, LIFE_MEETINGS_MAX); i++) {
        const struct life_meeting *m = &l->before.meeting[i];
        struct life_record *r;
        char text[200];

        describe_overlap(l, s, m, text);
        r = life_log(l, LIFE_OVERLAP, d, "bytes %lld to %lld came before: %s", LL(m->from),
                     LL(m->to), text);
        life_number(r, "offset", (uint64_t)m->from);
        life_number(r, "length", (uint64_t)(m->to - m->from));
        life_word(l, r, "policy", l->stream->is_inline ? "first"
                                                       : os_policy_name((enum os_policy)s->os));
        life_word(l, r, "bytes", !m->is_known ? "unknown" : m->differs ? "differ" : "same");
        life_word(l, r, "kept", takes_new(l, s, m) ? "new" : "old");
    }
    if (l->before.meetings > LIFE_MEETINGS_MAX)
        (void)life_log(l, LIFE_OVERLAP, d, "and %u more segments of the same bytes",
                       l->before.meetings - LIFE_MEETINGS_MAX);
}

static void tell_holes(struct life *l, const struct tcp_stream *s)
{
    const struct life_before *b = &l->before;
    enum direction d = packet_direction(l->in->packet);
    unsigned waiting = waiting_of(s);
    struct life_record *r;

    if (b->at > b->dir[d].edge && waiting >= b->dir[d].waiting) {
        r = life_log(l, LIFE_HOLE, d, "bytes %lld to %lld wait: %lld before them are missing",
                     LL(b->at), LL(b->at + l->in->packet->payload_len),
                     LL(b->at - b->dir[d].edge));
        life_number(r, "offset", (uint64_t)b->dir[d].edge);
        life_number(r, "length", (uint64_t)(b->at - b->dir[d].edge));
        life_number(r, "waiting", waiting);
    } else if (waiting < b->dir[d].waiting) {
        r = life_log(l, LIFE_HOLE, d, "the hole at %lld is filled: the data reach %lld",
                     LL(b->dir[d].edge), LL(stream_edge(s)));
        life_number(r, "offset", (uint64_t)b->dir[d].edge);
        life_number(r, "length", (uint64_t)(stream_edge(s) - b->dir[d].edge));
        life_number(r, "waiting", waiting);
    }
}

static void tell_payload(struct life *l)
{
    const struct packet *p = l->in->packet;
    const struct tcp_session *ssn = p->flow->tcp;
    const struct tcp_stream *s;

    if (p->payload_len == 0)
        return;
    if (ssn == NULL || !(p->flags & PACKET_STREAM_ADDED)) {
        tell_refused(l);
        return;
    }
    s = &ssn->stream[packet_direction(p)];
    if (l->before.has_session) {
        tell_overlaps(l, s);
        tell_holes(l, s);
    }
}

static void tell_depth(struct life *l, const struct tcp_session *ssn)
{
    for (unsigned d = 0; d < 2; d++) {
        const struct tcp_stream *s = &ssn->stream[d];

        if ((s->flags & STREAM_DEPTH_REACHED) && !(l->before.dir[d].flags & STREAM_DEPTH_REACHED))
            (void)life_log(l, LIFE_DEPTH, (enum direction)d,
                           "the depth of reassembly is reached: later data of the %s are not seen",
                           life_side((enum direction)d));
    }
}

/* --- what became available -------------------------------------------------------------------- */

static void tell_chunk(struct life *l, const struct stream_chunk *c)
{
    enum direction d = (enum direction)c->direction;
    unsigned long long from = c->offset, to = c->offset + c->len;
    struct life_record *r;

    if (c->len == 0)
        return;                         /* it only reports that the depth is reached */
    if (c->kind == CHUNK_GAP)
        r = life_log(l, LIFE_GAP, d, "bytes %llu to %llu of the %s never came", from, to,
                     life_side(d));
    else if (c->kind == CHUNK_REINSPECT)
        r = life_log(l, LIFE_DATA, d, "rules see bytes %llu to %llu of the %s again", from, to,
                     life_side(d));
    else
        r = life_log(l, LIFE_DATA, d, "bytes %llu to %llu of the %s are in order", from, to,
                     life_side(d));
    life_number(r, "offset", c->offset);
    life_number(r, "length", c->len);
    if (r != NULL)
        r->is_plain = c->kind == CHUNK_DATA;
}

void life_tell_stream(struct life *l)
{
    const struct packet *p = l->in->packet;

    if (l->before.packet == p && p->flow != NULL) {
        tell_packet_notes(l);
        if (p->flow->tcp != NULL) {
            tell_state(l, p->flow->tcp);
            tell_flags(l, p->flow->tcp);
        }
        tell_payload(l);
        if (p->flow->tcp != NULL)
            tell_depth(l, p->flow->tcp);
    }
    /* A request of detection kept it from its session. */
    if (l->before.packet != p && packet_is_tcp(p) && p->flow != NULL && p->payload_len > 0 &&
        !(p->flags & PACKET_PSEUDO))
        tell_refused(l);
    for (unsigned i = 0; i < l->in->chunk_count; i++)
        tell_chunk(l, &l->in->chunk[i]);
}
