/* SPDX-License-Identifier: GPL-2.0-or-later */
/* packet/decode/ipv4.c - IPv4, RFC 791. */
#include "packet/decode/decode_private.h"

#define MORE_FRAGMENTS 0x2000
#define FRAGMENT_BITS  0x3fff       /* more fragments, or an offset */
#define OFFSET_BITS    0x1fff

/* The length of the header, *total with what follows; 0, with the event set: it cannot be
 * trusted. */
static uint32_t check_header(struct packet *p, const uint8_t *at, uint32_t len, uint32_t *total)
{
    enum packet_event wrong;
    uint32_t header;

    if (UNLIKELY(len < IPV4_HEADER_MIN)) {
        decode_invalid(p, EVENT_IPV4_PKT_TOO_SMALL);
        return 0;
    }
    header = (at[0] & 0xfu) * 4;
    *total = get_be16(at + 2);
    if ((get_be16(at + 6) & FRAGMENT_BITS) == 0)
        *total = decode_length(p, *total, len);
    if (UNLIKELY(at[0] >> 4 != 4))
        wrong = EVENT_IPV4_WRONG_IP_VERSION;
    else if (UNLIKELY(header < IPV4_HEADER_MIN))
        wrong = EVENT_IPV4_HLEN_TOO_SMALL;
    else if (UNLIKELY(*total < header))
        wrong = EVENT_IPV4_IPLEN_SMALLER_THAN_HLEN;
    else if (UNLIKELY(len < *total))
        wrong = EVENT_IPV4_TRUNC_PKT;
    else
        return header;
    decode_invalid(p, wrong);
    return 0;
}

/* Fragments get a flow without ports. If the datagram is complete, defrag continues with it as a
 * packet of its own. */
static COLD void read_fragment(struct decoder *d, struct packet *p, uint16_t bits)
{
    struct fragment fragment = {
        .head_len = (uint32_t)(p->l3 - p->data) + p->l3_len,
        .data = p->l3 + p->l3_len,
        .data_len = get_be16(p->l3 + 2) - (uint32_t)p->l3_len,
    };

    p->fragment.present = true;
    p->fragment.id = get_be16(p->l3 + 4);
    p->fragment.offset = (uint16_t)((bits & OFFSET_BITS) << 3);
    p->fragment.more = (bits & MORE_FRAGMENTS) != 0;
    p->flags |= PACKET_FRAGMENT;
    decode_set_flow(d, p);
    decode_fragment(d, p, &fragment);
}

static void decode_protocol(struct decoder *d, struct packet *p, const uint8_t *at, uint32_t len)
{
    switch (p->ip_proto) {
#define X(number, name)              \
    case number:                     \
        decode_##name(d, p, at, len); \
        break;
    IPV4_PROTOCOL_LIST(X)
#undef X
    default:
        if (!decode_by_registered(DECODE_BY_IP_PROTOCOL, d, p, p->ip_proto,
                                  (struct slice){ at, len }))
            packet_set_event(p, EVENT_IPV4_UNKNOWN_PROTOCOL);
        break;
    }
}

/* False: not even the header is valid, so the packet has no addresses. */
bool decode_ipv4(struct decoder *d, struct packet *p, const uint8_t *at, uint32_t len)
{
    uint32_t header, total;
    uint16_t fragment_bits;

    COUNT(d, ipv4);
    if (UNLIKELY(!decode_layer(d, p)))
        return false;
    header = check_header(p, at, len, &total);
    if (UNLIKELY(header == 0))
        return false;
    if (UNLIKELY(header > IPV4_HEADER_MIN) &&
        !decode_ipv4_options(p, at + IPV4_HEADER_MIN, header - IPV4_HEADER_MIN))
        return false;

    p->l3 = (uint8_t *)at;
    p->l3_len = (uint16_t)header;
    p->src = ip_v4(at + 12);
    p->dst = ip_v4(at + 16);
    p->ip_proto = at[9];
    fragment_bits = get_be16(at + 6);
    if (UNLIKELY(fragment_bits & FRAGMENT_BITS))
        read_fragment(d, p, fragment_bits);
    else
        decode_protocol(d, p, at + header, total - header);
    return true;
}

bool decode_ipv4_in_ipv4(struct decoder *d, struct packet *p, const uint8_t *at, uint32_t len)
{
    if (decode_inner(d, p, (struct slice){ at, len }, decode_ipv4, PACKET_IPV4_TUNNEL) != NULL)
        COUNT(d, ipv4_in_ipv4);
    decode_set_flow(d, p);
    return true;
}

bool decode_ipv6_in_ipv4(struct decoder *d, struct packet *p, const uint8_t *at, uint32_t len)
{
    if (decode_inner(d, p, (struct slice){ at, len }, decode_ipv6, PACKET_IPV4_TUNNEL) != NULL)
        COUNT(d, ipv6_in_ipv4);
    decode_set_flow(d, p);
    return true;
}

/* ICMPv6 over IPv4 is never valid; it is an evasion attempt or a broken sender. */
bool decode_icmpv6_in_ipv4(struct decoder *d UNUSED, struct packet *p, const uint8_t *at UNUSED,
                           uint32_t len UNUSED)
{
    return decode_invalid(p, EVENT_IPV4_ICMPV6);
}

/* Van Jacobson compression (RFC 1144) leaves 0 in place of the protocol. */
bool decode_ppp_vj(struct decoder *d, struct packet *p, const uint8_t *at, uint32_t len)
{
    if ((p->flags & PACKET_PPP_VJ) == 0)
        return true;
    return decode_tcp(d, p, at, len);
}
