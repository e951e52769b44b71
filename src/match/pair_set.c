/* SPDX-License-Identifier: GPL-2.0-or-later */
/* match/pair_set.c - the search for pairs in plain C, with AVX2 and with AVX-512. The wide ones ask
 * for halves of bytes in registers, as the search for many patterns does (match/mpm_teddy.h). */
#include "match/pair_set.h"
#include "base/system/cpu.h"

#include <string.h>

uint64_t pair_set_find_plain(const struct pair_set *s, const uint8_t *data, unsigned count)
{
    uint64_t found = 0;

    for (unsigned i = 0; i < count; i++)
        found |= (uint64_t)pair_set_has(s, data + i) << i;
    return found;
}

void pair_set_add(struct pair_set *s, uint8_t first, uint8_t second, unsigned bucket)
{
    unsigned pair = first | (unsigned)second << 8;
    uint8_t bit = (uint8_t)(1u << bucket);

    s->bits[pair >> 6] |= 1ull << (pair & 63);
    s->half[0][first & 15] |= bit;
    s->half[1][first >> 4] |= bit;
    s->half[2][second & 15] |= bit;
    s->half[3][second >> 4] |= bit;
}

#ifdef __x86_64__
#include <immintrin.h>

#define AVX2 __attribute__((target("avx2")))
#define AVX512 __attribute__((target("avx512f,avx512bw,bmi2")))

AVX2 static inline __m256i buckets_avx2(const uint8_t lower[16], const uint8_t upper[16],
                                        __m256i at)
{
    const __m256i half = _mm256_set1_epi8(15);
    __m256i low = _mm256_broadcastsi128_si256(_mm_loadu_si128((const __m128i *)lower));
    __m256i high = _mm256_broadcastsi128_si256(_mm_loadu_si128((const __m128i *)upper));

    return _mm256_and_si256(
        _mm256_shuffle_epi8(low, _mm256_and_si256(at, half)),
        _mm256_shuffle_epi8(high, _mm256_and_si256(_mm256_srli_epi16(at, 4), half)));
}

AVX2 static uint32_t find_32(const struct pair_set *s, const uint8_t *data)
{
    __m256i first = _mm256_loadu_si256((const __m256i *)data);
    __m256i second = _mm256_loadu_si256((const __m256i *)(data + 1));
    __m256i common = _mm256_and_si256(buckets_avx2(s->half[0], s->half[1], first),
                                      buckets_avx2(s->half[2], s->half[3], second));

    return ~(uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi8(common, _mm256_setzero_si256()));
}

#define FEW 8                   /* positions that are sooner asked singly */

/* Two vectors may overlap. What does not fill one is looked at in a copy. */
AVX2 static uint64_t find_avx2(const struct pair_set *s, const uint8_t *data, unsigned count)
{
    uint8_t copy[33] = { 0 };

    if (count >= 32)
        return find_32(s, data) | (uint64_t)find_32(s, data + count - 32) << (count - 32);
    if (count < FEW)
        return pair_set_find_plain(s, data, count);
    memcpy(copy, data, count + 1);
    return find_32(s, copy) & ((1ull << count) - 1);
}

AVX512 static inline __m512i buckets_avx512(const uint8_t lower[16], const uint8_t upper[16],
                                            __m512i at)
{
    const __m512i half = _mm512_set1_epi8(15);
    __m512i low = _mm512_broadcast_i32x4(_mm_loadu_si128((const __m128i *)lower));
    __m512i high = _mm512_broadcast_i32x4(_mm_loadu_si128((const __m128i *)upper));

    return _mm512_and_si512(
        _mm512_shuffle_epi8(low, _mm512_and_si512(at, half)),
        _mm512_shuffle_epi8(high, _mm512_and_si512(_mm512_srli_epi16(at, 4), half)));
}

/* Masked loads stop at the end of the text. */
AVX512 static uint64_t find_avx512(const struct pair_set *s, const uint8_t *data, unsigned count)
{
    __mmask64 there = _bzhi_u64(UINT64_MAX, count);
    __m512i first = _mm512_maskz_loadu_epi8(there, data);
    __m512i second = _mm512_maskz_loadu_epi8(there, data + 1);

    return _mm512_mask_test_epi8_mask(there, buckets_avx512(s->half[0], s->half[1], first),
                                      buckets_avx512(s->half[2], s->half[3], second));
}

void pair_set_init(struct pair_set *s)
{
    const struct cpu_features *cpu = cpu_features();

    s->find = cpu->avx512bw && cpu->bmi2 ? find_avx512 : cpu->avx2 ? find_avx2
                                                                   : pair_set_find_plain;
}
#elif defined(__aarch64__)
#include <arm_neon.h>

static inline uint8x16_t buckets_neon(const uint8_t lower[16], const uint8_t upper[16],
                                      uint8x16_t at)
{
    return vandq_u8(vqtbl1q_u8(vld1q_u8(lower), vandq_u8(at, vdupq_n_u8(15))),
                    vqtbl1q_u8(vld1q_u8(upper), vshrq_n_u8(at, 4)));
}

/* Narrowing leaves four bits for each position, of which one is kept. */
static uint64_t find_16(const struct pair_set *s, const uint8_t *data)
{
    uint8x16_t common = vandq_u8(buckets_neon(s->half[0], s->half[1], vld1q_u8(data)),
                                 buckets_neon(s->half[2], s->half[3], vld1q_u8(data + 1)));
    uint8x16_t found = vtstq_u8(common, common);

    return vreinterpret_u64_u8(vshrn_n_u16(vreinterpretq_u16_u8(found), 4))[0];
}

/* Sixteen positions without a pair are passed over at once; the others are asked singly. */
static uint64_t find_neon(const struct pair_set *s, const uint8_t *data, unsigned count)
{
    uint64_t found = 0;
    unsigned at = 0;

    for (; at + 16 <= count; at += 16)
        if (find_16(s, data + at) != 0)
            found |= pair_set_find_plain(s, data + at, 16) << at;
    return at < count ? found | pair_set_find_plain(s, data + at, count - at) << at : found;
}

void pair_set_init(struct pair_set *s)
{
    s->find = cpu_features()->neon ? find_neon : pair_set_find_plain;
}
#else
void pair_set_init(struct pair_set *s)
{
    s->find = pair_set_find_plain;
}
#endif
