/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tests of base/heap. */
#include "base/memory/heap.h"
#include "base/test.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

TEST(heap_allocates_blocks_of_every_size)
{
    struct heap *heap = heap_new();

    for (size_t size = 0; size < 300000; size += 1 + size / 37) {
        unsigned char *p = heap_get(heap, size), *q = heap_get(heap, size);

        CHECK(p != NULL && q != NULL && p != q);
        CHECK_INT((uintptr_t)p % 16, 0);
        memset(p, 0x11, size);
        memset(q, 0x22, size);
        for (size_t i = 0; i < size; i++)
            if (p[i] != 0x11 || q[i] != 0x22) {
                CHECK(!"blocks overlap");
                break;
            }
        heap_put(heap, p);
        CHECK(heap_get(heap, size) == p);       /* the last one given back, while it is warm */
        heap_put(heap, p);
        heap_put(heap, q);
    }
    CHECK_INT(heap_in_use(heap), 0);
    CHECK(heap_free(heap));
}

TEST(heap_tells_how_much_a_block_has)
{
    struct heap *heap = heap_new();

    CHECK_INT(heap_block_size(100), 112);
    CHECK_INT(heap_block_size(532), 640);
    for (size_t size = 1; size < 40000; size += size / 7 + 1) {
        size_t has = heap_block_size(size);
        unsigned char *block = heap_get(heap, size), *next = heap_get(heap, has);

        CHECK(has >= size && has <= size + MAX(size / 4, (size_t)16));
        CHECK_INT(heap_block_size(has), has);
        memset(block, 1, has);
        memset(next, 2, has);
        CHECK(block[0] == 1 && block[has - 1] == 1);
        heap_put(heap, block);
        heap_put(heap, next);
    }
    CHECK(heap_free(heap));
}

TEST(heap_random_blocks_keep_what_is_in_them)
{
    struct heap *heap = heap_new();
    struct { unsigned char *p; size_t size; unsigned char fill; } slot[200] = { 0 };
    uint32_t random = 12345;

    for (int round = 0; round < 20000; round++) {
        random = random * 1664525 + 1013904223;
        unsigned i = (random >> 8) % 200;
        size_t size = (random >> 16) % ((random >> 4) % 50 == 0 ? 200000 : 3000);

        for (size_t k = 0; k < slot[i].size; k += 97)
            CHECK_INT(slot[i].p[k], slot[i].fill);
        if (slot[i].p != NULL && random % 3 == 0) {
            size_t old = slot[i].size;

            slot[i].p = heap_resize(heap, slot[i].p, size);
            for (size_t k = 0; k < MIN(old, size); k += 97)
                CHECK_INT(slot[i].p[k], slot[i].fill);
        } else {
            heap_put(heap, slot[i].p);
            slot[i].p = heap_get_zeroed(heap, 1, size);
            CHECK(size == 0 || slot[i].p[size - 1] == 0);
        }
        slot[i].size = size;
        slot[i].fill = (unsigned char)random;
        memset(slot[i].p, slot[i].fill, size);
    }
    for (unsigned i = 0; i < 200; i++)
        heap_put(heap, slot[i].p);
    CHECK(heap_free(heap));
}

/* Is it mapped at all? */
static bool is_there(void *block)
{
    return msync((void *)((uintptr_t)block & ~(uintptr_t)4095), 4096, MS_ASYNC) == 0;
}

TEST(heap_that_its_thread_has_left_goes_with_the_last_block)
{
    struct heap *heap = heap_new(), *other = heap_new();
    void *small = heap_get(heap, 100), *home = heap_get(heap, 100), *large = heap_get(heap, 1 << 20);
    void *retained = heap_get(heap, 200000);

    heap_put(heap, retained);
    heap_put(other, home);              /* came home, and is not missing */
    CHECK(!heap_free(heap));
    CHECK(is_there(small) && is_there(large) && is_there(retained));
    heap_put(other, large);             /* goes at once */
    CHECK(is_there(small) && !is_there(large));
    small = heap_resize(other, small, 5000);    /* is another's now */
    CHECK(!is_there(home) && !is_there(retained));
    heap_put(other, small);
    CHECK(heap_free(other));
}

static void *free_all(void *arg)
{
    void **block = arg;

    for (int i = 0; i < 1000; i++)
        heap_put(NULL, block[i]);
    return NULL;
}

TEST(heap_is_left_while_blocks_return)
{
    for (int round = 0; round < 20; round++) {
        struct heap *heap = heap_new();
        void *block[3][1000];
        pthread_t thread[3];

        for (int n = 0; n < 3; n++)
            for (int i = 0; i < 1000; i++)
                block[n][i] = heap_get(heap, (size_t)i * 2);
        for (int n = 0; n < 3; n++)
            CHECK_INT(pthread_create(&thread[n], NULL, free_all, block[n]), 0);
        (void)heap_free(heap);
        for (int n = 0; n < 3; n++)
            pthread_join(thread[n], NULL);
        CHECK(!is_there(block[0][999]));
    }
}

TEST(heap_refuses_what_cannot_be)
{
    struct heap *heap = heap_new();
    void *p = heap_get(heap, 100);

    CHECK(heap_get(heap, SIZE_MAX) == NULL);
    CHECK(heap_get(heap, SIZE_MAX / 2 - 1) == NULL);
    CHECK(heap_get_zeroed(heap, SIZE_MAX / 8, 16) == NULL);
    CHECK(heap_resize(heap, p, SIZE_MAX) == NULL);      /* and p is as it was */
    CHECK_INT(heap_in_use(heap), 1);
    heap_put(heap, p);
    heap_put(heap, NULL);
    CHECK(heap_free(heap));
    CHECK(heap_free(NULL));
}

static void *free_block(void *arg)
{
    void **block = arg;
    struct heap *own = heap_new();

    for (int i = 0; i < 1000; i++)
        heap_put(own, block[i]);
    return heap_free(own) ? NULL : arg;
}

TEST(heap_blocks_return_from_other_threads)
{
    struct heap *heap = heap_new();
    void *block[4][1000], *result;
    pthread_t thread[4];

    for (int n = 0; n < 4; n++)
        for (int i = 0; i < 1000; i++)
            block[n][i] = heap_get(heap, (size_t)i);
    for (int n = 0; n < 4; n++)
        CHECK_INT(pthread_create(&thread[n], NULL, free_block, block[n]), 0);
    for (int i = 0; i < 1000; i++)              /* meanwhile the owner goes on */
        heap_put(heap, heap_get(heap, (size_t)i * 50));
    for (int n = 0; n < 4; n++) {
        CHECK_INT(pthread_join(thread[n], &result), 0);
        CHECK(result == NULL);
    }
    CHECK(heap_free(heap));
}

TEST(heap_takes_large_blocks_again_that_returned)
{
    struct heap *heap = heap_new(), *other = heap_new();
    void *p = heap_get(heap, 1 << 20), *q = heap_get(heap, 100000);

    heap_put(other, p);                 /* as another thread does */
    heap_put(other, q);
    CHECK(heap_get(heap, 1 << 20) == p);
    CHECK(heap_get(heap, 100000) == q);
    heap_put(heap, p);
    heap_put(heap, q);
    CHECK(heap_free(heap) && heap_free(other));
}

#define MANY 1000
#define RECENT_LIMIT 32          /* as in heap.c */

/* Blocks of many slabs: what was freed last comes first, and all are there again. */
TEST(heap_takes_recent_blocks_first)
{
    struct heap *heap = heap_new();
    void *block[MANY], *again[MANY];

    for (int i = 0; i < MANY; i++)
        block[i] = heap_get(heap, 500);
    for (int i = 0; i < MANY; i++)
        heap_put(heap, block[i]);
    CHECK_INT(heap_in_use(heap), 0);
    for (int i = 1; i <= MANY % RECENT_LIMIT; i++)
        CHECK(heap_get(heap, 500) == block[MANY - i]);
    CHECK_INT(heap_in_use(heap), MANY % RECENT_LIMIT);
    for (int i = 1; i <= MANY % RECENT_LIMIT; i++)
        heap_put(heap, block[MANY - i]);
    for (int i = 0; i < MANY; i++) {
        again[i] = heap_get(heap, 500);
        memset(again[i], i, 500);
    }
    for (int i = 0; i < MANY; i++)
        CHECK_INT(*(unsigned char *)again[i], (unsigned char)i);
    CHECK_INT(heap_in_use(heap), MANY);
    for (int i = 0; i < MANY; i++)
        heap_put(heap, again[i]);
    CHECK(heap_free(heap));
}
