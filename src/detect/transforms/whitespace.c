/* SPDX-License-Identifier: GPL-2.0-or-later */
/* strip_whitespace takes all blanks out; compress_whitespace leaves the first of each run. */
#include "base/memory/buf.h"
#include "detect/transforms/list.h"

/* What isspace() accepts in the C locale: blank, tab, line feed, vertical tab, form feed
 * and carriage return. */
static bool is_blank(uint8_t c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

static void strip_apply(struct slice in, const void *arg UNUSED, struct buf *out)
{
    uint8_t *to;

    if (!buf_reserve(out, in.len))
        return;
    to = out->data + out->len;
    for (uint32_t i = 0; i < in.len; i++) {
        *to = in.data[i];       /* without a branch: no sender chooses what is mispredicted */
        to += !is_blank(in.data[i]);
    }
    out->len = (size_t)(to - out->data);
}

/* The first byte of a run stays as it is: a tab remains a tab. */
static void compress_apply(struct slice in, const void *arg UNUSED, struct buf *out)
{
    bool was_blank = false;
    uint8_t *to;

    if (!buf_reserve(out, in.len))
        return;
    to = out->data + out->len;
    for (uint32_t i = 0; i < in.len; i++) {
        bool blank = is_blank(in.data[i]);

        *to = in.data[i];
        to += !(blank & was_blank);
        was_blank = blank;
    }
    out->len = (size_t)(to - out->data);
}

/* A content with a blank can never match after strip_whitespace: an error, as in Suricata. */
static bool strip_content_ok(struct slice pattern, const void *arg UNUSED)
{
    for (uint32_t i = 0; i < pattern.len; i++)
        if (is_blank(pattern.data[i]))
            return false;
    return true;
}

/* Two blanks in a row cannot occur any more. */
static bool compress_content_ok(struct slice pattern, const void *arg UNUSED)
{
    for (uint32_t i = 1; i < pattern.len; i++)
        if (is_blank(pattern.data[i]) && is_blank(pattern.data[i - 1]))
            return false;
    return true;
}

const struct transform_ops transform_strip_whitespace = {
    .name = "strip_whitespace",
    .doc = "modify buffer to strip whitespace before inspection",
    .apply = strip_apply,
    .content_ok = strip_content_ok,
};

const struct transform_ops transform_compress_whitespace = {
    .name = "compress_whitespace",
    .doc = "modify buffer to compress consecutive whitespace characters to a single one before "
           "inspection",
    .apply = compress_apply,
    .content_ok = compress_content_ok,
};
