/* SPDX-License-Identifier: GPL-2.0-or-later */
/* packet/flow_share.c - finds the two hosts of a packet, and the share that has them. */
#include "packet/flow_share.h"

#include "base/text/bytes.h"
#include "base/text/ip.h"

#include <stdlib.h>

bool flow_share_parse(const char *text, struct flow_share *out)
{
    unsigned long number, count;
    char *end;

    if (text[0] < '0' || text[0] > '9')
        return false;
    number = strtoul(text, &end, 10);
    if (end[0] != '/' || end[1] < '0' || end[1] > '9')
        return false;
    count = strtoul(end + 1, &end, 10);
    *out = (struct flow_share){ (uint32_t)number, (uint32_t)count };
    return *end == '\0' && number >= 1 && number <= count && count <= FLOW_SHARES_MAX;
}

/* The finalizer of MurmurHash3, which is public domain. No key: other engines must get the same
 * result, and a sender who fills one share gets what one engine without shares would give him. */
static uint64_t mix(uint64_t n)
{
    n = (n ^ n >> 33) * 0xff51afd7ed558ccdu;
    n = (n ^ n >> 33) * 0xc4ceb9fe1a85ec53u;
    return n ^ n >> 33;
}

/* The same on machines of either byte order. */
static uint64_t host_number(const struct ip *ip)
{
    return mix(mix(get_be64(ip->b) + ip->version) + get_be64(ip->b + 8));
}

/* An error belongs to the flow that it quotes, as in packet/flow_hash.c. */
static void hosts_of(const struct packet *p, struct ip *src, struct ip *dst)
{
    *src = p->src;
    *dst = p->dst;
    if (UNLIKELY(p->flags & PACKET_ICMP_ERROR)) {
        *src = ip_v4(p->icmp.embedded + 12);
        *dst = ip_v4(p->icmp.embedded + 16);
    }
}

bool flow_share_has(const struct flow_share *share, const struct packet *p)
{
    struct ip src, dst;
    uint64_t one, other;

    if (share->count <= 1)
        return true;
    hosts_of(p, &src, &dst);
    if (src.version == 0)
        return share->number == 1;
    one = host_number(&src);
    other = host_number(&dst);
    return mix(MIN(one, other) * 3 + MAX(one, other)) % share->count == share->number - 1;
}
