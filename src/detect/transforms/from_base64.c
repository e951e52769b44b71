/* SPDX-License-Identifier: GPL-2.0-or-later */
/* from_base64 - decodes the buffer or a part of it. "strict" takes whole groups only, "rfc2045"
 * skips what is no base64, "rfc4648" ends there. */
#include "base/text/base64.h"
#include "base/memory/buf.h"
#include "detect/rule/keyword.h"
#include "detect/transforms/list.h"

/* In the order of `modes` below. RFC 4648 is the default, as in Suricata. */
enum base64_mode { MODE_RFC4648, MODE_RFC2045, MODE_STRICT };

/* bytes: how many of the buffer are decoded, from `offset` on; 0: all. */
struct from_base64 { uint32_t bytes, offset; uint8_t mode; };

/* One of "mode M", "offset N" and "bytes N", in any order and each at most once. 65535 is
 * Suricata's limit for both numbers. */
static int from_base64_option(struct rule_parser *p, struct text word, struct from_base64 *f,
                              unsigned *seen)
{
    static const char *const modes[] = { "rfc4648", "rfc2045", "strict" };
    struct text rest = word, name = { "", 0 };
    unsigned bit;
    uint64_t v;

    /* As in Suricata nothing need stand between two commas. */
    if (word.n == 0)
        return 0;
    text_split(&rest, ' ', &name);
    rest = text_trim(rest);
    bit = text_equal(name, "mode") ? 1 : text_equal(name, "offset") ? 2 :
          text_equal(name, "bytes") ? 4 : 0;
    if (bit == 0 || (*seen & bit))
        return rule_error(p, "from_base64: %s \"%.*s\"", bit ? "given twice:" : "unknown option",
                          TEXT(name));
    *seen |= bit;
    if (bit == 1) {
        for (unsigned i = 0; i < ARRAY_LEN(modes); i++)
            if (text_equal(rest, modes[i])) {
                f->mode = (uint8_t)i;
                return 0;
            }
        return rule_error(p, "from_base64: unknown mode \"%.*s\"", TEXT(rest));
    }
    if (!text_to_u64(rest, 65535, &v))
        return rule_error(p, "from_base64: expected 0 to 65535, got \"%.*s\"", TEXT(rest));
    *(bit == 2 ? &f->offset : &f->bytes) = (uint32_t)v;
    return 0;
}

static int from_base64_parse(struct rule_parser *p, struct text in, void *arg)
{
    unsigned seen = 0;
    struct text word;

    while (text_split(&in, ',', &word))
        if (from_base64_option(p, text_trim(word), arg, &seen) < 0)
            return -1;
    return 0;
}

/* rfc4648 ends at the first byte that is not base64 and keeps what comes before. rfc2045
 * skips such bytes (RFC 2045, section 6.8). strict wants whole groups of four characters. */
static void decode(struct slice in, uint8_t mode, struct buf *out)
{
    unsigned wrong = mode == MODE_RFC2045 ? BASE64_SKIP_WRONG : BASE64_TO_WRONG;

    if (mode == MODE_STRICT && in.len % 4 != 0)
        return;
    if (buf_reserve(out, base64_capacity(in.len)))
        out->len = (size_t)base64_decode(in, wrong, out->data);
}

/* If nothing can be decoded the buffer stays as it is, so that a rule can match on the
 * plain form, too. That includes an offset past the end, and a rest that is not longer
 * than `bytes`. */
static void from_base64_apply(struct slice in, const void *arg, struct buf *out)
{
    const struct from_base64 *f = arg;
    struct slice part = in;

    if (f->offset < in.len) {
        part.data += f->offset;
        part.len -= f->offset;
        if (f->bytes == 0 || f->bytes < part.len) {
            if (f->bytes > 0)
                part.len = f->bytes;
            decode(part, f->mode, out);
        }
    }
    if (out->len == 0)
        buf_add(out, in.data, in.len);
}

const struct transform_ops transform_from_base64 = {
    .name = "from_base64",
    .doc = "convert the base64 decode of the buffer",
    .syntax = "[mode rfc4648|rfc2045|strict][,offset <n>][,bytes <n>]",
    .arg_size = sizeof(struct from_base64),
    .parse = from_base64_parse,
    .apply = from_base64_apply,
};
