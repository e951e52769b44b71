/* SPDX-License-Identifier: GPL-2.0-or-later */
/* packet/decode/gre.c - generic routing encapsulation: version 0, RFC 1701 and 2784 and 2890,
 * and version 1, the PPTP tunnel of RFC 2637. */
#include "packet/decode/decode_private.h"

#define GRE_HEADER 4u
#define ETHERTYPE_PPP 0x880b

/* First byte. */
#define GRE_CHECKSUM  0x80
#define GRE_ROUTING   0x40
#define GRE_KEY       0x20
#define GRE_SEQUENCE  0x10
#define GRE_STRICT    0x08
#define GRE_RECURSION 0x07
/* Second byte. */
#define GRE_ACK       0x80
#define GRE_FLAGS     0x78
#define GRE_VERSION   0x07

/* Source route entries (RFC 1701) end with an empty one. */
static bool skip_routes(struct bytes *in)
{
    for (;;) {
        uint16_t family = take_be16(in);
        uint8_t len;

        take_skip(in, 1);
        len = take_u8(in);
        if (in->failed)
            return false;
        if (family == 0 && len == 0)
            return true;
        take_skip(in, len);
        if (in->failed)
            return false;
    }
}

/* The read functions leave `in` at the payload. False, with the event set: the header is
 * malformed. */
static bool read_version0(struct packet *p, struct bytes *in, const uint8_t *at)
{
    if (at[0] & GRE_RECURSION)
        return decode_invalid(p, EVENT_GRE_VERSION0_RECUR);
    if (at[1] & GRE_FLAGS)
        return decode_invalid(p, EVENT_GRE_VERSION0_FLAGS);
    if (at[0] & GRE_KEY)
        take_skip(in, 4);
    if (at[0] & GRE_SEQUENCE)
        take_skip(in, 4);
    if (at[0] & (GRE_CHECKSUM | GRE_ROUTING))
        take_skip(in, 4);
    if (in->failed)
        return decode_invalid(p, EVENT_GRE_VERSION0_HDR_TOO_BIG);
    if ((at[0] & GRE_ROUTING) && !skip_routes(in))
        return decode_invalid(p, EVENT_GRE_VERSION0_MALFORMED_SRE_HDR);
    return true;
}

/* RFC 2637, section 4.1: what the enhanced header must and must not have. */
static enum packet_event check_version1(const uint8_t *at)
{
    if (at[0] & GRE_CHECKSUM)
        return EVENT_GRE_VERSION1_CHKSUM;
    if (at[0] & GRE_ROUTING)
        return EVENT_GRE_VERSION1_ROUTE;
    if (at[0] & GRE_STRICT)
        return EVENT_GRE_VERSION1_SSR;
    if (at[0] & GRE_RECURSION)
        return EVENT_GRE_VERSION1_RECUR;
    if (at[1] & GRE_FLAGS)
        return EVENT_GRE_VERSION1_FLAGS;
    if (get_be16(at + 2) != ETHERTYPE_PPP)
        return EVENT_GRE_VERSION1_WRONG_PROTOCOL;
    return at[0] & GRE_KEY ? PACKET_EVENT_NONE : EVENT_GRE_VERSION1_NO_KEY;
}

static bool read_version1(struct packet *p, struct bytes *in, const uint8_t *at, bool *empty)
{
    enum packet_event wrong = check_version1(at);

    if (wrong != PACKET_EVENT_NONE)
        return decode_invalid(p, wrong);
    *empty = take_be16(in) == 0;        /* the key has the payload length and the call id */
    take_skip(in, 2);
    if (at[0] & GRE_SEQUENCE)
        take_skip(in, 4);
    if (at[1] & GRE_ACK)
        take_skip(in, 4);
    if (in->failed)
        return decode_invalid(p, EVENT_GRE_VERSION1_HDR_TOO_BIG);
    return true;
}

/* NULL: the payload is not decoded. */
static decode_fn *payload_decoder(uint16_t type, uint8_t flags)
{
    switch (type) {
    case ETHERTYPE_IPV4:
        return decode_ipv4;
    case ETHERTYPE_IPV6:
        return decode_ipv6;
    case ETHERTYPE_PPP:
        return decode_ppp;
    case ETHERTYPE_VLAN:
        return decode_vlan;
    case ETHERTYPE_ERSPAN:      /* type I has no header; its GRE has no sequence number */
        return flags & GRE_SEQUENCE ? decode_erspan_2 : decode_erspan_1;
    case ETHERTYPE_BRIDGE:
        return decode_ethernet;
    case ETHERTYPE_ARP:
        return decode_arp;
    default:
        return NULL;
    }
}

/* A malformed GRE header still leaves a valid IP packet, hence true. */
bool decode_gre(struct decoder *d, struct packet *p, const uint8_t *at, uint32_t len)
{
    struct bytes in = bytes_of(at, len);
    decode_fn *fn;
    bool empty = false;

    COUNT(d, gre);
    take_skip(&in, GRE_HEADER);
    if (in.failed)
        return decode_invalid(p, EVENT_GRE_PKT_TOO_SMALL);
    if (!decode_layer(d, p))
        return false;
    p->l4 = (uint8_t *)at;
    p->l4_len = len;
    switch (at[1] & GRE_VERSION) {
    case 0:
        if (!read_version0(p, &in, at))
            return true;
        break;
    case 1:
        if (!read_version1(p, &in, at, &empty))
            return true;
        break;
    default:
        decode_invalid(p, EVENT_GRE_WRONG_VERSION);
        return true;
    }
    p->l4_header_len = (uint16_t)(in.next - at);
    fn = empty ? NULL : payload_decoder(get_be16(at + 2), at[0]);
    if (fn != NULL)
        decode_inner(d, p, take_rest(&in), fn, PACKET_GRE);
    return true;
}
