/* SPDX-License-Identifier: GPL-2.0-or-later */
/* modules/detectlog_flush.c - a packet that nobody sent: its flow's, established, an ACK of all that
 * has come. */
#include "modules/detectlog_flush.h"

#include "packet/decode.h"
#include "packet/pseudo_headers.h"
#include "stream/snapshot.h"

#include <stdlib.h>
#include <string.h>

void last_look_fini(struct last_look *look)
{
    free(look->packet.alert.at);
    buf_fini(&look->packet.frame);
    buf_fini(&look->packet.crossing);
    buf_fini(&look->packet.records);
}

#define COPIED_FLAGS                                                                           \
    (PACKET_NO_INSPECT | PACKET_NO_PAYLOAD_INSPECT | PACKET_TO_CLIENT | PACKET_MIDSTREAM)

static void numbers(struct packet *made, const struct packet *p, bool same)
{
    bool takes_one = (p->tcp.flags & (TCP_SYN | TCP_FIN)) != 0;
    uint32_t next = p->tcp.seq + p->payload_len + takes_one;

    made->tcp.seq = same ? next : p->tcp.ack;
    made->tcp.ack = same ? p->tcp.ack : next;
    made->tcp.flags = TCP_ACK;
}

struct packet *last_look_packet(struct last_look *look, const struct packet *p, bool same)
{
    struct packet *made = &look->packet;

    packet_reset(made);
    made->source = PACKET_STREAM_FLUSH;
    made->flags = PACKET_PSEUDO | PACKET_ESTABLISHED | PACKET_STREAM_OPEN |
                  (p->flags & COPIED_FLAGS);
    made->datalink = DATALINK_RAW;
    made->time_us = p->time_us;
    made->order = p->order;
    made->order_sub = p->order_sub;
    made->lane = p->lane;
    made->flow = p->flow;
    made->flow_hash = p->flow_hash;
    made->flow_state = p->flow_state & 0xf;
    made->tcp_state = p->tcp_state & 0xf;
    made->ip_proto = p->ip_proto;
    made->src = p->src;
    made->dst = p->dst;
    made->src_port = p->src_port;
    made->dst_port = p->dst_port;
    made->device = p->device;
    made->device_name = p->device_name;
    made->file_name = p->file_name;
    memcpy(made->vlan, p->vlan, sizeof(made->vlan));
    made->vlan_count = p->vlan_count;
    memcpy(made->stream_bytes, p->stream_bytes, sizeof(made->stream_bytes));
    memcpy(made->stream_history, p->stream_history, sizeof(made->stream_history));
    made->stream_marks = p->stream_marks & MARK_SNAPSHOT;
    made->session = p->session;
    if (!same)
        packet_turn(made);
    numbers(made, p, same);
    packet_make_headers(made, true);
    return made;
}
