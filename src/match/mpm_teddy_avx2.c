/* SPDX-License-Identifier: GPL-2.0-or-later */
/* match/mpm_teddy_avx2.c - Teddy's scan with AVX2.
 *
 * A shuffle finds one of sixteen bytes, so a table of 128 numbers is eight rows. The lower four
 * bits of a number choose within a row. A shuffle gives 0 for a number whose upper bit is set, so
 * a row that takes part from 16 * n on is shuffled by the number less 16 * n. Each row but the
 * first holds its difference from the row before it (mpm_teddy_rows_differ()), and the sum of all
 * rows that take part is the entry. That is 22 instructions where AVX-512 has one. So most sets
 * have numbers of five or six bits, whose tables have two or four rows: more positions pass in
 * vain, but a step is that much shorter. With SSE4, for half as many positions, the tables of
 * n-grams were faster. */
#include "match/mpm_teddy.h"

#include <string.h>

#ifdef __x86_64__
#include <immintrin.h>

#define AVX2 __attribute__((target("avx2,bmi,bmi2,popcnt")))
#define INLINE_AVX2 AVX2 static inline __attribute__((always_inline))

#define WIDTH 32u
/* Positions of a step: both halves share the loads of the rows. */
#define STEP (2 * WIDTH)
/* Entries of a table that a shuffle chooses from. */
#define ROW_WIDTH 16u
/* From the first byte that is tested to the last one. */
#define LAST (TEDDY_WIDTH - 1u)
/* Positions that are stored without a test: few pass in the sets that have five bits. */
#define KEEP(bits) ((bits) == 5 ? 4u : 8u)

struct halves { __m256i a, b; };

/* The text before a step: the last register of what a step shifts. */
struct before { __m256i first, second, one[TEDDY_GROUPS], two[TEDDY_GROUPS]; };

struct scan {
    const struct mpm_teddy *teddy;
    unsigned bits, groups;              /* constants */
    struct before before;
    struct teddy_hits *hits;
};

INLINE_AVX2 __m256i bits_and(__m256i bytes, uint8_t bits)
{
    return _mm256_and_si256(bytes, _mm256_set1_epi8((char)bits));
}

INLINE_AVX2 struct halves halves_and(struct halves x, struct halves y)
{
    return (struct halves){ _mm256_and_si256(x.a, y.a), _mm256_and_si256(x.b, y.b) };
}

INLINE_AVX2 struct halves halves_xor(struct halves x, struct halves y)
{
    return (struct halves){ _mm256_xor_si256(x.a, y.a), _mm256_xor_si256(x.b, y.b) };
}

/* What stands n bytes earlier, n a constant. `last` has the bytes in front, and becomes what the
 * next step has there. */
#define BEHIND(bytes, front, n) \
    _mm256_alignr_epi8(bytes, _mm256_permute2x128_si256(front, bytes, 0x21), 16 - (n))
#define SHIFTED(h, last, n) \
    struct halves h##_shifted = { BEHIND((h).a, *(last), n), BEHIND((h).b, (h).a, n) }; \
    *(last) = (h).b

/* What the upper half of a byte becomes in teddy_first(), folded as teddy_fold() does. */
INLINE_AVX2 __m256i first_row(unsigned bits)
{
    __m128i row = _mm_setr_epi8(0x00, 0x10, 0x00, 0x10, 0x40, 0x50, 0x40, 0x50, 0x20, 0x30, 0x20,
                                0x30, 0x60, 0x70, 0x60, 0x70);

    if (bits == 6)
        row = _mm_setr_epi8(0x00, 0x10, 0x00, 0x10, 0x04, 0x14, 0x04, 0x14, 0x20, 0x30, 0x20, 0x30,
                            0x24, 0x34, 0x24, 0x34);
    if (bits == 5)
        row = _mm_setr_epi8(0x00, 0x10, 0x00, 0x10, 0x04, 0x14, 0x04, 0x14, 0x08, 0x18, 0x08, 0x18,
                            0x0c, 0x1c, 0x0c, 0x1c);
    return _mm256_broadcastsi128_si256(row);
}

/* The lower half in teddy_second(). */
INLINE_AVX2 __m256i second_of_low(__m256i low, unsigned bits)
{
    const __m128i six = _mm_setr_epi8(0, 8, 16, 24, 32, 40, 48, 56, 4, 12, 20, 28, 36, 44, 52, 60);
    const __m128i five = _mm_setr_epi8(0, 8, 16, 24, 8, 0, 24, 16, 4, 12, 20, 28, 12, 4, 28, 20);

    if (bits == 7)
        return _mm256_slli_epi16(low, 3);
    return _mm256_shuffle_epi8(_mm256_broadcastsi128_si256(bits == 6 ? six : five), low);
}

/* As teddy_first() and teddy_second(), folded. */
struct parts { __m256i first, second; };

INLINE_AVX2 struct parts parts_of(const uint8_t *at, unsigned bits)
{
    const __m256i second_row = _mm256_broadcastsi128_si256(
        _mm_setr_epi8(0, 1, 0, 1, 4, 5, 4, 5, 2, 3, 2, 3, 6, 7, 6, 7));
    __m256i c = _mm256_loadu_si256((const __m256i *)(const void *)at);
    __m256i low = bits_and(c, 0x0f), high = bits_and(_mm256_srli_epi16(c, 4), 0x0f);

    return (struct parts){
        _mm256_xor_si256(low, _mm256_shuffle_epi8(first_row(bits), high)),
        _mm256_xor_si256(second_of_low(low, bits), _mm256_shuffle_epi8(second_row, high)),
    };
}

/* As teddy_numbers(), by the last byte: of each byte and the one before it, and of the third one
 * before it. */
struct numbers { struct halves pair, ends; };

INLINE_AVX2 struct numbers numbers_of(const uint8_t *at, unsigned bits, struct before *before)
{
    struct parts a = parts_of(at, bits), b = parts_of(at + WIDTH, bits);
    struct halves first = { a.first, b.first }, second = { a.second, b.second };
    SHIFTED(first, &before->first, 1);
    SHIFTED(second, &before->second, LAST);

    return (struct numbers){ halves_xor(first_shifted, second), halves_xor(first, second_shifted) };
}

/* Sixteen bytes of the tables, in both halves of a register. */
INLINE_AVX2 struct halves entries_in(const uint8_t *row, struct halves number)
{
    __m256i both = _mm256_broadcastsi128_si256(_mm_load_si128((const __m128i *)(const void *)row));

    return (struct halves){ _mm256_shuffle_epi8(both, number.a),
                            _mm256_shuffle_epi8(both, number.b) };
}

/* The same numbers in `count` tables. Differences are added without carry. */
INLINE_AVX2 void entries_of(const uint8_t *table, unsigned rows, unsigned count,
                            struct halves number, struct halves *entry)
{
    const __m256i width = _mm256_set1_epi8(ROW_WIDTH);

#pragma GCC unroll 4
    for (unsigned k = 0; k < count; k++)
        entry[k] = entries_in(table + ROW_WIDTH * rows * k, number);
#pragma GCC unroll 8
    for (unsigned i = 1; i < rows; i++) {
        number.a = _mm256_sub_epi8(number.a, width);
        number.b = _mm256_sub_epi8(number.b, width);
#pragma GCC unroll 4
        for (unsigned k = 0; k < count; k++)
            entry[k] = halves_xor(entry[k],
                                  entries_in(table + ROW_WIDTH * (rows * k + i), number));
    }
}

/* The buckets that have all four numbers of the bytes that end at each position. Three tables have
 * the numbers of pairs. These are looked up where they stand, and what is found is shifted: the
 * shuffles of the tables share what they need of a number. */
INLINE_AVX2 struct halves buckets_of(struct scan *s, unsigned group, const struct numbers *number)
{
    const unsigned rows = 1u << s->bits >> 4;
    const uint8_t *table = &s->teddy->table[0][0][0] + ROW_WIDTH * rows * TEDDY_WIDTH * group;
    struct halves entry[TEDDY_WIDTH], one, two;

    entries_of(table, rows, LAST, number->pair, entry);
    entries_of(table + ROW_WIDTH * rows * LAST, rows, 1, number->ends, entry + LAST);
    one = entry[0];
    SHIFTED(one, &s->before.one[group], 1);
    two = halves_and(entry[1], one_shifted);
    SHIFTED(two, &s->before.two[group], 1);
    return halves_and(halves_and(entry[2], two_shifted), entry[LAST]);
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

/* Stores `some` positions at a time: a branch on each would be mispredicted. */
INLINE_AVX2 unsigned keep(uint64_t mask, uint32_t at, unsigned some, uint32_t *out)
{
    unsigned count = (unsigned)_mm_popcnt_u64(mask), done = 0;

    do {
#pragma GCC unroll 8
        for (unsigned i = 0; i < some; i++, mask &= mask - 1)
            out[done + i] = at + (uint32_t)_tzcnt_u64(mask);
        done += some;
    } while (UNLIKELY(done < count));
    return count;
}

/* The bytes whose bit in `there` is set, as last ones; `text` has the bytes from `at` on. */
INLINE_AVX2 void step(struct scan *s, const uint8_t *text, uint32_t at, uint64_t there)
{
    struct numbers number = numbers_of(text, s->bits, &s->before);
    struct halves found = buckets_of(s, 0, &number);
    struct teddy_hits *hits = s->hits;
    uint64_t mask = positions_of(found, (uint8_t)~s->teddy->shorts);

    if (s->teddy->shorts != 0)
        hits->short_count += keep(positions_of(found, s->teddy->shorts) & there, at - LAST,
                                  KEEP(s->bits), hits->short_position + hits->short_count);
    if (s->groups > 1)
        mask |= positions_of(buckets_of(s, 1, &number), 0xff);
    hits->count += keep(mask & there, at - LAST, KEEP(s->bits), hits->position + hits->count);
}

static bool has_space(const struct teddy_hits *hits)
{
    return MAX(hits->count, hits->short_count) <= SCAN_MAX - STEP;
}

/* Where the next step begins that has `end` for the last byte of its first position. The last step
 * overlaps with the one before it. The bytes before that one are not those before it: so its first
 * LAST bytes are no last ones. */
INLINE_AVX2 uint32_t step_from(uint32_t from, uint32_t end, uint32_t len)
{
    return LIKELY(from + STEP <= len) ? from : MIN(end - LAST, len - STEP);
}

/* valid: of the bytes of each step. bits, groups: constants, of which each pair is compiled
 * separately. */
INLINE_AVX2 uint32_t scan_with(struct scan s, struct slice text, uint32_t at, uint64_t valid)
{
    uint32_t end = at + LAST, from = at;

    while (end < text.len && has_space(s.hits)) {
        from = step_from(from, end, text.len);
        step(&s, text.data + from, from, UINT64_MAX << (end - from) & valid);
        from += STEP;
        end = from;
    }
    return end - LAST;
}

AVX2 static uint32_t scan(const struct mpm_teddy *t, struct slice text, uint32_t at,
                          uint64_t valid, struct teddy_hits *hits)
{
#define SCAN_WITH(b, g) \
    scan_with((struct scan){ .teddy = t, .bits = b, .groups = g, .hits = hits }, text, at, valid)
    hits->count = hits->short_count = 0;
    if (t->bits == 5)
        return SCAN_WITH(5, 1);
    if (t->bits == 6)
        return t->groups == 1 ? SCAN_WITH(6, 1) : SCAN_WITH(6, 2);
    return SCAN_WITH(7, 2);
#undef SCAN_WITH
}

/* A text that is shorter than a step is looked at in a copy with zeros behind it. */
AVX2 uint32_t mpm_teddy_avx2(const struct mpm_teddy *s, const uint8_t *data, uint32_t len,
                             uint32_t at, struct teddy_hits *hits)
{
    uint8_t copy[STEP] = { 0 };

    if (LIKELY(len >= STEP))
        return scan(s, (struct slice){ data, len }, at, UINT64_MAX, hits);
    memcpy(copy, data, len);
    scan(s, (struct slice){ copy, STEP }, at, _bzhi_u64(UINT64_MAX, len), hits);
    return len - LAST;
}

/* From the last row on: each is compared with the row as it was. Rows that repeat others are left
 * out. */
void mpm_teddy_rows_differ(struct mpm_teddy *s)
{
    const unsigned size = 1u << s->bits;
    uint8_t *out = &s->table[0][0][0];

    for (unsigned t = 0; t < TEDDY_GROUPS * TEDDY_WIDTH; t++, out += size) {
        uint8_t *table = s->table[t / TEDDY_WIDTH][t % TEDDY_WIDTH];

        for (unsigned i = size - 1; i >= ROW_WIDTH; i--)
            table[i] ^= table[i - ROW_WIDTH];
        memmove(out, table, size);
    }
}
#endif
