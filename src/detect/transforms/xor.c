/* SPDX-License-Identifier: GPL-2.0-or-later */
/* xor - each byte of the buffer XOR a key, which is repeated to the length of the buffer. */
#include "base/memory/buf.h"
#include "detect/rule/keyword.h"
#include "detect/transforms/list.h"

/* Bytes: `len` below has eight bits, and Suricata has the same limit. */
#define KEY_MAX 255

struct xor_arg { uint8_t key[KEY_MAX]; uint8_t len; };

static int hex(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c |= 0x20;
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* The key in hexadecimal, without 0x or blanks. An empty key is an error: xor_apply()
 * needs a byte. */
static int xor_parse(struct rule_parser *p, struct text in, void *arg)
{
    struct xor_arg *x = arg;

    if (in.n == 0 || in.n % 2 != 0 || in.n / 2 > KEY_MAX)
        return rule_error(p, "xor: expected an even number of hex digits, at most %d", 2 * KEY_MAX);
    for (size_t i = 0; i < in.n; i += 2) {
        if (hex(in.p[i]) < 0 || hex(in.p[i + 1]) < 0)
            return rule_error(p, "xor: \"%.*s\" is not hex", TEXT(in));
        x->key[x->len++] = (uint8_t)(hex(in.p[i]) << 4 | hex(in.p[i + 1]));
    }
    return 0;
}

static void xor_apply(struct slice in, const void *arg, struct buf *out)
{
    const struct xor_arg *x = arg;

    if (!buf_reserve(out, in.len))
        return;
    for (uint32_t i = 0, k = 0; i < in.len; i++) {
        out->data[out->len++] = in.data[i] ^ x->key[k];
        k = k + 1 == x->len ? 0 : k + 1;
    }
}

const struct transform_ops transform_xor = {
    .name = "xor",
    .doc = "modify buffer via XOR decoding before inspection",
    .argument = true,
    .arg_size = sizeof(struct xor_arg),
    .parse = xor_parse,
    .apply = xor_apply,
};
