/* SPDX-License-Identifier: GPL-2.0-or-later */
/* modules/detectlog_flush.c - a packet that nobody sent: its flow's, established, an ACK of all
 * that has come. */
#include "modules/detectlog_flush.h"

#include "base/memory/lib_memory.h"
#include "packet/decode.h"
#include "packet/pseudo_headers.h"
#include "stream/snapshot.h"

#include <stdlib.h>
#include <string.h>

void detectlog_flush_fini(struct detectlog_flush *flush)
{
    lib_free(flush->packet.alert.at);
    buf_fini(&flush->packet.frame);
    buf_fini(&flush->packet.handoff_buf);
    buf_fini(&flush->packet.records);
}

#define COPIED_FLAGS                                                                           \
    (PACKET_NO_INSPECT | PACKET_NO_PAYLOAD_INSPECT | PACKET_TO_CLIENT | PACKET_MIDSTREAM)

static void numbers(struct packet *pseudo, const struct packet *p, bool same)
{
    bool takes_one = (p->tcp.flags & (TCP_SYN | TCP_FIN)) != 0;
    uint32_t next = p->tcp.seq + p->payload_len + takes_one;

    pseudo->tcp.seq = same ? next : p->tcp.ack;
    pseudo->tcp.ack = same ? p->tcp.ack : next;
    pseudo->tcp.flags = TCP_ACK;
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
    pseudo->order = p->order;
    pseudo->order_sub = p->order_sub;
    pseudo->handle = p->handle;
    pseudo->flow = p->flow;
    pseudo->flow_hash = p->flow_hash;
    pseudo->flow_state = p->flow_state & 0xf;
    pseudo->tcp_state = p->tcp_state & 0xf;
    pseudo->ip_proto = p->ip_proto;
    pseudo->src = p->src;
    pseudo->dst = p->dst;
    pseudo->src_port = p->src_port;
    pseudo->dst_port = p->dst_port;
    pseudo->device = p->device;
    pseudo->device_name = p->device_name;
    pseudo->file_name = p->file_name;
    memcpy(pseudo->vlan, p->vlan, sizeof(pseudo->vlan));
    pseudo->vlan_count = p->vlan_count;
    memcpy(pseudo->stream_bytes, p->stream_bytes, sizeof(pseudo->stream_bytes));
    memcpy(pseudo->stream_history, p->stream_history, sizeof(pseudo->stream_history));
    pseudo->stream_pkt_flags = p->stream_pkt_flags & STREAM_PKT_SNAPSHOT;
    pseudo->session = p->session;
    if (!same)
        packet_swap_direction(pseudo);
    numbers(pseudo, p, same);
    packet_make_pseudo_headers(pseudo, true);
    return pseudo;
}
