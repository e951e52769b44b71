/* SPDX-License-Identifier: GPL-2.0-or-later */
/* packet/flow_hash.c - the symmetric hash by which packets are distributed and flows are found. */
#include "packet/flow_hash.h"

#include "base/text/bytes.h"
#include "base/containers/hash.h"
#include "packet/decode.h"
#include "packet/icmp_pair.h"

enum { PROTO_ICMP = 1, PROTO_TCP = 6, PROTO_UDP = 17, PROTO_ESP = 50, PROTO_ICMPV6 = 58 };

/* An unreachable message counts as a packet of the flow that it quotes. decode has checked the
 * lengths (PACKET_ICMP_ERROR). */
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

/* The smaller type of a request and its reply, so that both have one hash. */
static uint8_t first_of_exchange(const struct packet *p)
{
    int answer = icmp_counterpart(p->ip_proto, p->icmp.type);

    return answer == ICMP_NO_COUNTERPART ? p->icmp.type : MIN(p->icmp.type, (uint8_t)answer);
}

/* An ICMP flow is a request with its reply, an ESP flow is a security association. */
static uint32_t detail_of(const struct packet *p)
{
    switch (p->ip_proto) {
    case PROTO_ICMP:
        return first_of_exchange(p);
    case PROTO_ICMPV6:
        return (uint32_t)p->icmp.code << 8 | first_of_exchange(p);
    case PROTO_ESP:
        return p->esp.spi;
    default:
        return 0;
    }
}

/* All fragments of a datagram must go to one thread, and only the first has ports: so fragments
 * hash without ports. */
static void tuple_of(struct flow_tuple *t, const struct packet *p)
{
    *t = (struct flow_tuple){ .proto = p->ip_proto };
    if (UNLIKELY(p->flags & PACKET_ICMP_ERROR)) {
        tuple_of_quote(t, p);
        return;
    }
    t->src = p->src;
    t->dst = p->dst;
    if (LIKELY((p->flags & PACKET_FRAGMENT) == 0)) {
        t->src_port = p->src_port;
        t->dst_port = p->dst_port;
        t->detail = detail_of(p);
    }
}

static inline bool is_plain(const struct packet *p)
{
    return (p->ip_proto == PROTO_TCP || p->ip_proto == PROTO_UDP) &&
           (p->flags & PACKET_FRAGMENT) == 0;
}

static uint64_t vlan_bits(const struct packet *p)
{
    uint64_t bits = 0;

    for (unsigned i = 0; i < p->vlan_count; i++)
        bits = bits << 16 | p->vlan[i];
    return bits;
}

/* Without a branch, which random addresses would mispredict half of the time. */
static inline void swap_if(bool swap, uint64_t *a, uint64_t *b)
{
    uint64_t both = (*a ^ *b) & -(uint64_t)swap;

    *a ^= both;
    *b ^= both;
}

/* Adds the version, which tells IPv4 from IPv6, and everything else that is not an address. 0 means
 * "no flow", so it is never returned. */
static inline uint32_t finish(struct hash_sum *sum, const struct hash_keys *keys, uint64_t rest,
                              uint64_t extra)
{
    uint32_t hash;

    hash_pair(sum, keys, 3, rest, extra);
    hash = hash_finish(sum, keys);
    return LIKELY(hash != 0) ? hash : 1;
}

static inline uint64_t rest_of(unsigned version, uint8_t proto, uint32_t ports_or_detail)
{
    return (uint64_t)ports_or_detail << 32 | version << 8 | proto;
}

/* An end is an address with its port. The smaller end goes first, so that both directions have one
 * hash. */
static inline uint32_t hash_v4(uint64_t a, uint64_t b, uint64_t rest, uint64_t extra)
{
    const struct hash_keys *keys = hash_keys();
    struct hash_sum sum = { 0 };

    hash_pair(&sum, keys, 0, MIN(a, b), MAX(a, b));
    return finish(&sum, keys, rest, extra);
}

static inline uint64_t end_v4(const struct ip *ip, uint16_t port)
{
    return (uint64_t)ip->w[0] << 16 | port;
}

static bool is_above(const struct ip *a, uint64_t a_port, const struct ip *b, uint64_t b_port)
{
    if (a->q[0] != b->q[0])
        return a->q[0] > b->q[0];
    if (LIKELY(a->q[1] != b->q[1]))
        return a->q[1] > b->q[1];
    return a_port > b_port;
}

/* As hash_v4(), with ends too large for one word. */
static uint32_t hash_v6(const struct flow_tuple *t, uint64_t extra)
{
    const struct hash_keys *keys = hash_keys();
    struct hash_sum sum = { 0 };
    struct ip a = t->src, b = t->dst;
    uint64_t a_port = t->src_port, b_port = t->dst_port;
    bool swap = is_above(&a, a_port, &b, b_port);

    swap_if(swap, &a.q[0], &b.q[0]);
    swap_if(swap, &a.q[1], &b.q[1]);
    swap_if(swap, &a_port, &b_port);
    hash_pair(&sum, keys, 1, a.q[0], a.q[1]);
    hash_pair(&sum, keys, 2, b.q[0], b.q[1]);
    /* An ICMP or ESP packet has no ports, so the detail can use their bits. */
    return finish(&sum, keys, rest_of(6, t->proto, (uint32_t)(a_port << 16 | b_port) ^ t->detail),
                  extra);
}

uint32_t flow_tuple_hash(const struct flow_tuple *t, uint64_t extra)
{
    if (LIKELY(t->src.version == 4))
        return hash_v4(end_v4(&t->src, t->src_port), end_v4(&t->dst, t->dst_port),
                       rest_of(4, t->proto, t->detail), extra);
    return hash_v6(t, extra);
}

/* Hashes addresses only, for schedulers that keep two hosts on one thread. */
uint32_t host_pair_hash(const struct ip *one, const struct ip *other)
{
    return hash_v6(&(struct flow_tuple){ .src = *one, .dst = *other }, 0);
}

/* `extra` has what else separates flows: VLANs and the tunnel level, if configured. */
uint32_t packet_flow_hash(const struct packet *p, bool use_vlan, bool use_recursion)
{
    uint64_t extra = use_recursion ? (uint64_t)p->recursion << 56 : 0;
    struct flow_tuple t;

    if (use_vlan)
        extra ^= vlan_bits(p);
    /* The addresses of the common packet were written just before. They are not copied: a wider
     * read of bytes that were written in smaller parts stalls (failed store forwarding). */
    if (LIKELY(p->src.version == 4 && is_plain(p)))
        return hash_v4(end_v4(&p->src, p->src_port), end_v4(&p->dst, p->dst_port),
                       rest_of(4, p->ip_proto, 0), extra);
    tuple_of(&t, p);
    return flow_tuple_hash(&t, extra);
}

/* The same datagram always has the same hash, whichever fragment comes. Keyed, so that no sender
 * can fill one row of the table on purpose. */
uint32_t fragment_hash(const struct packet *p)
{
    const struct hash_keys *keys = hash_keys();
    struct hash_sum sum = { 0 };

    hash_pair(&sum, keys, 0, p->src.q[0], p->src.q[1]);
    hash_pair(&sum, keys, 1, p->dst.q[0], p->dst.q[1]);
    hash_pair(&sum, keys, 2, (uint64_t)p->fragment.id << 32 | p->src.version << 8 | p->ip_proto,
              (uint64_t)p->vlan[0] << 32 | (uint64_t)p->vlan[1] << 16 | p->vlan[2]);
    return hash_finish(&sum, keys);
}
