/* SPDX-License-Identifier: GPL-2.0-or-later */
/* packet/decode/nsh.c - network service header, RFC 8300. */
#include "packet/decode/decode_private.h"

#define NSH_FIXED 8u
#define NSH_MD1_LEN 24u

enum { NSH_IPV4 = 1, NSH_IPV6 = 2, NSH_ETHERNET = 3, NSH_MPLS = 5 };

/* Payloads by "next protocol" (RFC 8300, section 2.2). IP and MPLS continue in the same packet. */
static bool decode_payload(struct decoder *d, struct packet *p, uint8_t next,
                           const uint8_t *at, uint32_t len)
{
    switch (next) {
    case NSH_IPV4:
        return len <= IP_MAX && decode_ipv4(d, p, at, len);
    case NSH_IPV6:
        return len <= IP_MAX && decode_ipv6(d, p, at, len);
    case NSH_ETHERNET:
        return decode_ethernet(d, p, at, len);
    case NSH_MPLS:
        return decode_mpls(d, p, at, len);
    default:
        packet_set_event(p, EVENT_NSH_UNKNOWN_PAYLOAD);
        return true;
    }
}

/* MD type 1 has a fixed length of 24 bytes, type 2 any (RFC 8300, sections 2.4 and 2.5). */
bool decode_nsh(struct decoder *d, struct packet *p, const uint8_t *at, uint32_t len)
{
    uint32_t header;

    COUNT(d, nsh);
    if (UNLIKELY(len < NSH_FIXED))
        return decode_invalid(p, EVENT_NSH_HEADER_TOO_SMALL);
    if (!decode_layer(d, p))
        return false;
    if (at[0] >> 6 != 0) {
        packet_set_event(p, EVENT_NSH_UNSUPPORTED_VERSION);
        return true;
    }
    header = (at[1] & 0x3fu) * 4;
    if (header >= len)
        return decode_invalid(p, EVENT_NSH_BAD_HEADER_LENGTH);
    switch (at[2]) {
    case 0x0:
    case 0xf:
        packet_set_event(p, EVENT_NSH_RESERVED_TYPE);
        return true;
    case 1:
        if (header != NSH_MD1_LEN)
            return decode_invalid(p, EVENT_NSH_BAD_HEADER_LENGTH);
        break;
    case 2:
        break;
    default:
        packet_set_event(p, EVENT_NSH_UNSUPPORTED_TYPE);
        return true;
    }
    return decode_payload(d, p, at[3], at + header, len - header);
}
