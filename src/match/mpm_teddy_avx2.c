/* SPDX-License-Identifier: GPL-2.0-or-later */
/* match/mpm_teddy_avx2.c - Teddy's scan with AVX2, for sets whose literals are in one group.
 *
 * A shuffle finds one of sixteen bytes, so a table of 128 numbers is eight rows. The lower four
 * bits of a number choose within a row. A shuffle gives 0 for a number whose upper bit is set, so
 * a row that takes part from 16 * n on is shuffled by the number less 16 * n. Each row but the
 * first holds its difference from the row before it (mpm_teddy_rows_differ()), and the sum of all
 * rows that take part is the entry. That is 22 instructions where AVX-512 has one. Therefore there
 * is one group of buckets. A second one would lower the share of positions that pass in vain from
 * 7 % of HTTP to 3 %, but testing these costs less. With SSE4, for half as many positions, the
 * tables of n-grams were faster. */
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
/* Entries of a table that a shuffle chooses from. */
#define ROW_WIDTH 16
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
    const void *at = table + ROW_WIDTH * (size_t)row;

    return _mm256_broadcastsi128_si256(_mm_load_si128((const __m128i *)at));
}

INLINE_AVX2 __m256i bits_and(__m256i bytes, uint8_t bits)
{
    return _mm256_and_si256(bytes, _mm256_set1_epi8((char)bits));
}

/* The bytes from the n-th one on, n a constant. */
#define AHEAD(bytes, next, n) \
    _mm256_alignr_epi8(_mm256_permute2x128_si256(bytes, next, 0x21), bytes, n)

/* The halves of bytes. */
struct nibbles { __m256i low, high; };

INLINE_AVX2 struct nibbles nibbles_of(const uint8_t *at)
{
    __m256i c = load(at);

    return (struct nibbles){ bits_and(c, 0x0f), bits_and(_mm256_srli_epi16(c, 4), 0x0f) };
}

/* As teddy_first(). The row has what becomes of the upper half. */
INLINE_AVX2 __m256i first_of(struct nibbles n)
{
    const __m256i row = _mm256_broadcastsi128_si256(
        _mm_setr_epi8(0x00, 0x10, 0x00, 0x10, 0x40, 0x50, 0x40, 0x50, 0x20, 0x30, 0x20, 0x30, 0x60,
                      0x70, 0x60, 0x70));

    return _mm256_or_si256(n.low, _mm256_shuffle_epi8(row, n.high));
}

/* As teddy_second(). */
INLINE_AVX2 __m256i second_of(struct nibbles n)
{
    const __m256i row = _mm256_broadcastsi128_si256(
        _mm_setr_epi8(0, 1, 0, 1, 4, 5, 4, 5, 2, 3, 2, 3, 6, 7, 6, 7));

    return _mm256_or_si256(_mm256_slli_epi16(n.low, 3), _mm256_shuffle_epi8(row, n.high));
}

/* As teddy_numbers(). Each byte is folded once; numbers of the next positions are shifted. */
INLINE_AVX2 struct numbers numbers_of(const uint8_t *at)
{
    struct nibbles a = nibbles_of(at), b = nibbles_of(at + WIDTH);
    struct nibbles c = nibbles_of(at + 2 * WIDTH);
    __m256i first_a = first_of(a), first_b = first_of(b), first_c = first_of(c);
    __m256i second_a = second_of(a), second_b = second_of(b), second_c = second_of(c);
    __m256i pair_a = _mm256_xor_si256(first_a, AHEAD(second_a, second_b, 1));
    __m256i pair_b = _mm256_xor_si256(first_b, AHEAD(second_b, second_c, 1));
    /* Only its first bytes are used. */
    __m256i pair_c = _mm256_xor_si256(first_c, _mm256_alignr_epi8(second_c, second_c, 1));

    return (struct numbers){ {
        { pair_a, pair_b },
        { AHEAD(pair_a, pair_b, 1), AHEAD(pair_b, pair_c, 1) },
        { AHEAD(pair_a, pair_b, 2), AHEAD(pair_b, pair_c, 2) },
        { _mm256_xor_si256(AHEAD(first_a, first_b, 3), second_a),
          _mm256_xor_si256(AHEAD(first_b, first_c, 3), second_b) },
    } };
}

/* Differences are added without carry. */
INLINE_AVX2 struct halves entries_of(const uint8_t table[128], struct halves n)
{
    const __m256i width = _mm256_set1_epi8(ROW_WIDTH);
    __m256i row = row_of(table, 0);
    struct halves entry = { _mm256_shuffle_epi8(row, n.a), _mm256_shuffle_epi8(row, n.b) };

#pragma GCC unroll 8
    for (unsigned i = 1; i < 128 / ROW_WIDTH; i++) {
        row = row_of(table, i);
        n.a = _mm256_sub_epi8(n.a, width);
        n.b = _mm256_sub_epi8(n.b, width);
        entry.a = _mm256_xor_si256(entry.a, _mm256_shuffle_epi8(row, n.a));
        entry.b = _mm256_xor_si256(entry.b, _mm256_shuffle_epi8(row, n.b));
    }
    return entry;
}

/* The buckets that have all four numbers, a byte of bits for each position. */
INLINE_AVX2 struct halves buckets_of(const uint8_t table[TEDDY_WIDTH][128], const uint8_t *at)
{
    struct numbers number = numbers_of(at);
    struct halves all = entries_of(table[0], number.of[0]);

    for (unsigned k = 1; k < TEDDY_WIDTH; k++) {
        struct halves more = entries_of(table[k], number.of[k]);

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

/* From the last row on: each is compared with the row as it was. */
void mpm_teddy_rows_differ(struct mpm_teddy *s)
{
    for (unsigned g = 0; g < TEDDY_GROUPS; g++)
        for (unsigned k = 0; k < TEDDY_WIDTH; k++)
            for (unsigned i = 127; i >= ROW_WIDTH; i--)
                s->table[g][k][i] ^= s->table[g][k][i - ROW_WIDTH];
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
