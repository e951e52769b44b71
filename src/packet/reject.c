/* SPDX-License-Identifier: GPL-2.0-or-later */
/* packet/reject.c - builds TCP resets and ICMP errors for `reject` rules. */
#include "packet/reject.h"

#include "base/text/bytes.h"
#include "packet/checksum.h"

#include <string.h>

enum { PROTO_ICMP = 1, PROTO_TCP = 6, PROTO_ICMPV6 = 58 };

#define HOP_LIMIT 64
#define TCP_LEN 20
#define ICMP_LEN 8
#define LINK_LEN_MAX (14 + 4 * PACKET_VLANS_MAX)
/* Bytes of the rejected packet that an ICMP error quotes. They include its headers, by which the
 * receiver finds the connection (RFC 1122, section 3.2.2). */
#define QUOTE_MAX 128

static bool is_multicast(const struct ip *ip)
{
    if (ip->version == 4)
        return ip->b[0] >= 224;
    return ip->b[0] == 0xff;
}

static bool is_icmp_error(const struct packet *p)
{
    if (p->ip_proto == PROTO_ICMP)
        return p->icmp.type != 8 && p->icmp.type != 0;
    return p->ip_proto == PROTO_ICMPV6 && p->icmp.type < 128;
}

/* Never answers multicast, resets or ICMP errors (RFC 1122, section 3.2.2): two hosts could
 * answer each other endlessly. */
static bool may_refuse(const struct packet *p)
{
    if (p->l3 == NULL || p->src.version == 0 || is_multicast(&p->dst) || is_multicast(&p->src))
        return false;
    if (packet_is_tcp(p))
        return (p->tcp.flags & TCP_RST) == 0;
    return p->l4 == NULL || !is_icmp_error(p);
}

/* Length of Ethernet header and VLAN tags; 0 if there is another link layer, whose length fields
 * would be wrong. */
static size_t link_len(const struct packet *p)
{
    size_t len;

    if (p->eth == NULL || p->l3 < p->eth)
        return 0;
    len = (size_t)(p->l3 - p->eth);
    return len == 14 + 4 * (size_t)p->vlan_count && len <= LINK_LEN_MAX ? len : 0;
}

static size_t put_link(const struct packet *p, bool to_src, uint8_t *out)
{
    size_t len = link_len(p);

    memcpy(out, p->eth, len);
    if (to_src) {
        memcpy(out, p->eth + 6, 6);
        memcpy(out + 6, p->eth, 6);
    }
    return len;
}

static size_t put_ip(const struct ip *from, const struct ip *to, uint8_t proto, size_t body,
                     uint8_t *out)
{
    if (from->version == 4) {
        memset(out, 0, 20);
        out[0] = 0x45;
        put_be16(out + 2, 20 + body);
        out[6] = 0x40;                          /* don't fragment */
        out[8] = HOP_LIMIT;
        out[9] = proto;
        memcpy(out + 12, from->b, 4);
        memcpy(out + 16, to->b, 4);
        put_be16(out + 10, checksum_fold(checksum_add(0, out, 20)));
        return 20;
    }
    memset(out, 0, 8);
    out[0] = 0x60;
    put_be16(out + 4, body);
    out[6] = proto;
    out[7] = HOP_LIMIT;
    memcpy(out + 8, from->b, 16);
    memcpy(out + 24, to->b, 16);
    return 40;
}

/* The sequence number must be the one that the receiver expects next, or it ignores the reset (RFC
 * 9293, section 3.10.7.1; RFC 5961, section 3.2). */
static void put_reset(const struct packet *p, bool to_src, uint8_t *out)
{
    uint32_t len = p->payload_len + ((p->tcp.flags & TCP_SYN) != 0) +
                   ((p->tcp.flags & TCP_FIN) != 0);
    bool acks = (p->tcp.flags & TCP_ACK) != 0;

    memset(out, 0, TCP_LEN);
    put_be16(out, to_src ? p->dst_port : p->src_port);
    put_be16(out + 2, to_src ? p->src_port : p->dst_port);
    if (to_src) {
        put_be32(out + 4, acks ? p->tcp.ack : 0);
        put_be32(out + 8, p->tcp.seq + len);
    } else {
        put_be32(out + 4, p->tcp.seq);
        put_be32(out + 8, acks ? p->tcp.ack : 0);
    }
    out[12] = (TCP_LEN / 4) << 4;
    out[13] = TCP_RST | (acks || to_src ? TCP_ACK : 0);
}

static size_t quote_len(const struct packet *p)
{
    size_t left = (size_t)(p->data + p->len - p->l3);

    return MIN(left, (size_t)QUOTE_MAX);
}

/* "Administratively prohibited": type 3 code 10 (RFC 1122, section 3.2.2.1), in ICMPv6 type 1 code
 * 1 (RFC 4443, section 3.1). */
static void put_unreachable(const struct packet *p, size_t quote, uint8_t *out)
{
    bool v4 = p->src.version == 4;

    memset(out, 0, ICMP_LEN);
    out[0] = v4 ? 3 : 1;
    out[1] = v4 ? 10 : 1;
    memcpy(out + ICMP_LEN, p->l3, quote);
}

/* Returns the length in `out`, 0 if no answer is allowed or possible. */
size_t reject_build(const struct packet *p, bool to_src, bool with_link, uint8_t *out)
{
    const struct ip *from = to_src ? &p->dst : &p->src, *to = to_src ? &p->src : &p->dst;
    bool tcp = packet_is_tcp(p), v4 = p->src.version == 4;
    uint8_t proto = tcp ? PROTO_TCP : v4 ? PROTO_ICMP : PROTO_ICMPV6;
    size_t at = 0, body;
    uint64_t sum;

    if (!may_refuse(p) || (with_link && link_len(p) == 0))
        return 0;
    if (p->l3 < p->data || p->l3 >= p->data + p->len)
        return 0;
    body = tcp ? TCP_LEN : ICMP_LEN + quote_len(p);
    if (with_link)
        at = put_link(p, to_src, out);
    at += put_ip(from, to, proto, body, out + at);
    if (tcp)
        put_reset(p, to_src, out + at);
    else
        put_unreachable(p, body - ICMP_LEN, out + at);
    sum = proto == PROTO_ICMP ? 0 : checksum_pseudo_header(from, to, proto, (uint32_t)body);
    put_be16(out + at + (tcp ? 16 : 2), checksum_fold(checksum_add(sum, out + at, body)));
    return at + body;
}
