/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A check rejects what the rule's program rejects, and nothing else. */
#include "base/test.h"
#include "base/memory/lib_memory.h"
#include "detect/compile/compile.h"
#include "detect/rule/program.h"
#include "detect/tests/rules_helper.h"

#include <string.h>

#define P(s) s, sizeof(s) - 1

/* fits: what the check says. A check may let a buffer pass that the program then rejects. */
static const struct row {
    const char *options, *data;
    size_t len;
    bool fits;
} rows[] = {
    { "content:\"z\"; depth:1; endswith;", P("z"), 1 },
    { "content:\"z\"; depth:1; endswith;", P("zz"), 0 },
    { "content:\"z\"; depth:1; endswith;", P("Mozilla"), 0 },
    { "content:\"Mozilla\"; bsize:7;", P("Mozilla"), 1 },
    { "content:\"Mozilla\"; bsize:7;", P("Mozilla/5.0"), 0 },
    { "content:\"Mozilla\"; bsize:!7;", P("Mozilla"), 1 },
    { "content:\"abc\"; bsize:<5;", P("abcd"), 1 },
    { "content:\"abc\"; bsize:<5;", P("abcde"), 0 },
    { "content:\"abc\"; bsize:<=5;", P("abcde"), 1 },
    { "content:\"abc\"; bsize:<=5;", P("abcdef"), 0 },
    { "content:\"abc\"; bsize:>5;", P("abcdef"), 1 },
    { "content:\"abc\"; bsize:>5;", P("abcde"), 0 },
    { "content:\"abc\"; bsize:>=5;", P("abcde"), 1 },
    { "content:\"abc\"; bsize:>=5;", P("abcd"), 0 },
    { "content:\"abc\"; bsize:4<>6;", P("abcde"), 1 },
    { "content:\"abc\"; bsize:4<>6;", P("abcd"), 0 },
    { "content:\"abc\"; bsize:4<>6;", P("abcdef"), 0 },
    { "content:\"App\"; depth:3;", P("Apple"), 1 },
    { "content:\"App\"; depth:3;", P("an App"), 0 },
    { "content:\"App\"; depth:4;", P("xApp"), 1 },
    { "content:\"App\"; depth:4;", P("xxApp"), 1 },
    { "content:\"App\"; nocase; depth:3;", P("aPPle"), 1 },
    { "content:\"App\"; nocase; depth:3;", P("0pple"), 0 },
    { "content:\"@[p\"; nocase; depth:3;", P("@[P"), 1 },
    { "content:\"@[p\"; nocase; depth:3;", P("`{P"), 0 },
    { "content:\"17\"; offset:3; depth:2;", P("abc17"), 1 },
    { "content:\"17\"; offset:3; depth:2;", P("ab17a"), 0 },
    { "content:\"17\"; offset:3; depth:2;", P("17"), 0 },
    { "content:\"17\"; offset:3; depth:3;", P("abca17"), 1 },
    { "content:\"17\"; offset:3;", P("17"), 0 },
    { "content:\"17\"; offset:3;", P("17abcdefgh17"), 1 },
    { "content:\".pirate\"; nocase; endswith;", P("x.PIRATE"), 1 },
    { "content:\".pirate\"; nocase; endswith;", P("x.pirate.example"), 0 },
    { "content:\"abcdefgh\"; startswith;", P("abcdefghi"), 1 },
    { "content:\"abcdefgh\"; startswith;", P("xabcdefgh"), 0 },
    { "content:\"abcdefgh\"; fast_pattern; content:\"xy\"; distance:0; endswith;", P("abcdefghxy"), 1 },
    { "content:\"abcdefgh\"; fast_pattern; content:\"xy\"; distance:0; endswith;", P("abcdefghxyz"), 0 },
    { "content:\"abcd\"; fast_pattern; content:!\"xy\"; depth:2;", P("zzabcd"), 1 },
    { "content:\"abcd\"; fast_pattern; content:!\"xyzabcd\"; endswith;", P("abcd"), 1 },
    { "content:\"abcd\"; byte_extract:1,0,n; content:\"efghij\"; offset:n; depth:6;",
      P("abcd\0\0\0efghij"), 1 },
    { "content:\"abcd\"; content:\"efgh\"; within:4;", P("abcdefgh"), 1 },
    { "content:\"abcd\"; content:\"efgh\"; within:4;", P("abcd"), 1 },
};

static bool program_matches(const struct test_rules *r, struct slice data)
{
    uint64_t vars[BYTE_VARS_MAX] = { 0 };
    struct program_scratch scratch;
    struct program_run run = { .data = data.data, .len = data.len, .complete = true,
                               .vars = vars, .scratch = &scratch };
    bool matches;

    program_scratch_init(&scratch, 0);
    matches = program_match(r->set->rules.at[0]->fast_list->program, &run);
    program_scratch_fini(&scratch);
    return matches;
}

/* Without a check every buffer fits. */
static bool check_fits(const struct test_rules *r, struct slice data)
{
    const struct detect_plan *plan = r->set->plan;
    const uint16_t check = plan->mask[0].buffer_check;

    return check == 0 || buffer_check_fits(&plan->buffer_check[check], data);
}

TEST(buffer_checks)
{
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        const struct slice data = { (const uint8_t *)rows[i].data, (uint32_t)rows[i].len };
        struct test_rules r = { 0 };

        if (!test_rules_load(&r, "alert http any any -> any any (http.user_agent; %s sid:1;)",
                             rows[i].options))
            test_fail(t, __FILE__, __LINE__, "does not load: %s %s", rows[i].options, r.err.text);
        else if (check_fits(&r, data) != rows[i].fits)
            test_fail(t, __FILE__, __LINE__, "%s on \"%s\"", rows[i].options, rows[i].data);
        else if (!rows[i].fits && program_matches(&r, data))
            test_fail(t, __FILE__, __LINE__, "matches: %s on \"%s\"", rows[i].options,
                      rows[i].data);
        test_rules_free(&r);
    }
}

/* Bytes of the contents, in their order or not, with or without others. */
static struct slice random_data(uint64_t *seed, uint8_t *out, size_t cap)
{
    static const char *const pieces[] = { "z", "Mozilla", "abc", "ab", "App", "aPP", "17", ".pirate",
                                          "abcdefgh", "xy", "a", "\0\1", "efgh" };
    unsigned pieces_left;
    size_t n = 0;

    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    pieces_left = (unsigned)(*seed >> 61);
    for (uint64_t bits = *seed >> 8; pieces_left > 0; pieces_left--, bits /= 16) {
        const char *piece = pieces[bits % 16 % ARRAY_LEN(pieces)];

        for (size_t i = 0; piece[i] != '\0' && n < cap; i++)
            out[n++] = (uint8_t)piece[i];
    }
    return (struct slice){ out, (uint32_t)n };
}

TEST(buffer_checks_lose_no_match)
{
    unsigned rejected = 0;
    uint64_t seed = 1;

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct test_rules r = { 0 };
        uint8_t bytes[64];

        if (test_rules_load(&r, "alert http any any -> any any (http.user_agent; %s sid:1;)",
                            rows[i].options))
            for (unsigned k = 0; k < 300; k++) {
                struct slice data = random_data(&seed, bytes, sizeof(bytes));
                bool fits = check_fits(&r, data);

                rejected += !fits;
                if (!fits && program_matches(&r, data))
                    test_fail(t, __FILE__, __LINE__, "%s on \"%.*s\"", rows[i].options,
                              (int)data.len, (const char *)data.data);
            }
        test_rules_free(&r);
    }
    CHECK(rejected > 1000);
}

/* What else is in the rule does not belong to the buffer of its pattern, or may be met in the
 * other direction. */
static const char *const unchecked[] = {
    "alert http any any -> any any (http.uri; content:\"abcdefgh\"; http.host; content:\"x\"; "
    "bsize:1; sid:1;)",
    "alert http any any => any any (http.uri; content:\"abcdefgh\"; depth:8; "
    "http.stat_code; content:\"200\"; sid:1;)",
    "alert http any any -> any any (http.uri; content:\"abcdefgh\"; sid:1;)",
    "alert tcp any any -> any any (content:\"abcdefgh\"; depth:8; sid:1;)",
};

TEST(buffer_checks_of_no_rule)
{
    for (size_t i = 0; i < ARRAY_LEN(unchecked); i++) {
        struct test_rules r = { 0 };

        if (!test_rules_load(&r, "%s", unchecked[i]))
            test_fail(t, __FILE__, __LINE__, "does not load: %s %s", unchecked[i], r.err.text);
        else if (r.set->plan->mask[0].buffer_check != 0)
            test_fail(t, __FILE__, __LINE__, "has a check: %s", unchecked[i]);
        test_rules_free(&r);
    }
}

TEST(candidates_taken_back)
{
    struct candidates c;

    candidates_init(&c, 10000);
    candidates_add(&c, 9000);
    candidates_add(&c, 7);
    candidates_add(&c, 8);
    candidates_remove(&c, 0);
    CHECK(!candidates_has(&c, 9000));
    CHECK(candidates_has(&c, 7) && candidates_has(&c, 8));
    candidates_sort(&c);
    CHECK_INT(c.count, 2);
    CHECK_INT(c.list[0], 7);
    CHECK_INT(c.list[1], 8);
    candidates_add(&c, 9000);
    CHECK_INT(c.count, 3);
    candidates_clear(&c);
    CHECK_INT(c.words[9000 >> 12], 0);
    candidates_fini(&c);
}
