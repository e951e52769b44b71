/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/core/flow_swap.c - client and server exchanged. A flow picked up in its middle, or one whose
 * first datagram was the answer, may have its sides exchanged; only protocol detection can tell.
 * This file exchanges the inspection state. The transport state may be packets ahead in another
 * thread and stays as it is: from now on the flow's key decides a packet's direction. */
#include "app/core/session.h"
#include "stream/slot.h"

#include <string.h>

#define SWAP(a, b)                      \
    do {                                \
        __typeof__(a) swap_ = (a);      \
                                        \
        (a) = (b);                      \
        (b) = swap_;                    \
    } while (0)

/* Ports alone would not do: both may be equal (NTP, IKE). */
static bool is_forward(const struct flow *f, const struct packet *p)
{
    return ip_equal(&p->src, &f->key.src) && p->src_port == f->key.src_port;
}

/* The packet was given its direction before the sides were exchanged: by the flow table. */
static void flip_packet(struct packet *p)
{
    p->flags ^= PACKET_TO_CLIENT;
    for (unsigned i = 0; i < stream_slot(p)->chunk_count; i++)
        stream_slot(p)->chunk[i].direction ^= 1;
    SWAP(stream_slot(p)->sent[TO_SERVER], stream_slot(p)->sent[TO_CLIENT]);
    SWAP(stream_slot(p)->history[TO_SERVER], stream_slot(p)->history[TO_CLIENT]);
    if (((p->flags & PACKET_END_TO_SERVER) != 0) != ((p->flags & PACKET_END_TO_CLIENT) != 0))
        p->flags ^= PACKET_END_TO_SERVER | PACKET_END_TO_CLIENT;
}

/* Exchanges two flag bits; when both or neither is set there is nothing to do. */
static void swap_flags(uint8_t *flags, uint8_t a, uint8_t b)
{
    uint8_t both = *flags & (a | b);

    if (both == a || both == b)
        *flags ^= a | b;
}

/* All that the flow counts or remembers per direction, for rules and for EVE records. The MAC
 * addresses are kept per sender, too. */
static void flip_flow(struct flow *f)
{
    struct flow_macs *macs = flow_macs(f);

    SWAP(f->app_proto_dir[0], f->app_proto_dir[1]);
    SWAP(f->packets[0], f->packets[1]);
    SWAP(f->bytes[0], f->bytes[1]);
    SWAP(f->tcp_flags_seen[0], f->tcp_flags_seen[1]);
    f->parser_gaps = (uint8_t)(f->parser_gaps << 1 | f->parser_gaps >> 1) & 3u;
    if (macs != NULL) {
        struct flow_macs was = *macs;

        for (unsigned d = 0; d < 2; d++) {
            macs->count[d] = was.count[1 - d];
            memcpy(macs->at[d], was.at[1 - d], sizeof(was.at[0]));
        }
    }
    swap_flags(&f->inspect_flags, FLOW_INSPECT_IPONLY_TS, FLOW_INSPECT_IPONLY_TC);
    swap_flags(&f->detect_flags, FLOW_PROTO_DETECTED(TO_SERVER), FLOW_PROTO_DETECTED(TO_CLIENT));
}

/* Pending bytes, frames and ends go along with their side. */
static void flip_session(struct app_session *s)
{
    if (s->transport == TRANSPORT_TCP)
        SWAP(s->ds[0], s->ds[1]);
    if (s->flow.ext != NULL)
        SWAP(s->flow.ext->frames[0], s->flow.ext->frames[1]);
    SWAP(s->flow.end[0], s->flow.end[1]);
    SWAP(s->flow.disrupted[0], s->flow.disrupted[1]);
    if (s->first_sender == APP_TS || s->first_sender == APP_TC)
        s->first_sender ^= APP_BOTH;
}

/* The inspecting thread calls this with the packet whose bytes revealed it. f->swap tells the
 * direction of later packets: KEY when a packet in the key's order goes to the server. */
void flow_swap(struct app_session *s, struct packet *p)
{
    struct flow *f = s->flow.flow;

    flip_packet(p);
    flip_flow(f);
    flip_session(s);
    f->swap = is_forward(f, p) == (packet_direction(p) == TO_SERVER) ? FLOW_SWAP_KEY
                                                                     : FLOW_SWAP_REVERSED;
}

/* For packets that the flow table had sent on before the sides were exchanged. When both ends have
 * the same address and port the key cannot tell, and the packet keeps its direction. */
void flow_swap_packet(const struct flow *f, struct packet *p)
{
    enum direction d;

    if (p->src.version == 0 || (ip_equal(&p->src, &p->dst) && p->src_port == p->dst_port))
        return;
    d = is_forward(f, p) == (f->swap == FLOW_SWAP_KEY) ? TO_SERVER : TO_CLIENT;
    if (d != packet_direction(p))
        flip_packet(p);
}
