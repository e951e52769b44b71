/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/memory/traffic_memory.h"

#include "base/array.h"
#include "base/memory/arena.h"
#include "base/memory/buf.h"
#include "base/memory/heap.h"
#include "base/memory/lib_memory.h"
#include "base/memory/pool.h"
#include "base/report/json.h"
#include "base/test.h"

#include <pthread.h>
#include <stdlib.h>

static void all_fail(void) { alloc_failures_set((struct alloc_failures){ .every = 1 }); }
static void none_fail(void) { alloc_failures_set((struct alloc_failures){ 0 }); }

TEST(traffic_memory_buf_adds_all_or_nothing)
{
    struct buf b = { 0 };
    uint64_t before = traffic_memory_refusals();

    buf_add_string(&b, "abc");
    all_fail();
    CHECK(!buf_add(&b, "0123456789012345678901234567890123456789012345678901234567890123", 64));
    none_fail();
    CHECK(b.failed);
    CHECK_BYTES(b.data, b.len, "abc", 3);
    CHECK(traffic_memory_refusals() > before);
    CHECK(!buf_cut_failed(&b, 1));
    CHECK_INT(b.len, 1);
    CHECK(buf_cut_failed(&b, 0));
    CHECK_INT(b.len, 1);
    buf_fini(&b);
}

TEST(traffic_memory_json_without_memory)
{
    struct buf b = { 0 };
    struct json j;

    json_init(&j, &b);
    all_fail();
    json_object(&j, NULL);
    json_string(&j, "key", "value");
    json_u64(&j, "number", 7);
    json_base64(&j, "bytes", "abc", 3);
    json_lossy(&j, "text", (struct slice){ (const uint8_t *)"x", 1 });
    json_object_end(&j);
    none_fail();
    CHECK(b.failed);
    CHECK_INT(b.len, 0);
    buf_fini(&b);
}

TEST(traffic_memory_arena_gives_null)
{
    struct arena arena;

    arena_init(&arena, 64, 0);
    CHECK(arena_alloc(&arena, 16) != NULL);
    all_fail();
    CHECK(arena_alloc(&arena, 4u << 20) == NULL);
    CHECK_INT(arena_slice(&arena, (struct slice){ (const uint8_t *)"x", 1 }).len, 1);
    none_fail();
    CHECK(arena_alloc(&arena, 4u << 20) != NULL);
    CHECK(arena_alloc(&arena, SIZE_MAX) == NULL);
    arena_fini(&arena);
}

TEST(traffic_memory_pool_and_array_fail)
{
    ARRAY_OF(int) numbers = { 0 };
    struct pool pool;

    pool_init(&pool, 64, 4, 0);
    all_fail();
    CHECK(pool_get(&pool) == NULL);
    CHECK(!ARRAY_HAS_SPACE(&numbers, 1));
    CHECK(traffic_malloc(1) == NULL);
    none_fail();
    CHECK(pool_get(&pool) != NULL);
    CHECK(ARRAY_HAS_SPACE(&numbers, 1));
    ARRAY_FREE(&numbers);
    pool_fini(&pool);
}

/* A thread of its own: what it takes and gives back is seen in the sum when it is over. */
static void *take_and_return(void *arg)
{
    uint64_t *seen = arg;
    void *block = traffic_malloc(8u << 20);
    struct buf b = { 0 };

    seen[0] = traffic_memory_used();
    traffic_memory_set_limit(traffic_memory_used() + (1u << 20));
    seen[1] = buf_grow(&b, 4u << 20);
    seen[2] = buf_grow(&b, 1000);
    traffic_memory_set_limit(0);
    buf_fini(&b);
    traffic_free(block);
    return NULL;
}

TEST(traffic_memory_sum_and_limit)
{
    uint64_t before = traffic_memory_used(), refused = traffic_memory_refused(), seen[3];
    pthread_t thread;

    CHECK_INT(pthread_create(&thread, NULL, take_and_return, seen), 0);
    pthread_join(thread, NULL);
    CHECK(seen[0] >= before + (8u << 20));
    CHECK(!seen[1]);
    CHECK(seen[2]);
    CHECK_INT(traffic_memory_refused(), refused + 1);
    CHECK_INT(traffic_memory_used(), before);
}

TEST(traffic_memory_failures_by_size_and_time)
{
    void *a, *b;

    alloc_failures_set((struct alloc_failures){ .above = 100 });
    a = traffic_malloc(100);
    CHECK(a != NULL);
    CHECK(traffic_calloc(1, 101) == NULL);
    CHECK(traffic_realloc(a, 200) == NULL);
    alloc_failures_set((struct alloc_failures){ .after = 1 });
    b = traffic_malloc(1);
    CHECK(b != NULL);
    CHECK(traffic_malloc(1) == NULL);
    none_fail();
    traffic_free(a);
    traffic_free(b);
}

/* Each step begins at its share of the limit, and what is freed ends it. */
static void *fill_up(void *arg)
{
    enum memory_pressure *seen = arg;
    uint64_t before = traffic_memory_used();
    void *block[4];

    traffic_memory_set_limit(before + (100u << 20));
    seen[0] = traffic_memory_pressure();
    for (unsigned i = 0; i < 4; i++) {
        block[i] = traffic_malloc((i == 0 ? 82u : i == 1 ? 8u : i == 2 ? 6u : 1u) << 20);
        seen[i + 1] = traffic_memory_pressure();
    }
    for (unsigned i = 0; i < 4; i++)
        traffic_free(block[i]);
    seen[5] = traffic_memory_pressure();
    traffic_memory_set_limit(0);
    return NULL;
}

TEST(traffic_memory_pressure_by_steps)
{
    enum memory_pressure seen[6];
    uint64_t given_back = traffic_memory_given_back(PRESSURE_BODIES);
    pthread_t thread;

    if (traffic_memory_used() > 8u << 20)
        return;                         /* other tests hold much: shares would be others */
    CHECK_INT(pthread_create(&thread, NULL, fill_up, seen), 0);
    pthread_join(thread, NULL);
    CHECK_INT(seen[0], PRESSURE_NONE);
    CHECK_INT(seen[1], PRESSURE_IDLE);
    CHECK_INT(seen[2], PRESSURE_BODIES);
    CHECK_INT(seen[3], PRESSURE_LARGEST);
    CHECK_INT(seen[4], PRESSURE_LARGEST);
    CHECK_INT(seen[5], PRESSURE_NONE);
    CHECK(!traffic_memory_gives_back(PRESSURE_BODIES));
    CHECK_INT(traffic_memory_given_back(PRESSURE_BODIES), given_back);
}

/* A burst takes 91 % of the limit, from a pool or from a heap, and ends. The limit is large against
 * what other tests hold. */
struct burst {
    struct pool *pool;
    struct heap *heap;
    enum memory_pressure before, high, after;
    uint64_t used_high, used_after;
    bool works;
};

#define BURST_BLOCK 4096

static void *burst_block(struct burst *b)
{
    return b->pool != NULL ? pool_get(b->pool) : heap_get(b->heap, BURST_BLOCK);
}

static void burst_end(struct burst *b, void *block)
{
    if (b->pool != NULL)
        pool_put(b->pool, block);
    else
        heap_put(b->heap, block);
}

static void *burst_runs(void *arg)
{
    struct burst *b = arg;
    uint64_t used = traffic_memory_used(), limit = 4 * used + (100u << 20);
    size_t blocks = (limit / 100 * 91 - used) / BURST_BLOCK;
    void **block = calloc(blocks, sizeof(*block));

    traffic_memory_set_limit(limit);
    b->before = traffic_memory_pressure();
    for (size_t i = 0; i < blocks; i++)
        block[i] = burst_block(b);
    b->high = traffic_memory_pressure();
    b->used_high = traffic_memory_used();
    for (size_t i = 0; i < blocks; i++)
        burst_end(b, block[i]);
    b->after = traffic_memory_pressure();
    b->used_after = traffic_memory_used();
    block[0] = burst_block(b);
    b->works = block[0] != NULL;
    burst_end(b, block[0]);
    free(block);
    return NULL;
}

static void burst_check(struct test *t, struct burst *b)
{
    pthread_t thread;

    CHECK_INT(pthread_create(&thread, NULL, burst_runs, b), 0);
    pthread_join(thread, NULL);
    CHECK_INT(b->before, PRESSURE_NONE);
    CHECK(b->high >= PRESSURE_BODIES);
    CHECK_INT(b->after, PRESSURE_NONE);
    CHECK(b->works);
    traffic_memory_set_limit(0);
}

TEST(traffic_memory_pool_returns_memory_after_a_burst)
{
    uint64_t used = traffic_memory_used(), idle = traffic_memory_idle();
    struct burst b = { 0 };
    struct pool pool;

    pool_init(&pool, BURST_BLOCK, 16, 0);
    b.pool = &pool;
    burst_check(t, &b);
    CHECK(b.used_after < used + (16u << 20));
    pool_fini(&pool);
    CHECK_INT(traffic_memory_idle(), idle);
    CHECK(traffic_memory_used() <= used);
}

TEST(traffic_memory_heap_returns_memory_after_a_burst)
{
    uint64_t used = traffic_memory_used(), idle = traffic_memory_idle();
    struct burst b = { .heap = heap_new() };

    burst_check(t, &b);
    CHECK(b.used_after + (8u << 20) < b.used_high);
    CHECK(heap_free(b.heap));
    CHECK_INT(traffic_memory_idle(), idle);
    CHECK(traffic_memory_used() <= used);
}
