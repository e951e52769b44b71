/* SPDX-License-Identifier: GPL-2.0-or-later */
/* match/spm_literal.c - finds one literal. It searches for the first and the last byte in sixteen
 * or 64 positions at once, and compares all bytes only where both match. Two bytes far apart rarely
 * match by chance, so few positions need the comparison. */
#include "match/spm_literal.h"
#include "base/system/cpu.h"
#include "base/text/bytes.h"
#include "match/spm_literal_private.h"

#include <string.h>

#ifdef __SSE2__
#include <immintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif

uint8_t ascii_lower(uint8_t c)
{
    return c >= 'A' && c <= 'Z' ? (uint8_t)(c | 0x20) : c;
}

/* `lower` must be lower case. */
bool spm_equal_nocase(const uint8_t *data, const uint8_t *lower, size_t len)
{
    for (size_t i = 0; i < len; i++)
        if (ascii_lower(data[i]) != lower[i])
            return false;
    return true;
}

/* A literal for `nocase` is stored in lower case. */
static bool equal(const uint8_t *data, const uint8_t *literal, size_t len, bool nocase)
{
    return nocase ? spm_equal_nocase(data, literal, len) : memcmp(data, literal, len) == 0;
}

/* The reference for the tests, and the search of machines without SSE2 and NEON. */
const uint8_t *spm_find_plain(const uint8_t *data, size_t len, const uint8_t *literal,
                                  size_t literal_len, bool nocase)
{
    if (literal_len == 0)
        return data;
    for (size_t i = 0; i + literal_len <= len; i++)
        if (equal(data + i, literal, literal_len, nocase))
            return data + i;
    return NULL;
}

#if defined(__SSE2__) || defined(__aarch64__)
static bool is_letter(uint8_t c)
{
    return c >= 'a' && c <= 'z';
}

/* Setting bit 5 of the text makes both cases of a letter equal. Only letters get this mask: another
 * byte of the literal may have bit 5 clear, and would then never match. Other bytes that the mask
 * lets through fail the comparison. */
static uint8_t fold_of(uint8_t c, bool nocase)
{
    return nocase && is_letter(c) ? 0x20 : 0;
}

/* For fewer than sixteen positions. */
static const uint8_t *find_short(const uint8_t *data, size_t len, const uint8_t *literal,
                                 size_t literal_len, bool nocase)
{
    size_t last = literal_len - 1;
    uint8_t fold_first = fold_of(literal[0], nocase), fold_last = fold_of(literal[last], nocase);

    for (size_t i = 0; i + last < len; i++)
        if ((data[i] | fold_first) == literal[0] && (data[i + last] | fold_last) == literal[last] &&
            equal(data + i, literal, literal_len, nocase))
            return data + i;
    return NULL;
}

#endif

#ifdef __SSE2__
/* The last sixteen positions overlap with those before, so no byte after the last position is
 * read. */
const uint8_t *spm_find_pair(const uint8_t *data, size_t len, const uint8_t *literal,
                                 size_t literal_len, bool nocase)
{
    size_t last = literal_len - 1, positions = len - last, i = 0;
    const __m128i want_first = _mm_set1_epi8((char)literal[0]);
    const __m128i want_last = _mm_set1_epi8((char)literal[last]);
    const __m128i fold_first = _mm_set1_epi8((char)fold_of(literal[0], nocase));
    const __m128i fold_last = _mm_set1_epi8((char)fold_of(literal[last], nocase));

    if (positions < 16)
        return find_short(data, len, literal, literal_len, nocase);
    for (; i < positions; i = i + 32 > positions && i + 16 < positions ? positions - 16 : i + 16) {
        __m128i a = _mm_loadu_si128((const __m128i *)(data + i));
        __m128i b = _mm_loadu_si128((const __m128i *)(data + i + last));
        __m128i hit = _mm_and_si128(_mm_cmpeq_epi8(_mm_or_si128(a, fold_first), want_first),
                                    _mm_cmpeq_epi8(_mm_or_si128(b, fold_last), want_last));
        unsigned mask = (unsigned)_mm_movemask_epi8(hit);

        for (; mask != 0; mask &= mask - 1) {
            const uint8_t *at = data + i + (unsigned)__builtin_ctz(mask);

            if (equal(at, literal, literal_len, nocase))
                return at;
        }
    }
    return NULL;
}

/* As memcmp() == 0. A function that is called would spill the registers of the search around it. */
static inline bool same_bytes(const uint8_t *a, const uint8_t *b, size_t len)
{
    size_t i = 0;

    for (; i + 8 <= len; i += 8)
        if (get_le64(a + i) != get_le64(b + i))
            return false;
    for (; i < len; i++)
        if (a[i] != b[i])
            return false;
    return true;
}

/* hits: positions from `data` on at which the first and the last byte match. */
static inline const uint8_t *first_equal(const uint8_t *data, uint64_t hits,
                                         const uint8_t *literal, size_t literal_len, bool nocase)
{
    for (; hits != 0; hits &= hits - 1) {
        const uint8_t *at = data + (unsigned)__builtin_ctzll(hits);

        if (nocase ? spm_equal_nocase(at, literal, literal_len)
                   : same_bytes(at, literal, literal_len))
            return at;
    }
    return NULL;
}

/* As spm_find_pair(), 64 positions at a time and then 32. `nocase` is a constant: most literals
 * need no folding. */
__attribute__((target("avx2,bmi"), always_inline))
static inline const uint8_t *find_avx2(const uint8_t *data, size_t len, const uint8_t *literal,
                                       size_t literal_len, bool nocase)
{
    size_t last = literal_len - 1, positions = len - last, i = 0;
    const __m256i want_first = _mm256_set1_epi8((char)literal[0]);
    const __m256i want_last = _mm256_set1_epi8((char)literal[last]);
    const __m256i fold_first = _mm256_set1_epi8((char)fold_of(literal[0], nocase));
    const __m256i fold_last = _mm256_set1_epi8((char)fold_of(literal[last], nocase));
    const uint8_t *found = NULL;

#define FOLD(text, fold) (nocase ? _mm256_or_si256(text, fold) : (text))
#define FIRST(at) _mm256_cmpeq_epi8(FOLD( \
        _mm256_loadu_si256((const __m256i *)(data + (at))), fold_first), want_first)
#define LAST(at) _mm256_cmpeq_epi8(FOLD( \
        _mm256_loadu_si256((const __m256i *)(data + (at) + last)), fold_last), want_last)
#define PAIR(at) _mm256_and_si256(FIRST(at), LAST(at))
    for (; i + 64 <= positions && found == NULL; i += 64) {
        __m256i low = PAIR(i), high = PAIR(i + 32), any = _mm256_or_si256(low, high);

        if (UNLIKELY(!_mm256_testz_si256(any, any)))
            found = first_equal(data + i, (uint32_t)_mm256_movemask_epi8(low) |
                                (uint64_t)(uint32_t)_mm256_movemask_epi8(high) << 32,
                                literal, literal_len, nocase);
    }
    for (; i < positions && found == NULL; i += 32) {
        size_t at = MIN(i, positions - 32);

        found = first_equal(data + at, (uint32_t)_mm256_movemask_epi8(PAIR(at)), literal,
                            literal_len, nocase);
    }
#undef PAIR
#undef LAST
#undef FIRST
#undef FOLD
    return found;
}

__attribute__((target("avx2,bmi")))
const uint8_t *spm_find_avx2(const uint8_t *data, size_t len, const uint8_t *literal,
                             size_t literal_len, bool nocase)
{
    if (len - (literal_len - 1) < 32)
        return spm_find_pair(data, len, literal, literal_len, nocase);
    return nocase ? find_avx2(data, len, literal, literal_len, true)
                  : find_avx2(data, len, literal, literal_len, false);
}

#define WIDE_LITERAL 64u        /* bytes that one register holds */

/* What is compared at each position at which the first and the last byte match. A function that is
 * called there would spill the registers of the search, in text that matches everywhere. */
struct wide_literal {
    __m512i bytes;
    uint64_t there;             /* a bit for each */
    bool nocase;
};

__attribute__((target("avx512f,avx512bw,bmi"), always_inline))
static inline bool wide_equal(const uint8_t *at, const struct wide_literal *literal)
{
    __m512i text = _mm512_maskz_loadu_epi8(literal->there, at);

    if (literal->nocase) {
        __m512i letter = _mm512_sub_epi8(text, _mm512_set1_epi8('A'));
        uint64_t upper = _mm512_cmple_epu8_mask(letter, _mm512_set1_epi8('Z' - 'A'));

        text = _mm512_or_si512(text, _mm512_maskz_mov_epi8(upper, _mm512_set1_epi8(0x20)));
    }
    return _mm512_mask_cmpneq_epi8_mask(literal->there, text, literal->bytes) == 0;
}

__attribute__((target("avx512f,avx512bw,bmi"), always_inline))
static inline const uint8_t *wide_first(const uint8_t *data, uint64_t hits,
                                        const struct wide_literal *literal)
{
    for (; hits != 0; hits &= hits - 1) {
        const uint8_t *at = data + (unsigned)__builtin_ctzll(hits);

        if (literal->there <= 3 || wide_equal(at, literal))
            return at;
    }
    return NULL;
}

/* 128 positions at a time. Of the rest, masked loads read nothing after the last position. `nocase`
 * is a constant: most literals need no folding. */
__attribute__((target("avx512f,avx512bw,bmi"), always_inline))
static inline const uint8_t *find_wide(const uint8_t *data, size_t len, const uint8_t *literal,
                                       size_t literal_len, bool nocase)
{
    size_t last = literal_len - 1, positions = len - last, i = 0;
    const __m512i want_first = _mm512_set1_epi8((char)literal[0]);
    const __m512i want_last = _mm512_set1_epi8((char)literal[last]);
    const __m512i fold_first = _mm512_set1_epi8((char)fold_of(literal[0], nocase));
    const __m512i fold_last = _mm512_set1_epi8((char)fold_of(literal[last], nocase));
    const uint64_t mask = UINT64_MAX >> (WIDE_LITERAL - literal_len);
    const struct wide_literal wide = { _mm512_maskz_loadu_epi8(mask, literal), mask, nocase };
    const uint8_t *found = NULL;

#define FOLD(text, fold) (nocase ? _mm512_or_si512(text, fold) : (text))
#define FIRST(at) _mm512_cmpeq_epi8_mask( \
        FOLD(_mm512_loadu_si512(data + (at)), fold_first), want_first)
#define PAIR(at) _mm512_mask_cmpeq_epi8_mask(FIRST(at), \
        FOLD(_mm512_loadu_si512(data + (at) + last), fold_last), want_last)
    for (; i + 128 <= positions; i += 128) {
        uint64_t low = PAIR(i), high = PAIR(i + 64);

        if (LIKELY((low | high) == 0))
            continue;
        found = wide_first(data + i, low, &wide);
        if (found == NULL)
            found = wide_first(data + i + 64, high, &wide);
        if (found != NULL)
            return found;
    }
    for (; i < positions; i += 64) {
        uint64_t there = positions - i >= 64 ? UINT64_MAX : (UINT64_C(1) << (positions - i)) - 1;
        __m512i a = FOLD(_mm512_maskz_loadu_epi8(there, data + i), fold_first);
        __m512i b = FOLD(_mm512_maskz_loadu_epi8(there, data + i + last), fold_last);
        uint64_t hits = _mm512_mask_cmpeq_epi8_mask(there, a, want_first);

        hits = _mm512_mask_cmpeq_epi8_mask(hits, b, want_last);
        found = wide_first(data + i, hits, &wide);
        if (found != NULL)
            return found;
    }
#undef PAIR
#undef FIRST
#undef FOLD
    return NULL;
}

/* Longer literals are rare, and the search of AVX2 does as well for them. */
__attribute__((target("avx512f,avx512bw,bmi")))
const uint8_t *spm_find_wide(const uint8_t *data, size_t len, const uint8_t *literal,
                                 size_t literal_len, bool nocase)
{
    if (UNLIKELY(literal_len > WIDE_LITERAL))
        return spm_find_avx2(data, len, literal, literal_len, nocase);
    return nocase ? find_wide(data, len, literal, literal_len, true)
                  : find_wide(data, len, literal, literal_len, false);
}

static const uint8_t *find_best(const uint8_t *data, size_t len, const uint8_t *literal,
                                size_t literal_len, bool nocase)
{
    if (LIKELY(cpu_features()->avx512bw))
        return spm_find_wide(data, len, literal, literal_len, nocase);
    if (LIKELY(cpu_features()->avx2))
        return spm_find_avx2(data, len, literal, literal_len, nocase);
    if (UNLIKELY(!cpu_features()->sse2))
        return spm_find_plain(data, len, literal, literal_len, nocase);
    return spm_find_pair(data, len, literal, literal_len, nocase);
}
#elif defined(__aarch64__)
/* Four bits for each of sixteen positions; of these one stays where both bytes are as wanted. */
static inline uint64_t pairs_at(uint8x16_t a, uint8x16_t b, uint8x16_t want_first,
                                uint8x16_t want_last)
{
    uint8x16_t hit = vandq_u8(vceqq_u8(a, want_first), vceqq_u8(b, want_last));
    uint8x8_t half = vshrn_n_u16(vreinterpretq_u16_u8(hit), 4);

    return vreinterpret_u64_u8(half)[0] & 0x1111111111111111;
}

/* As spm_find_pair(). */
const uint8_t *spm_find_neon(const uint8_t *data, size_t len, const uint8_t *literal,
                             size_t literal_len, bool nocase)
{
    size_t last = literal_len - 1, positions = len - last, i = 0;
    const uint8x16_t want_first = vdupq_n_u8(literal[0]), want_last = vdupq_n_u8(literal[last]);
    const uint8x16_t fold_first = vdupq_n_u8(fold_of(literal[0], nocase));
    const uint8x16_t fold_last = vdupq_n_u8(fold_of(literal[last], nocase));

    if (positions < 16)
        return find_short(data, len, literal, literal_len, nocase);
    for (; i < positions; i = i + 32 > positions && i + 16 < positions ? positions - 16 : i + 16) {
        uint8x16_t a = vorrq_u8(vld1q_u8(data + i), fold_first);
        uint8x16_t b = vorrq_u8(vld1q_u8(data + i + last), fold_last);
        uint64_t mask = pairs_at(a, b, want_first, want_last);

        for (; mask != 0; mask &= mask - 1) {
            const uint8_t *at = data + i + (unsigned)__builtin_ctzll(mask) / 4;

            if (equal(at, literal, literal_len, nocase))
                return at;
        }
    }
    return NULL;
}

static const uint8_t *find_best(const uint8_t *data, size_t len, const uint8_t *literal,
                                size_t literal_len, bool nocase)
{
    if (UNLIKELY(!cpu_features()->neon))
        return spm_find_plain(data, len, literal, literal_len, nocase);
    return spm_find_neon(data, len, literal, literal_len, nocase);
}
#else
static const uint8_t *find_best(const uint8_t *data, size_t len, const uint8_t *literal,
                                size_t literal_len, bool nocase)
{
    return spm_find_plain(data, len, literal, literal_len, nocase);
}
#endif

/* The first position, or NULL. Easy cases first: they need no search. */
const uint8_t *spm_find(const uint8_t *data, size_t len, const uint8_t *literal,
                            size_t literal_len, bool nocase)
{
    if (literal_len > len)
        return NULL;
    if (literal_len == 0)
        return data;
    if (literal_len == len)
        return equal(data, literal, len, nocase) ? data : NULL;
    if (literal_len == 1 && !nocase)
        return memchr(data, literal[0], len);
    return find_best(data, len, literal, literal_len, nocase);
}
