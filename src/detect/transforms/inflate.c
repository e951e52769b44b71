/* SPDX-License-Identifier: GPL-2.0-or-later */
/* gunzip and zlib_deflate - decompress, at most max-size bytes (1 KiB by default), and at most 24
 * times their input and 4 KiB. */
#include "base/memory/buf.h"
#include "detect/rule/keyword.h"
#include "detect/transforms/list.h"

#include <zlib.h>

#include "base/memory/lib_memory.h"

/* Both limits are Suricata's. max-size bounds the memory that a small packet can make each
 * thread use. */
#define MAX_SIZE_DEFAULT 1024
#define MAX_SIZE_LIMIT (16 * 1024 * 1024)
/* A rule asks for 16 MiB because some files are that large; a request of a kilobyte should not
 * become a megabyte with each packet. As http.libhtp.*.max-body-expansion. */
#define EXPANSION_MOST 24u
#define EXPANSION_FREE 4096u

struct inflate_arg { uint32_t max; };

/* "max-size N", where N may have a unit, as in "max-size 4 KiB". Nothing: the default. */
static int inflate_parse(struct rule_parser *p, struct text in, void *arg)
{
    struct inflate_arg *a = arg;
    uint64_t size = MAX_SIZE_DEFAULT;
    struct text name;

    if (in.n > 0) {
        if (!text_split(&in, ' ', &name) || !text_equal(name, "max-size") ||
            !text_to_size(text_trim(in), &size))
            return rule_error(p, "%s: expected \"max-size N\"", p->keyword->name);
        if (size == 0 || size > MAX_SIZE_LIMIT)
            return rule_error(p, "%s: max-size must be 1 to %d", p->keyword->name,
                              MAX_SIZE_LIMIT);
    }
    a->max = (uint32_t)size;
    return 0;
}

/* Damaged data return what was decompressed before the damage. Output is truncated to max-size
 * without a message. window_bits: zlib's, which also selects the header. */
static void inflate_into(struct slice in, const struct inflate_arg *a, int window_bits,
                         struct buf *out)
{
    const uint64_t paid = EXPANSION_FREE + (uint64_t)EXPANSION_MOST * in.len;
    const uint32_t most = (uint32_t)MIN(a->max, paid);
    z_stream z = { .next_in = (Bytef *)(uintptr_t)in.data, .avail_in = in.len,
                   .zalloc = lib_zalloc, .zfree = lib_free_for };

    if (!buf_reserve(out, most))
        return;
    z.next_out = out->data;
    z.avail_out = most;
    if (inflateInit2(&z, window_bits) != Z_OK)
        return;
    (void)inflate(&z, Z_SYNC_FLUSH);
    out->len = most - z.avail_out;
    inflateEnd(&z);
}

/* 15: the largest window; 16 more: a gzip header is expected (zlib.h, inflateInit2). */
static void gunzip_apply(struct slice in, const void *arg, struct buf *out)
{
    inflate_into(in, arg, 15 + 16, out);
}

static void zlib_deflate_apply(struct slice in, const void *arg, struct buf *out)
{
    inflate_into(in, arg, 15, out);
}

const struct transform_ops transform_gunzip = {
    .name = "gunzip",
    .doc = "modify buffer via gunzip decompression",
    .syntax = "[max-size <n>]",
    .arg_size = sizeof(struct inflate_arg),
    .parse = inflate_parse,
    .apply = gunzip_apply,
};

const struct transform_ops transform_zlib_deflate = {
    .name = "zlib_deflate",
    .doc = "modify buffer via zlib decompression",
    .syntax = "[max-size <n>]",
    .arg_size = sizeof(struct inflate_arg),
    .parse = inflate_parse,
    .apply = zlib_deflate_apply,
};
