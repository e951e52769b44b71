/* SPDX-License-Identifier: GPL-2.0-or-later */
/* modules/detectlog_flush.c - a pseudo packet in the flow of a real one: established, with an ACK
 * of everything that has come. */
#include "modules/detectlog_flush.h"

#include "flow/flow.h"
#include "packet/decode.h"
#include "packet/pseudo_headers.h"
#include "sequencer/sequencer.h"
#include "stream/snapshot.h"

#include <stdlib.h>
#include <string.h>

void detectlog_flush_fini(struct detectlog_flush *flush)
{
    packet_fini(&flush->packet);
}

#define COPIED_FLAGS                                                                           \
    (PACKET_NO_INSPECT | PACKET_NO_PAYLOAD_INSPECT | PACKET_TO_CLIENT | PACKET_MIDSTREAM)

/* `same`: the pseudo packet has p's direction. */
static void numbers(struct packet *pseudo, const struct packet *p, bool same)
{
    bool takes_one = (p->tcp.flags & (TCP_SYN | TCP_FIN)) != 0;
    uint32_t next = p->tcp.seq + p->payload_len + takes_one;

    pseudo->tcp.seq = same ? next : p->tcp.ack;
    pseudo->tcp.ack = same ? p->tcp.ack : next;
    pseudo->tcp.flags = TCP_ACK;
}

/* Copies the state of the session without its data, which the inspection carries. */
static void copy_session(struct packet *pseudo, const struct packet *p)
{
    struct stream_slot *to = stream_slot(pseudo);
    const struct stream_slot *slot = stream_slot(p);

    memcpy(to->sent, slot->sent, sizeof(to->sent));
    memcpy(to->history, slot->history, sizeof(to->history));
    to->flags = slot->flags & STREAM_PKT_SNAPSHOT;
    if (to->flags != 0)
        buf_add(&pseudo->memory[PACKET_MEMORY_SESSION], packet_session(p),
                sizeof(struct tcp_snapshot));
}

struct packet *detectlog_flush_packet(struct detectlog_flush *flush, const struct packet *p,
                                      bool same)
{
    struct packet *pseudo = &flush->packet;

    packet_reset(pseudo);
    pseudo->source = PACKET_STREAM_FLUSH;
    pseudo->flags = PACKET_PSEUDO | PACKET_ESTABLISHED | PACKET_STREAM_OPEN |
                  (p->flags & COPIED_FLAGS);
    pseudo->datalink = DATALINK_RAW;
    pseudo->time_us = p->time_us;
    pseudo->seqno = p->seqno;
    pseudo->seqno_sub = p->seqno_sub;
    sequencer_slot(pseudo)->handle = sequencer_slot(p)->handle;
    pseudo->flow = p->flow;
    pseudo->flow_hash = p->flow_hash;
    *flow_slot(pseudo) = *flow_slot(p);
    pseudo->ip_proto = p->ip_proto;
    pseudo->src = p->src;
    pseudo->dst = p->dst;
    pseudo->src_port = p->src_port;
    pseudo->dst_port = p->dst_port;
    pseudo->device = p->device;
    pseudo->device_name = p->device_name;
    pseudo->file = p->file;
    memcpy(pseudo->vlan, p->vlan, sizeof(pseudo->vlan));
    pseudo->vlan_count = p->vlan_count;
    copy_session(pseudo, p);
    if (!same)
        packet_swap_direction(pseudo);
    numbers(pseudo, p, same);
    packet_make_pseudo_headers(pseudo, true);
    return pseudo;
}
