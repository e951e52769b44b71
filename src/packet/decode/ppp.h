/* SPDX-License-Identifier: GPL-2.0-or-later */
/* packet/decode/ppp.h - PPP protocol numbers, for PPP itself and for PPPoE. */
#ifndef PACKET_DECODE_PPP_H
#define PACKET_DECODE_PPP_H

#include "base/base.h"

#define PPP_IPV4            0x0021
#define PPP_IPV6            0x0057
#define PPP_VJ_UNCOMPRESSED 0x002f

enum ppp_kind {
    PPP_KIND_IPV4,
    PPP_KIND_IPV6,
    PPP_KIND_VJ,            /* IPv4 with the protocol replaced by a slot, RFC 1144 */
    PPP_KIND_CONTROL,       /* valid in PPP, not inspected */
    PPP_KIND_UNSUPPORTED,   /* valid in PPP, not decoded */
    PPP_KIND_WRONG,
};
enum ppp_kind ppp_kind(uint16_t protocol);

#endif
