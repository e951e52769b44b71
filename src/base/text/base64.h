/* SPDX-License-Identifier: GPL-2.0-or-later */
/* base/text/base64.h - base64 to bytes (RFC 4648, section 4). Decoders differ in how they treat
 * lines, blanks and padding, so the caller chooses. */
#ifndef BASE_BASE64_H
#define BASE_BASE64_H

#include "base/text/bytes.h"

extern const int8_t base64_digit_of[256];

/* Value 0 to 63, or -1. */
static inline int base64_digit(uint8_t c)
{
    return base64_digit_of[c];
}

/* How to treat a character that is not a digit. Without a flag it makes the input invalid. */
enum base64_flags {
    BASE64_TO_WRONG = 1,        /* use the digits before it */
    BASE64_SKIP_WRONG = 2,      /* skip it (RFC 2045, 6.8); "=" ends */
    BASE64_BOTH = 4,            /* "-" and "_" are digits too (RFC 4648, 5) */
};

/* The largest number of bytes that `in` can decode to. */
static inline size_t base64_capacity(uint32_t len)
{
    return (size_t)len * 3 / 4 + 1;
}

/* Decodes groups of four digits up to the first that has another byte, and returns how many bytes
 * of the input they take. `out` needs 3 bytes for each 4 of the input. */
uint32_t base64_groups(struct slice in, uint8_t *out);

/* Returns the number of bytes written to out; -1: not base64. A last group of two or three digits
 * gives one or two bytes. A single digit gives none, and is an error without flags. */
int64_t base64_decode(struct slice in, unsigned flags, uint8_t *out);

#endif
