/* SPDX-License-Identifier: GPL-2.0-or-later */
/* packet/decode/sll2.c - Linux cooked capture, version 2: 20 bytes that begin with the
 * EtherType. */
#include "packet/decode/decode_private.h"

#define SLL2_HEADER 20u

bool decode_sll2(struct decoder *d, struct packet *p, const uint8_t *at, uint32_t len)
{
    COUNT(d, sll2);
    if (UNLIKELY(len < SLL2_HEADER))
        return decode_invalid(p, EVENT_SLL2_PKT_TOO_SMALL);
    if (!decode_layer(d, p))
        return false;
    decode_ethertype(d, p, get_be16(at), at + SLL2_HEADER, len - SLL2_HEADER);
    return true;
}
