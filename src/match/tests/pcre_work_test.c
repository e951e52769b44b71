/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Expressions whose work is counted, and what is counted. */
#include "match/pcre_work.h"

#include "base/memory/buf.h"
#include "base/test.h"

#include <stdlib.h>
#include <string.h>

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

static struct pcre_compiled compile(const char *re)
{
    size_t at;
    int error;

    return pcre_work_compile(text_of(re), PCRE2_NO_AUTO_CAPTURE, PCRE_WHEN_USED, &error, &at);
}

static bool is_counted(const char *re)
{
    struct pcre_compiled c = compile(re);
    bool counted = c.costly;

    pcre_work_free(&c);
    return counted;
}

TEST(pcre_work_expressions_that_are_counted)
{
    static const char *const costly[] = {
        "a(?=[^b]*c)", "(?<=a)[^b]*bd", "a(?![^b]*+bd)x", "a(?:[^b])*bd", "a(?:.*b)?cd",
        "a[^b]{1,1000}bd", "a[^b]{1,31}[^b]{1,31}bd", "a.*b.*d", "^.*x.*y", "(?:(?:(?:(?:(?:a+)))))b",
        "(?P<a>a)[^b]*(?P=a)d|a.*b+", "a\\x{41}+b\\]*", "a[]b]+[^]]{9,}",
        "a\\w{1,100}!",
    };
    static const char *const plain[] = {
        "abc", "a[^b]*c", "a+", "[a-z]{8,30}\\.exe", "\\x{41}{3}b+", "a\\*\\+b", "[*+]{2}c*", "(?i)ab+",
        "(?:aa|bb|cc).[^b]*bd", "(a[^b]*)bd", "a{2,7}b{3}c?",
        "a\\w{1,20}!", "\\p{L}{3}a+",
    };

    for (unsigned i = 0; i < ARRAY_LEN(costly); i++)
        if (!is_counted(costly[i]))
            test_fail(t, __FILE__, __LINE__, "%s is not counted", costly[i]);
    for (unsigned i = 0; i < ARRAY_LEN(plain); i++) {
        struct pcre_compiled c = compile(plain[i]);

        if (c.costly && c.fast_when_used)
            test_fail(t, __FILE__, __LINE__, "%s is counted", plain[i]);
        pcre_work_free(&c);
    }
}

static void fill(uint8_t *data, size_t len)
{
    memset(data, 'a', len);
    memcpy(data + len - 2, "bc", 2);
}

/* The texts are exactly as long as their memory, so that AddressSanitizer sees a byte too much. */
TEST(pcre_work_of_any_text)
{
    static const char *const words[] = { "a", "[^b]", "\\x{41}", "\\1", "(", "(?=", "(?i)", ")", "*",
                                         "{3,}", "|", "\\Q*\\E", "(?1)", "(?#x)", "\\p{L}", "(a)" };
    unsigned compiled = 0, state = 1;

    for (unsigned i = 0; i < 4000; i++) {
        struct buf text = { 0 };
        const char *word;
        uint8_t *exact;
        struct pcre_compiled c;
        size_t at;
        int error;

        for (unsigned k = 0; k < 1 + i % 7; k++) {
            state = state * 1103515245u + 12345u;
            word = words[(state >> 16) % ARRAY_LEN(words)];
            CHECK(buf_add(&text, word, strlen(word)));
        }
        exact = malloc(text.len);
        memcpy(exact, text.data, text.len);
        c = pcre_work_compile((struct text){ (const char *)exact, text.len }, 0, PCRE_WHEN_USED,
                              &error, &at);
        compiled += c.code != NULL;
        pcre_work_free(&c);
        free(exact);
        buf_fini(&text);
    }
    CHECK(compiled > 500);
}

TEST(pcre_work_ends_a_search)
{
    static uint8_t data[30000];
    struct text re = text_of("a(?=[^b]*c)");
    struct pcre_compiled c = compile(re.p);
    struct pcre_work work;
    uint64_t most;
    void *counted = pcre_work_make_counted(&c, re, PCRE2_NO_AUTO_CAPTURE);
    pcre2_match_context *context = pcre_work_context_new(&work);
    pcre2_match_data *md = pcre2_match_data_create(2, NULL);

    CHECK(counted != NULL);
    fill(data, sizeof(data));
    CHECK(!pcre_work_is_small(&c, data, sizeof(data), &most));
    work = (struct pcre_work){ PCRE_WORK(sizeof(data)), 0 };
    CHECK_INT(pcre2_match(counted, data, sizeof(data), 0, 0, md, context),
              PCRE2_ERROR_MATCHLIMIT);
    CHECK_INT(work.left, 0);

    /* The same without an end, and what matches. */
    work = (struct pcre_work){ UINT64_MAX, 0 };
    CHECK_INT(pcre2_match(counted, data, 3000, 0, 0, md, context), PCRE2_ERROR_NOMATCH);
    CHECK(UINT64_MAX - work.left > 3000u * 3000u / 2);
    work = (struct pcre_work){ PCRE_WORK(sizeof(data)), 0 };
    data[1] = 'c';
    CHECK(pcre2_match(counted, data, sizeof(data), 0, 0, md, context) > 0);
    pcre2_match_data_free(md);
    pcre2_match_context_free(context);
    pcre_work_free(&c);
}

/* The other code searches where a match can start in few places. */
TEST(pcre_work_of_few_starts)
{
    static uint8_t data[2000];
    uint64_t most;
    struct pcre_compiled c = compile("a(?=[^b]*c)"), i = compile("(?i)a(?=[^b]*c)"),
                         line = compile("(?m)^(?=[^b]*c)"), anchored = compile("\\A[^b]*b+d+");

    memset(data, 'x', sizeof(data));
    memset(data, 'a', 200);
    CHECK(pcre_work_is_small(&c, data, sizeof(data), &most));
    CHECK_INT(most, 200 * sizeof(data));
    memset(data + 300, 'A', 200);
    CHECK(pcre_work_is_small(&c, data, 256, &most));
    CHECK(!pcre_work_is_small(&i, data, sizeof(data), &most));
    CHECK(pcre_work_is_small(&line, data, sizeof(data), &most));
    memset(data + 600, '\n', 300);
    CHECK(!pcre_work_is_small(&line, data, sizeof(data), &most));
    memset(data, 'a', sizeof(data));
    CHECK(!pcre_work_is_small(&c, data, sizeof(data), &most));
    CHECK(pcre_work_is_small(&anchored, data, sizeof(data), &most));
    CHECK(most >= sizeof(data) && most <= 20 * sizeof(data));
    pcre_work_free(&c);
    pcre_work_free(&i);
    pcre_work_free(&line);
    pcre_work_free(&anchored);
}

/* Sets of one and two bytes are counted in blocks, others byte by byte: all as in a plain loop.
 * Each expression is costly for what follows its start. */
TEST(pcre_work_counts_starts)
{
    static const struct {
        const char *re, *starts;
        bool two;
    } sets[] = {
        { "a[^z]{9,99}z", "a", true },
        { "(?i)b[^z]{9,99}z", "bB", true },
        { "[ab][^z]{9,99}z", "ab", true },
        { "\\xff[^z]{9,99}z", "\xff", true },
        { "[\\n\\x80][^z]{9,99}z", "\n\x80", true },
        { "[abc][^z]{9,99}z", "abc", false },
        { "[a-k][^z]{9,99}z", "abcdefghijk", false },
    };
    uint8_t data[200];

    for (size_t i = 0; i < sizeof(data); i++)
        data[i] = (uint8_t)(i % 7 == 0 ? 'a' : i % 5 == 0 ? 0xff : i % 3 == 0 ? 'b' + i % 9 : 0x80);
    for (size_t s = 0; s < ARRAY_LEN(sets); s++) {
        struct pcre_compiled c = compile(sets[s].re);

        CHECK(c.costly);
        CHECK_INT(c.starts_are_two, sets[s].two);
        c.few_backtracks = false;
        c.few_starts = 20;
        for (size_t len = 0; len <= sizeof(data); len++) {
            uint64_t starts = 0, most = 0;

            for (size_t i = 0; i < len; i++)
                starts += strchr(sets[s].starts, data[i]) != NULL;
            CHECK_INT(pcre_work_is_small(&c, data, len, &most), starts <= 20);
            if (starts <= 20 && len > 20)
                CHECK_INT(most, starts * len);
        }
        pcre_work_free(&c);
    }
}

TEST(pcre_work_makes_machine_code_when_used)
{
    static const char *const sure[] = { "ab+c", "(?:a|b){3,9}c", "a(?=[^b]*c)" };
    struct pcre_compiled c, at_once;
    size_t at;
    int error;

    t->skipped = !pcre_machine_code_works();
    if (t->skipped)
        return;
    for (unsigned i = 0; i < ARRAY_LEN(sure); i++) {
        c = compile(sure[i]);
        CHECK(c.fast == NULL && c.fast_when_used);
        CHECK(pcre_work_make_fast(&c, text_of(sure[i]), PCRE2_NO_AUTO_CAPTURE) != NULL);
        CHECK(c.fast != c.code);
        CHECK(pcre_work_make_fast(&c, text_of(sure[i]), PCRE2_NO_AUTO_CAPTURE) == c.fast);
        pcre_work_drop_code(&c);
        CHECK(c.code == NULL && c.fast != NULL);
        pcre_work_free(&c);
    }
    at_once = pcre_work_compile(text_of("ab+c"), 0, PCRE_AT_ONCE, &error, &at);
    CHECK(at_once.fast == at_once.code);
    pcre_work_free(&at_once);

    /* These may have none. */
    c = compile("(*NO_JIT)ab+c");
    CHECK(!c.fast_when_used);
    pcre_work_free(&c);
    c = pcre_work_compile(text_of("ab+c"), 0, PCRE_INTERPRETED, &error, &at);
    pcre_work_drop_code(&c);
    CHECK(c.fast == NULL && c.code != NULL);
    CHECK(c.counted != NULL);           /* each repeat runs to its end again */
    pcre_work_free(&c);
}
