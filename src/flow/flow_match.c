/* SPDX-License-Identifier: GPL-2.0-or-later */
/* flow/flow_match.c - the flow that a packet belongs to: keys from packets and from ICMP quotes. */
#include "flow/flow_match.h"

/* Reads the quote of an ICMP destination unreachable: it belongs to the flow that it reports, in
 * either direction. Quotes are hostile input: the cursor checks every length. */
static bool quoted_key(const struct packet *p, struct flow_key *key)
{
    struct bytes in = bytes_of(p->icmp.embedded, p->icmp.embedded_len);
    uint8_t first = take_u8(&in);
    unsigned header = (first & 0xfu) * 4;
    const uint8_t *addresses;

    take_skip(&in, 8);
    key->proto = take_u8(&in);
    take_skip(&in, 2);
    addresses = take_bytes(&in, 8);
    if (addresses == NULL || first >> 4 != 4 || header < 20)
        return false;
    key->src = ip_v4(addresses);
    key->dst = ip_v4(addresses + 4);
    take_skip(&in, header - 20);
    key->src_port = take_be16(&in);
    key->dst_port = take_be16(&in);
    return !in.failed && (key->proto == 6 || key->proto == 17);
}

#define ICMP4_UNREACHABLE 3

/* RFC 792; RFC 1122, section 3.2.2, lists the same types as errors. */
bool flow_is_icmp4_error(const struct packet *p)
{
    if (p->ip_proto != 1 || p->l4 == NULL)
        return false;
    switch (p->icmp.type) {
    case ICMP4_UNREACHABLE:
    case 4:             /* source quench */
    case 5:             /* redirect */
    case 11:            /* time exceeded */
    case 12:            /* parameter problem */
        return true;
    default:
        return false;
    }
}

/* Other ICMP errors have no flow. */
void flow_match_key(const struct packet *p, struct flow_key *key)
{
    struct flow_key quoted;

    flow_key_of_packet(p, key);
    if (!flow_is_icmp4_error(p) || p->icmp.type != ICMP4_UNREACHABLE || p->icmp.embedded == NULL)
        return;
    quoted = *key;
    if (quoted_key(p, &quoted))
        *key = quoted;
}
