/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Pattern sets of a ruleset and of the one that a reload puts in its place. */
#include "base/test.h"
#include "detect/prefilter/pattern_set.h"

#include <stdio.h>
#include <string.h>

/* Patterns "word0", "word1" ... for the rules first, first + 1 ...; the last is `last`. */
static struct pattern_set *build(struct test *t, struct pattern_pool *pool, uint32_t first,
                                 const char *last)
{
    struct pattern_set_builder *b = pattern_set_builder_new();
    struct pattern_set *set = NULL;
    struct err err = { 0 };
    char word[8][16];

    for (uint32_t i = 0; i < 8; i++) {
        snprintf(word[i], sizeof(word[i]), "word%u", i);
        pattern_set_add(b, (const uint8_t *)word[i], (unsigned)strlen(word[i]), false, first + i);
    }
    pattern_set_add(b, (const uint8_t *)last, (unsigned)strlen(last), false, first + 8);
    CHECK_INT(pattern_set_build(b, pool, &set, &err), 0);
    return set;
}

/* The one rule that is found; 99: none, or several. */
static uint32_t found(const struct pattern_set *set, const char *text)
{
    struct candidates c = { 0 };
    uint32_t rule;

    candidates_init(&c, 64);
    pattern_set_scan(set, NULL, (const uint8_t *)text, (uint32_t)strlen(text), &c);
    rule = c.count == 1 ? c.list[0] : 99;
    candidates_fini(&c);
    return rule;
}

/* The rules have other numbers after a reload, and one pattern may differ. */
TEST(pattern_sets_continue_those_of_another_pool)
{
    struct pattern_pool *old = pattern_pool_new(false, NULL), *new = pattern_pool_new(false, NULL);
    const struct pattern_set *before = build(t, old, 0, "lastly"), *same, *changed;

    pattern_pool_continue(new, old);
    same = build(t, new, 20, "lastly");
    changed = build(t, new, 40, "finally");
    pattern_pool_continue(new, NULL);
    CHECK(pattern_set_shares(same, before));
    CHECK(!pattern_set_shares(changed, before));
    CHECK_INT(found(before, "a lastly b"), 8);
    pattern_pool_free(old);
    CHECK_INT(found(same, "a lastly b"), 28);
    CHECK_INT(found(same, "a word3 b"), 23);
    CHECK_INT(found(same, "a finally b"), 99);
    CHECK_INT(found(changed, "a finally b"), 48);
    CHECK_INT(found(changed, "a lastly b"), 99);
    pattern_pool_free(new);
}
