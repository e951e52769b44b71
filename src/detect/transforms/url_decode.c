/* SPDX-License-Identifier: GPL-2.0-or-later */
/* url_decode - %XX to its byte and + to a blank. An escape that is not complete stays as
 * it is, as in Suricata. */
#include "base/memory/buf.h"
#include "detect/transforms/eight.h"
#include "detect/transforms/list.h"

/* The value of a hexadecimal digit; -1: none. */
static int hex(uint8_t c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c |= 0x20;
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Passes on bytes without an escape, eight at a time. */
static uint32_t without_escapes(struct slice in, uint32_t i, uint8_t **to)
{
    for (; i + 8 <= in.len; i += 8) {
        uint64_t w = eight_load(in.data + i);

        if (eight_between(w, '%', '%') != 0)
            break;
        eight_store(*to, w ^ (eight_between(w, '+', '+') >> 7) * ('+' ^ ' '));
        *to += 8;
    }
    return i;
}

/* What begins at a percent sign; returns its length. The byte that broke an escape is not looked at
 * again: "%%41" stays as it is. */
static uint32_t escape(struct slice in, uint32_t i, uint8_t **to)
{
    int first = i + 1 < in.len ? hex(in.data[i + 1]) : -1;
    int second = i + 2 < in.len ? hex(in.data[i + 2]) : -1;
    uint32_t n = MIN(first >= 0 ? 3u : 2u, in.len - i);

    if (first >= 0 && second >= 0) {
        *(*to)++ = (uint8_t)(first << 4 | second);
        return 3;
    }
    memcpy(*to, in.data + i, n);
    *to += n;
    return n;
}

static void url_decode_apply(struct slice in, const void *arg UNUSED, struct buf *out)
{
    uint32_t i = 0;
    uint8_t *to;

    if (!buf_reserve(out, in.len))
        return;
    to = out->data + out->len;
    while ((i = without_escapes(in, i, &to)) < in.len)
        if (in.data[i] == '%') {
            i += escape(in, i, &to);
        } else {
            *to++ = in.data[i] == '+' ? ' ' : in.data[i];
            i++;
        }
    out->len = (size_t)(to - out->data);
}

const struct transform_ops transform_url_decode = {
    .name = "url_decode",
    .doc = "modify buffer to decode urlencoded data before inspection",
    .apply = url_decode_apply,
};
