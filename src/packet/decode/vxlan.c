/* SPDX-License-Identifier: GPL-2.0-or-later */
/* packet/decode/vxlan.c - VXLAN, RFC 7348: an Ethernet frame after eight bytes. */
#include "packet/decode/decode_private.h"

#define VXLAN_HEADER 8u
#define VXLAN_HAS_VNI 0x08

static decode_fn *payload_decoder(uint16_t type)
{
    switch (type) {
    case ETHERTYPE_IPV4:
        return decode_ipv4;
    case ETHERTYPE_IPV6:
        return decode_ipv6;
    case ETHERTYPE_VLAN:
    case ETHERTYPE_AD:
    case ETHERTYPE_QINQ:
        return decode_vlan;
    default:
        return NULL;
    }
}

/* RFC 7348 section 5: all bits are reserved but the flag and the 24 bits of the VNI. Extensions
 * use some of them. */
static bool reserved_ok(const struct decoder *d, const uint8_t *at)
{
    switch ((enum vxlan_reserved)d->conf->vxlan_reserved) {
    case VXLAN_LAST_BYTE:
        return at[7] == 0;
    case VXLAN_STRICT:
        return at[0] == VXLAN_HAS_VNI && at[1] == 0 && at[2] == 0 && at[3] == 0 && at[7] == 0;
    case VXLAN_PERMISSIVE:
        break;
    }
    return true;
}

/* False: not VXLAN. The flag for a valid VNI must be set. */
bool decode_vxlan(struct decoder *d, struct packet *p, const uint8_t *at, uint32_t len)
{
    const uint32_t skip = VXLAN_HEADER + ETHERNET_HEADER;
    uint16_t type;
    decode_fn *fn;

    if (len < skip)
        return false;
    if (!decode_layer(d, p))
        return false;
    if ((at[0] & VXLAN_HAS_VNI) == 0 || !reserved_ok(d, at))
        return false;
    COUNT(d, vxlan);
    type = get_be16(at + skip - 2);
    fn = payload_decoder(type);
    if (fn != NULL)
        decode_inner(d, p, (struct slice){ at + skip, len - skip }, fn, PACKET_VXLAN);
    else if (type != ETHERTYPE_ARP)
        decode_invalid(p, EVENT_VXLAN_UNKNOWN_PAYLOAD_TYPE);
    return true;
}
