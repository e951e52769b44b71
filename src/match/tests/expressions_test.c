/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Expressions that are shared, in a table and with the next one. */
#include "match/expressions.h"

#include "base/test.h"

static const struct expression *get(struct expressions *all, const char *re, uint32_t options)
{
    size_t at;
    int error;

    return expression_get(all, text_of(re), options, &error, &at);
}

TEST(expressions_are_shared_with_the_next_table)
{
    struct expressions first, next;
    const struct expression *a, *again;

    expressions_init(&first, NULL);
    expressions_init(&next, &first);
    a = get(&first, "a+b", 0);
    CHECK(a != NULL);
    CHECK(get(&first, "a+b", 0) == a);
    CHECK_INT(a->refs, 1);
    CHECK(get(&first, "a+b", 8) != a);          /* other options, another expression */
    again = get(&next, "a+b", 0);
    CHECK(again == a);
    CHECK_INT(a->refs, 2);
    CHECK(get(&next, "new", 0) != NULL);
    next.previous = NULL;
    expressions_fini(&first);
    CHECK_INT(again->refs, 1);                  /* the next table still has it */
    CHECK(again->pcre.code != NULL || expression_fast(&again->pcre) != NULL);
    expressions_fini(&next);
}

TEST(expressions_that_are_wrong_are_not_kept)
{
    struct expressions all;
    size_t at = 0;
    int error = 0;

    expressions_init(&all, NULL);
    CHECK(expression_get(&all, text_of("a(b"), 0, &error, &at) == NULL);
    CHECK(error != 0);
    CHECK_INT(at, 3);
    CHECK_INT(all.by_text.count, 0);
    expressions_fini(&all);
}

/* Rules that are not parsed again do not look their expressions up. */
TEST(expressions_that_are_kept_go_over)
{
    struct expressions first, next;
    const struct expression *stays;

    expressions_init(&first, NULL);
    stays = get(&first, "stays", 0);
    CHECK(get(&first, "goes", 0) != NULL);
    expressions_init(&next, &first);
    expression_keep(&stays->pcre);
    expressions_take_kept(&next);
    CHECK_INT(next.by_text.count, 1);
    CHECK_INT(stays->refs, 2);
    next.previous = NULL;
    expressions_fini(&first);
    CHECK(get(&next, "stays", 0) == stays);
    expressions_fini(&next);
}

/* Searches that have to be counted are few, so the code for them is made by the first one. */
TEST(expressions_are_counted_when_used)
{
    struct expressions all;
    const struct expression *costly, *plain;
    void *counted;

    expressions_init(&all, NULL);
    t->skipped = all.machine != PCRE_WHEN_USED;
    costly = get(&all, "a(?=[^b]*c)", 0);
    plain = get(&all, "ab*c", 0);
    CHECK(costly->pcre.costly && !plain->pcre.costly);
    if (!t->skipped)
        CHECK(costly->pcre.counted == NULL);
    counted = expression_counted(&costly->pcre);
    CHECK(counted != NULL && counted != expression_fast(&costly->pcre));
    CHECK(costly->pcre.counted == counted && expression_counted(&costly->pcre) == counted);
    CHECK(plain->pcre.counted == NULL);
    expressions_fini(&all);
}
