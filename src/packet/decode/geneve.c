/* SPDX-License-Identifier: GPL-2.0-or-later */
/* packet/decode/geneve.c - Geneve, RFC 8926: eight bytes, options, then a header by EtherType. */
#include "packet/decode/decode_private.h"

#define GENEVE_HEADER 8u

/* Options must fill their part exactly: anything else is no Geneve, but some other protocol on its
 * port. */
static bool options_add_up(struct bytes in)
{
    while (bytes_left(&in) > 0) {
        take_skip(&in, 3);
        take_skip(&in, (take_u8(&in) & 0x1fu) * 4);
        if (in.failed)
            return false;
    }
    return true;
}

/* NULL: the payload is not decoded. */
static decode_fn *payload_decoder(uint16_t type)
{
    switch (type) {
    case ETHERTYPE_IPV4:
        return decode_ipv4;
    case ETHERTYPE_IPV6:
        return decode_ipv6;
    case ETHERTYPE_BRIDGE:
        return decode_ethernet;
    default:
        return NULL;
    }
}

/* False: it does not look like Geneve, so UDP keeps it as plain payload. Only then may the next
 * tunnel decoder try it. */
bool decode_geneve(struct decoder *d, struct packet *p, const uint8_t *at, uint32_t len)
{
    uint32_t options;
    uint16_t type;
    decode_fn *fn;

    if (len < GENEVE_HEADER)
        return false;
    if (!decode_layer(d, p))
        return false;
    options = (at[0] & 0x3fu) * 4;
    if (len < GENEVE_HEADER + options)
        return false;
    if (at[0] >> 6 != 0 || (at[1] & 0x3f) != 0 || at[7] != 0)  /* version, reserved bits */
        return false;
    if (!options_add_up(bytes_of(at + GENEVE_HEADER, options)))
        return false;
    COUNT(d, geneve);
    type = get_be16(at + 2);
    fn = payload_decoder(type);
    if (fn != NULL)
        decode_inner(d, p, (struct slice){ at + GENEVE_HEADER + options,
                                           len - GENEVE_HEADER - options }, fn, PACKET_GENEVE);
    else if (type != ETHERTYPE_ARP)
        decode_invalid(p, EVENT_GENEVE_UNKNOWN_PAYLOAD_TYPE);
    return true;
}
