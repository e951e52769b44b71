/* SPDX-License-Identifier: GPL-2.0-or-later */
/* header_lowercase - names of headers in lower case, values as they are; strip_pseudo_headers -
 * without the lines of HTTP/2 that begin with a colon. */
#include "base/memory/buf.h"
#include "detect/transforms/list.h"

#include <ctype.h>

/* HTTP/2 sends the names in lower case, HTTP/1 as the client likes. With this transform
 * one rule matches both. A line without a colon counts as a name up to the next colon. */
static void header_lowercase_apply(struct slice in, const void *arg UNUSED, struct buf *out)
{
    bool in_value = false;

    if (!buf_reserve(out, in.len))
        return;
    for (uint32_t i = 0; i < in.len; i++) {
        uint8_t c = in.data[i];

        if (!in_value && c >= 'A' && c <= 'Z')
            c |= 0x20;
        in_value = in_value ? c != '\n' : c == ':';
        out->data[out->len++] = c;
    }
}

/* ":authority" and other pseudo headers do not exist in HTTP/1; without them the same content can
 * be searched in both versions. A last line without a line feed counts, too. */
static void strip_pseudo_headers_apply(struct slice in, const void *arg UNUSED, struct buf *out)
{
    struct bytes left = bytes_of_slice(in);

    while (bytes_left(&left) > 0) {
        const uint8_t *line = left.next;
        struct slice text;

        if (!take_until(&left, '\n', &text))
            text = take_rest(&left);
        if (line[0] != ':')
            buf_add(out, line, (size_t)(left.next - line));
    }
}

const struct transform_ops transform_header_lowercase = {
    .name = "header_lowercase",
    .doc = "modify buffer via lowercaseing header names",
    .apply = header_lowercase_apply,
};

const struct transform_ops transform_strip_pseudo_headers = {
    .name = "strip_pseudo_headers",
    .doc = "modify buffer via stripping pseudo headers",
    .apply = strip_pseudo_headers_apply,
};
