/* SPDX-License-Identifier: GPL-2.0-or-later */
/* packet/decode/ethernet.c - Ethernet II, and the way from an EtherType to its decoder. */
#include "packet/decode/decode_private.h"

/* False: no decoder for the type. decode continues with what is there. */
static bool decode_ethertype_of_9(struct decoder *d, struct packet *p, uint16_t type,
                                  struct slice in)
{
    if (!d->conf->suricata_9)
        return false;
    switch (type) {
#define X(number, name)                      \
    case number:                             \
        decode_##name(d, p, in.data, in.len); \
        return true;
    ETHERTYPE_9_LIST(X)
#undef X
    default:
        return false;
    }
}

bool decode_ethertype(struct decoder *d, struct packet *p, uint16_t type, const uint8_t *at,
                      uint32_t len)
{
    p->ethertype = type;
    switch (type) {
#define X(number, name)              \
    case number:                     \
        decode_##name(d, p, at, len); \
        return true;
    ETHERTYPE_LIST(X)
#undef X
    default:
        if (decode_by_registered(DECODE_BY_ETHERTYPE, d, p, type, (struct slice){ at, len }) ||
            decode_ethertype_of_9(d, p, type, (struct slice){ at, len }))
            return true;
        COUNT(d, unknown_ethertype);
        packet_set_event(p, EVENT_ETHERNET_UNKNOWN_ETHERTYPE);
        return false;
    }
}

bool decode_ethernet(struct decoder *d, struct packet *p, const uint8_t *at, uint32_t len)
{
    COUNT(d, ethernet);
    if (UNLIKELY(len < ETHERNET_HEADER))
        return decode_invalid(p, EVENT_ETHERNET_PKT_TOO_SMALL);
    if (UNLIKELY(!decode_layer(d, p)))
        return false;
    p->eth = (uint8_t *)at;
    decode_ethertype(d, p, get_be16(at + 12), at + ETHERNET_HEADER, len - ETHERNET_HEADER);
    return true;
}
