/* SPDX-License-Identifier: GPL-2.0-or-later */
/* packet/decode/tcp.c - the TCP header, RFC 9293. */
#include "packet/decode/decode_private.h"


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

    decode_take_tcp(p, (uint8_t *)at, len, header);
    if (header > TCP_HEADER)
        decode_tcp_options(p, at + TCP_HEADER, header - TCP_HEADER);
    count_flags(d, p->tcp.flags);
    decode_set_flow(d, p);
    return true;
}
