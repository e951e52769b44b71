/* SPDX-License-Identifier: GPL-2.0-or-later */
/* url_decode - %XX to its byte and + to a blank. An escape that is not complete stays as
 * it is, as in Suricata. */
#include "base/memory/buf.h"
#include "detect/transforms/list.h"

/* The value of a hexadecimal digit; -1: none. */
static int hex(uint8_t c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c |= 0x20;
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static void url_decode_apply(struct slice in, const void *arg UNUSED, struct buf *out)
{
    if (!buf_reserve(out, in.len))
        return;
    for (uint32_t i = 0; i < in.len; i++) {
        uint8_t c = in.data[i];

        if (c == '%' && i + 2 < in.len && hex(in.data[i + 1]) >= 0 && hex(in.data[i + 2]) >= 0) {
            out->data[out->len++] = (uint8_t)(hex(in.data[i + 1]) << 4 | hex(in.data[i + 2]));
            i += 2;
        } else if (c == '%') {
            /* The byte that broke the escape is not looked at again: "%%41" stays as it is. */
            uint32_t n = i + 1 < in.len && hex(in.data[i + 1]) >= 0 ? 3 : 2;

            for (uint32_t k = 0; k < n && i + k < in.len; k++)
                out->data[out->len++] = in.data[i + k];
            i += n - 1;
        } else {
            out->data[out->len++] = c == '+' ? ' ' : c;
        }
    }
}

const struct transform_ops transform_url_decode = {
    .name = "url_decode",
    .doc = "modify buffer to decode urlencoded data before inspection",
    .apply = url_decode_apply,
};
