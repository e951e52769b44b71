/* SPDX-License-Identifier: GPL-2.0-or-later */
/* packet/decode/arp.c - ARP and RARP for IPv4 over Ethernet, RFC 826. */
#include "packet/decode/decode_private.h"

#define ARP_FIXED  8u
#define ARP_HEADER 28u

/* Returns the event for a malformed header, or PACKET_EVENT_NONE. The caller has checked that
 * there are 8 bytes. */
static enum packet_event arp_check(const uint8_t *at, uint32_t len)
{
    uint16_t opcode;

    if (get_be16(at) != 1)
        return EVENT_ARP_UNSUPPORTED_HARDWARE;
    if (get_be16(at + 2) != ETHERTYPE_IPV4)
        return EVENT_ARP_UNSUPPORTED_PROTOCOL;
    if (len < ARP_HEADER)
        return EVENT_ARP_INVALID_PKT;
    if (at[4] != 6)
        return EVENT_ARP_INVALID_HARDWARE_SIZE;
    if (at[5] != 4)
        return EVENT_ARP_INVALID_PROTOCOL_SIZE;
    opcode = get_be16(at + 6);
    return opcode >= 1 && opcode <= 4 ? PACKET_EVENT_NONE : EVENT_ARP_UNSUPPORTED_OPCODE;
}

bool decode_arp(struct decoder *d, struct packet *p, const uint8_t *at, uint32_t len)
{
    enum packet_event wrong;

    COUNT(d, arp);
    p->ethertype = ETHERTYPE_ARP;
    if (UNLIKELY(len < ARP_FIXED))
        return decode_invalid(p, EVENT_ARP_PKT_TOO_SMALL);
    if (!decode_layer(d, p))
        return false;
    wrong = arp_check(at, len);
    if (wrong != PACKET_EVENT_NONE)
        return decode_invalid(p, wrong);
    p->l3 = (uint8_t *)at;
    p->l3_len = ARP_HEADER;
    return true;
}
