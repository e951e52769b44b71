/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tests of base/array. */
#include "base/array.h"
#include "base/test.h"

#include <stdlib.h>
#include <string.h>

TEST(array_grows)
{
    ARRAY_OF(unsigned) a = { 0 };

    for (unsigned i = 0; i < 1000; i++)
        ARRAY_PUSH(&a, i * 3);
    CHECK_INT(a.count, 1000);
    for (unsigned i = 0; i < 1000; i++)
        CHECK_INT(a.at[i], i * 3);
    ARRAY_FREE(&a);
    CHECK(a.at == NULL && a.cap == 0);
}

TEST(array_takes_compound_literals)
{
    ARRAY_OF(struct { int x; int y; }) a = { 0 };

    ARRAY_RESERVE(&a, 100);
    CHECK(a.cap >= 100);
    ARRAY_PUSH(&a, (__typeof__(a.at[0])){ .x = 1, .y = 2 });
    CHECK_INT(a.at[0].y, 2);
    ARRAY_FREE(&a);
}
