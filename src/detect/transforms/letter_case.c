/* SPDX-License-Identifier: GPL-2.0-or-later */
/* to_lowercase and to_uppercase - ASCII letters only. */
#include "base/memory/buf.h"
#include "detect/transforms/list.h"

#include <ctype.h>

static bool is_lower(uint8_t c) { return c >= 'a' && c <= 'z'; }
static bool is_upper(uint8_t c) { return c >= 'A' && c <= 'Z'; }

static void to_lowercase_apply(struct slice in, const void *arg UNUSED, struct buf *out)
{
    if (!buf_reserve(out, in.len))
        return;
    for (uint32_t i = 0; i < in.len; i++)
        out->data[out->len++] = is_upper(in.data[i]) ? in.data[i] | 0x20 : in.data[i];
}

static void to_uppercase_apply(struct slice in, const void *arg UNUSED, struct buf *out)
{
    if (!buf_reserve(out, in.len))
        return;
    for (uint32_t i = 0; i < in.len; i++)
        out->data[out->len++] = is_lower(in.data[i]) ? in.data[i] & 0xdf : in.data[i];
}

static bool has(struct slice s, bool (*is)(uint8_t))
{
    for (uint32_t i = 0; i < s.len; i++)
        if (is(s.data[i]))
            return true;
    return false;
}

/* A capital letter never occurs after to_lowercase: such a content is an error when the
 * rule loads. `nocase` does not help, because content checks its bytes before later
 * keywords change it. A negated content is not checked. */
static bool to_lowercase_content_ok(struct slice pattern, const void *arg UNUSED)
{
    return !has(pattern, is_upper);
}

static bool to_uppercase_content_ok(struct slice pattern, const void *arg UNUSED)
{
    return !has(pattern, is_lower);
}

const struct transform_ops transform_to_lowercase = {
    .name = "to_lowercase",
    .doc = "convert buffer to lowercase",
    .apply = to_lowercase_apply,
    .content_ok = to_lowercase_content_ok,
};

const struct transform_ops transform_to_uppercase = {
    .name = "to_uppercase",
    .doc = "convert buffer to uppercase",
    .apply = to_uppercase_apply,
    .content_ok = to_uppercase_content_ok,
};
