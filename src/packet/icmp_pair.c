/* SPDX-License-Identifier: GPL-2.0-or-later */
/* packet/icmp_pair.c - ICMP requests and their replies, by type. */
#include "packet/icmp_pair.h"

#define PROTO_ICMPV6 58

struct icmp_pair {
    uint8_t request, reply;
};

static const struct icmp_pair icmp4_pairs[] = {
    { 8, 0 },           /* echo */
    { 13, 14 },         /* timestamp */
    { 15, 16 },         /* information */
    { 10, 9 },          /* router solicitation */
    { 17, 18 },         /* address mask */
};

static const struct icmp_pair icmp6_pairs[] = {
    { 128, 129 },       /* echo */
    { 133, 134 },       /* router solicitation */
    { 135, 136 },       /* neighbor solicitation */
    { 139, 140 },       /* node information */
    { 144, 145 },       /* home agent address discovery */
    { 130, 131 },       /* multicast listener query */
    { 146, 147 },       /* mobile prefix */
    { 148, 149 },       /* certification path */
    { 151, 152 },       /* multicast router */
    { 157, 158 },       /* duplicate address */
};

static int counterpart(const struct icmp_pair *pairs, size_t count, uint8_t type)
{
    for (size_t i = 0; i < count; i++) {
        if (pairs[i].request == type)
            return pairs[i].reply;
        if (pairs[i].reply == type)
            return pairs[i].request;
    }
    return ICMP_NO_COUNTERPART;
}

int icmp_counterpart(uint8_t proto, uint8_t type)
{
    return proto == PROTO_ICMPV6
               ? counterpart(icmp6_pairs, ARRAY_LEN(icmp6_pairs), type)
               : counterpart(icmp4_pairs, ARRAY_LEN(icmp4_pairs), type);
}
