/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tests of base/packed_arena. */
#include "base/memory/packed_arena.h"

#include "base/array.h"
#include "base/memory/packer.h"
#include "base/test.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define OBJECTS 20000
#define OBJECT_SIZE 100

static char *object_at[OBJECTS];

static void fill(struct packed_arena *arena, struct test *t)
{
    for (unsigned i = 0; i < OBJECTS; i++) {
        object_at[i] = packed_arena_alloc(arena, OBJECT_SIZE);
        CHECK_INT((uintptr_t)object_at[i] % 8, 0);
        CHECK_INT(object_at[i][0] | object_at[i][OBJECT_SIZE - 1], 0);
        snprintf(object_at[i], OBJECT_SIZE, "object %u of the arena, that is like the others", i);
    }
}

static bool is_as_written(unsigned i)
{
    char expected[OBJECT_SIZE];

    snprintf(expected, sizeof(expected), "object %u of the arena, that is like the others", i);
    return strcmp(object_at[i], expected) == 0;
}

static void arena_close(struct packed_arena *arena)
{
    struct packer *packer = packer_new();

    packed_arena_close(arena, packer);
    packer_close(packer);
    packer_unref(packer);
}

static bool can_pack(void)
{
    uint8_t in[256] = { 0 }, out[256];
    struct packer *packer = packer_new();
    bool can = sysconf(_SC_PAGESIZE) < (long)PACKED_CHUNK &&
               packer_pack(packer, in, sizeof(in), out, sizeof(out)) > 0;

    packer_unref(packer);
    return can;
}

/* The pages of all objects that are in memory. */
static unsigned pages_there(void)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    uintptr_t last = 0;
    unsigned there = 0;

    for (unsigned i = 0; i < OBJECTS; i++) {
        uintptr_t at = (uintptr_t)object_at[i] & ~(page - 1);
        unsigned char in_core = 0;

        if (at != last && mincore((void *)at, page, &in_core) == 0)
            there += in_core & 1;
        last = at;
    }
    return there;
}

TEST(packed_arena_takes_less_and_gives_back)
{
    struct packed_arena arena = { 0 };
    unsigned before, after, wrong = 0;

    fill(&arena, t);
    before = pages_there();
    arena_close(&arena);
    after = pages_there();
    t->skipped = !can_pack();
    CHECK(t->skipped || after < before / 10);
    packed_read(object_at[OBJECTS / 2]);
    CHECK(is_as_written(OBJECTS / 2));
    CHECK(t->skipped || pages_there() <= after + 2);
    for (unsigned i = 0; i < OBJECTS; i++) {
        packed_read(object_at[i]);
        wrong += !is_as_written(i);
    }
    CHECK_INT(wrong, 0);
    packed_arena_fini(&arena);
}

TEST(packed_arena_is_read_completely)
{
    struct packed_arena arena = { 0 };
    unsigned wrong = 0;

    fill(&arena, t);
    arena_close(&arena);
    packed_arena_read_all(&arena);
    for (unsigned i = 0; i < OBJECTS; i++)
        wrong += !is_as_written(i);
    CHECK_INT(wrong, 0);
    packed_arena_fini(&arena);
}

TEST(packed_arena_objects_of_all_sizes)
{
    struct packed_arena arena = { 0 };

    CHECK(packed_arena_alloc(&arena, PACKED_CHUNK + 1) == NULL);
    for (unsigned i = 0; i < 100; i++) {
        uint8_t *all = packed_arena_alloc(&arena, PACKED_CHUNK), *one;

        CHECK_INT((uintptr_t)all % PACKED_CHUNK, 0);
        memset(all, 1, PACKED_CHUNK);
        one = packed_arena_alloc(&arena, 1);
        CHECK_INT(*one, 0);
        CHECK(one + 8 == (uint8_t *)packed_arena_alloc(&arena, 7));
    }
    arena_close(&arena);         /* chunks of one byte, and one that is in use by 16 */
    packed_arena_fini(&arena);
}

static void *read_each(void *arg)
{
    size_t *wrong = arg;

    for (unsigned i = 0; i < OBJECTS; i++) {
        packed_read(object_at[i]);
        *wrong += !is_as_written(i);
    }
    return NULL;
}

TEST(packed_arena_is_read_by_several_threads)
{
    struct packed_arena arena = { 0 };
    pthread_t thread[4];
    size_t wrong[4] = { 0 };

    fill(&arena, t);
    arena_close(&arena);
    for (unsigned i = 0; i < ARRAY_LEN(thread); i++)
        CHECK_INT(pthread_create(&thread[i], NULL, read_each, &wrong[i]), 0);
    for (unsigned i = 0; i < ARRAY_LEN(thread); i++) {
        pthread_join(thread[i], NULL);
        CHECK_INT(wrong[i], 0);
    }
    packed_arena_fini(&arena);
}
