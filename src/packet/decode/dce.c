/* SPDX-License-Identifier: GPL-2.0-or-later */
/* packet/decode/dce.c - data center Ethernet, FabricPath: two bytes of tag, then another
 * Ethernet frame. */
#include "packet/decode/decode_private.h"

#define DCE_TAG 2u

bool decode_dce(struct decoder *d, struct packet *p, const uint8_t *at, uint32_t len)
{
    if (UNLIKELY(len < DCE_TAG + ETHERNET_HEADER))
        return decode_invalid(p, EVENT_DCE_PKT_TOO_SMALL);
    return decode_ethernet(d, p, at + DCE_TAG, len - DCE_TAG);
}
