/* SPDX-License-Identifier: GPL-2.0-or-later */
/* packet/decode/icmpv4.c - ICMP, RFC 792, 950, 1256. Errors quote the packet they are about. */
#include "packet/decode/decode_private.h"

#define ICMP_HEADER      8u
#define ICMP_TIMESTAMPS 12u

enum icmp_kind { ICMP_UNKNOWN, ICMP_QUERY, ICMP_TIMESTAMP, ICMP_ERROR, ICMP_ROUTER_ADVERT };

/* Known codes by type; codes above code_max are unknown. */
static const struct {
    uint8_t kind, code_max;
} types[19] = {
    [0] = { ICMP_QUERY, 0 },            /* echo reply */
    [3] = { ICMP_ERROR, 15 },           /* destination unreachable */
    [4] = { ICMP_ERROR, 0 },            /* source quench */
    [5] = { ICMP_ERROR, 3 },            /* redirect */
    [8] = { ICMP_QUERY, 0 },            /* echo */
    [9] = { ICMP_ROUTER_ADVERT, 255 },
    [11] = { ICMP_ERROR, 1 },           /* time exceeded */
    [12] = { ICMP_ERROR, 0 },           /* parameter problem */
    [13] = { ICMP_TIMESTAMP, 0 },
    [14] = { ICMP_TIMESTAMP, 0 },
    [15] = { ICMP_QUERY, 0 },           /* information request and reply */
    [16] = { ICMP_QUERY, 0 },
    [17] = { ICMP_QUERY, 0 },           /* address mask request and reply */
    [18] = { ICMP_QUERY, 0 },
};
enum { TYPE_UNREACHABLE = 3, TYPE_SOURCE_QUENCH = 4 };

/* An unreachable message belongs to the flow whose ports it quotes. */
static bool quotes_flow(const uint8_t *ip, uint32_t len)
{
    uint32_t header = (ip[0] & 0xfu) * 4;

    if (header < IPV4_HEADER_MIN || len < header)
        return false;
    return (ip[9] == 6 && len >= header + 4) || (ip[9] == 17 && len >= header + 8);
}

static void read_quote(struct packet *p, const uint8_t *ip, uint32_t len)
{
    if (len < IPV4_HEADER_MIN) {
        decode_invalid(p, EVENT_ICMPV4_IPV4_TRUNC_PKT);
        return;
    }
    if (ip[0] >> 4 != 4) {
        decode_invalid(p, EVENT_ICMPV4_IPV4_UNKNOWN_VER);
        return;
    }
    p->icmp.embedded = ip;
    p->icmp.embedded_len = len;
    if (p->icmp.type == TYPE_UNREACHABLE && quotes_flow(ip, len))
        p->flags |= PACKET_ICMP_ERROR;
}

/* Bytes of the header, which the payload follows. */
static uint32_t read_body(struct packet *p, enum icmp_kind kind, uint8_t code_max,
                          const uint8_t *at, uint32_t len)
{
    bool known_code = p->icmp.code <= code_max;
    uint32_t addresses;

    if (!known_code)
        packet_set_event(p, EVENT_ICMPV4_UNKNOWN_CODE);
    switch (kind) {
    case ICMP_ERROR:
        if (known_code && (len > ICMP_HEADER || p->icmp.type == TYPE_SOURCE_QUENCH))
            read_quote(p, at + ICMP_HEADER, len - ICMP_HEADER);
        return ICMP_HEADER;
    case ICMP_TIMESTAMP:
        if (len >= ICMP_HEADER + ICMP_TIMESTAMPS)
            return ICMP_HEADER + ICMP_TIMESTAMPS;
        packet_set_event(p, EVENT_ICMPV4_IPV4_TRUNC_PKT);
        return ICMP_HEADER;
    case ICMP_ROUTER_ADVERT:
        addresses = at[4] * (at[5] * 4u);
        if (len >= ICMP_HEADER + addresses)
            return ICMP_HEADER + addresses;
        packet_set_event(p, EVENT_ICMPV4_IPV4_TRUNC_PKT);
        return ICMP_HEADER;
    case ICMP_UNKNOWN:
    case ICMP_QUERY:
        break;
    }
    return ICMP_HEADER;
}

bool decode_icmpv4(struct decoder *d, struct packet *p, const uint8_t *at, uint32_t len)
{
    enum icmp_kind kind;
    uint32_t header;

    COUNT(d, icmpv4);
    if (UNLIKELY(len < ICMP_HEADER))
        return decode_invalid(p, EVENT_ICMPV4_PKT_TOO_SMALL);
    p->l4 = (uint8_t *)at;
    p->l4_len = len;
    p->ip_proto = 1;
    p->icmp.type = at[0];
    p->icmp.code = at[1];
    kind = at[0] < ARRAY_LEN(types) ? types[at[0]].kind : ICMP_UNKNOWN;
    if (kind == ICMP_QUERY || kind == ICMP_TIMESTAMP) {
        p->icmp.id = get_be16(at + 4);
        p->icmp.seq = get_be16(at + 6);
    }
    header = ICMP_HEADER;
    if (kind == ICMP_UNKNOWN)
        packet_set_event(p, EVENT_ICMPV4_UNKNOWN_TYPE);
    else
        header = read_body(p, kind, types[at[0]].code_max, at, len);
    p->l4_header_len = (uint16_t)header;
    p->payload = (uint8_t *)at + header;
    p->payload_len = len - header;
    decode_set_flow(d, p);
    return true;
}
