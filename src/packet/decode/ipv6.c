/* SPDX-License-Identifier: GPL-2.0-or-later */
/* packet/decode/ipv6.c - IPv6, RFC 8200. */
#include "packet/decode/decode_private.h"

static bool decode_next(struct decoder *d, struct packet *p, const uint8_t *at, uint32_t len)
{
    uint8_t next = p->ip_proto;

    switch (next) {
#define X(number, name)              \
    case number:                     \
        decode_##name(d, p, at, len); \
        break;
    IPV6_PROTOCOL_LIST(X)
#undef X
    case 0:         /* hop-by-hop */
    case 43:        /* routing */
    case 44:        /* fragment */
    case 50:        /* ESP */
    case 51:        /* AH */
    case 59:        /* no next header */
    case 60:        /* destination */
    case 135:       /* mobility */
    case 139:       /* host identity */
    case 140:       /* shim6 */
        decode_ipv6_extensions(d, p, next, at, len);
        break;
    case 1:
        packet_set_event(p, EVENT_IPV6_ICMPV4);
        p->ip_proto = 0;
        break;
    default:
        if (!decode_by_registered(DECODE_BY_IP_PROTOCOL, d, p, next, (struct slice){ at, len }))
            packet_set_event(p, EVENT_IPV6_UNKNOWN_NEXT_HEADER);
    }
    return true;
}

/* Data shorter than a header raise no event and do not make the packet invalid. */
bool decode_ipv6(struct decoder *d, struct packet *p, const uint8_t *at, uint32_t len)
{
    uint32_t payload;

    COUNT(d, ipv6);
    if (UNLIKELY(!decode_layer(d, p)))
        return false;
    if (UNLIKELY(len < IPV6_HEADER))
        return false;
    if (UNLIKELY(at[0] >> 4 != 6))
        return decode_invalid(p, EVENT_IPV6_WRONG_IP_VERSION);
    payload = decode_length(p, get_be16(at + 4), len - IPV6_HEADER);
    if (UNLIKELY(len < IPV6_HEADER + payload))
        return decode_invalid(p, EVENT_IPV6_TRUNC_PKT);

    p->l3 = (uint8_t *)at;
    p->l3_len = IPV6_HEADER;
    p->src = ip_v6(at + 8);
    p->dst = ip_v6(at + 24);
    p->ip_proto = at[6];
    return decode_next(d, p, at + IPV6_HEADER, payload);
}

bool decode_ipv4_in_ipv6(struct decoder *d, struct packet *p, const uint8_t *at, uint32_t len)
{
    if (UNLIKELY(len < IPV4_HEADER_MIN))
        return decode_invalid(p, EVENT_IPV6_IPV4_IN_IPV6_TOO_SMALL);
    if (at[0] >> 4 != 4)
        return decode_invalid(p, EVENT_IPV6_IPV4_IN_IPV6_WRONG_VERSION);
    if (decode_inner(d, p, (struct slice){ at, len }, decode_ipv4, PACKET_IPV6_TUNNEL) != NULL)
        COUNT(d, ipv4_in_ipv6);
    decode_set_flow(d, p);
    return true;
}

bool decode_ipv6_in_ipv6(struct decoder *d, struct packet *p, const uint8_t *at, uint32_t len)
{
    if (UNLIKELY(len < IPV6_HEADER))
        return decode_invalid(p, EVENT_IPV6_IPV6_IN_IPV6_TOO_SMALL);
    if (at[0] >> 4 != 6)
        return decode_invalid(p, EVENT_IPV6_IPV6_IN_IPV6_WRONG_VERSION);
    if (decode_inner(d, p, (struct slice){ at, len }, decode_ipv6, PACKET_IPV6_TUNNEL) != NULL)
        COUNT(d, ipv6_in_ipv6);
    decode_set_flow(d, p);
    return true;
}
