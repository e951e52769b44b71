/* SPDX-License-Identifier: GPL-2.0-or-later */
/* xor - each byte of the buffer XOR a key, which is repeated to the length of the buffer. The key
 * is in the rule, or at a known place of the buffer itself. */
#include "base/memory/buf.h"
#include "base/text/bytes.h"
#include "detect/rule/keyword.h"
#include "detect/transforms/list.h"

#include <string.h>

/* Bytes: `len` below has eight bits, and Suricata has the same limit. */
#define KEY_MAX 255

/* `from`: bytes before it stay as they are. `extract`: the key is `len` bytes at `at`. */
struct xor_arg {
    uint8_t key[KEY_MAX];
    uint8_t len;
    bool extract;
    uint16_t at;
    uint32_t from;
};

static int hex(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c |= 0x20;
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* The key in hexadecimal, without 0x or blanks. An empty key is an error: xor_apply()
 * needs a byte. */
static int hex_parse(struct rule_parser *p, struct text in, struct xor_arg *x)
{
    if (in.n == 0 || in.n % 2 != 0 || in.n / 2 > KEY_MAX)
        return rule_error(p, "xor: expected an even number of hex digits, at most %d", 2 * KEY_MAX);
    for (size_t i = 0; i < in.n; i += 2) {
        if (hex(in.p[i]) < 0 || hex(in.p[i + 1]) < 0)
            return rule_error(p, "xor: \"%.*s\" is not hex", TEXT(in));
        x->key[x->len++] = (uint8_t)(hex(in.p[i]) << 4 | hex(in.p[i + 1]));
    }
    return 0;
}

/* Takes `word` and a blank off *in. */
static bool take_word(struct text *in, const char *word)
{
    size_t n = strlen(word);

    if (!text_starts(*in, word) || in->n == n || in->p[n] != ' ')
        return false;
    *in = text_trim(text_from(*in, n));
    return true;
}

/* "NBYTES OFFSET", behind "extract". */
static int place_parse(struct rule_parser *p, struct text in, struct xor_arg *x)
{
    struct text rest = in, word;
    uint64_t len, at;

    if (!text_split(&rest, ' ', &word) || !text_to_u64(word, KEY_MAX, &len) || len == 0 ||
        !text_to_u64(text_trim(rest), UINT16_MAX, &at))
        return rule_error(p, "xor: extract: expected bytes, 1 to %d, and an offset, found "
                          "\"%.*s\"", KEY_MAX, TEXT(in));
    x->extract = true;
    x->len = (uint8_t)len;
    x->at = (uint16_t)at;
    return 0;
}

/* The quotes around all of the argument are gone already. */
static struct text unquoted(struct text in)
{
    bool quoted = in.n >= 2 && in.p[0] == '"' && in.p[in.n - 1] == '"';

    return quoted ? (struct text){ in.p + 1, in.n - 2 } : in;
}

/* KEY, "extract NBYTES OFFSET", or one of them behind "offset N,". */
static int xor_parse(struct rule_parser *p, struct text in, void *arg)
{
    struct xor_arg *x = arg;
    struct text rest = text_trim(in), word;
    uint64_t from;

    if (take_word(&rest, "offset")) {
        if (!text_split(&rest, ',', &word) || !text_to_u64(word, UINT32_MAX, &from))
            return rule_error(p, "xor: offset: expected a number and a key, found \"%.*s\"",
                              TEXT(in));
        x->from = (uint32_t)from;
        rest = text_trim(rest);
    }
    if (take_word(&rest, "extract"))
        return place_parse(p, rest, x);
    return hex_parse(p, unquoted(rest), x);
}

/* A buffer that ends before the key or before `from` stays as it is, as in Suricata. */
static void xor_apply(struct slice in, const void *arg, struct buf *out)
{
    const struct xor_arg *x = arg;
    struct bytes at = bytes_of_slice(in);
    struct slice key = { x->key, x->len };

    if (!buf_reserve(out, in.len))
        return;
    if (x->extract) {
        (void)take_slice(&at, x->at);
        key = take_slice(&at, x->len);
    }
    if (at.failed || x->from > in.len) {
        buf_add(out, in.data, in.len);
        return;
    }
    buf_add(out, in.data, x->from);
    for (uint32_t i = x->from, k = 0; i < in.len; i++) {
        out->data[out->len++] = in.data[i] ^ key.data[k];
        k = k + 1 == key.len ? 0 : k + 1;
    }
}

const struct transform_ops transform_xor = {
    .name = "xor",
    .doc = "modify buffer via XOR decoding before inspection",
    .syntax = "\"[offset <n>,]<hex digits>\"\n"
              "\"[offset <n>,]extract <bytes> <offset>\"",
    .argument = true,
    .quotes_optional = true,
    .arg_size = sizeof(struct xor_arg),
    .parse = xor_parse,
    .apply = xor_apply,
};
