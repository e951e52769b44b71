/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tests of base/pool. */
#include "base/memory/pool.h"
#include "base/test.h"

#include <stdlib.h>
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

/* A slab's memory is touched a page at a time, so that a pool with few objects costs little. */
TEST(pool_lists_objects_as_they_are_needed)
{
    struct pool pool;
    unsigned char *object[64], *before = NULL;
    bool in_order = true;

    pool_init(&pool, 1024, 64, 0);
    for (unsigned i = 0; i < 64; i++, before = object[i - 1]) {
        object[i] = pool_get(&pool);
        CHECK_INT(pool.created, 64);
        CHECK_INT(pool.fresh_count, 60 - i / 4 * 4);
        in_order &= before == NULL || object[i] == before + 1024;
        object[i][500] = 1;
    }
    CHECK(in_order);
    pool_put(&pool, object[5]);
    CHECK(pool_get(&pool) == object[5]);
    CHECK_INT(pool.created, 64);
    CHECK(pool_get(&pool) != NULL);
    CHECK_INT(pool.created, 128);
    pool_reserve(&pool, 130);           /* the rest of the second slab comes first */
    CHECK_INT(pool.created, 130);
    CHECK_INT(pool.fresh_count, 0);
    for (unsigned i = 0; i < 65; i++)
        CHECK_INT(((unsigned char *)pool_get(&pool))[500], 0);
    CHECK_INT(pool.created, 130);
    pool_fini(&pool);
}

#define BURST 100000
#define BURST_SIZE 512                  /* 50 MB */

struct burst {
    struct pool pool;
    unsigned *object[BURST];
    size_t count, at_peak;
};

static uint64_t discarded;

static void count_discarded(void *object)
{
    discarded += ((unsigned *)object)[2] != 0;      /* objects that were never in use are zero */
}

/* Writes the number of each object into it. */
static bool burst_get(struct burst *b, size_t count)
{
    for (; b->count < count; b->count++) {
        unsigned *object = pool_get(&b->pool);

        if (object == NULL)
            return false;
        object[2] = (unsigned)b->count + 1;
        b->object[b->count] = object;
    }
    return true;
}

static struct burst *burst_new(struct test *t)
{
    struct burst *b = calloc(1, sizeof(*b));

    pool_init(&b->pool, BURST_SIZE, 64, 0);
    b->pool.discard = count_discarded;
    discarded = 0;
    CHECK(burst_get(b, BURST));
    b->at_peak = b->pool.created;
    return b;
}

static void burst_free(struct burst *b)
{
    pool_fini(&b->pool);
    free(b);
}

/* Newest first, so that the objects of a slab return one after the other. */
static void burst_put(struct burst *b, size_t left)
{
    while (b->count > left)
        pool_put(&b->pool, b->object[--b->count]);
}

/* Two of three return, and then the others: no slab is free before the end. */
static void burst_put_mixed(struct burst *b)
{
    for (unsigned last = 0; last < 2; last++)
        for (size_t i = 0; i < BURST; i++)
            if ((i % 3 == 0) == (last == 1))
                pool_put(&b->pool, b->object[i]);
    b->count = 0;
}

TEST(pool_returns_memory_when_most_objects_are_free)
{
    struct burst *b = burst_new(t);

    burst_put(b, BURST / 2);
    CHECK_INT(b->pool.created, b->at_peak);
    burst_put(b, BURST / 10);
    CHECK(b->pool.created <= b->at_peak / 4);
    CHECK_INT(b->pool.in_use, BURST / 10);
    for (size_t i = 0; i < b->count; i++)
        CHECK_INT(b->object[i][2], i + 1);
    burst_put(b, 0);
    CHECK(b->pool.created * BURST_SIZE <= 11u << 20);
    burst_free(b);
    CHECK_INT(discarded, BURST);
}

TEST(pool_returns_memory_whatever_the_order)
{
    struct burst *b = burst_new(t);

    burst_put_mixed(b);
    CHECK(b->pool.created * BURST_SIZE <= 11u << 20);
    CHECK_INT(b->pool.idle.now, (int64_t)(b->pool.created * b->pool.size));
    burst_free(b);
    CHECK_INT(discarded, BURST);
}

/* What is sorted already is taken before the pool grows. */
TEST(pool_grows_again_after_it_has_shrunk)
{
    struct burst *b = burst_new(t);
    size_t created;

    burst_put(b, BURST / 8);
    created = b->pool.created;
    CHECK(pool_has_free(&b->pool));
    CHECK(burst_get(b, created));
    CHECK_INT(b->pool.created, created);
    CHECK(!pool_has_free(&b->pool));
    CHECK(burst_get(b, BURST));
    for (size_t i = 0; i < BURST; i++)
        CHECK_INT(b->object[i][2], i + 1);
    burst_put_mixed(b);
    CHECK(b->pool.created * BURST_SIZE <= 11u << 20);
    burst_free(b);
}
