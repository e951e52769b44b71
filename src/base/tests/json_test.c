/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tests of base/json. */
#include "base/report/json.h"
#include "base/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHECK_BUF(b, s) CHECK_BYTES((b)->data, (b)->len, (s), strlen(s))

TEST(json_nests_and_places_commas)
{
    struct buf b = { 0 };
    struct json j;

    json_init(&j, &b);
    json_object(&j, NULL);
    json_u64(&j, "a", 1);
    json_object(&j, "o");
    json_object_end(&j);
    json_array(&j, "l");
    json_i64(&j, NULL, -5);
    json_string(&j, NULL, "x");
    json_object(&j, NULL);
    json_bool(&j, "t", true);
    json_null(&j, "n");
    json_object_end(&j);
    json_array_end(&j);
    json_bool(&j, "f", false);
    json_object_end(&j);
    CHECK_BUF(&b, "{\"a\":1,\"o\":{},\"l\":[-5,\"x\",{\"t\":true,\"n\":null}],\"f\":false}");
    buf_fini(&b);
}

/* The same members as by the functions. */
TEST(json_members_with_literal_keys)
{
    struct buf b = { 0 };
    struct json j;

    json_init(&j, &b);
    json_object(&j, NULL);
    JSON_U64(&j, "a", 0);
    JSON_CLEAN(&j, "b", "", 0);
    json_object(&j, "o");
    JSON_NAME(&j, "c", "TCP");
    JSON_BOOL(&j, "d", true);
    json_object_end(&j);
    JSON_BOOL(&j, "e", false);
    json_object_end(&j);
    CHECK_BUF(&b, "{\"a\":0,\"b\":\"\",\"o\":{\"c\":\"TCP\",\"d\":true},\"e\":false}");
    buf_fini(&b);
}

TEST(json_runs_and_levels_with_literal_keys)
{
    const struct slice text = { (const uint8_t *)"x\ny", 3 };
    struct buf b = { 0 };
    struct json j;
    uint8_t *p;

    json_init(&j, &b);
    json_object(&j, NULL);
    JSON_OBJECT(&j, "a");
    p = json_reserve(&j, 64);
    p = JSON_PUT_U64(JSON_PUT(p, "\"b\":true"), ",\"c\":", 12);
    json_written(&j, p);
    JSON_SLICE(&j, "d", text);
    json_object_end(&j);
    JSON_ARRAY(&j, "e");
    json_u64(&j, NULL, 1);
    json_u64(&j, NULL, 2);
    json_array_end(&j);
    p = json_reserve(&j, 64);
    json_written(&j, JSON_PUT(p, "\"f\":null"));
    json_object_end(&j);
    CHECK_BUF(&b, "{\"a\":{\"b\":true,\"c\":12,\"d\":\"x\\ny\"},\"e\":[1,2],\"f\":null}");
    buf_fini(&b);
}

/* Around each power of ten and of two the number of digits may change. */
TEST(json_u64_has_all_digits)
{
    char text[32];
    uint8_t out[20];
    uint64_t ten = 1;

    for (unsigned i = 0; i < 64 + 20; i++) {
        uint64_t from = i < 64 ? UINT64_C(1) << i : ten;

        for (uint64_t n = from - 1; n != from + 2; n++) {
            int len = snprintf(text, sizeof(text), "%llu", (unsigned long long)n);
            const uint8_t *end = json_write_u64(out, n);

            CHECK_BYTES(out, (size_t)(end - out), text, (size_t)len);
        }
        ten = i < 64 ? 1 : ten * 10;
    }
    CHECK_INT(json_write_u64(out, UINT64_MAX) - out, 20);
}

TEST(json_rewind_takes_back)
{
    struct buf b = { 0 };
    struct json j;
    struct json_mark mark;

    json_init(&j, &b);
    json_object(&j, NULL);
    mark = json_mark(&j);
    json_object(&j, "empty");
    json_u64(&j, "x", 1);
    json_rewind(&j, mark);
    json_u64(&j, "y", 2);
    json_object_end(&j);
    CHECK_BUF(&b, "{\"y\":2}");
    buf_fini(&b);
}

TEST(json_numbers)
{
    struct buf b = { 0 };
    struct json j;

    json_init(&j, &b);
    json_array(&j, NULL);
    json_u64(&j, NULL, 0);
    json_u64(&j, NULL, 10);
    json_u64(&j, NULL, 123);
    json_u64(&j, NULL, UINT64_MAX);
    json_i64(&j, NULL, INT64_MIN);
    json_double(&j, NULL, 1.1);
    json_double(&j, NULL, 2);
    json_double(&j, NULL, 1.0 / 0.0);
    json_array_end(&j);
    CHECK_BUF(&b, "[0,10,123,18446744073709551615,-9223372036854775808,1.1,2,null]");
    buf_fini(&b);
}

static void write_string(struct buf *b, const void *data, size_t len)
{
    struct json j;

    buf_clear(b);
    json_init(&j, b);
    json_bytes(&j, NULL, data, len);
}

TEST(json_escapes)
{
    struct buf b = { 0 };

    write_string(&b, "plain text, longer than eight", 29);
    CHECK_BUF(&b, "\"plain text, longer than eight\"");
    write_string(&b, "a\"b\\c\n\r\t\b\f\0\x1f/\x7f", 14);
    CHECK_BUF(&b, "\"a\\\"b\\\\c\\n\\r\\t\\b\\f\\u0000\\u001f/\x7f\"");
    write_string(&b, "gr\xc3\xbc\xc3\x9f\n", 7);
    CHECK_BUF(&b, "\"gr\xc3\xbc\xc3\x9f\\n\"");
    write_string(&b, "a\xc3\xbc\xff", 4);
    CHECK_BUF(&b, "\"a\\\\xc3\\\\xbc\\\\xff\"");
    write_string(&b, "", 0);
    CHECK_BUF(&b, "\"\"");
    buf_fini(&b);
}

/* By the rules of json.h, whichever table the code has. */
TEST(json_escapes_each_byte)
{
    static const char letters[] = "b\bt\tn\nf\fr\r\"\"\\\\";
    struct buf b = { 0 };

    for (unsigned c = 0; c < 256; c++) {
        const char in[2] = { (char)c, (char)0xff };
        char out[32];
        const char *letter = NULL;

        for (size_t i = 0; i + 1 < sizeof(letters); i += 2)
            if ((uint8_t)letters[i + 1] == c)
                letter = letters + i;
        if (letter != NULL)
            snprintf(out, sizeof(out), "\"\\%c\\\\xff\"", *letter);
        else if (c >= 0x20 && c < 0x80)
            snprintf(out, sizeof(out), "\"%c\\\\xff\"", c);
        else
            snprintf(out, sizeof(out), c < 0x20 ? "\"\\u%04x\\\\xff\"" : "\"\\\\x%02x\\\\xff\"",
                     c);
        write_string(&b, in, 2);
        CHECK_BUF(&b, out);
    }
    buf_fini(&b);
}

TEST(json_finds_one_character_anywhere)
{
    static const struct { uint8_t c; const char *out; } cases[] = {
        { '"', "\\\"" }, { '\\', "\\\\" }, { '\n', "\\n" }, { 0x1f, "\\u001f" },
        { 0xff, "\\\\xff" }, { ' ', " " }, { 0x7f, "\x7f" },
    };
    struct buf b = { 0 };

    for (size_t k = 0; k < ARRAY_LEN(cases); k++)
        for (size_t len = 1; len <= 34; len++)
            for (size_t at = 0; at < len; at++) {
                char text[40], expected[48];

                memset(text, 'a', sizeof(text));
                text[at] = (char)cases[k].c;
                snprintf(expected, sizeof(expected), "\"%.*s%s%.*s\"", (int)at, text, cases[k].out,
                         (int)(len - at - 1), text + at + 1);
                write_string(&b, text, len);
                CHECK_BUF(&b, expected);
            }
    buf_fini(&b);
}

TEST(json_knows_utf8)
{
    static const struct { const char *in; bool good; } cases[] = {
        { "\xc2\x80", true },          { "\xc1\xbf", false },         { "\xe0\xa0\x80", true },
        { "\xe0\x9f\xbf", false },     { "\xed\x9f\xbf", true },      { "\xed\xa0\x80", false },
        { "\xf0\x90\x80\x80", true },  { "\xf0\x8f\xbf\xbf", false }, { "\xf4\x8f\xbf\xbf", true },
        { "\xf4\x90\x80\x80", false }, { "\xf5\x80\x80\x80", false }, { "\xe2\x82", false },
        { "\x80", false },             { "\xe2\x82\x41", false },
    };
    struct buf b = { 0 };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        write_string(&b, cases[i].in, strlen(cases[i].in));
        CHECK_INT(b.len == strlen(cases[i].in) + 2, cases[i].good);
    }
    buf_fini(&b);
}

/* Undoes the escapes into out; false when what stands between the quotes is not JSON. */
static bool read_back(const struct buf *b, struct buf *out)
{
    struct bytes in = bytes_of(b->data, b->len);
    uint8_t c, last;

    buf_clear(out);
    if (take_u8(&in) != '"')
        return false;
    for (c = take_u8(&in); c != '"'; c = take_u8(&in)) {
        if (c < 0x20 || in.failed)
            return false;
        if (c == '\\') {
            static const char from[] = "btnfr\"\\", to[] = "\b\t\n\f\r\"\\";
            const char *hit;

            c = take_u8(&in);
            if (c == 'u') {
                if (take_be16(&in) != ('0' << 8 | '0'))
                    return false;
                c = take_u8(&in);
                last = take_u8(&in);
                c = (uint8_t)((c - '0') << 4 | (last > '9' ? last - 'a' + 10 : last - '0'));
            } else if (c != 0 && (hit = strchr(from, c)) != NULL) {
                c = (uint8_t)to[hit - from];
            } else {
                return false;
            }
        }
        buf_add_u8(out, c);
    }
    return !in.failed && bytes_left(&in) == 0;
}

/* Any bytes, any length around the eight of the fast path: valid JSON, and ASCII reads back. */
TEST(json_random_strings_are_valid)
{
    struct buf b = { 0 }, back = { 0 };
    unsigned seed = 1;
    char in[700];

    for (int round = 0; round < 2000; round++) {
        size_t len = (size_t)rand_r(&seed) % (round % 10 == 0 ? sizeof(in) : 40);
        bool ascii = round & 1;

        for (size_t i = 0; i < len; i++)
            in[i] = (char)(rand_r(&seed) & (ascii ? 0x7f : 0xff));
        write_string(&b, in, len);
        CHECK(read_back(&b, &back));
        if (ascii)
            CHECK_BYTES(back.data, back.len, in, len);
    }
    buf_fini(&b);
    buf_fini(&back);
}

TEST(json_base64_hex_printable)
{
    struct buf b = { 0 };
    struct json j;

    json_init(&j, &b);
    json_array(&j, NULL);
    json_base64(&j, NULL, "", 0);
    json_base64(&j, NULL, "f", 1);
    json_base64(&j, NULL, "fo", 2);
    json_base64(&j, NULL, "foo\xff", 4);
    json_hex(&j, NULL, "\x0a\xff", 2);
    json_printable(&j, NULL, "a\"\r\n\t\x7f\x80", 7);
    json_printf(&j, NULL, "%04d", 7);
    json_array_end(&j);
    CHECK_BUF(&b, "[\"\",\"Zg==\",\"Zm8=\",\"Zm9v/w==\",\"0aff\",\"a\\\"\\r\\n...\",\"0007\"]");
    buf_fini(&b);
}

TEST(json_printf_of_any_length)
{
    struct buf b = { 0 };
    struct json j;

    json_init(&j, &b);
    json_printf(&j, NULL, "\"%0600d", 7);
    CHECK_INT(b.len, 604);
    CHECK_BYTES(b.data, 3, "\"\\\"", 3);
    CHECK_INT(b.data[602], '7');
    buf_fini(&b);
}
