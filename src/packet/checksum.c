/* SPDX-License-Identifier: GPL-2.0-or-later */
/* packet/checksum.c - the Internet checksum, RFC 1071. */
#include "packet/checksum.h"

#include "base/system/cpu.h"
#include "base/text/bytes.h"
#include "packet/checksum_private.h"
#include "packet/decode.h"

#include <string.h>
#ifdef __aarch64__
#include <arm_neon.h>
#endif

enum { PROTO_ICMP = 1, PROTO_TCP = 6, PROTO_UDP = 17, PROTO_ICMPV6 = 58 };

/* Two sums per 64-bit lane: of the lane, which may overflow, and of its upper half. The lower half
 * is the difference. That costs three instructions and a load for each register. The 32-bit halves
 * cannot overflow: a packet has at most 1,024 blocks.
 *
 * Inlined into functions with different targets. Each has the type that one of its registers holds:
 * of a wider one the compiler keeps the sums in memory, and every step waits for the one before. */
typedef uint64_t lanes_16 __attribute__((vector_size(16)));
typedef uint64_t lanes_32 __attribute__((vector_size(32)));
typedef uint64_t lanes_64 __attribute__((vector_size(64)));

#define ADD_BLOCKS(name, lanes)                                                                \
    static inline __attribute__((always_inline)) uint64_t name(uint64_t sum, const uint8_t *at, \
                                                               size_t blocks)                  \
    {                                                                                          \
        const uint8_t *end = at + blocks * CHECKSUM_BLOCK;                                     \
        lanes all = { 0 }, upper = { 0 };                                                      \
                                                                                               \
        for (; at < end; at += CHECKSUM_BLOCK)                                                 \
            for (size_t i = 0; i < CHECKSUM_BLOCK; i += sizeof(lanes)) {                       \
                lanes v;                                                                       \
                                                                                               \
                memcpy(&v, at + i, sizeof(v));                                                 \
                all += v;                                                                      \
                upper += v >> 32;                                                              \
            }                                                                                  \
        all -= upper << 32;                                                                    \
        upper += (all & 0xffffffff) + (all >> 32);                                             \
        for (size_t i = 0; i < sizeof(lanes) / sizeof(uint64_t); i++)                          \
            sum += upper[i];                                                                   \
        return sum;                                                                            \
    }

ADD_BLOCKS(add_blocks_16, lanes_16)

uint64_t checksum_blocks_plain(uint64_t sum, const uint8_t *at, size_t blocks)
{
    return add_blocks_16(sum, at, blocks);
}

#ifdef __x86_64__
ADD_BLOCKS(add_blocks_32, lanes_32)
ADD_BLOCKS(add_blocks_64, lanes_64)

__attribute__((target("avx2")))
uint64_t checksum_blocks_avx2(uint64_t sum, const uint8_t *at, size_t blocks)
{
    return add_blocks_32(sum, at, blocks);
}

__attribute__((target("avx512f")))
uint64_t checksum_blocks_avx512(uint64_t sum, const uint8_t *at, size_t blocks)
{
    return add_blocks_64(sum, at, blocks);
}

static inline uint64_t add_wide(uint64_t sum, const uint8_t *at, size_t blocks)
{
    if (LIKELY(cpu_features()->avx512f))
        return checksum_blocks_avx512(sum, at, blocks);
    if (cpu_features()->avx2)
        return checksum_blocks_avx2(sum, at, blocks);
    return checksum_blocks_plain(sum, at, blocks);
}
#elif defined(__aarch64__)
/* One instruction adds the 32-bit halves of sixteen bytes to two 64-bit sums. */
uint64_t checksum_blocks_neon(uint64_t sum, const uint8_t *at, size_t blocks)
{
    uint64x2_t all[4] = { vdupq_n_u64(0), vdupq_n_u64(0), vdupq_n_u64(0), vdupq_n_u64(0) };

    for (; blocks > 0; blocks--, at += CHECKSUM_BLOCK)
        for (unsigned i = 0; i < ARRAY_LEN(all); i++)
            all[i] = vpadalq_u32(all[i], vreinterpretq_u32_u8(vld1q_u8(at + 16 * (size_t)i)));
    return sum + vaddvq_u64(vaddq_u64(vaddq_u64(all[0], all[1]), vaddq_u64(all[2], all[3])));
}

static inline uint64_t add_wide(uint64_t sum, const uint8_t *at, size_t blocks)
{
    if (LIKELY(cpu_features()->neon))
        return checksum_blocks_neon(sum, at, blocks);
    return checksum_blocks_plain(sum, at, blocks);
}
#else
static inline uint64_t add_wide(uint64_t sum, const uint8_t *at, size_t blocks)
{
    return checksum_blocks_plain(sum, at, blocks);
}
#endif

/* Adds words in the machine's byte order. On a little-endian machine the sum has its bytes swapped
 * (RFC 1071, section 2(B)), and checksum_fold() swaps them back once. */
uint64_t checksum_add(uint64_t sum, const void *data, size_t len)
{
    const uint8_t *at = data;

    if (len >= 2 * CHECKSUM_BLOCK) {
        size_t blocks = len / CHECKSUM_BLOCK;

        sum = add_wide(sum, at, blocks);
        at += blocks * CHECKSUM_BLOCK;
        len -= blocks * CHECKSUM_BLOCK;
    }
    for (; len >= 8; at += 8, len -= 8) {
        uint64_t w;

        memcpy(&w, at, sizeof(w));
        sum += (w & 0xffffffff) + (w >> 32);
    }
    for (; len >= 2; at += 2, len -= 2) {
        uint16_t w;

        memcpy(&w, at, sizeof(w));
        sum += w;
    }
    if (len > 0) {
        uint8_t last[2] = { *at, 0 };
        uint16_t w;

        memcpy(&w, last, sizeof(w));
        sum += w;
    }
    return sum;
}

/* Folds the carries and complements. The result is in host order: put_be16() writes it. */
uint16_t checksum_fold(uint64_t sum)
{
    uint8_t bytes[2];
    uint16_t folded;

    sum = (sum & 0xffffffff) + (sum >> 32);
    sum = (sum & 0xffffffff) + (sum >> 32);
    sum = (sum & 0xffff) + (sum >> 16);
    sum = (sum & 0xffff) + (sum >> 16);
    folded = (uint16_t)~sum;
    memcpy(bytes, &folded, sizeof(bytes));
    return get_be16(bytes);
}

/* The pseudo header of IPv4 (RFC 9293, section 3.1) and of IPv6 (RFC 8200, section 8.1) give the
 * same sum: zero bytes do not matter. */
uint64_t checksum_pseudo_header(const struct ip *src, const struct ip *dst, uint8_t proto,
                                uint32_t len)
{
    uint8_t tail[8] = { (uint8_t)(len >> 24), (uint8_t)(len >> 16), (uint8_t)(len >> 8),
                        (uint8_t)len, 0, 0, 0, proto };
    uint64_t sum = checksum_add(0, tail, sizeof(tail));

    if (LIKELY(src->version == 4))
        return sum + src->w[0] + dst->w[0];
    return checksum_add(checksum_add(sum, src->b, sizeof(src->b)), dst->b, sizeof(dst->b));
}

static uint64_t pseudo_header(const struct packet *p, uint32_t len)
{
    return checksum_pseudo_header(&p->src, &p->dst, p->ip_proto, len);
}

/* UDP has its own length, which may be less than that of IP. */
static uint32_t covered_len(const struct packet *p)
{
    return p->ip_proto == PROTO_UDP ? p->l4_header_len + p->payload_len : p->l4_len;
}

/* 0 if the checksum field is right. ICMP has no pseudo header, ICMPv6 has (RFC 4443, section
 * 2.3). */
uint16_t packet_l4_checksum(const struct packet *p)
{
    uint32_t len = covered_len(p);
    uint64_t sum = p->ip_proto == PROTO_ICMP ? 0 : pseudo_header(p, len);

    return checksum_fold(checksum_add(sum, p->l4, len));
}

/* Unknown protocols and fragments without a transport header count as right: nothing can be
 * checked. */
bool packet_l4_checksum_ok(const struct packet *p)
{
    if (p->l4 == NULL)
        return true;
    switch (p->ip_proto) {
    case PROTO_UDP:
        /* RFC 768: none was computed. Over IPv6 there must be one, RFC 8200 section 8.1. */
        if (p->src.version == 4 && get_be16(p->l4 + 6) == 0)
            return true;
        break;
    case PROTO_TCP:
    case PROTO_ICMP:
    case PROTO_ICMPV6:
        break;
    default:
        return true;
    }
    return packet_l4_checksum(p) == 0;
}

bool packet_ip_checksum_ok(const struct packet *p)
{
    if (p->l3 == NULL || p->src.version != 4)
        return true;
    return checksum_fold(checksum_add(0, p->l3, p->l3_len)) == 0;
}

static uint8_t *l4_checksum_field(const struct packet *p)
{
    switch (p->ip_proto) {
    case PROTO_TCP:
        return p->l4 + 16;
    case PROTO_UDP:
        return p->l4 + 6;
    case PROTO_ICMP:
    case PROTO_ICMPV6:
        return p->l4 + 2;
    default:
        return NULL;
    }
}

/* After a frame was changed: both checksums are computed from scratch. */
void packet_fix_checksums(struct packet *p)
{
    uint8_t *field = p->l4 != NULL ? l4_checksum_field(p) : NULL;
    uint16_t value;

    if (field != NULL) {
        put_be16(field, 0);
        value = packet_l4_checksum(p);
        /* 0 would mean that there is no checksum (RFC 768). */
        put_be16(field, value == 0 && p->ip_proto == PROTO_UDP ? 0xffff : value);
    }
    if (p->l3 != NULL && p->src.version == 4) {
        put_be16(p->l3 + 10, 0);
        put_be16(p->l3 + 10, checksum_fold(checksum_add(0, p->l3, p->l3_len)));
    }
}

/* Prepares a frame whose checksum the kernel or a card will complete: the field then holds the
 * sum over the pseudo header. */
void packet_begin_checksum(struct packet *p)
{
    uint8_t *field = p->l4 != NULL ? l4_checksum_field(p) : NULL;

    if (field != NULL)
        put_be16(field, (uint16_t)~checksum_fold(pseudo_header(p, covered_len(p))));
}

/* Whether the field holds only the sum over the pseudo header: a sender on this machine left the
 * rest to its card. A complete checksum can look like that once in 65,536 packets. */
bool packet_checksum_is_open(const struct packet *p)
{
    const uint8_t *field;

    if (p->l4 == NULL || (p->ip_proto != PROTO_TCP && p->ip_proto != PROTO_UDP))
        return false;
    field = l4_checksum_field(p);
    return (uint16_t)(get_be16(field) ^ checksum_fold(pseudo_header(p, covered_len(p)))) == 0xffff;
}
