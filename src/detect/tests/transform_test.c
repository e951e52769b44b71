/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/memory/buf.h"
#include "base/test.h"
#include "detect/rule/keyword.h"
#include "detect/rule/ruleset_private.h"
#include "detect/transforms/list.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#define P(s) s, sizeof(s) - 1

static const struct row {
    const struct transform_ops *ops;
    const char *arg;
    const char *in;
    size_t in_len;
    const char *out;
    size_t out_len;
} rows[] = {
    { &transform_dotprefix, "", P("example.com"), P(".example.com") },
    { &transform_dotprefix, "", P(""), P("") },
    { &transform_strip_whitespace, "", P(" a\tb\r\nc "), P("abc") },
    { &transform_compress_whitespace, "", P(" \t a  b\r\n\nc "), P(" a b\rc ") },
    { &transform_to_lowercase, "", P("AbC[@`{"), P("abc[@`{") },
    { &transform_to_uppercase, "", P("AbC[@`{"), P("ABC[@`{") },
    { &transform_to_md5, "", P("abc"),
      P("\x90\x01\x50\x98\x3c\xd2\x4f\xb0\xd6\x96\x3f\x7d\x28\xe1\x7f\x72") },
    { &transform_to_sha1, "", P("abc"),
      P("\xa9\x99\x3e\x36\x47\x06\x81\x6a\xba\x3e\x25\x71\x78\x50\xc2\x6c\x9c\xd0\xd8\x9d") },
    { &transform_url_decode, "", P("a%20b+%27%61"), P("a b 'a") },
    { &transform_url_decode, "", P("%ZZ%4%"), P("%ZZ%4%") },
    { &transform_url_decode, "", P("%25%30%30%ZZ%4"), P("%00%ZZ%4") },
    { &transform_url_decode, "", P("%"), P("%") },
    { &transform_xor, "0d0a", P("\x6c\x68\x6e"), P("abc") },
    { &transform_xor, "offset 2,0d0a", P("ab\x6c\x68\x6e"), P("ababc") },
    { &transform_xor, "offset 5,\"0d0a\"", P("ab\x6c\x68\x6e"), P("ab\x6c\x68\x6e") },
    { &transform_xor, "offset 6,0d0a", P("ab\x6c\x68\x6e"), P("ab\x6c\x68\x6e") },
    { &transform_xor, "extract 1 0", P("\x01\x60\x63"), P("\0ab") },
    { &transform_xor, "offset 1,extract 1 0", P("\x01\x60\x63"), P("\x01\x61\x62") },
    { &transform_xor, "offset 3, extract 2 1", P("x\x0d\x0a\x6c\x68\x6e"),
      P("x\x0d\x0a\x61\x62\x63") },
    { &transform_xor, "extract 2 2", P("abc"), P("abc") },
    { &transform_xor, "extract 1 0", P(""), P("") },
    { &transform_subslice, "1", P("This is Suricata"), P("his is Suricata") },
    { &transform_subslice, "0, 13", P("This is Suricata"), P("This is Suric") },
    { &transform_subslice, "10, -5", P("This is Suricata"), P("r") },
    { &transform_subslice, "-3", P("This is Suricata"), P("ata") },
    { &transform_subslice, "16", P("This is Suricata"), P("") },
    { &transform_subslice, "-17", P("This is Suricata"), P("") },
    { &transform_subslice, "-17, truncate", P("This is Suricata"), P("This is Suricata") },
    { &transform_subslice, "-20, 5, truncate", P("curl/7.64.1"), P("curl/") },
    { &transform_subslice, "-20, 5", P("curl/7.64.1"), P("") },
    { &transform_subslice, "0, -30", P("curl/7.64.1"), P("") },
    { &transform_subslice, "0, -30, TRUNCATE", P("curl/7.64.1"), P("") },
    { &transform_subslice, "0, -8", P("curl/7.64.1"), P("cur") },
    { &transform_subslice, "-20, -30, truncate", P("curl/7.64.1"), P("") },
    { &transform_subslice, "0, 30", P("curl/7.64.1"), P("") },
    { &transform_subslice, "0, 30, truncate", P("curl/7.64.1"), P("curl/7.64.1") },
    { &transform_subslice, "5, truncate", P("curl/7.64.1"), P("7.64.1") },
    { &transform_subslice, "8,-9", P("curl/7.64.1"), P("rl/7.6") },
    { &transform_subslice, "-4,2", P(""), P("") },
    { &transform_pcrexform, "a=(.*)&", P("x?a=value&b"), P("value") },
    { &transform_pcrexform, "a=(.*)&", P("nothing"), P("") },
    { &transform_header_lowercase, "", P("Host: A\nX-Y: B\n"), P("host: A\nx-y: B\n") },
    { &transform_strip_pseudo_headers, "", P(":method: G\na: b\n:path: /\nc"), P("a: b\nc") },
    { &transform_from_base64, "", P("aGVsbG8="), P("hello") },
    { &transform_from_base64, "offset 2, bytes 4", P("xxaGVsbG8="), P("hel") },
    { &transform_from_base64, "mode rfc2045", P("aG Vs\nbG8="), P("hello") },
    { &transform_from_base64, "mode strict", P("aGVsb"), P("aGVsb") },
    { &transform_gunzip, "",
      P("\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03\x4b\x4c\x4a\x06\x00\xc2\x41\x24\x35\x03\x00\x00"
        "\x00"), P("abc") },
    { &transform_zlib_deflate, "", P("\x78\x9c\x4b\x4c\x4a\x06\x00\x02\x4d\x01\x27"), P("abc") },
    { &transform_zlib_deflate, "max-size 2", P("\x78\x9c\x4b\x4c\x4a\x06\x00\x02\x4d\x01\x27"),
      P("ab") },
};

static void check_row(struct test *t, const struct row *row)
{
    struct keyword_ops keyword = { .name = row->ops->name };
    struct ruleset set = { 0 };
    struct err err = { 0 };
    struct rule_parser p = { .arena = &set.arena, .ruleset = &set, .err = &err,
                             .keyword = &keyword };
    struct buf out = { 0 };
    void *arg;

    arena_init(&set.arena, 4096, 0);
    arg = arena_zalloc(&set.arena, row->ops->arg_size + 1);
    if (row->ops->parse != NULL && row->ops->parse(&p, text_of(row->arg), arg) < 0) {
        test_fail(t, __FILE__, __LINE__, "%s: %s", row->ops->name, err.text);
    } else {
        struct slice in = { (const uint8_t *)row->in, (uint32_t)row->in_len };

        if (row->ops->apply_within != NULL)
            CHECK(row->ops->apply_within(in, arg, &out));
        else
            row->ops->apply(in, arg, &out);
        test_check_bytes(t, __FILE__, __LINE__, row->ops->name, out.data, out.len, row->out,
                         row->out_len);
    }
    for (size_t i = 0; i < set.to_free.count; i++)
        set.to_free.at[i].keyword->free_arg((void *)set.to_free.at[i].arg);
    ARRAY_FREE(&set.to_free);
    buf_fini(&out);
    arena_fini(&set.arena);
}

/* More ways to match than the limit lets it try: that is no answer, and the caller is told. */
TEST(transform_pcrexform_tells_of_its_limit)
{
    const struct transform_ops *ops = &transform_pcrexform;
    struct keyword_ops keyword = { .name = ops->name };
    struct ruleset set = { 0 };
    struct err err = { 0 };
    struct rule_parser p = { .arena = &set.arena, .ruleset = &set, .err = &err,
                             .keyword = &keyword };
    static const char in[] = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!";
    struct buf out = { 0 };
    void *arg;

    arena_init(&set.arena, 4096, 0);
    arg = arena_zalloc(&set.arena, ops->arg_size);
    CHECK_INT(ops->parse(&p, text_of("((?:a+)+)$"), arg), 0);
    CHECK(!ops->apply_within((struct slice){ (const uint8_t *)in, sizeof(in) - 1 }, arg, &out));
    CHECK_INT(out.len, 0);
    CHECK(ops->apply_within((struct slice){ (const uint8_t *)in, 4 }, arg, &out));
    CHECK_INT(out.len, 4);
    set.to_free.at[0].keyword->free_arg((void *)set.to_free.at[0].arg);
    ARRAY_FREE(&set.to_free);
    buf_fini(&out);
    arena_fini(&set.arena);
}

TEST(transform_rows)
{
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        check_row(t, &rows[i]);
}

static void apply_to_name(struct test *t, const struct transform_ops *ops, struct slice name,
                          struct buf *out)
{
    struct keyword_ops keyword = { .name = ops->name };
    struct ruleset set = { 0 };
    struct err err = { 0 };
    struct rule_parser p = { .arena = &set.arena, .ruleset = &set, .err = &err,
                             .keyword = &keyword };
    void *arg;

    arena_init(&set.arena, 4096, 0);
    arg = arena_zalloc(&set.arena, ops->arg_size);
    CHECK_INT(ops->parse(&p, (struct text){ 0 }, arg), 0);
    buf_clear(out);
    ops->apply(name, arg, out);
    for (size_t i = 0; i < set.to_free.count; i++)
        set.to_free.at[i].keyword->free_arg((void *)set.to_free.at[i].arg);
    ARRAY_FREE(&set.to_free);
    arena_fini(&set.arena);
}

/* However many labels come before, the end of a name decides; with and without the system's list. */
TEST(transform_domain_of_long_names)
{
    static const char *const ends[] = { "a.com", "a.b.co.uk", "www.ck", "x.y.ck", "q.city.kobe.jp",
                                        "a..com", "com", "a." };
    static char name[5000];
    struct buf out = { 0 };

    for (size_t i = 0; i < ARRAY_LEN(ends); i++) {
        const size_t n = strlen(ends[i]), labels = 4800;
        struct slice tail = { (uint8_t *)name + labels - 4, (uint32_t)n + 4 };
        struct slice all = { (uint8_t *)name, (uint32_t)(labels + n) };
        char expected[64];
        size_t len;

        for (size_t k = 0; k < labels; k++)
            name[k] = k % 2 == 0 ? 'a' : '.';
        memcpy(name + labels, ends[i], n);
        for (unsigned k = 0; k < 2; k++) {
            const struct transform_ops *ops = k == 0 ? &transform_domain : &transform_tld;

            apply_to_name(t, ops, tail, &out);
            len = out.len;
            CHECK(len < sizeof(expected));
            memcpy(expected, out.data, MIN(len, sizeof(expected)));
            apply_to_name(t, ops, all, &out);
            test_check_bytes(t, __FILE__, __LINE__, ops->name, out.data, out.len, expected, len);
        }
    }
    buf_fini(&out);
}

TEST(transform_arguments_that_are_refused)
{
    static const struct { const struct transform_ops *ops; const char *arg, *error; } bad[] = {
        { &transform_xor, "", "xor: expected an even number of hex digits, at most 510" },
        { &transform_xor, "0g", "xor: \"0g\" is not hex" },
        { &transform_xor, "offset x,0d",
          "xor: offset: expected a number and a key, found \"offset x,0d\"" },
        { &transform_xor, "extract 0 1",
          "xor: extract: expected bytes, 1 to 255, and an offset, found \"0 1\"" },
        { &transform_xor, "extract 1",
          "xor: extract: expected bytes, 1 to 255, and an offset, found \"1\"" },
        { &transform_subslice, "",
          "subslice: expected offset[, nbytes][, truncate], found \"\"" },
        { &transform_subslice, "1, 0",
          "subslice: expected offset[, nbytes][, truncate], found \"1, 0\"" },
        { &transform_subslice, "truncate",
          "subslice: expected offset[, nbytes][, truncate], found \"truncate\"" },
        { &transform_subslice, "1, 2, 3",
          "subslice: expected offset[, nbytes][, truncate], found \"1, 2, 3\"" },
        { &transform_subslice, "1, truncate, truncate",
          "subslice: expected offset[, nbytes][, truncate], found \"1, truncate, truncate\"" },
    };

    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        struct keyword_ops keyword = { .name = bad[i].ops->name };
        struct ruleset set = { 0 };
        struct err err = { 0 };
        struct rule_parser p = { .arena = &set.arena, .ruleset = &set, .err = &err,
                                 .keyword = &keyword };
        uint64_t arg[64] = { 0 };

        CHECK(bad[i].ops->arg_size <= sizeof(arg));
        CHECK(bad[i].ops->parse(&p, text_of(bad[i].arg), arg) < 0);
        CHECK_STRING(err.text, bad[i].error);
    }
}

TEST(transform_refuses_patterns_that_cannot_be)
{
    struct slice upper = { (const uint8_t *)"aB", 2 }, blank = { (const uint8_t *)"a b", 3 };

    CHECK(!transform_to_lowercase.content_ok(upper, NULL));
    CHECK(!transform_to_uppercase.content_ok(upper, NULL));
    CHECK(!transform_strip_whitespace.content_ok(blank, NULL));
    CHECK(transform_compress_whitespace.content_ok(blank, NULL));
}

/* What the loops over eight bytes do, byte by byte. */
static size_t plainly(const struct transform_ops *ops, const uint8_t *in, size_t len, uint8_t *out)
{
    size_t n = 0;

    for (size_t i = 0; i < len; i++) {
        uint8_t c = in[i];

        if (ops == &transform_strip_whitespace && isspace(c))
            continue;
        if (ops == &transform_compress_whitespace && i > 0 && isspace(c) && isspace(in[i - 1]))
            continue;
        if (ops == &transform_to_lowercase && c >= 'A' && c <= 'Z')
            c = (uint8_t)(c + 32);
        if (ops == &transform_to_uppercase && c >= 'a' && c <= 'z')
            c = (uint8_t)(c - 32);
        if (ops == &transform_url_decode && c == '%' && i + 2 < len && isxdigit(in[i + 1]) &&
            isxdigit(in[i + 2])) {
            char digits[] = { (char)in[i + 1], (char)in[i + 2], '\0' };

            c = (uint8_t)strtoul(digits, NULL, 16);
            i += 2;
        } else if (ops == &transform_url_decode && c == '%' && i + 1 < len) {
            out[n++] = c;
            if (isxdigit(in[i + 1]) && i + 2 < len)
                out[n++] = in[++i];
            c = in[++i];
        } else if (ops == &transform_url_decode && c == '+') {
            c = ' ';
        }
        out[n++] = c;
    }
    return n;
}

/* All bytes, in all places of eight, at all lengths up to a few of these. */
TEST(transforms_of_eight_bytes)
{
    static const struct transform_ops *const all[] = {
        &transform_strip_whitespace, &transform_compress_whitespace, &transform_to_lowercase,
        &transform_to_uppercase, &transform_url_decode,
    };
    static const char some[] = "%%%%+++  \t\nAZaz09@[`{/:\xc1\xe1\xa5\xab\x7f";
    uint8_t in[64], expected[64];
    uint32_t seed = 1;

    for (unsigned round = 0; round < 20000; round++) {
        const struct transform_ops *ops = all[round % ARRAY_LEN(all)];
        uint32_t len = round % (sizeof(in) + 1);
        struct buf out = { 0 };
        size_t n;

        for (uint32_t i = 0; i < len; i++) {
            seed = seed * 1103515245 + 12345;
            in[i] = round % 2 == 0 ? (uint8_t)(seed >> 16)
                                   : (uint8_t)some[(seed >> 16) % (sizeof(some) - 1)];
        }
        n = plainly(ops, in, len, expected);
        ops->apply((struct slice){ in, len }, NULL, &out);
        CHECK_BYTES(out.data, out.len, expected, n);
        buf_fini(&out);
    }
}
