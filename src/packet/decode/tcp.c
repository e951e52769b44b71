/* SPDX-License-Identifier: GPL-2.0-or-later */
/* packet/decode/tcp.c - the TCP header, RFC 9293. */
#include "packet/decode/decode_private.h"

#define TCP_HEADER 20u

static void count_flags(struct decoder *d, uint8_t flags)
{
    if ((flags & (TCP_SYN | TCP_RST | TCP_URG)) == 0)
        return;
    if (flags & TCP_SYN) {
        if (flags & TCP_ACK)
            COUNT(d, tcp_synack);
        else
            COUNT(d, tcp_syn);
    }
    if (flags & TCP_RST)
        COUNT(d, tcp_rst);
    if (flags & TCP_URG)
        COUNT(d, tcp_urg);
}

/* False: there is no TCP header, and so no flow. The data may be shorter than the header's
 * length field. */
bool decode_tcp(struct decoder *d, struct packet *p, const uint8_t *at, uint32_t len)
{
    uint32_t header;

    COUNT(d, tcp);
    if (UNLIKELY(len < TCP_HEADER))
        return decode_invalid(p, EVENT_TCP_PKT_TOO_SMALL);
    header = (at[12] >> 4) * 4u;
    if (UNLIKELY(len < header))
        return decode_invalid(p, EVENT_TCP_HLEN_TOO_SMALL);
    if (UNLIKELY(header < TCP_HEADER))
        return decode_invalid(p, EVENT_TCP_INVALID_OPTLEN);

    p->l4 = (uint8_t *)at;
    p->l4_len = len;
    p->l4_header_len = (uint16_t)header;
    p->payload = (uint8_t *)at + header;
    p->payload_len = len - header;
    p->ip_proto = 6;
    p->src_port = get_be16(at);
    p->dst_port = get_be16(at + 2);
    p->tcp.seq = get_be32(at + 4);
    p->tcp.ack = get_be32(at + 8);
    p->tcp.reserved = at[12] & 0x0f;
    p->tcp.flags = at[13];
    p->tcp.window = get_be16(at + 14);
    if (header > TCP_HEADER)
        decode_tcp_options(p, at + TCP_HEADER, header - TCP_HEADER);
    count_flags(d, p->tcp.flags);
    decode_set_flow(d, p);
    return true;
}
