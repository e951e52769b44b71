/* SPDX-License-Identifier: GPL-2.0-or-later */
/* packet/flow_hash.c - the symmetric hash by which packets are dealt and flows are found. */
#include "packet/flow_hash.h"

#include "base/bytes.h"
#include "base/hash.h"
#include "packet/decode.h"

/* An unreachable counts as a packet of the flow that it quotes. Decode has checked the lengths
 * (PACKET_ICMP_ERROR). */
static void tuple_of_quote(struct flow_tuple *t, const struct packet *p)
{
    const uint8_t *ip = p->icmp.embedded;
    const uint8_t *ports = ip + (ip[0] & 0xf) * 4;

    t->src = ip_v4(ip + 12);
    t->dst = ip_v4(ip + 16);
    t->proto = ip[9];
    t->src_port = get_be16(ports);
    t->dst_port = get_be16(ports + 2);
}

static void tuple_of(struct flow_tuple *t, const struct packet *p)
{
    if (UNLIKELY(p->flags & PACKET_ICMP_ERROR)) {
        tuple_of_quote(t, p);
        return;
    }
    t->src = p->src;
    t->dst = p->dst;
    t->proto = p->ip_proto;
    t->src_port = t->dst_port = 0;
    if (LIKELY((p->flags & PACKET_FRAGMENT) == 0)) {
        t->src_port = p->src_port;
        t->dst_port = p->dst_port;
    }
}

static uint64_t mix_symmetric(uint64_t a, uint64_t b, uint64_t seed)
{
    return a < b ? hash_mix(a ^ seed, b) : hash_mix(b ^ seed, a);
}

static uint64_t mix_v6(const struct ip *ip, uint16_t port, uint64_t seed)
{
    return hash_mix(ip->q[0] ^ seed, ip->q[1] ^ (uint64_t)port << 48);
}

static uint64_t vlan_bits(const struct packet *p)
{
    uint64_t bits = 0;

    for (unsigned i = 0; i < p->vlan_count; i++)
        bits = bits << 16 | p->vlan[i];
    return bits;
}

static uint64_t mix_v4(const struct ip *src, uint16_t src_port, const struct ip *dst,
                       uint16_t dst_port, uint64_t seed)
{
    return mix_symmetric((uint64_t)src->w[0] << 16 | src_port, (uint64_t)dst->w[0] << 16 | dst_port,
                         seed);
}

static uint32_t finish(uint64_t hash, uint64_t extra)
{
    if (UNLIKELY(extra != 0))
        hash = hash_mix(hash, extra);
    hash ^= hash >> 32;
    return (uint32_t)hash != 0 ? (uint32_t)hash : 1;
}

uint32_t flow_tuple_hash(const struct flow_tuple *t, uint64_t extra)
{
    uint64_t seed = hash_seed();

    if (LIKELY(t->src.version == 4))
        return finish(mix_v4(&t->src, t->src_port, &t->dst, t->dst_port, seed ^ t->proto), extra);
    return finish(mix_symmetric(mix_v6(&t->src, t->src_port, seed),
                                mix_v6(&t->dst, t->dst_port, seed), seed ^ t->proto), extra);
}

uint32_t packet_flow_hash(const struct packet *p, bool use_vlan, bool use_recursion)
{
    uint64_t extra = use_recursion ? (uint64_t)p->recursion << 56 : 0;
    struct flow_tuple t;

    if (use_vlan)
        extra ^= vlan_bits(p);
    /* The common packet's addresses have only just been written, and are not copied: reading them
     * in wider pieces than they were written in would have to wait. */
    if (LIKELY(p->src.version == 4 && (p->flags & (PACKET_ICMP_ERROR | PACKET_FRAGMENT)) == 0))
        return finish(mix_v4(&p->src, p->src_port, &p->dst, p->dst_port,
                             hash_seed() ^ p->ip_proto), extra);
    tuple_of(&t, p);
    return flow_tuple_hash(&t, extra);
}
