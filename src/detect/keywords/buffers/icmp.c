/* SPDX-License-Identifier: GPL-2.0-or-later */
/* icmpv4.hdr and icmpv6.hdr - the ICMP header: type, code, checksum and the four bytes
 * after them. */
#include "detect/keywords/buffers/list.h"

#define PROTO_ICMP 1
#define PROTO_ICMPV6 58

/* Fragments are left out: a first fragment may hold a part of the header only. */
static bool header(const struct packet *p, uint8_t proto, struct slice *out)
{
    if (p->l4 == NULL || p->ip_proto != proto || (p->flags & PACKET_FRAGMENT))
        return false;
    *out = (struct slice){ p->l4, p->l4_header_len };
    return true;
}

static bool icmpv4_hdr_get(const struct packet *p, enum direction side, struct slice *out)
{
    (void)side;
    return header(p, PROTO_ICMP, out);
}

static bool icmpv6_hdr_get(const struct packet *p, enum direction side, struct slice *out)
{
    (void)side;
    return header(p, PROTO_ICMPV6, out);
}

const struct packet_buffer buffer_icmpv4_hdr = {
    .name = "icmpv4.hdr",
    .doc = "the header of ICMPv4",
    .get = icmpv4_hdr_get,
    .ip_proto = PROTO_ICMP,
};

const struct packet_buffer buffer_icmpv6_hdr = {
    .name = "icmpv6.hdr",
    .doc = "the header of ICMPv6",
    .get = icmpv6_hdr_get,
    .ip_proto = PROTO_ICMPV6,
};
