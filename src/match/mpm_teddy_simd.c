/* SPDX-License-Identifier: GPL-2.0-or-later */
/* match/mpm_teddy_simd.c - Teddy's scan: in plain C, which is the definition, and for 64 positions
 * at once with AVX-512 and GFNI. A unit test compares the two. */
#include "base/system/cpu.h"
#include "match/mpm_teddy.h"

/* A position passes if some bucket has all four of its numbers. */
uint32_t mpm_teddy_plain(const struct mpm_teddy *s, const uint8_t *data, uint32_t len,
                           uint32_t at, struct teddy_hits *hits)
{
    hits->count = hits->short_count = 0;
    for (; at + TEDDY_WIDTH <= len && hits->count < SCAN_MAX && hits->short_count < SCAN_MAX;
         at++) {
        uint8_t number[TEDDY_WIDTH], bits[TEDDY_GROUPS], shorts;

        teddy_numbers(data + at, number);
        for (unsigned g = 0; g < TEDDY_GROUPS; g++) {
            bits[g] = 0xff;
            for (unsigned k = 0; k < TEDDY_WIDTH; k++)
                bits[g] &= s->table[g][k][number[k]];
        }
        shorts = bits[0] & s->shorts;
        if (shorts != 0)
            hits->short_position[hits->short_count++] = at;
        if ((bits[0] ^ shorts) != 0 || bits[1] != 0)
            hits->position[hits->count++] = at;
    }
    return at;
}

#ifdef __x86_64__
#include <immintrin.h>

#define WIDE __attribute__((target("avx512f,avx512bw,avx512vl,avx512vbmi,avx512vbmi2,gfni," \
                                   "bmi2,popcnt")))
#define INLINE_WIDE WIDE static inline __attribute__((always_inline))

/* Four registers as members, so that they stay in registers at any optimisation level. */
struct four { __m512i a, b, c, d; };
struct four_tables { struct four low, high; };      /* the halves of each table */

INLINE_WIDE struct four_tables tables_of(const uint8_t table[TEDDY_WIDTH][128])
{
    return (struct four_tables){
        .low = { _mm512_loadu_si512(table[0]), _mm512_loadu_si512(table[1]),
                 _mm512_loadu_si512(table[2]), _mm512_loadu_si512(table[3]) },
        .high = { _mm512_loadu_si512(table[0] + 64), _mm512_loadu_si512(table[1] + 64),
                  _mm512_loadu_si512(table[2] + 64), _mm512_loadu_si512(table[3] + 64) },
    };
}

/* The buckets that have all four numbers, a byte of bits for each of 64 positions. */
INLINE_WIDE __m512i buckets_of(const struct four_tables *t, const struct four *number)
{
    __m512i a = _mm512_permutex2var_epi8(t->low.a, number->a, t->high.a);
    __m512i b = _mm512_permutex2var_epi8(t->low.b, number->b, t->high.b);
    __m512i c = _mm512_permutex2var_epi8(t->low.c, number->c, t->high.c);
    __m512i d = _mm512_permutex2var_epi8(t->low.d, number->d, t->high.d);

    return _mm512_and_si512(_mm512_and_si512(a, b), _mm512_and_si512(c, d));
}

/* teddy_first() and teddy_second() as multiplications of bit matrices. Each byte of the constants
 * is one row; the lowest result bit comes first. */
INLINE_WIDE __m512i number_of(__m512i text, __m512i next)
{
    const __m512i first = _mm512_set1_epi64(0x0102040810804000);
    const __m512i second = _mm512_set1_epi64(0x1080400102040800);

    return _mm512_xor_si512(_mm512_gf2p8affine_epi64_epi8(text, first, 0),
                            _mm512_gf2p8affine_epi64_epi8(next, second, 0));
}

/* The last number folds the fourth byte with the first one, as in teddy_numbers(). */
INLINE_WIDE struct four numbers_of(const uint8_t *at, __mmask64 there)
{
    __m512i a = _mm512_maskz_loadu_epi8(there, at);
    __m512i b = _mm512_maskz_loadu_epi8(there, at + 1);
    __m512i c = _mm512_maskz_loadu_epi8(there, at + 2);
    __m512i d = _mm512_maskz_loadu_epi8(there, at + 3);

    return (struct four){ number_of(a, b), number_of(b, c), number_of(c, d), number_of(d, a) };
}

/* Always stores the first sixteen positions without a test; a branch on the count would be
 * mispredicted. */
INLINE_WIDE unsigned keep(__mmask64 mask, uint32_t at, uint32_t *out)
{
    const __m512i positions = _mm512_set_epi8(
        63, 62, 61, 60, 59, 58, 57, 56, 55, 54, 53, 52, 51, 50, 49, 48, 47, 46, 45, 44, 43, 42,
        41, 40, 39, 38, 37, 36, 35, 34, 33, 32, 31, 30, 29, 28, 27, 26, 25, 24, 23, 22, 21, 20,
        19, 18, 17, 16, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0);
    const __m512i from = _mm512_set1_epi32((int)at);
    __m512i hits = _mm512_maskz_compress_epi8(mask, positions);
    unsigned count = (unsigned)_mm_popcnt_u64(mask), done = 0;

    do {
        __m512i some = _mm512_cvtepu8_epi32(_mm512_castsi512_si128(hits));

        _mm512_storeu_si512(out + done, _mm512_add_epi32(some, from));
        hits = _mm512_shuffle_i32x4(hits, hits, 0x39);
        done += 16;
    } while (UNLIKELY(done < count));
    return count;
}

/* What a set needs. Each combination is compiled separately, so that the loop tests none of it. */
enum { TEDDY_TWO_GROUPS = 1, TEDDY_SHORTS = 2 };

/* Stops when the next 64 positions might not fit into `hits`; the caller continues from there. */
INLINE_WIDE uint32_t scan_wide(const struct mpm_teddy *s, unsigned needs, struct slice text,
                               uint32_t at, struct teddy_hits *hits)
{
    const struct four_tables tables = tables_of(s->table[0]);
    const struct four_tables more = tables_of(s->table[needs & TEDDY_TWO_GROUPS ? 1 : 0]);
    const __m512i is_short = _mm512_set1_epi8((char)s->shorts);
    const uint32_t end = text.len - (TEDDY_WIDTH - 1);
    unsigned count = 0, short_count = 0;

    for (; at < end && count <= SCAN_MAX - 64 && short_count <= SCAN_MAX - 64; at += 64) {
        __mmask64 there = _bzhi_u64(UINT64_MAX, MIN(end - at, 64u));
        struct four number = numbers_of(text.data + at, there);
        __m512i bits = buckets_of(&tables, &number);

        if (needs & TEDDY_SHORTS) {
            short_count += keep(_mm512_mask_test_epi8_mask(there, bits, is_short), at,
                                hits->short_position + short_count);
            bits = _mm512_andnot_si512(is_short, bits);
        }
        if (needs & TEDDY_TWO_GROUPS)
            bits = _mm512_or_si512(bits, buckets_of(&more, &number));
        count += keep(_mm512_mask_test_epi8_mask(there, bits, bits), at, hits->position + count);
    }
    hits->count = count;
    hits->short_count = short_count;
    return MIN(at, end);
}

WIDE uint32_t mpm_teddy_avx512(const struct mpm_teddy *s, const uint8_t *data, uint32_t len,
                               uint32_t at, struct teddy_hits *hits)
{
    struct slice text = { data, len };

    if (s->groups == 1)
        return s->shorts == 0 ? scan_wide(s, 0, text, at, hits)
                              : scan_wide(s, TEDDY_SHORTS, text, at, hits);
    return s->shorts == 0 ? scan_wide(s, TEDDY_TWO_GROUPS, text, at, hits)
                          : scan_wide(s, TEDDY_TWO_GROUPS | TEDDY_SHORTS, text, at, hits);
}

/* NULL: the CPU lacks a feature, and the n-gram tables are used. The shapes for AVX2 are what was
 * quickest with the rules of ET and traffic of five kinds. */
const struct teddy_kernel *mpm_teddy_best(void)
{
    static const struct teddy_shape of_avx512[] = { { 128, 7, 1 }, { TEDDY_ANY, 7, TEDDY_GROUPS } };
    static const struct teddy_shape of_avx2[] = {
        { 160, 5, 1 }, { 600, 6, 1 }, { 2500, 6, TEDDY_GROUPS }, { TEDDY_ANY, 7, TEDDY_GROUPS }
    };
    static const struct teddy_kernel avx512 = { "avx512", mpm_teddy_avx512, of_avx512, NULL };
    static const struct teddy_kernel avx2 = { "avx2", mpm_teddy_avx2, of_avx2,
                                              mpm_teddy_rows_differ };
    const struct cpu_features *f = cpu_features();

    if (f->avx512bw && f->avx512vbmi && f->avx512vbmi2 && f->gfni && f->bmi2 && f->popcnt)
        return &avx512;
    return f->avx2 && f->bmi2 && f->popcnt ? &avx2 : NULL;
}
#elif defined(__aarch64__)
/* NULL: --cpu=scalar, and the n-gram tables are used. */
const struct teddy_kernel *mpm_teddy_best(void)
{
    static const struct teddy_shape of_neon[] = { { TEDDY_ANY, 7, 1 } };
    static const struct teddy_kernel neon = { "neon", mpm_teddy_neon, of_neon, NULL };

    return cpu_features()->neon ? &neon : NULL;
}
#else
const struct teddy_kernel *mpm_teddy_best(void)
{
    return NULL;
}
#endif
