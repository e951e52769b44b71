/* SPDX-License-Identifier: GPL-2.0-or-later */
/* packet/decode/mpls.c - MPLS label stack, RFC 3032. MPLS does not describe its payload: explicit
 * null labels do, otherwise the first half byte is the best guess (RFC 4928; 0 is the control word
 * of a pseudowire, RFC 4385). */
#include "packet/decode/decode_private.h"

#define MPLS_SHIM 4u
#define PW_CONTROL_WORD 4u

enum { LABEL_IPV4_NULL, LABEL_ROUTER_ALERT, LABEL_IPV6_NULL, LABEL_IMPLICIT_NULL,
       LABEL_RESERVED_MAX = 15 };

static bool decode_ip(struct decoder *d, struct packet *p, decode_fn *fn, const uint8_t *at,
                      uint32_t len)
{
    return len <= IP_MAX && fn(d, p, at, len);
}

static bool decode_guess(struct decoder *d, struct packet *p, const uint8_t *at, uint32_t len)
{
    if (len < PW_CONTROL_WORD)
        return decode_invalid(p, EVENT_MPLS_PKT_TOO_SMALL);
    switch (at[0] >> 4) {
    case 4:
        if (len > IP_MAX)
            return false;
        decode_ipv4(d, p, at, len);
        return true;
    case 6:
        if (len > IP_MAX)
            return false;
        decode_ipv6(d, p, at, len);
        return true;
    case 0:
        decode_ethernet(d, p, at + PW_CONTROL_WORD, len - PW_CONTROL_WORD);
        return true;
    default:
        decode_invalid(p, EVENT_MPLS_UNKNOWN_PAYLOAD_TYPE);
        return true;
    }
}

/* Each round consumes 4 bytes, so the stack ends with the packet. 0x100 is the bottom-of-stack
 * bit. */
bool decode_mpls(struct decoder *d, struct packet *p, const uint8_t *at, uint32_t len)
{
    uint32_t shim;

    COUNT(d, mpls);
    if (!decode_layer(d, p))
        return false;
    do {
        if (len < MPLS_SHIM)
            return decode_invalid(p, EVENT_MPLS_HEADER_TOO_SMALL);
        shim = get_be32(at);
        at += MPLS_SHIM;
        len -= MPLS_SHIM;
    } while ((shim & 0x100) == 0);

    switch (shim >> 12) {
    case LABEL_IPV4_NULL:
        return decode_ip(d, p, decode_ipv4, at, len);
    case LABEL_IPV6_NULL:
        return decode_ip(d, p, decode_ipv6, at, len);
    case LABEL_ROUTER_ALERT:
        packet_set_event(p, EVENT_MPLS_BAD_LABEL_ROUTER_ALERT);
        return true;
    case LABEL_IMPLICIT_NULL:
        packet_set_event(p, EVENT_MPLS_BAD_LABEL_IMPLICIT_NULL);
        return true;
    default:
        if (shim >> 12 < LABEL_RESERVED_MAX) {
            packet_set_event(p, EVENT_MPLS_BAD_LABEL_RESERVED);
            return true;
        }
        return decode_guess(d, p, at, len);
    }
}
