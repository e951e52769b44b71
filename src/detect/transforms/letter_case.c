/* SPDX-License-Identifier: GPL-2.0-or-later */
/* to_lowercase and to_uppercase - ASCII letters only. */
#include "base/memory/buf.h"
#include "detect/transforms/eight.h"
#include "detect/transforms/list.h"

#include <ctype.h>

static bool is_lower(uint8_t c) { return c >= 'a' && c <= 'z'; }
static bool is_upper(uint8_t c) { return c >= 'A' && c <= 'Z'; }

/* The letters from `first` on, 26 of them, change their case: bit 0x20. */
static void change_case(struct slice in, uint8_t first, struct buf *out)
{
    uint8_t last = (uint8_t)(first + 25), *to;
    uint32_t i = 0;

    if (!buf_reserve(out, in.len))
        return;
    to = out->data + out->len;
    for (; i + 8 <= in.len; i += 8) {
        uint64_t w = eight_load(in.data + i);

        eight_store(to + i, w ^ eight_between(w, first, last) >> 2);
    }
    for (; i < in.len; i++)
        to[i] = in.data[i] >= first && in.data[i] <= last ? in.data[i] ^ 0x20 : in.data[i];
    out->len += in.len;
}

static void to_lowercase_apply(struct slice in, const void *arg UNUSED, struct buf *out)
{
    change_case(in, 'A', out);
}

static void to_uppercase_apply(struct slice in, const void *arg UNUSED, struct buf *out)
{
    change_case(in, 'a', out);
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
