/* SPDX-License-Identifier: GPL-2.0-or-later */
/* packet/decode/null.c - BSD loopback: the address family in four bytes of the capturing host's
 * order. Families of IPv6 differ between systems. */
#include "packet/decode/decode_private.h"

#define NULL_HEADER 4u

bool decode_null(struct decoder *d, struct packet *p, const uint8_t *at, uint32_t len)
{
    COUNT(d, null);
    if (UNLIKELY(len < NULL_HEADER))
        return decode_invalid(p, EVENT_LTNULL_PKT_TOO_SMALL);
    if (UNLIKELY(len > NULL_HEADER + IP_MAX))
        return false;
    switch (get_le32(at)) {
    case 2:
        decode_ipv4(d, p, at + NULL_HEADER, len - NULL_HEADER);
        break;
    case 10:    /* Linux */
    case 23:    /* Windows */
    case 24:    /* OpenBSD, NetBSD */
    case 26:    /* Solaris */
    case 28:    /* FreeBSD */
    case 30:    /* macOS */
        decode_ipv6(d, p, at + NULL_HEADER, len - NULL_HEADER);
        break;
    default:
        packet_set_event(p, EVENT_LTNULL_UNSUPPORTED_TYPE);
    }
    return true;
}
