/* SPDX-License-Identifier: GPL-2.0-or-later */
/* packet/decode/vntag.c - Cisco VN-Tag: four bytes of tag, the EtherType; and what IEEE 802.1BR
 * made of it, the E-Tag: six bytes of tag, the EtherType. */
#include "packet/decode/decode_private.h"

#define VNTAG_HEADER 6u
#define ETAG_HEADER  8u

bool decode_vntag(struct decoder *d, struct packet *p, const uint8_t *at, uint32_t len)
{
    COUNT(d, vntag);
    if (UNLIKELY(len < VNTAG_HEADER))
        return decode_invalid(p, EVENT_VNTAG_HEADER_TOO_SMALL);
    if (!decode_layer(d, p))
        return false;
    if (!decode_ethertype(d, p, get_be16(at + 4), at + VNTAG_HEADER, len - VNTAG_HEADER))
        return decode_invalid(p, EVENT_VNTAG_UNKNOWN_TYPE);
    return true;
}

bool decode_etag(struct decoder *d, struct packet *p, const uint8_t *at, uint32_t len)
{
    if (UNLIKELY(len < ETAG_HEADER))
        return decode_invalid(p, EVENT_ETAG_HEADER_TOO_SMALL);
    if (!decode_layer(d, p))
        return false;
    if (!decode_ethertype(d, p, get_be16(at + 6), at + ETAG_HEADER, len - ETAG_HEADER))
        return decode_invalid(p, EVENT_ETAG_UNKNOWN_TYPE);
    return true;
}
