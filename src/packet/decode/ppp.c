/* SPDX-License-Identifier: GPL-2.0-or-later */
/* packet/decode/ppp.c - PPP, RFC 1661 and 1662: an optional HDLC address and control field, and
 * a protocol field of one byte, when its lowest bit is set, or two. */
#include "packet/decode/decode_private.h"
#include "packet/decode/ppp.h"

enum ppp_kind ppp_kind(uint16_t protocol)
{
    switch (protocol) {
    case PPP_IPV4:
        return PPP_KIND_IPV4;
    case PPP_IPV6:
        return PPP_KIND_IPV6;
    case PPP_VJ_UNCOMPRESSED:
        return PPP_KIND_VJ;
    case 0x00fd:    /* compressed datagram */
    case 0x8021:    /* IP control */
    case 0x8057:    /* IPv6 control */
    case 0x80fd:    /* compression control */
    case 0x8207:    /* Cisco discovery control */
    case 0xc021:    /* link control */
    case 0xc023:    /* password authentication */
    case 0xc025:    /* link quality */
    case 0xc029:    /* callback control */
    case 0xc223:    /* challenge handshake */
        return PPP_KIND_CONTROL;
    case 0x0023:    /* OSI */
    case 0x0025:    /* XNS */
    case 0x0027:    /* DECnet */
    case 0x0029:    /* AppleTalk */
    case 0x002b:    /* IPX */
    case 0x002d:    /* VJ compressed */
    case 0x0031:    /* bridging */
    case 0x0033:    /* ST-II */
    case 0x0035:    /* Vines */
    case 0x0201:    /* 802.1d hello */
    case 0x0231:    /* Luxcom */
    case 0x0233:    /* Sigma */
    case 0x0281:    /* MPLS unicast */
    case 0x0283:    /* MPLS multicast */
    case 0x8023:
    case 0x8025:
    case 0x8027:
    case 0x8029:
    case 0x802b:
    case 0x8033:
    case 0x8035:
    case 0x8281:
        return PPP_KIND_UNSUPPORTED;
    default:
        return PPP_KIND_WRONG;
    }
}

static bool decode_vj(struct decoder *d, struct packet *p, const uint8_t *at, uint32_t len,
                      bool one_byte)
{
    if (len < IPV4_HEADER_MIN)
        return decode_invalid(p, EVENT_PPP_VJU_PKT_TOO_SMALL);
    if (len > IP_MAX || at[0] >> 4 != 4)
        return false;
    if (one_byte)
        p->flags |= PACKET_PPP_VJ;
    return decode_ipv4(d, p, at, len);
}

/* The one-byte form has three protocols, and truncates too long payloads instead of rejecting
 * them. */
static bool decode_short(struct decoder *d, struct packet *p, uint8_t protocol,
                         const uint8_t *at, uint32_t len)
{
    switch (protocol) {
    case PPP_IPV4:
        if (len < IPV4_HEADER_MIN)
            return decode_invalid(p, EVENT_PPP_VJU_PKT_TOO_SMALL);
        return decode_ipv4(d, p, at, MIN(len, IP_MAX));
    case PPP_IPV6:
        if (len < IPV6_HEADER)
            return decode_invalid(p, EVENT_PPP_IP6_PKT_TOO_SMALL);
        return decode_ipv6(d, p, at, MIN(len, IP_MAX));
    case PPP_VJ_UNCOMPRESSED:
        return decode_vj(d, p, at, len, true);
    default:
        packet_set_event(p, EVENT_PPP_UNSUP_PROTO);
        return true;
    }
}

static bool decode_long(struct decoder *d, struct packet *p, uint16_t protocol,
                        const uint8_t *at, uint32_t len)
{
    switch (ppp_kind(protocol)) {
    case PPP_KIND_IPV4:
        if (len < IPV4_HEADER_MIN)
            return decode_invalid(p, EVENT_PPP_IP4_PKT_TOO_SMALL);
        return len <= IP_MAX && decode_ipv4(d, p, at, len);
    case PPP_KIND_IPV6:
        if (len < IPV6_HEADER)
            return decode_invalid(p, EVENT_PPP_IP6_PKT_TOO_SMALL);
        return len <= IP_MAX && decode_ipv6(d, p, at, len);
    case PPP_KIND_VJ:
        return decode_vj(d, p, at, len, false);
    case PPP_KIND_CONTROL:
        return true;
    case PPP_KIND_UNSUPPORTED:
        packet_set_event(p, EVENT_PPP_UNSUP_PROTO);
        return true;
    case PPP_KIND_WRONG:
        break;
    }
    decode_invalid(p, EVENT_PPP_WRONG_TYPE);
    return true;
}

bool decode_ppp(struct decoder *d, struct packet *p, const uint8_t *at, uint32_t len)
{
    struct bytes in = bytes_of(at, len);
    bool one_byte;
    uint16_t protocol;

    COUNT(d, ppp);
    if (peek_u8(&in) == 0xff)
        take_skip(&in, 2);
    one_byte = peek_u8(&in) & 1;
    protocol = one_byte ? take_u8(&in) : take_be16(&in);
    if (in.failed)
        return decode_invalid(p, EVENT_PPP_PKT_TOO_SMALL);
    if (!decode_layer(d, p))
        return false;
    if (one_byte)
        return decode_short(d, p, (uint8_t)protocol, in.next, (uint32_t)bytes_left(&in));
    return decode_long(d, p, protocol, in.next, (uint32_t)bytes_left(&in));
}
