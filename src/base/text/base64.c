/* SPDX-License-Identifier: GPL-2.0-or-later */
/* base/text/base64.c - base64 (RFC 4648) to bytes and back. */
#include "base/text/base64.h"

/* The digits that eight bytes are. */
#define ROW(X, a, b, c, d, e, f, g, h) X(a), X(b), X(c), X(d), X(e), X(f), X(g), X(h)
#define NONE(X) ROW(X, -1, -1, -1, -1, -1, -1, -1, -1)
#define NONES(X) NONE(X), NONE(X), NONE(X), NONE(X)

/* Those of all bytes. Tables, because branches on random data are mispredicted. */
#define DIGITS(X)                                                                           \
    NONES(X), NONE(X), ROW(X, -1, -1, -1, 62, -1, -1, -1, 63),                              \
    ROW(X, 52, 53, 54, 55, 56, 57, 58, 59), ROW(X, 60, 61, -1, -1, -1, -1, -1, -1),         \
    ROW(X, -1, 0, 1, 2, 3, 4, 5, 6), ROW(X, 7, 8, 9, 10, 11, 12, 13, 14),                   \
    ROW(X, 15, 16, 17, 18, 19, 20, 21, 22), ROW(X, 23, 24, 25, -1, -1, -1, -1, -1),         \
    ROW(X, -1, 26, 27, 28, 29, 30, 31, 32), ROW(X, 33, 34, 35, 36, 37, 38, 39, 40),         \
    ROW(X, 41, 42, 43, 44, 45, 46, 47, 48), ROW(X, 49, 50, 51, -1, -1, -1, -1, -1),         \
    NONES(X), NONES(X), NONES(X), NONES(X)

#define DIGIT(n) n
const int8_t base64_digit_of[256] = { DIGITS(DIGIT) };

/* The bits of each of the four digits of a group. WRONG: not a digit. */
#define WRONG (UINT32_C(1) << 31)
#define BITS(n, shift) ((n) < 0 ? WRONG : (uint32_t)(n) << (shift))
#define DIGIT_1(n) BITS(n, 18)
#define DIGIT_2(n) BITS(n, 12)
#define DIGIT_3(n) BITS(n, 6)
#define DIGIT_4(n) BITS(n, 0)
static const uint32_t group_bits[4][256] = {
    { DIGITS(DIGIT_1) }, { DIGITS(DIGIT_2) }, { DIGITS(DIGIT_3) }, { DIGITS(DIGIT_4) }
};

/* One branch for four bytes, and where another group has space behind it, one store for three. */
uint32_t base64_groups(struct slice in, uint8_t *out)
{
    uint32_t i = 0;

    for (; in.len - i >= 4; i += 4, out += 3) {
        const uint8_t *c = in.data + i;
        uint32_t bits = group_bits[0][c[0]] | group_bits[1][c[1]] | group_bits[2][c[2]] |
                        group_bits[3][c[3]];

        if ((bits & WRONG) != 0)
            break;
        if (in.len - i >= 8) {
            put_be32(out, bits << 8);
            continue;
        }
        out[0] = (uint8_t)(bits >> 16);
        out[1] = (uint8_t)(bits >> 8);
        out[2] = (uint8_t)bits;
    }
    return i;
}

/* BASE64_BOTH also accepts the URL-safe alphabet (RFC 4648, section 5). */
static int digit_of(uint8_t c, unsigned flags)
{
    if (flags & BASE64_BOTH)
        c = c == '-' ? '+' : c == '_' ? '/' : c;
    return base64_digit(c);
}

/* Returns the number of bytes, or -1. Flags decide about bytes outside of the alphabet: an error,
 * skipped, or the end. `out` needs 3 bytes for 4. */
int64_t base64_decode(struct slice in, unsigned flags, uint8_t *out)
{
    const uint32_t start = base64_groups(in, out);
    uint32_t bits = 0, have = 0;
    int64_t n = start / 4 * INT64_C(3);

    for (uint32_t i = start; i < in.len; i++) {
        int digit = digit_of(in.data[i], flags);

        if (digit < 0 && (flags & BASE64_SKIP_WRONG) && in.data[i] != '=')
            continue;
        if (digit < 0 && !(flags & (BASE64_SKIP_WRONG | BASE64_TO_WRONG)))
            return -1;
        if (digit < 0)
            break;
        bits = bits << 6 | (uint32_t)digit;
        if (have++ % 4 != 0)
            out[n++] = (uint8_t)(bits >> (6 - (have - 1) % 4 * 2));
    }
    return have % 4 == 1 && !(flags & (BASE64_SKIP_WRONG | BASE64_TO_WRONG)) ? -1 : n;
}
