/* SPDX-License-Identifier: GPL-2.0-or-later */
/* packet/decode/udp.c - UDP, RFC 768, and the tunnels over it. */
#include "packet/decode/decode_private.h"

#define UDP_HEADER 8u

/* The first tunnel decoder that accepts the payload wins; UDP itself stays a packet. */
static void decode_udp_tunnel(struct decoder *d, struct packet *p)
{
#define X(name)                                                    \
    if (port_set_has(&d->conf->name, p) &&                         \
        decode_##name(d, p, p->payload, p->payload_len))           \
        return;
    UDP_TUNNEL_LIST(X)
#undef X
}

/* Bytes after UDP's own length are not payload. */
bool decode_udp(struct decoder *d, struct packet *p, const uint8_t *at, uint32_t len)
{
    uint32_t udp_len;

    COUNT(d, udp);
    if (UNLIKELY(len < UDP_HEADER))
        return decode_invalid(p, EVENT_UDP_HLEN_TOO_SMALL);
    udp_len = decode_length(p, get_be16(at + 4), len);
    if (UNLIKELY(len < udp_len))
        return decode_invalid(p, EVENT_UDP_PKT_TOO_SMALL);
    if (UNLIKELY(udp_len < UDP_HEADER))
        return decode_invalid(p, EVENT_UDP_LEN_INVALID);

    p->l4 = (uint8_t *)at;
    p->l4_len = len;
    p->l4_header_len = UDP_HEADER;
    p->payload = (uint8_t *)at + UDP_HEADER;
    p->payload_len = udp_len - UDP_HEADER;
    p->ip_proto = 17;
    p->src_port = get_be16(at);
    p->dst_port = get_be16(at + 2);
    decode_udp_tunnel(d, p);
    decode_set_flow(d, p);
    return true;
}
