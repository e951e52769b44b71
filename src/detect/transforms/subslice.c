/* SPDX-License-Identifier: GPL-2.0-or-later */
/* subslice - a part of the buffer: "offset[, nbytes][, truncate]". A negative offset counts from
 * the end; a negative nbytes says how far from the end the part ends. */
#include "base/memory/buf.h"
#include "detect/rule/keyword.h"
#include "detect/transforms/list.h"

/* `truncate`: positions outside the buffer move to its nearer end; else the result is empty. */
struct subslice_arg {
    int64_t offset, nbytes;
    bool has_nbytes, truncate;
};

static int malformed(struct rule_parser *p, struct text in)
{
    return rule_error(p, "subslice: expected offset[, nbytes][, truncate], found \"%.*s\"",
                      TEXT(in));
}

static bool is_truncate(struct text word)
{
    return text_equal_nocase(word, "truncate");
}

/* Numbers are limited so that their sums cannot overflow. */
static bool number_take(struct text word, int64_t *out)
{
    return text_to_i64(word, out) && *out >= INT32_MIN && *out <= INT32_MAX;
}

static int subslice_parse(struct rule_parser *p, struct text in, void *arg)
{
    struct subslice_arg *a = arg;
    struct text rest = in, word;

    if (!text_split(&rest, ',', &word) || !number_take(word, &a->offset))
        return malformed(p, in);
    if (!text_split(&rest, ',', &word))
        return 0;
    a->has_nbytes = !is_truncate(word);
    a->truncate = !a->has_nbytes;
    if (a->has_nbytes && (!number_take(word, &a->nbytes) || a->nbytes == 0))
        return malformed(p, in);
    if (!text_split(&rest, ',', &word))
        return 0;
    if (a->truncate || !is_truncate(word) || text_split(&rest, ',', &word))
        return malformed(p, in);
    a->truncate = true;
    return 0;
}

static int64_t clamp(int64_t value, int64_t len)
{
    return MAX(0, MIN(value, len));
}

static void subslice_apply(struct slice in, const void *arg, struct buf *out)
{
    const struct subslice_arg *a = arg;
    const int64_t len = in.len;
    int64_t from = a->offset < 0 ? len + a->offset : a->offset, to = len;

    if (a->has_nbytes)
        to = a->nbytes < 0 ? len + a->nbytes : clamp(from, len) + a->nbytes;
    if (!a->truncate && (from < 0 || from > len || to < 0 || to > len))
        return;
    from = clamp(from, len);
    to = clamp(to, len);
    /* An end before the start: Suricata takes what is between them. */
    buf_add(out, in.data + MIN(from, to), (size_t)(MAX(from, to) - MIN(from, to)));
}

const struct transform_ops transform_subslice = {
    .name = "subslice",
    .doc = "modify buffer to a part of it",
    .syntax = "<offset>[,<bytes>][,truncate]",
    .argument = true,
    .quotes_optional = true,
    .arg_size = sizeof(struct subslice_arg),
    .parse = subslice_parse,
    .apply = subslice_apply,
};
