/* SPDX-License-Identifier: GPL-2.0-or-later */
/* flow/flow_match.h - which flow a packet asks for. */
#ifndef FLOW_FLOW_MATCH_H
#define FLOW_FLOW_MATCH_H

#include "flow/flow_private.h"

#include <string.h>

#define FLOW_PROTO_ESP 50               /* a flow for each direction */

/* The key to look the packet up by: its own, or of the packet that it quotes, where it is an ICMP
 * destination unreachable. */
void flow_match_key(const struct packet *p, struct flow_key *key);

/* Errors of ICMPv4 make no flow, and say nothing of who has spoken. */
bool flow_is_icmp4_error(const struct packet *p);

/* Only tells devices apart: their addresses do. */
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

/* In either direction. */
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
