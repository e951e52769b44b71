/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/proto/http1/range.c - Content-Range: "bytes 0-99/1000", an unknown size or bounds as a star
 * (RFC 9110, 14.4). */
#include "app/proto/http1/http1.h"
#include "base/text/bytes.h"

/* False: no digit, or a number beyond int64_t, which a hostile server may send. */
static bool take_number(struct bytes *in, int64_t *out)
{
    int64_t n = 0;
    bool any = false;

    for (uint8_t c = peek_u8(in); c >= '0' && c <= '9'; c = peek_u8(in)) {
        if (n > (INT64_MAX - 9) / 10)
            return false;
        n = n * 10 + (take_u8(in) - '0');
        any = true;
    }
    *out = n;
    return any;
}

static void skip_spaces(struct bytes *in)
{
    while (peek_u8(in) == ' ')
        take_u8(in);
}

static bool take_star(struct bytes *in)
{
    if (peek_u8(in) != '*')
        return false;
    take_u8(in);
    return true;
}

/* -1: the bounds are a star, because the range was not satisfiable. */
static bool take_bounds(struct bytes *in, struct http_range *out)
{
    if (take_star(in)) {
        out->start = out->end = -1;
        return true;
    }
    return take_number(in, &out->start) && take_u8(in) == '-' && take_number(in, &out->end);
}

/* The unit before the bounds is skipped without a check. Both a star for bounds and for the size is
 * invalid. */
bool http_range_parse(struct slice value, struct http_range *out)
{
    struct bytes in = bytes_of_slice(value);
    bool star;

    skip_spaces(&in);
    while (bytes_have(&in, 1) && peek_u8(&in) != ' ')
        take_u8(&in);
    skip_spaces(&in);
    star = peek_u8(&in) == '*';
    if (!take_bounds(&in, out) || take_u8(&in) != '/')
        return false;
    if (!star && take_star(&in)) {
        out->size = -1;
        return true;
    }
    return take_number(&in, &out->size);
}
