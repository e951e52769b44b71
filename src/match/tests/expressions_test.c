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
    struct expressions first = { 0 }, next = { .previous = &first };
    const struct expression *a = get(&first, "a+b", 0), *again;

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
    CHECK(again->pcre.code != NULL);
    expressions_fini(&next);
}

TEST(expressions_that_are_wrong_are_not_kept)
{
    struct expressions all = { 0 };
    size_t at = 0;
    int error = 0;

    CHECK(expression_get(&all, text_of("a(b"), 0, &error, &at) == NULL);
    CHECK(error != 0);
    CHECK_INT(at, 3);
    CHECK_INT(all.by_text.count, 0);
    expressions_fini(&all);
}
