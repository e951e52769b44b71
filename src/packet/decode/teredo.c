/* SPDX-License-Identifier: GPL-2.0-or-later */
/* packet/decode/teredo.c - Teredo, RFC 4380: IPv6 in UDP on any port, after an optional origin
 * indication. No field identifies Teredo, so only an entirely valid IPv6 packet is accepted. */
#include "packet/decode/decode_private.h"

#define ORIGIN_INDICATION 8u

static bool looks_like_ipv6(const uint8_t *ip, uint32_t len)
{
    uint32_t payload;

    if (ip[0] >> 4 != 6)
        return false;
    payload = get_be16(ip + 4);
    if (ip[7] == 0 || (ip[6] == 0 && payload < 8))  /* hop limit; room for hop-by-hop */
        return false;
    return len == IPV6_HEADER + payload;
}

/* Accepts only a complete and valid IPv6 packet. */
static bool decode_strict_ipv6(struct decoder *d, struct packet *p, const uint8_t *at,
                               uint32_t len)
{
    return decode_ipv6(d, p, at, len) && (p->flags & PACKET_INVALID) == 0;
}

bool decode_teredo(struct decoder *d, struct packet *p, const uint8_t *at, uint32_t len)
{
    if (len < IPV6_HEADER)
        return false;
    if (at[0] == 0) {
        if (at[1] != 0 || len < ORIGIN_INDICATION + IPV6_HEADER)
            return false;
        at += ORIGIN_INDICATION;
        len -= ORIGIN_INDICATION;
    }
    if (LIKELY(!looks_like_ipv6(at, len)))
        return false;
    if (decode_inner(d, p, (struct slice){ at, len }, decode_strict_ipv6, PACKET_TEREDO) == NULL)
        return false;
    COUNT(d, teredo);
    return true;
}
