/* SPDX-License-Identifier: GPL-2.0-or-later */
/* flow/flow_match.h - the key by which the flow of a packet is found. */
#ifndef FLOW_FLOW_MATCH_H
#define FLOW_FLOW_MATCH_H

#include "flow/flow_private.h"

#include <string.h>

#define FLOW_PROTO_ESP 50               /* a flow for each direction */

/* Returns the key to look up: the packet's own, or that of the packet quoted in an ICMP destination
 * unreachable. */
void flow_match_key(const struct packet *p, struct flow_key *key);

/* ICMPv4 errors create no flow and do not show which side has sent. */
bool flow_is_icmp4_error(const struct packet *p);

/* The hash that decode gives to packets of a flow with this key, if the first had so many tags. */
uint32_t flow_match_hash(const struct flow_conf *conf, const struct flow_key *key, unsigned tags);

/* A number that distinguishes devices: part of the address of the struct. */
static inline uint16_t flow_device_number(const struct packet *p)
{
    return (uint16_t)((uintptr_t)p->device / 16);
}

static inline bool flow_key_same_way(const struct flow_key *a, const struct flow_key *b)
{
    return a->src_port == b->src_port && a->dst_port == b->dst_port &&
           ip_equal(&a->src, &b->src) && ip_equal(&a->dst, &b->dst);
}

static inline bool flow_key_other_way(const struct flow_key *a, const struct flow_key *b)
{
    return a->src_port == b->dst_port && a->dst_port == b->src_port &&
           ip_equal(&a->src, &b->dst) && ip_equal(&a->dst, &b->src);
}

/* TCP and UDP: the key has the packet's addresses and ports, as they are. */
static inline bool flow_match_is_plain(const struct packet *p)
{
    return p->ip_proto == 6 || p->ip_proto == 17;
}

/* Compares a plain packet with a key in both directions, as flow_key_matches() its own key. */
static inline bool flow_match_plain(const struct flow_conf *conf, const struct flow_key *key,
                                    const struct packet *p)
{
    bool same = key->src_port == p->src_port && key->dst_port == p->dst_port &&
                ip_equal(&key->src, &p->src) && ip_equal(&key->dst, &p->dst);

    if (!same && (key->src_port != p->dst_port || key->dst_port != p->src_port ||
                  !ip_equal(&key->src, &p->dst) || !ip_equal(&key->dst, &p->src)))
        return false;
    if (key->proto != p->ip_proto ||
        (conf->use_vlan && memcmp(key->vlan, p->vlan, sizeof(key->vlan)) != 0))
        return false;
    return (!conf->use_recursion || key->recursion == p->recursion) &&
           (!conf->use_device || key->device == flow_device_number(p));
}

/* Compares in both directions. */
static inline bool flow_key_matches(const struct flow_conf *conf, const struct flow_key *a,
                                    const struct flow_key *b)
{
    if (a->proto != b->proto)
        return false;
    if (!flow_key_same_way(a, b) && (a->proto == FLOW_PROTO_ESP || !flow_key_other_way(a, b)))
        return false;
    if (conf->use_vlan && memcmp(a->vlan, b->vlan, sizeof(a->vlan)) != 0)
        return false;
    if (conf->use_recursion && a->recursion != b->recursion)
        return false;
    return !conf->use_device || a->device == b->device;
}

#endif
