/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base64.h"

static int digit_of(uint8_t c, unsigned flags)
{
    if (flags & BASE64_BOTH)
        c = c == '-' ? '+' : c == '_' ? '/' : c;
    return base64_digit(c);
}

int64_t base64_decode(struct slice in, unsigned flags, uint8_t *out)
{
    uint32_t bits = 0, have = 0;
    int64_t n = 0;

    for (uint32_t i = 0; i < in.len; i++) {
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
