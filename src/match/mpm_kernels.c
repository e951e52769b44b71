/* SPDX-License-Identifier: GPL-2.0-or-later */
/* match/mpm_kernels.c - the scan kernels in plain C, with AVX2, AVX-512 and NEON. The plain ones
 * are the definition; a unit test compares the others with them on random texts. */
#include "match/mpm_kernels.h"
#include "base/system/cpu.h"

#ifdef __SSE2__
#include <emmintrin.h>
#endif

/* Writes each position, and counts it only if it is a hit. A branch would be mispredicted too
 * often. */
static unsigned scan_stride_plain(struct bit_table t, struct slice text,
                                  struct stride_positions in, uint32_t *out)
{
    unsigned n = 0;

    for (; in.count > 0; in.count--, in.at += in.stride) {
        out[n] = in.at;
        n += bit_table_has(t, ngram_of(text.data + in.at, t.mask));
    }
    return n;
}

/* A hit may belong to the position `back` bytes earlier as well, so both are tested. */
static unsigned scan_confirm_plain(struct bit_table t, const uint8_t *data,
                                   struct hit_positions in, uint32_t *out)
{
    unsigned n = 0;

    for (unsigned i = 0; i < in.count; i++) {
        uint32_t before = in.at[i] - (in.at[i] >= in.back ? in.back : 0);

        out[n] = in.at[i];
        n += bit_table_has(t, ngram_of(data + in.at[i], t.mask));
        out[n] = before;
        n += in.back > 0 ? bit_table_has(t, ngram_of(data + before, t.mask)) : 0;
    }
    return n;
}

#ifdef __SSE2__
/* Skips sixteen positions at a time. Returns the start of a run, or the position near the end from
 * which single bytes must be compared. */
static uint32_t skip_to_run(const uint8_t *data, uint32_t len, uint32_t at)
{
    for (; at + 18 <= len; at += 16) {
        __m128i a = _mm_loadu_si128((const __m128i *)(data + at));
        __m128i b = _mm_loadu_si128((const __m128i *)(data + at + 1));
        __m128i c = _mm_loadu_si128((const __m128i *)(data + at + 2));
        unsigned mask = (unsigned)_mm_movemask_epi8(_mm_and_si128(_mm_cmpeq_epi8(a, b),
                                                                  _mm_cmpeq_epi8(b, c)));

        if (mask != 0)
            return at + (unsigned)__builtin_ctz(mask);
    }
    return at;
}
#else
static uint32_t skip_to_run(const uint8_t *data UNUSED, uint32_t len UNUSED, uint32_t at)
{
    return at;
}
#endif

/* A run is SCAN_RUN equal bytes. */
static uint32_t find_run_plain(const uint8_t *data, uint32_t len, uint32_t at)
{
    for (at = skip_to_run(data, len, at); at + SCAN_RUN <= len; at++)
        if (data[at] == data[at + 1] && data[at] == data[at + 2])
            return at;
    return len;
}

const struct mpm_kernels mpm_kernels_plain = { "plain", scan_stride_plain, scan_confirm_plain,
                                               find_run_plain };

#ifdef __x86_64__
#include <immintrin.h>

#define WIDE __attribute__((target("avx512f,avx512bw,avx512vl,avx512vbmi,bmi2,popcnt")))

/* Tests sixteen n-grams. The result has a bit for each that is in the table. 0x9e3779b1 is the
 * multiplier of ngram_hash(). */
WIDE static inline __mmask16 table_has_wide(struct bit_table t, __m512i ngram)
{
    __m512i h = _mm512_srl_epi32(_mm512_mullo_epi32(ngram, _mm512_set1_epi32((int)0x9e3779b1u)),
                                 _mm_cvtsi32_si128(t.shift));
    __m512i word = _mm512_i32gather_epi32(_mm512_srli_epi32(h, 5), t.bits, 4);

    return _mm512_test_epi32_mask(_mm512_rorv_epi32(word, h), _mm512_set1_epi32(1));
}

/* For a permutation: the byte indices of sixteen n-grams that begin at every stride-th of 64
 * bytes. */
WIDE static inline __m512i spread_of(unsigned stride)
{
    __m512i first = _mm512_mullo_epi32(_mm512_set_epi32(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4,
                                                        3, 2, 1, 0),
                                       _mm512_set1_epi32((int)stride * 0x01010101));

    return _mm512_add_epi32(first, _mm512_set1_epi32(0x03020100));
}

/* Stores the positions of the mask's bits, packed. It writes a complete vector, so `out` has space
 * for 16 more. */
WIDE static inline unsigned keep(__mmask16 mask, __m512i position, uint32_t *out)
{
    _mm512_storeu_si512(out, _mm512_maskz_compress_epi32(mask, position));
    return (unsigned)_mm_popcnt_u32(mask);
}

/* The plain kernel handles the rest, which does not fill a vector. */
WIDE static unsigned scan_stride_wide(struct bit_table t, struct slice text,
                                      struct stride_positions in, uint32_t *out)
{
    const __m512i spread = spread_of(in.stride);
    const __m512i case_mask = _mm512_set1_epi32((int)NGRAM_CASE_MASK);
    const __m512i mask_wide = _mm512_set1_epi32((int)t.mask);
    __m512i position = _mm512_add_epi32(_mm512_srli_epi32(_mm512_slli_epi32(spread, 24), 24),
                                        _mm512_set1_epi32((int)in.at));
    unsigned n = 0;

    for (; in.count >= 16 && in.at + 64 <= text.len; in.count -= 16, in.at += 16 * in.stride) {
        __m512i bytes = _mm512_loadu_si512(text.data + in.at);
        __m512i ngram = _mm512_permutexvar_epi8(spread, bytes);

        ngram = _mm512_and_si512(_mm512_or_si512(ngram, case_mask), mask_wide);
        n += keep(table_has_wide(t, ngram), position, out + n);
        position = _mm512_add_epi32(position, _mm512_set1_epi32(16 * (int)in.stride));
    }
    return n + scan_stride_plain(t, text, in, out + n);
}

/* The inner loop runs once or twice: at the hit, and `back` bytes before it. */
WIDE static unsigned scan_confirm_wide(struct bit_table t, const uint8_t *data,
                                       struct hit_positions in, uint32_t *out)
{
    const __m512i case_mask = _mm512_set1_epi32((int)NGRAM_CASE_MASK),
                  mask_wide = _mm512_set1_epi32((int)t.mask);
    unsigned n = 0, i = 0;

    for (; i + 16 <= in.count; i += 16)
        for (unsigned b = 0; b <= in.back; b += MAX(in.back, 1u)) {
            __m512i position = _mm512_loadu_si512(in.at + i), ngram;
            __m512i less = _mm512_set1_epi32((int)b);

            position = _mm512_mask_sub_epi32(position, _mm512_cmpge_epu32_mask(position, less),
                                             position, less);
            ngram = _mm512_i32gather_epi32(position, data, 1);
            ngram = _mm512_and_si512(_mm512_or_si512(ngram, case_mask), mask_wide);
            n += keep(table_has_wide(t, ngram), position, out + n);
        }
    in.at += i;
    in.count -= i;
    return n + scan_confirm_plain(t, data, in, out + n);
}

/* 64 positions at once; masked loads stop at the end of the text. */
WIDE static uint32_t find_run_wide(const uint8_t *data, uint32_t len, uint32_t at)
{
    for (; at + SCAN_RUN <= len; at += 64) {
        __mmask64 there = _bzhi_u64(UINT64_MAX, MIN(len - at - (SCAN_RUN - 1), 64u));
        __m512i a = _mm512_maskz_loadu_epi8(there, data + at);
        __m512i b = _mm512_maskz_loadu_epi8(there, data + at + 1);
        __m512i c = _mm512_maskz_loadu_epi8(there, data + at + 2);

        there = _mm512_mask_cmpeq_epi8_mask(_mm512_mask_cmpeq_epi8_mask(there, a, b), b, c);
        if (there != 0)
            return at + (uint32_t)__builtin_ctzll(there);
    }
    return len;
}

#define AVX2 __attribute__((target("avx2,bmi,bmi2")))

/* A shift of BMI2 is one instruction where the plain one is three. Only Teddy's hits, which have no
 * position before them, come here often. */
AVX2 static unsigned scan_confirm_avx2(struct bit_table t, const uint8_t *data,
                                       struct hit_positions in, uint32_t *out)
{
    unsigned n = 0;

    if (in.back > 0)
        return scan_confirm_plain(t, data, in, out);
    for (unsigned i = 0; i < in.count; i++) {
        out[n] = in.at[i];
        n += bit_table_has(t, ngram_of(data + in.at[i], t.mask));
    }
    return n;
}

/* 32 positions at once. The last ones overlap with those before. */
AVX2 static uint32_t find_run_avx2(const uint8_t *data, uint32_t len, uint32_t at)
{
    if (at + 34 > len)
        return find_run_plain(data, len, at);
    for (; at + SCAN_RUN <= len; at += 32) {
        at = MIN(at, len - 34);
        __m256i a = _mm256_loadu_si256((const __m256i *)(const void *)(data + at));
        __m256i b = _mm256_loadu_si256((const __m256i *)(const void *)(data + at + 1));
        __m256i c = _mm256_loadu_si256((const __m256i *)(const void *)(data + at + 2));
        unsigned mask = (unsigned)_mm256_movemask_epi8(
            _mm256_and_si256(_mm256_cmpeq_epi8(a, b), _mm256_cmpeq_epi8(b, c)));

        if (mask != 0)
            return at + (unsigned)__builtin_ctz(mask);
    }
    return len;
}

static const struct mpm_kernels mpm_kernels_avx2 = { "avx2", scan_stride_plain,
                                                     scan_confirm_avx2, find_run_avx2 };

static const struct mpm_kernels mpm_kernels_wide = { "avx512", scan_stride_wide,
                                                     scan_confirm_wide, find_run_wide };

/* Chosen when a set is built; the CPU does not change. */
const struct mpm_kernels *mpm_kernels_best(void)
{
    const struct cpu_features *f = cpu_features();

    if (f->avx512bw && f->avx512vbmi && f->bmi2)
        return &mpm_kernels_wide;
    return f->avx2 && f->bmi2 ? &mpm_kernels_avx2 : &mpm_kernels_plain;
}
#elif defined(__aarch64__)
#include <arm_neon.h>

/* Sixteen positions at once. Narrowing leaves four bits for each byte of a comparison. NEON cannot
 * gather, so the other kernels are the plain ones. */
static uint32_t find_run_neon(const uint8_t *data, uint32_t len, uint32_t at)
{
    for (; at + 18 <= len; at += 16) {
        uint8x16_t b = vld1q_u8(data + at + 1);
        uint8x16_t equal = vandq_u8(vceqq_u8(vld1q_u8(data + at), b),
                                    vceqq_u8(vld1q_u8(data + at + 2), b));
        uint8x8_t half = vshrn_n_u16(vreinterpretq_u16_u8(equal), 4);
        uint64_t mask = vreinterpret_u64_u8(half)[0];

        if (mask != 0)
            return at + (uint32_t)__builtin_ctzll(mask) / 4;
    }
    return find_run_plain(data, len, at);
}

static const struct mpm_kernels mpm_kernels_neon = { "neon", scan_stride_plain,
                                                     scan_confirm_plain, find_run_neon };

const struct mpm_kernels *mpm_kernels_best(void)
{
    return cpu_features()->neon ? &mpm_kernels_neon : &mpm_kernels_plain;
}
#else
const struct mpm_kernels *mpm_kernels_best(void)
{
    return &mpm_kernels_plain;
}
#endif
