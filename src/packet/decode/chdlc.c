/* SPDX-License-Identifier: GPL-2.0-or-later */
/* packet/decode/chdlc.c - Cisco HDLC: address, control, EtherType. */
#include "packet/decode/decode_private.h"

#define CHDLC_HEADER 4u

bool decode_chdlc(struct decoder *d, struct packet *p, const uint8_t *at, uint32_t len)
{
    COUNT(d, chdlc);
    if (UNLIKELY(len < CHDLC_HEADER))
        return decode_invalid(p, EVENT_CHDLC_PKT_TOO_SMALL);
    if (UNLIKELY(len > CHDLC_HEADER + IP_MAX))
        return false;
    if (!decode_layer(d, p))
        return false;
    decode_ethertype(d, p, get_be16(at + 2), at + CHDLC_HEADER, len - CHDLC_HEADER);
    return true;
}
