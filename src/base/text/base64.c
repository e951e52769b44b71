/* SPDX-License-Identifier: GPL-2.0-or-later */
/* base/text/base64.c - base64 (RFC 4648) to bytes and back. */
#include "base/text/base64.h"

/* A table, because branches on random data are mispredicted. */
const int8_t base64_digit_of[256] = {
    -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1,
    -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1,
    -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, 62, -1, -1, -1, 63,
    52, 53, 54, 55, 56, 57, 58, 59, 60, 61, -1, -1, -1, -1, -1, -1,
    -1, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14,
    15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, -1, -1, -1, -1, -1,
    -1, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35, 36, 37, 38, 39, 40,
    41, 42, 43, 44, 45, 46, 47, 48, 49, 50, 51, -1, -1, -1, -1, -1,
    -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1,
    -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1,
    -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1,
    -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1,
    -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1,
    -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1,
    -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1,
    -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1,
};

/* BASE64_BOTH also accepts the URL-safe alphabet (RFC 4648, section 5). */
static int digit_of(uint8_t c, unsigned flags)
{
    if (flags & BASE64_BOTH)
        c = c == '-' ? '+' : c == '_' ? '/' : c;
    return base64_digit(c);
}

/* Decodes groups of four digits up to the first that has another byte, and returns how many bytes
 * of the input they take. One branch for four bytes: rules decode the rest of a buffer at many
 * places. */
static uint32_t decode_groups(struct slice in, uint8_t *out)
{
    uint32_t i = 0;

    for (; i + 4 <= in.len; i += 4) {
        const uint8_t *c = in.data + i;
        int a = base64_digit(c[0]), b = base64_digit(c[1]);
        int d = base64_digit(c[2]), e = base64_digit(c[3]);

        if ((a | b | d | e) < 0)
            break;
        *out++ = (uint8_t)(a << 2 | b >> 4);
        *out++ = (uint8_t)(b << 4 | d >> 2);
        *out++ = (uint8_t)(d << 6 | e);
    }
    return i;
}

/* Returns the number of bytes, or -1. Flags decide about bytes outside of the alphabet: an error,
 * skipped, or the end. `out` needs 3 bytes for 4. */
int64_t base64_decode(struct slice in, unsigned flags, uint8_t *out)
{
    const uint32_t start = decode_groups(in, out);
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
