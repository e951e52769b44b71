/* SPDX-License-Identifier: GPL-2.0-or-later */
/* packet/decode/erspan.c - mirrored frames in GRE. Type I is the bare frame; type II has a
 * header of eight bytes that carries a VLAN. */
#include "packet/decode/decode_private.h"

#define ERSPAN_HEADER 8u
#define ERSPAN_TYPE_2 1         /* the version field of type II */

bool decode_erspan_1(struct decoder *d, struct packet *p, const uint8_t *at, uint32_t len)
{
    COUNT(d, erspan);
    return decode_ethernet(d, p, at, len);
}

bool decode_erspan_2(struct decoder *d, struct packet *p, const uint8_t *at, uint32_t len)
{
    uint16_t vlan;

    COUNT(d, erspan);
    if (UNLIKELY(len < ERSPAN_HEADER)) {
        packet_set_event(p, EVENT_ERSPAN_HEADER_TOO_SMALL);
        return false;
    }
    if (!decode_layer(d, p))
        return false;
    if (at[0] >> 4 != ERSPAN_TYPE_2) {
        packet_set_event(p, EVENT_ERSPAN_UNSUPPORTED_VERSION);
        return false;
    }
    vlan = get_be16(at) & 0x0fff;
    if (vlan > 0) {
        if (p->vlan_count >= PACKET_VLANS_MAX) {
            packet_set_event(p, EVENT_ERSPAN_TOO_MANY_VLAN_LAYERS);
            return false;
        }
        p->vlan[p->vlan_count++] = vlan;
    }
    return decode_ethernet(d, p, at + ERSPAN_HEADER, len - ERSPAN_HEADER);
}
