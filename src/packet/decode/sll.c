/* SPDX-License-Identifier: GPL-2.0-or-later */
/* packet/decode/sll.c - Linux cooked capture, version 1: 16 bytes, the EtherType at the end. */
#include "packet/decode/decode_private.h"

#define SLL_HEADER 16u

bool decode_sll(struct decoder *d, struct packet *p, const uint8_t *at, uint32_t len)
{
    COUNT(d, sll);
    if (UNLIKELY(len < SLL_HEADER))
        return decode_invalid(p, EVENT_SLL_PKT_TOO_SMALL);
    if (!decode_layer(d, p))
        return false;
    decode_ethertype(d, p, get_be16(at + 14), at + SLL_HEADER, len - SLL_HEADER);
    return true;
}
