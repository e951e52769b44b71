/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tests of base/arena. */
#include "base/memory/arena.h"
#include "base/test.h"

#include <string.h>

TEST(arena_aligns_and_keeps_apart)
{
    struct arena a;
    unsigned char *p[100];

    arena_init(&a, 256, 0);
    for (size_t i = 0; i < ARRAY_LEN(p); i++) {
        p[i] = arena_alloc(&a, i);
        CHECK_INT((uintptr_t)p[i] % (i % 16 == 0 ? 16 : 8), 0);
        memset(p[i], (int)i, i);
    }
    for (size_t i = 0; i < ARRAY_LEN(p); i++) {
        for (size_t k = 0; k < i; k++)
            CHECK_INT(p[i][k], i);
    }
    arena_fini(&a);
}

TEST(arena_reset_uses_the_same_blocks)
{
    struct arena a;
    void *first[3];

    arena_init(&a, 128, 0);
    first[0] = arena_alloc(&a, 100);
    first[1] = arena_alloc(&a, 1000);
    first[2] = arena_alloc(&a, 100);
    for (int round = 0; round < 3; round++) {
        arena_reset(&a);
        CHECK_INT(a.used, 0);
        CHECK(arena_alloc(&a, 100) == first[0]);
        CHECK(arena_alloc(&a, 1000) == first[1]);
        CHECK(arena_alloc(&a, 100) == first[2]);
    }
    arena_fini(&a);
}

TEST(arena_limit_refuses)
{
    struct arena a;

    arena_init(&a, 128, 200);
    CHECK(arena_alloc(&a, 120) != NULL);
    CHECK(arena_alloc(&a, 120) == NULL);
    CHECK(arena_zalloc(&a, 120) == NULL);
    CHECK(arena_alloc(&a, 72) != NULL);
    CHECK(arena_alloc(&a, 9) == NULL);
    CHECK(arena_text(&a, text_of("12345678")) == NULL);
    CHECK(arena_text(&a, text_of("1234567")) != NULL);
    CHECK(arena_alloc(&a, 1) == NULL);
    CHECK(arena_text(&a, text_of("")) == NULL);
    arena_reset(&a);
    CHECK(arena_alloc(&a, 120) != NULL);
    arena_fini(&a);
}

TEST(arena_copies_and_prints)
{
    struct arena a;
    const unsigned char *zero;

    arena_init(&a, 64, 0);
    CHECK_STRING(arena_text(&a, (struct text){ "abcd", 2 }), "ab");
    CHECK_STRING(arena_printf(&a, "%s-%d", "x", 5), "x-5");
    CHECK_BYTES(arena_copy(&a, "\0\1", 2), 2, "\0\1", 2);
    zero = arena_zalloc(&a, 40);
    for (int i = 0; i < 40; i++)
        CHECK_INT(zero[i], 0);
    arena_fini(&a);
}

/* Small arenas are many: a new block of a growing one has less space than the arena uses. */
TEST(arena_grows_by_parts)
{
    struct arena a;
    const unsigned char *end;
    size_t used = 512, block = 0;

    arena_init(&a, 104, 0);
    end = (const unsigned char *)arena_alloc(&a, used) + used;
    for (unsigned i = 0; i < 400; i++) {
        const unsigned char *p = arena_alloc(&a, 8);

        if (p != end) {
            used += block;
            block = 0;
        }
        block += 8;
        end = p + 8;
        CHECK(block <= used * 3 / 4);
    }
    CHECK(used > 2000);
    arena_fini(&a);
}
