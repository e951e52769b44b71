/* SPDX-License-Identifier: GPL-2.0-or-later */
/* packet/decode/pppoe.c - PPP over Ethernet, RFC 2516: discovery and session stage. */
#include "packet/decode/decode_private.h"
#include "packet/decode/ppp.h"

#define PPPOE_HEADER 6u

enum { PADO = 0x07, PADI = 0x09, PADR = 0x19, PADS = 0x65, PADT = 0xa7 };

/* Discovery packets carry tags, no IP. */
bool decode_pppoe_discovery(struct decoder *d, struct packet *p, const uint8_t *at,
                            uint32_t len)
{
    COUNT(d, pppoe);
    if (UNLIKELY(len < PPPOE_HEADER))
        return decode_invalid(p, EVENT_PPPOE_PKT_TOO_SMALL);
    switch (at[1]) {
    case PADO:
    case PADI:
    case PADR:
    case PADS:
    case PADT:
        break;
    default:
        decode_invalid(p, EVENT_PPPOE_WRONG_CODE);
        return true;
    }
    if (get_be16(at + 4) > len - PPPOE_HEADER)
        decode_invalid(p, EVENT_PPPOE_MALFORMED_TAGS);
    return true;
}

/* Control protocols of PPP are valid but are not inspected. */
static bool decode_session_payload(struct decoder *d, struct packet *p, uint16_t protocol,
                                   const uint8_t *at, uint32_t len)
{
    enum ppp_kind kind = ppp_kind(protocol);

    switch (kind) {
    case PPP_KIND_IPV4:
    case PPP_KIND_VJ:
        if (len < IPV4_HEADER_MIN) {
            decode_invalid(p, kind == PPP_KIND_VJ ? EVENT_PPP_VJU_PKT_TOO_SMALL
                                                  : EVENT_PPP_IP4_PKT_TOO_SMALL);
            return true;
        }
        if (len > IP_MAX)
            return false;
        if (kind == PPP_KIND_IPV4 || at[0] >> 4 == 4)
            decode_ipv4(d, p, at, len);
        return true;
    case PPP_KIND_IPV6:
        if (len < IPV6_HEADER) {
            decode_invalid(p, EVENT_PPP_IP6_PKT_TOO_SMALL);
            return true;
        }
        if (len > IP_MAX)
            return false;
        decode_ipv6(d, p, at, len);
        return true;
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

/* The protocol field may be one byte (RFC 1661, section 6.5): its lowest bit is then set. */
bool decode_pppoe_session(struct decoder *d, struct packet *p, const uint8_t *at, uint32_t len)
{
    struct bytes in = bytes_of(at, len);
    uint16_t session_len, protocol;

    COUNT(d, pppoe);
    take_skip(&in, 4);
    session_len = take_be16(&in);
    if (!bytes_have(&in, 1))
        return decode_invalid(p, EVENT_PPPOE_PKT_TOO_SMALL);
    if (session_len == 0)
        return true;
    protocol = (peek_u8(&in) & 1) ? take_u8(&in) : take_be16(&in);
    if (in.failed)
        return decode_invalid(p, EVENT_PPPOE_PKT_TOO_SMALL);
    return decode_session_payload(d, p, protocol, in.next, (uint32_t)bytes_left(&in));
}
