/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tests of base/pool. */
#include "base/memory/pool.h"
#include "base/test.h"

#include <string.h>

TEST(pool_refuses_above_max)
{
    struct pool pool;
    void *object[10];

    pool_init(&pool, 24, 4, 10);
    for (int i = 0; i < 10; i++) {
        object[i] = pool_get(&pool);
        CHECK(object[i] != NULL);
    }
    CHECK(pool_get(&pool) == NULL);
    CHECK_INT(pool.refused, 1);
    CHECK_INT(pool.created, 10);
    pool_put(&pool, object[3]);
    CHECK(pool_get(&pool) == object[3]);
    CHECK_INT(pool.in_use, 10);
    pool_fini(&pool);
}

TEST(pool_objects_are_zero_first_and_apart)
{
    struct pool pool;
    unsigned char *object[50];

    pool_init(&pool, 100, 7, 0);
    pool_reserve(&pool, 20);
    CHECK_INT(pool.created, 20);
    for (int i = 0; i < 50; i++) {
        object[i] = pool_get(&pool);
        CHECK_INT((uintptr_t)object[i] % CACHE_LINE, 0);
        for (int k = (int)sizeof(void *); k < 100; k++)
            CHECK_INT(object[i][k], 0);
        memset(object[i], i, 100);
    }
    for (int i = 0; i < 50; i++)
        CHECK_INT(object[i][99], i);
    pool_fini(&pool);
}
