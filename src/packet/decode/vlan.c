/* SPDX-License-Identifier: GPL-2.0-or-later */
/* packet/decode/vlan.c - IEEE 802.1Q, 802.1ad and the older 0x9100: one tag, followed by an
 * EtherType. A packet keeps three tags. */
#include "packet/decode/decode_private.h"

#define VLAN_HEADER 4u

static void count_depth(struct decoder *d, unsigned depth)
{
    if (depth == 0)
        COUNT(d, vlan);
    else if (depth == 1)
        COUNT(d, vlan_qinq);
    else
        COUNT(d, vlan_qinqinq);
}

bool decode_vlan(struct decoder *d, struct packet *p, const uint8_t *at, uint32_t len)
{
    if (p->vlan_count >= PACKET_VLANS_MAX) {
        packet_set_event(p, EVENT_VLAN_TOO_MANY_LAYERS);
        return false;
    }
    count_depth(d, p->vlan_count);
    if (UNLIKELY(len < VLAN_HEADER))
        return decode_invalid(p, EVENT_VLAN_HEADER_TOO_SMALL);
    if (!decode_layer(d, p))
        return false;
    p->vlan[p->vlan_count++] = get_be16(at) & 0x0fff;
    if (!decode_ethertype(d, p, get_be16(at + 2), at + VLAN_HEADER, len - VLAN_HEADER))
        return decode_invalid(p, EVENT_VLAN_UNKNOWN_TYPE);
    return true;
}
