/* SPDX-License-Identifier: GPL-2.0-or-later */
/* packet/flow_hash.h - hashes of flows and of hosts, for decoded packets and for peeks.
 *
 * All hashes are keyed (base/containers/hash.h). They include everything that distinguishes two
 * flows. Otherwise traffic could create any number of flows with one hash by varying the missing
 * part. */
#ifndef PACKET_FLOW_HASH_H
#define PACKET_FLOW_HASH_H

#include "base/containers/hash.h"
#include "base/text/ip.h"

struct packet;

struct flow_tuple {
    struct ip src, dst;
    uint16_t src_port, dst_port;
    uint8_t proto;
    uint32_t detail;            /* without ports: what else distinguishes flows, the same in both
                                 * directions; 0: nothing */
};

/* extra: VLANs and recursion; 0: none. Never 0, which means no flow. */
uint32_t flow_tuple_hash(const struct flow_tuple *t, uint64_t extra);

/* Hashes two hosts, in either order. Never 0. */
uint32_t host_pair_hash(const struct ip *one, const struct ip *other);

/* Hashes the fields that identify the datagram of a fragment. */
uint32_t fragment_hash(const struct packet *p);

static inline uint32_t host_hash(const struct ip *ip)
{
    const struct hash_keys *keys = hash_keys();
    struct hash_sum sum = { 0 };

    hash_pair(&sum, keys, 0, ip->q[0], ip->q[1]);
    return hash_finish(&sum, keys);
}

#endif
