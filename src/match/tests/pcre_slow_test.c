/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Data that make an expression use up its work: which expressions have some, and what they are. */
#include "match/pcre_slow.h"

#include "base/array.h"
#include "base/test.h"
#include "match/pcre_items.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

static bool is_slow(const char *re, struct pcre_slow_data *data)
{
    struct expressions all;
    const struct expression *e;
    size_t at;
    int error;
    bool slow;

    expressions_init(&all, NULL);
    e = expression_get(&all, text_of(re), PCRE2_NO_AUTO_CAPTURE, &error, &at);
    slow = e != NULL && pcre_slow_find(e, data);
    expressions_fini(&all);
    return slow;
}

TEST(pcre_slow_expressions)
{
    static const char *const slow[] = {
        "a(?=[^b]*c)",                  /* each a reads all */
        "(?P<w>\\w+)\\s*=\\s*(?P=w)",           /* each start reads the word */
        "x\\x3d.+?(?:(?:un)?load|s)",   /* a repeat over bytes that it begins with */
        ".+INSERT.+INTO",
        "^(?:a+)+$",                    /* repeats that share bytes */
        "(?:\\*\\?){700}!",             /* many, though with a limit */
        "b|c(?:d|(?:ef|.)*g)h",         /* in one of several branches */
    };
    static const char *const fast[] = {
        "(\\.\\./){1,}",                /* matches at once */
        "(?m)^Host:[^\\r\\n]+\\.example\\.org(?::\\d{1,5})?\\r?$",
        "&order=(?:[a-z0-9_])*[,\"'(]",     /* & ends the repeat */
        "\\A(?:[a-z]{4})*$", "(?m)^USER\\s[^\\n]{100}", "(?i)c=[0-9a-f]{100}", "plain",
    };

    for (unsigned i = 0; i < ARRAY_LEN(slow) + ARRAY_LEN(fast); i++) {
        struct pcre_slow_data data = { 0 };
        const bool wanted = i < ARRAY_LEN(slow);
        const char *re = wanted ? slow[i] : fast[i - ARRAY_LEN(slow)];

        if (is_slow(re, &data) != wanted)
            test_fail(t, __FILE__, __LINE__, "%s is %s", re, wanted ? "not slow" : "slow");
        CHECK_INT(data.unit.len > 0, wanted);
        pcre_slow_data_fini(&data);
    }
}

/* PCRE2 does not search at all without the last byte that is in every match. */
TEST(pcre_slow_data_of_an_expression)
{
    struct pcre_slow_data data = { 0 };

    CHECK(is_slow("key=(?=[^;]*!)", &data));
    CHECK_INT(data.begin.len, 0);
    CHECK_BYTES(data.unit.data, data.unit.len, "key=a", 5);
    CHECK_BYTES(data.end.data, data.end.len, ";=", 2);
    pcre_slow_data_fini(&data);
}

TEST(pcre_item_quantifiers)
{
    static const struct { const char *item, *quantifier; unsigned least; uint64_t most; } cases[] = {
        { "a", "", 1, 1 }, { "a?", "?", 0, 1 }, { "[]a]+?", "+?", 1, UINT64_MAX },
        { "\\x3d", "", 1, 1 }, { "\\x3d{2,}", "{2,}", 2, UINT64_MAX }, { "\\012*", "*", 0, UINT64_MAX },
        { "\\x{1f}{3}", "{3}", 3, 3 }, { "){2,31}+", "{2,31}+", 2, 31 }, { "\\cA{4}", "{4}", 4, 4 },
        { "\\w*+", "*+", 0, UINT64_MAX },
    };

    for (unsigned i = 0; i < ARRAY_LEN(cases); i++) {
        const struct text item = text_of(cases[i].item);

        CHECK(text_equal(pcre_item_quantifier(item), cases[i].quantifier));
        CHECK_INT(pcre_item_least(item), cases[i].least);
        CHECK(pcre_item_most(item) == cases[i].most);
    }
}
