/* SPDX-License-Identifier: GPL-2.0-or-later */
/* base/text/utf8.c - checks UTF-8 (RFC 3629) and replaces what is not valid. */
#include "base/text/utf8.h"

/* The length of a character by its first byte; 0: no character starts with it. */
static unsigned expected_length(uint8_t c)
{
    if (c < 0x80)
        return 1;
    if (c < 0xc2 || c > 0xf4)
        return 0;
    return c < 0xe0 ? 2 : c < 0xf0 ? 3 : 4;
}

/* The second byte has a narrower range where overlong forms, surrogates or numbers above U+10FFFF
 * would be. */
static bool second_fits(uint8_t first, uint8_t c)
{
    uint8_t low = first == 0xe0 ? 0xa0 : first == 0xf0 ? 0x90 : 0x80;
    uint8_t high = first == 0xed ? 0x9f : first == 0xf4 ? 0x8f : 0xbf;

    return c >= low && c <= high;
}

/* The length of the character. If it is not valid: *valid is false, and the length of the longest
 * part that could have become one, as the Unicode Standard recommends for U+FFFD. */
static size_t take_character(const uint8_t *p, size_t len, bool *valid)
{
    unsigned n = expected_length(p[0]);

    *valid = n > 0;
    for (unsigned i = 1; i < n; i++) {
        if (i < len && (i == 1 ? second_fits(p[0], p[i]) : (p[i] & 0xc0) == 0x80))
            continue;
        *valid = false;
        return i;
    }
    return n > 0 ? n : 1;
}

/* `out` needs 3 bytes for each input byte. Returns the length. */
size_t utf8_lossy(struct slice in, uint8_t *out)
{
    size_t len = 0, n;
    bool valid;

    for (size_t i = 0; i < in.len; i += n) {
        n = take_character(in.data + i, in.len - i, &valid);
        memcpy(out + len, valid ? in.data + i : (const uint8_t *)"\xef\xbf\xbd", valid ? n : 3);
        len += valid ? n : 3;
    }
    return len;
}

bool utf8_is_valid(struct slice in)
{
    bool valid = true;

    for (size_t i = 0; i < in.len && valid;)
        i += take_character(in.data + i, in.len - i, &valid);
    return valid;
}
