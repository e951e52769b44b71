/* SPDX-License-Identifier: GPL-2.0-or-later */
/* detect/explain/refused.c - why the payload of a packet is not stored in its stream. */
#include "detect/explain/notes.h"

#include "flow/flow.h"
#include "stream/tcp_session.h"
#include "stream/slot.h"
#include "stream/snapshot.h"

static const char *refused_by_packet(const struct packet *p)
{
    uint16_t flags = stream_slot(p)->flags;

    if (p->flags & PACKET_BAD_CHECKSUM)
        return "its checksum is wrong, so the receiver ignores it";
    if (p->action & ACTION_DROP)
        return "the packet is dropped";
    if (p->flow != NULL && (flow_requests(p->flow) & FLOW_REQ_BYPASS))
        return "the flow is bypassed";
    if (flags & STREAM_PKT_SPURIOUS_RETRANSMISSION)
        return "it repeats data that were acknowledged before";
    if (flags & (STREAM_PKT_KEEPALIVE | STREAM_PKT_ZERO_WINDOW_PROBE))
        return "it is a probe, not data";
    if (p->tcp.flags & TCP_RST)
        return "a reset carries no data";
    return NULL;
}

/* The event is the reason when the stream module has refused the packet for it. */
static const char *refused_by_event(const struct packet *p)
{
    for (unsigned i = 0; i < p->event_count; i++)
        if (packet_event_is_stream((enum packet_event)p->event[i]))
            return packet_event_name((enum packet_event)p->event[i]);
    return NULL;
}

const char *stream_refusal(const struct packet *p, bool midstream)
{
    const struct tcp_session *ssn = p->flow != NULL ? p->flow->tcp : NULL;
    const char *why = refused_by_packet(p);

    if (why != NULL)
        return why;
    if (ssn == NULL)
        return midstream ? "there is no session"
                         : "its handshake was not seen, and stream.midstream is off";
    if (ssn->stream[packet_direction(p)].flags & STREAM_DEPTH_REACHED)
        return "the depth of reassembly is reached";
    if (ssn->stream[packet_direction(p)].flags & STREAM_NO_REASSEMBLY)
        return "nothing needs this direction any more";
    why = refused_by_event(p);
    if (why != NULL)
        return why;
    return ssn->state == TCP_CLOSED ? "the session is closed"
                                    : "the session does not take data with this packet";
}

bool stream_has_refused(const struct packet *p)
{
    return p->ip_proto == 6 && p->payload_len > 0 &&
           !(p->flags & (PACKET_STREAM_ADDED | PACKET_PSEUDO));
}
