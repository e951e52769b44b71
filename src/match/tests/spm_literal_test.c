/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/test.h"
#include "match/spm_literal_private.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

static uint32_t next_random(uint32_t *state)
{
    *state = *state * 1664525u + 1013904223u;
    return *state >> 16;
}

static void random_bytes(uint8_t *out, size_t n, const char *alphabet, uint32_t *state)
{
    for (size_t i = 0; i < n; i++)
        out[i] = (uint8_t)alphabet[next_random(state) % strlen(alphabet)];
}

/* The fast search against the plain one, on an alphabet so small that near misses abound. */
TEST(spm_find_is_its_plain_twin)
{
    uint32_t state = 7;

    for (unsigned round = 0; round < 20000; round++) {
        uint8_t data[200], literal[80];
        const uint8_t *expected;
        size_t len = next_random(&state) % sizeof(data);
        size_t literal_len = 1 + next_random(&state) % (round % 2 == 0 ? 12 : sizeof(literal));
        bool nocase = next_random(&state) & 1;

        random_bytes(data, len, "aAbB@`[{", &state);
        random_bytes(literal, literal_len, nocase ? "ab@`" : "aAbB@`", &state);
        if (round % 4 == 1 && literal_len <= len) {     /* long ones are not there by chance */
            const uint8_t *from = data + next_random(&state) % (len - literal_len + 1);

            for (size_t i = 0; i < literal_len; i++)
                literal[i] = nocase ? ascii_lower(from[i]) : from[i];
        }
        expected = spm_find_plain(data, len, literal, literal_len, nocase);
        CHECK(spm_find(data, len, literal, literal_len, nocase) == expected);
#ifdef __SSE2__
        if (literal_len > len)
            continue;
        CHECK(spm_find_pair(data, len, literal, literal_len, nocase) == expected);
        if (__builtin_cpu_supports("avx2"))
            CHECK(spm_find_avx2(data, len, literal, literal_len, nocase) == expected);
        if (__builtin_cpu_supports("avx512bw"))
            CHECK(spm_find_wide(data, len, literal, literal_len, nocase) == expected);
#elif defined(__aarch64__)
        if (literal_len <= len)
            CHECK(spm_find_neon(data, len, literal, literal_len, nocase) == expected);
#endif
    }
}

/* One match, or none, at any place of a longer text, and near misses before it. A block of memory of
 * just this length: the sanitizer sees what is read after it. */
TEST(spm_find_tests_each_place)
{
    for (size_t len = 1; len <= 300; len++) {
        for (size_t at = 0; at <= len; at++) {
            uint8_t *data = malloc(len);

            for (size_t i = 0; i < len; i++)
                data[i] = (uint8_t)(i % 7 == 0 ? 'a' : i % 7 == 2 ? 'C' : 'x');
            if (at + 3 <= len)
                memcpy(data + at, "aBc", 3);
            CHECK(spm_find(data, len, (const uint8_t *)"abc", 3, true) ==
                  spm_find_plain(data, len, (const uint8_t *)"abc", 3, true));
#ifdef __SSE2__
            if (len >= 3 && __builtin_cpu_supports("avx2"))
                CHECK(spm_find_avx2(data, len, (const uint8_t *)"abc", 3, true) ==
                      spm_find_plain(data, len, (const uint8_t *)"abc", 3, true));
#endif
            free(data);
        }
    }
}

TEST(spm_find_edges)
{
    const uint8_t *hay = (const uint8_t *)"0123456789abcdef0123456789ABCDEF";

    CHECK(spm_find(hay, 32, (const uint8_t *)"0", 1, false) == hay);
    CHECK(spm_find(hay, 32, (const uint8_t *)"F", 1, false) == hay + 31);
    CHECK(spm_find(hay, 32, (const uint8_t *)"ABCDEF", 6, false) == hay + 26);
    CHECK(spm_find(hay, 32, (const uint8_t *)"abcdef", 6, true) == hay + 10);
    CHECK(spm_find(hay, 32, (const uint8_t *)"xyz", 3, true) == NULL);
    CHECK(spm_find(hay, 2, (const uint8_t *)"0123", 4, false) == NULL);
    CHECK(spm_find(hay, 0, (const uint8_t *)"", 0, false) == hay);
}
