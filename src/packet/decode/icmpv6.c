/* SPDX-License-Identifier: GPL-2.0-or-later */
/* packet/decode/icmpv6.c - ICMPv6, RFC 4443, and the many protocols that live in it: neighbour
 * and listener discovery, mobility, RPL, MPL. */
#include "packet/decode/decode_private.h"

#define ICMP_HEADER 8u
#define INFO_HEADER 4u      /* what rules take for the header of all but echo and good errors */

enum icmp_kind { ICMP_ERROR, ICMP_ECHO, ICMP_INFO, ICMP_LISTENER };

/* Codes up to code_max are known, and those in [low, high] too. */
struct type {
    uint8_t type, kind, code_max, low, high;
};
static const struct type types[] = {
    { 1, ICMP_ERROR, 6, 1, 0 },         /* destination unreachable */
    { 2, ICMP_ERROR, 0, 1, 0 },         /* packet too big */
    { 3, ICMP_ERROR, 1, 1, 0 },         /* time exceeded */
    { 4, ICMP_ERROR, 2, 1, 0 },         /* parameter problem */
    { 128, ICMP_ECHO, 0, 1, 0 },
    { 129, ICMP_ECHO, 0, 1, 0 },
    { 130, ICMP_LISTENER, 0, 1, 0 },    /* listener query, report, done */
    { 131, ICMP_LISTENER, 0, 1, 0 },
    { 132, ICMP_LISTENER, 0, 1, 0 },
    { 133, ICMP_INFO, 0, 1, 0 },        /* router and neighbour discovery */
    { 134, ICMP_INFO, 0, 1, 0 },
    { 135, ICMP_INFO, 0, 1, 0 },
    { 136, ICMP_INFO, 0, 1, 0 },
    { 137, ICMP_INFO, 0, 1, 0 },
    { 138, ICMP_INFO, 2, 255, 255 },    /* router renumbering */
    { 139, ICMP_INFO, 2, 1, 0 },        /* node information */
    { 140, ICMP_INFO, 2, 1, 0 },
    { 141, ICMP_INFO, 0, 1, 0 },        /* inverse discovery */
    { 142, ICMP_INFO, 0, 1, 0 },
    { 143, ICMP_INFO, 0, 1, 0 },        /* listener report, version 2 */
    { 144, ICMP_INFO, 0, 1, 0 },        /* home agents, mobile prefixes */
    { 145, ICMP_INFO, 0, 1, 0 },
    { 146, ICMP_INFO, 0, 1, 0 },
    { 147, ICMP_INFO, 0, 1, 0 },
    { 148, ICMP_INFO, 0, 1, 0 },        /* certification paths */
    { 149, ICMP_INFO, 0, 1, 0 },
    { 150, ICMP_INFO, 255, 1, 0 },      /* experimental mobility */
    { 151, ICMP_INFO, 255, 1, 0 },      /* multicast routers */
    { 152, ICMP_INFO, 255, 1, 0 },
    { 153, ICMP_INFO, 255, 1, 0 },
    { 154, ICMP_INFO, 0, 1, 0 },        /* fast handovers */
    { 155, ICMP_INFO, 3, 128, 132 },    /* RPL */
    { 156, ICMP_INFO, 0, 1, 0 },        /* locator update */
    { 157, ICMP_INFO, 0, 1, 0 },        /* duplicate addresses */
    { 158, ICMP_INFO, 0, 1, 0 },
    { 159, ICMP_INFO, 0, 1, 0 },        /* MPL */
};

static const struct type *find_type(uint8_t type)
{
    for (unsigned i = 0; i < ARRAY_LEN(types); i++)
        if (types[i].type == type)
            return &types[i];
    return NULL;
}

/* IANA's ranges. */
static enum packet_event unlisted(uint8_t type)
{
    if (type <= 4 || type == 127)
        return EVENT_ICMPV6_UNKNOWN_TYPE;
    if (type == 100 || type == 101 || type == 200 || type == 201)
        return EVENT_ICMPV6_EXPERIMENTATION_TYPE;
    return EVENT_ICMPV6_UNASSIGNED_TYPE;
}

static void read_quote(struct packet *p, const uint8_t *ip, uint32_t len)
{
    if (len < IPV6_HEADER) {
        decode_invalid(p, EVENT_ICMPV6_IPV6_TRUNC_PKT);
    } else if (ip[0] >> 4 != 6) {
        decode_invalid(p, EVENT_ICMPV6_IPV6_UNKNOWN_VERSION);
    } else {
        p->icmp.embedded = ip;
        p->icmp.embedded_len = len;
    }
}

/* Bytes of the header, which the payload follows. */
static uint32_t read_body(struct packet *p, const struct type *type, const uint8_t *at,
                          uint32_t len)
{
    uint8_t code = p->icmp.code;
    bool known_code = code <= type->code_max || (code >= type->low && code <= type->high);

    if (!known_code)
        packet_set_event(p, EVENT_ICMPV6_UNKNOWN_CODE);
    if (type->kind == ICMP_LISTENER && p->l3[7] != 1)
        packet_set_event(p, EVENT_ICMPV6_MLD_MESSAGE_WITH_INVALID_HL);
    if (!known_code)
        return INFO_HEADER;
    if (type->kind == ICMP_ERROR) {
        read_quote(p, at + ICMP_HEADER, len - ICMP_HEADER);
        return ICMP_HEADER;
    }
    if (type->kind == ICMP_ECHO) {
        p->icmp.id = get_be16(at + 4);
        p->icmp.seq = get_be16(at + 6);
        return ICMP_HEADER;
    }
    return INFO_HEADER;
}

bool decode_icmpv6(struct decoder *d, struct packet *p, const uint8_t *at, uint32_t len)
{
    const struct type *type;
    uint32_t header = INFO_HEADER;

    COUNT(d, icmpv6);
    if (UNLIKELY(len < ICMP_HEADER))
        return decode_invalid(p, EVENT_ICMPV6_PKT_TOO_SMALL);
    p->l4 = (uint8_t *)at;
    p->l4_len = len;
    p->ip_proto = 58;
    p->icmp.type = at[0];
    p->icmp.code = at[1];
    type = find_type(at[0]);
    if (type == NULL)
        packet_set_event(p, unlisted(at[0]));
    else
        header = read_body(p, type, at, len);
    p->l4_header_len = ICMP_HEADER;
    /* After a header of 4 bytes the payload starts right there, but its length is that of a
     * payload after 8 bytes, minus 4. */
    p->payload = (uint8_t *)at + header;
    p->payload_len = len - ICMP_HEADER;
    if (header == INFO_HEADER) {
        if (p->payload_len >= 4) {
            p->payload_len -= 4;
        } else {
            p->payload = NULL;
            p->payload_len = 0;
        }
    }
    decode_set_flow(d, p);
    return true;
}
