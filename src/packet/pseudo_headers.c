/* SPDX-License-Identifier: GPL-2.0-or-later */
/* packet/pseudo_headers.c - the frame of a packet that was never on a wire: IP without options, TCP
 * without payload, checksums 0. EVE and pcap logs show these frames. */
#include "packet/pseudo_headers.h"

#include "base/text/bytes.h"
#include "packet/checksum.h"

#include <string.h>

#define IP4_HEADER 20
#define IP6_HEADER 40
#define TCP_HEADER 20
#define HOP_LIMIT 64
#define WINDOW 0x0a00 /* Suricata's value */

static void write_ip(uint8_t *ip, const struct packet *p, uint16_t payload)
{
    if (p->src.version == 4) {
        ip[0] = 0x45;
        put_be16(ip + 2, IP4_HEADER + payload);
        ip[8] = HOP_LIMIT;
        ip[9] = p->ip_proto;
        memcpy(ip + 12, p->src.b, 4);
        memcpy(ip + 16, p->dst.b, 4);
        return;
    }
    ip[0] = 0x60;
    put_be16(ip + 4, payload);
    ip[6] = p->ip_proto;
    ip[7] = HOP_LIMIT;
    memcpy(ip + 8, p->src.b, 16);
    memcpy(ip + 24, p->dst.b, 16);
}

/* The packet has no header of the other end: p->tcp.ack is that end's sequence number. */
static void write_tcp(struct packet *p)
{
    put_be16(p->l4, p->src_port);
    put_be16(p->l4 + 2, p->dst_port);
    put_be32(p->l4 + 4, p->tcp.seq);
    put_be32(p->l4 + 8, p->source == PACKET_STREAM_END ? 0 : p->tcp.ack);
    p->l4[12] = (TCP_HEADER / 4) << 4;
    p->l4[13] = p->tcp.flags;
    put_be16(p->l4 + 14, p->tcp.window);
}

/* `with_tcp`: the caller has set seq, ack and flags. */
void packet_make_pseudo_headers(struct packet *p, bool with_tcp)
{
    uint16_t ip_len = p->src.version == 4 ? IP4_HEADER : IP6_HEADER;
    uint16_t l4_len = with_tcp ? TCP_HEADER : 0;

    _Static_assert(IP6_HEADER + TCP_HEADER <= sizeof(p->pseudo_headers), "both fit");
    memset(p->pseudo_headers, 0, sizeof(p->pseudo_headers));
    p->data = p->l3 = p->pseudo_headers;
    p->len = p->wire_len = (uint32_t)ip_len + l4_len;
    p->l3_len = ip_len;
    p->ethertype = p->src.version == 4 ? 0x0800 : 0x86dd;
    write_ip(p->l3, p, l4_len);
    if (!with_tcp)
        return;
    p->l4 = p->l3 + ip_len;
    p->l4_len = p->l4_header_len = TCP_HEADER;
    p->payload = p->l4 + TCP_HEADER;
    p->tcp.window = WINDOW;
    write_tcp(p);
}

void packet_make_opposite(const struct packet *p, struct packet *opposite)
{
    *opposite = *p;
    packet_swap_direction(opposite);
    opposite->tcp.seq = p->tcp.ack;
    opposite->tcp.ack = p->tcp.seq;
    packet_make_pseudo_headers(opposite, p->l4 != NULL);
    if (p->l4 != NULL)
        packet_fix_checksums(opposite);
}
