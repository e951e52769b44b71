/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tests of base/text. */
#include "base/test.h"
#include "base/text/text.h"

#include <stdlib.h>
#include <string.h>

TEST(text_compare)
{
    CHECK(text_equal(text_of("abc"), "abc"));
    CHECK(!text_equal(text_of("abc"), "ab"));
    CHECK(text_equal_nocase(text_of("HTTP"), "http"));
    CHECK(!text_equal_nocase(text_of("@"), "`"));
    CHECK(text_starts(text_of("http.uri"), "http."));
    CHECK(!text_starts(text_of("ht"), "http"));
    CHECK(text_starts_nocase(text_of("0Xff"), "0x"));
    CHECK_INT(text_of(NULL).n, 0);
}

TEST(text_split_gives_parts)
{
    struct text rest = text_of("a, ,b ,"), part;

    CHECK(text_split(&rest, ',', &part) && text_equal(part, "a"));
    CHECK(text_split(&rest, ',', &part) && text_equal(part, ""));
    CHECK(text_split(&rest, ',', &part) && text_equal(part, "b"));
    CHECK(!text_split(&rest, ',', &part));
    rest = text_of("");
    CHECK(!text_split(&rest, ',', &part));
}

TEST(text_numbers)
{
    uint64_t u;
    int64_t i;
    double d;

    CHECK(text_to_u64(text_of("18446744073709551615"), UINT64_MAX, &u) && u == UINT64_MAX);
    CHECK(!text_to_u64(text_of("18446744073709551616"), UINT64_MAX, &u));
    CHECK(text_to_u64(text_of("0xFF"), 255, &u) && u == 255);
    CHECK(!text_to_u64(text_of("256"), 255, &u));
    CHECK(!text_to_u64(text_of(""), 255, &u));
    CHECK(!text_to_u64(text_of("0x"), 255, &u));
    CHECK(!text_to_u64(text_of("12a"), 255, &u));
    CHECK(!text_to_u64(text_of("-1"), 255, &u));
    CHECK(text_to_i64(text_of("-9223372036854775808"), &i) && i == INT64_MIN);
    CHECK(!text_to_i64(text_of("9223372036854775808"), &i));
    CHECK(text_to_double(text_of("0.25"), &d) && d == 0.25);
    CHECK(!text_to_double(text_of("0.25x"), &d));
    CHECK(!text_to_double(text_of("inf"), &d));
}

TEST(text_numbers_of_c)
{
    static const struct { const char *in; int64_t value; const char *rest; } good[] = {
        { "10", 10, "" },  { " -0x1F,a", -31, ",a" }, { "010", 8, "" }, { "1-10", 1, "-10" },
        { "0", 0, "" },    { "09", 0, "9" },          { "0xg", 0, "xg" },
        { "+7kb", 7, "kb" },
    };
    struct text in;
    int64_t n = 0;

    for (size_t i = 0; i < ARRAY_LEN(good); i++) {
        in = text_of(good[i].in);
        CHECK(text_take_c_number(&in, &n) && n == good[i].value && text_equal(in, good[i].rest));
    }
    in = text_of("-");
    CHECK(!text_take_c_number(&in, &n));
    in = text_of("9223372036854775808");
    CHECK(!text_take_c_number(&in, &n) && in.n == 19);
}

TEST(text_sizes)
{
    static const struct { const char *in; uint64_t out; } good[] = {
        { "512", 512 },         { "100k", 102400 },       { "64mb", 64 << 20 },
        { "64 MiB", 64 << 20 }, { "1gb", 1 << 30 },       { "1.5kb", 1536 },
        { " 7 b ", 7 },         { "2t", UINT64_C(2) << 40 },
    };
    static const char *const bad[] = {
        "", "mb", "12x", "-1", "1 2", "18446744073709551615kb", ".",
    };
    uint64_t n;

    for (size_t i = 0; i < ARRAY_LEN(good); i++) {
        n = 0;
        CHECK(text_to_size(text_of(good[i].in), &n));
        CHECK_INT(n, good[i].out);
    }
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        if (text_to_size(text_of(bad[i]), &n))
            test_fail(t, __FILE__, __LINE__, "\"%s\" taken as %llu", bad[i],
                      (unsigned long long)n);
    }
}

TEST(text_booleans)
{
    bool b = false;

    CHECK(text_to_bool(text_of("Yes"), &b) && b);
    CHECK(text_to_bool(text_of("DISABLED"), &b) && !b);
    CHECK(text_to_bool(text_of("1"), &b) && b);
    CHECK(!text_to_bool(text_of("maybe"), &b));
}

TEST(text_distance_is_bounded)
{
    CHECK_INT(text_distance(text_of("kitten"), text_of("sitting"), 5), 3);
    CHECK_INT(text_distance(text_of("kitten"), text_of("sitting"), 2), 3);
    CHECK_INT(text_distance(text_of("same"), text_of("same"), 2), 0);
    CHECK_INT(text_distance(text_of(""), text_of("abc"), 9), 3);
}

TEST(text_dup_ends_with_nul)
{
    char *copy = text_dup((struct text){ "abcdef", 3 });

    CHECK_STRING(copy, "abc");
    free(copy);
}
