/* SPDX-License-Identifier: GPL-2.0-or-later */
/* packet/decode/ieee8021ah.c - provider backbone bridges, MAC in MAC: service tag, the
 * customer's addresses, the EtherType. */
#include "packet/decode/decode_private.h"

#define PBB_HEADER 18u

bool decode_ieee8021ah(struct decoder *d, struct packet *p, const uint8_t *at, uint32_t len)
{
    COUNT(d, ieee8021ah);
    if (UNLIKELY(len < PBB_HEADER))
        return decode_invalid(p, EVENT_IEEE8021AH_HEADER_TOO_SMALL);
    if (!decode_layer(d, p))
        return false;
    decode_ethertype(d, p, get_be16(at + 16), at + PBB_HEADER, len - PBB_HEADER);
    return true;
}
