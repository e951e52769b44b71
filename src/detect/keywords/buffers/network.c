/* SPDX-License-Identifier: GPL-2.0-or-later */
/* ipv4.hdr and ipv6.hdr - the IP header with its options or extension headers. ip.src and
 * ip.dst - the address as 4 or 16 bytes. */
#include "detect/keywords/buffers/list.h"

/* l3_len covers options and extension headers. */
static bool header(const struct packet *p, uint8_t version, struct slice *out)
{
    if (p->l3 == NULL || p->src.version != version)
        return false;
    *out = (struct slice){ p->l3, p->l3_len };
    return true;
}

static bool ipv4_hdr_get(const struct packet *p, enum direction side, struct slice *out)
{
    (void)side;
    return header(p, 4, out);
}

static bool ipv6_hdr_get(const struct packet *p, enum direction side, struct slice *out)
{
    (void)side;
    return header(p, 6, out);
}

/* Packets without IP have no address. Datasets of type ip take both lengths. */
static bool address(const struct ip *ip, struct slice *out)
{
    if (ip->version == 0)
        return false;
    *out = (struct slice){ ip->b, ip->version == 4 ? 4 : 16 };
    return true;
}

static bool ip_src_get(const struct packet *p, enum direction side, struct slice *out)
{
    return address(packet_ends(p, side).src, out);
}

static bool ip_dst_get(const struct packet *p, enum direction side, struct slice *out)
{
    return address(packet_ends(p, side).dst, out);
}

const struct packet_buffer buffer_ipv4_hdr = {
    .name = "ipv4.hdr",
    .doc = "the header of IPv4",
    .get = ipv4_hdr_get,
};

const struct packet_buffer buffer_ipv6_hdr = {
    .name = "ipv6.hdr",
    .doc = "the header of IPv6",
    .get = ipv6_hdr_get,
};

const struct packet_buffer buffer_ip_src = {
    .name = "ip.src",
    .doc = "source address sticky buffer",
    .get = ip_src_get,
    .same = true,
};

const struct packet_buffer buffer_ip_dst = {
    .name = "ip.dst",
    .doc = "dest address sticky buffer",
    .get = ip_dst_get,
    .same = true,
};
