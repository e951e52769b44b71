/* SPDX-License-Identifier: GPL-2.0-or-later */
/* base/text/base64.h - base64 to bytes (RFC 4648, 4). How lines, blanks and padding are taken
 * differs by who decodes. */
#ifndef BASE_BASE64_H
#define BASE_BASE64_H

#include "base/text/bytes.h"

extern const int8_t base64_digit_of[256];

/* 0 to 63, or -1. */
static inline int base64_digit(uint8_t c)
{
    return base64_digit_of[c];
}

/* What a character that is no digit does. None set: there is no result. */
enum base64_flags {
    BASE64_TO_WRONG = 1,        /* what stands before it counts */
    BASE64_SKIP_WRONG = 2,      /* it is passed over (RFC 2045, 6.8); "=" ends */
    BASE64_BOTH = 4,            /* "-" and "_" are digits too (RFC 4648, 5) */
};

/* Bytes that in may become at most. */
static inline size_t base64_capacity(uint32_t len)
{
    return (size_t)len * 3 / 4 + 1;
}

/* Bytes written to out; -1: not base64. A last group of two or three digits gives one or two
 * bytes, one of a single digit none, which without a flag is wrong. */
int64_t base64_decode(struct slice in, unsigned flags, uint8_t *out);

#endif
