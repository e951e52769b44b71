/* SPDX-License-Identifier: GPL-2.0-or-later */
/* packet/decode/raw.c - bare IP; the version field distinguishes IPv4 from IPv6. */
#include "packet/decode/decode_private.h"

bool decode_raw(struct decoder *d, struct packet *p, const uint8_t *at, uint32_t len)
{
    COUNT(d, raw);
    if (UNLIKELY(len < IPV4_HEADER_MIN))
        return decode_invalid(p, EVENT_IPV4_PKT_TOO_SMALL);
    if (UNLIKELY(len > IP_MAX))
        return false;
    switch (at[0] >> 4) {
    case 4:
        decode_ipv4(d, p, at, len);
        break;
    case 6:
        decode_ipv6(d, p, at, len);
        break;
    default:
        packet_set_event(p, EVENT_IPRAW_INVALID_IP_VERSION);
    }
    return true;
}
