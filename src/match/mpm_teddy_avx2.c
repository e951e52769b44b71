/* SPDX-License-Identifier: GPL-2.0-or-later */
/* match/mpm_teddy_avx2.c - Teddy's scan with AVX2, for sets whose literals are in one group.
 *
 * A shuffle finds one of sixteen bytes, so a table of 128 numbers is eight rows: each is searched
 * by the lower four bits of a number, and its upper three bits choose among the results. That is
 * fifteen instructions where AVX-512 has one. Therefore there is one group of buckets. A second one
 * would lower the share of positions that pass in vain from 7 % of HTTP to 3 %, but testing these
 * costs less. With SSE4, for half as many positions, the tables of n-grams were faster. */
#include "match/mpm_teddy.h"

#include <string.h>

#ifdef __x86_64__
#include <immintrin.h>

#define AVX2 __attribute__((target("avx2,bmi,bmi2,popcnt")))
#define INLINE_AVX2 AVX2 static inline __attribute__((always_inline))

#define WIDTH 32u
/* Positions of a step: both halves share the loads of the rows. */
#define STEP (2 * WIDTH)
/* Bytes that a step reads. */
#define REACH (3 * WIDTH)
/* Positions that are stored without a test. */
#define KEEP 8

struct halves { __m256i a, b; };
struct numbers { struct halves of[TEDDY_WIDTH]; };

INLINE_AVX2 __m256i load(const uint8_t *at)
{
    return _mm256_loadu_si256((const __m256i *)(const void *)at);
}

/* Sixteen bytes of a table, in both halves of a register. */
INLINE_AVX2 __m256i row_of(const uint8_t *table, unsigned row)
{
    const void *at = table + 16 * (size_t)row;

    return _mm256_broadcastsi128_si256(_mm_load_si128((const __m128i *)at));
}

INLINE_AVX2 __m256i bits_and(__m256i bytes, uint8_t bits)
{
    return _mm256_and_si256(bytes, _mm256_set1_epi8((char)bits));
}

/* The bytes from the n-th one on, n a constant. */
#define AHEAD(bytes, next, n) \
    _mm256_alignr_epi8(_mm256_permute2x128_si256(bytes, next, 0x21), bytes, n)

/* teddy_first() and teddy_second(). Words are shifted: bits of the neighbour are cleared. */
INLINE_AVX2 __m256i first_of(__m256i c)
{
    return _mm256_or_si256(bits_and(c, 0x5f), bits_and(_mm256_srli_epi16(c, 2), 0x20));
}

INLINE_AVX2 __m256i second_of(__m256i c)
{
    __m256i low = bits_and(_mm256_slli_epi16(c, 3), 0x78);
    __m256i high = _mm256_or_si256(bits_and(_mm256_srli_epi16(c, 4), 0x05),
                                   bits_and(_mm256_srli_epi16(c, 6), 0x02));

    return _mm256_or_si256(low, high);
}

/* As teddy_numbers(). Each byte is folded once; numbers of the next positions are shifted. */
INLINE_AVX2 struct numbers numbers_of(const uint8_t *at)
{
    __m256i a = load(at), b = load(at + WIDTH), c = load(at + 2 * WIDTH);
    __m256i first_a = first_of(a), first_b = first_of(b), first_c = first_of(c);
    __m256i second_a = second_of(a), second_b = second_of(b), second_c = second_of(c);
    __m256i pair_a = _mm256_xor_si256(first_a, AHEAD(second_a, second_b, 1));
    __m256i pair_b = _mm256_xor_si256(first_b, AHEAD(second_b, second_c, 1));
    __m256i pair_c = _mm256_xor_si256(first_c, AHEAD(second_c, second_c, 1));

    return (struct numbers){ {
        { pair_a, pair_b },
        { AHEAD(pair_a, pair_b, 1), AHEAD(pair_b, pair_c, 1) },
        { AHEAD(pair_a, pair_b, 2), AHEAD(pair_b, pair_c, 2) },
        { _mm256_xor_si256(AHEAD(first_a, first_b, 3), second_a),
          _mm256_xor_si256(AHEAD(first_b, first_c, 3), second_b) },
    } };
}

/* Two rows by bit 4 of the number, four by bit 5, eight by bit 6: as the upper bit of the byte. */
INLINE_AVX2 __m256i two_rows(__m256i row, __m256i next, __m256i number)
{
    return _mm256_blendv_epi8(_mm256_shuffle_epi8(row, number), _mm256_shuffle_epi8(next, number),
                              _mm256_slli_epi16(number, 3));
}

INLINE_AVX2 __m256i four_rows(const __m256i row[4], __m256i number)
{
    return _mm256_blendv_epi8(two_rows(row[0], row[1], number), two_rows(row[2], row[3], number),
                              _mm256_slli_epi16(number, 2));
}

INLINE_AVX2 struct halves rows_of_table(const uint8_t table[128], struct halves n)
{
    const __m256i low[4] = { row_of(table, 0), row_of(table, 1), row_of(table, 2),
                             row_of(table, 3) };
    const __m256i high[4] = { row_of(table, 4), row_of(table, 5), row_of(table, 6),
                              row_of(table, 7) };

    return (struct halves){
        _mm256_blendv_epi8(four_rows(low, n.a), four_rows(high, n.a), _mm256_slli_epi16(n.a, 1)),
        _mm256_blendv_epi8(four_rows(low, n.b), four_rows(high, n.b), _mm256_slli_epi16(n.b, 1)),
    };
}

/* The buckets that have all four numbers, a byte of bits for each position. */
INLINE_AVX2 struct halves buckets_of(const uint8_t table[TEDDY_WIDTH][128], const uint8_t *at)
{
    struct numbers number = numbers_of(at);
    struct halves all = rows_of_table(table[0], number.of[0]);

    for (unsigned k = 1; k < TEDDY_WIDTH; k++) {
        struct halves more = rows_of_table(table[k], number.of[k]);

        all.a = _mm256_and_si256(all.a, more.a);
        all.b = _mm256_and_si256(all.b, more.b);
    }
    return all;
}

/* A bit for each position with one of these buckets. */
INLINE_AVX2 uint64_t positions_of(struct halves bits, uint8_t buckets)
{
    const __m256i none = _mm256_setzero_si256();
    __m256i a = _mm256_cmpeq_epi8(bits_and(bits.a, buckets), none);
    __m256i b = _mm256_cmpeq_epi8(bits_and(bits.b, buckets), none);

    return ~((uint64_t)(uint32_t)_mm256_movemask_epi8(b) << WIDTH |
             (uint32_t)_mm256_movemask_epi8(a));
}

/* Stores KEEP positions at a time: a branch on each would be mispredicted. */
INLINE_AVX2 unsigned keep(uint64_t mask, uint32_t at, uint32_t *out)
{
    unsigned count = (unsigned)_mm_popcnt_u64(mask), done = 0;

    do {
        for (unsigned i = 0; i < KEEP; i++, mask &= mask - 1)
            out[done + i] = at + (uint32_t)_tzcnt_u64(mask);
        done += KEEP;
    } while (UNLIKELY(done < count));
    return count;
}

/* The positions from `at` on whose bit in `there` is set; `text` has their bytes. */
INLINE_AVX2 void step(const struct mpm_teddy *s, const uint8_t *text, uint32_t at, uint64_t there,
                      struct teddy_hits *hits)
{
    struct halves bits = buckets_of(s->table[0], text);

    if (s->shorts != 0)
        hits->short_count += keep(positions_of(bits, s->shorts) & there, at,
                                  hits->short_position + hits->short_count);
    hits->count += keep(positions_of(bits, (uint8_t)~s->shorts) & there, at,
                        hits->position + hits->count);
}

static bool has_space(const struct teddy_hits *hits)
{
    return MAX(hits->count, hits->short_count) <= SCAN_MAX - STEP;
}

/* The last positions are looked at in a copy with zeros behind it, because a step reads beyond
 * them. */
AVX2 uint32_t mpm_teddy_avx2(const struct mpm_teddy *s, const uint8_t *data, uint32_t len,
                             uint32_t at, struct teddy_hits *hits)
{
    const uint32_t end = len - (TEDDY_WIDTH - 1);

    hits->count = hits->short_count = 0;
    for (; at + REACH <= len && has_space(hits); at += STEP)
        step(s, data + at, at, UINT64_MAX, hits);
    while (at < end && has_space(hits)) {
        uint8_t last[REACH] = { 0 };

        memcpy(last, data + at, MIN(len - at, REACH));
        step(s, last, at, _bzhi_u64(UINT64_MAX, MIN(end - at, STEP)), hits);
        at += MIN(end - at, STEP);
    }
    return at;
}
#endif
