/* SPDX-License-Identifier: GPL-2.0-or-later */
/* match/tests/pair_set_test.c - every search finds what the plain one finds, in exact buffers. */
#include "base/array.h"
#include "base/system/cpu.h"
#include "base/test.h"
#include "match/pair_set.h"

#include <stdlib.h>
#include <string.h>

static uint32_t next_random(uint32_t *state)
{
    *state = *state * 1664525u + 1013904223u;
    return *state >> 8;
}

/* Few different bytes, so that pairs are frequent. */
static uint8_t some_byte(uint32_t *state, unsigned kinds)
{
    return (uint8_t)(next_random(state) % kinds * 37u);
}

static unsigned differences(const struct pair_set *s, uint32_t *state, unsigned kinds)
{
    unsigned wrong = 0;

    for (unsigned count = 0; count <= PAIR_BLOCK; count++) {
        uint8_t *exact = xmalloc(count + 1u);   /* so that a sanitizer sees a read too far */
        uint64_t want, found;

        for (unsigned i = 0; i <= count; i++)
            exact[i] = some_byte(state, kinds);
        want = pair_set_find_plain(s, exact, count);
        found = pair_set_find(s, exact, count);
        wrong += (found & want) != want;
        wrong += count < PAIR_BLOCK && found >> count != 0;
        for (unsigned i = 0; i < count; i++)
            wrong += pair_set_has(s, exact + i) != (want >> i & 1);
        free(exact);
    }
    return wrong;
}

TEST(pair_set_finds_every_pair_on_each_level)
{
    uint32_t state = 20261127;
    static const char *const level[] = { "scalar", "sse4", "avx2", "avx512", "neon" };

    for (unsigned l = 0; l < ARRAY_LEN(level); l++) {
        struct err err;

        if (cpu_choose(level[l], &err) < 0)
            continue;
        for (unsigned pairs = 0; pairs < 60; pairs += 7) {
            struct pair_set *s = xcalloc(1, sizeof(*s));

            pair_set_init(s);
            for (unsigned i = 0; i < pairs; i++)
                pair_set_add(s, some_byte(&state, 12), some_byte(&state, 12), i % PAIR_BUCKETS);
            CHECK_INT(differences(s, &state, 12), 0);
            CHECK_INT(differences(s, &state, 256), 0);
            free(s);
        }
    }
    CHECK_INT(cpu_choose(NULL, &(struct err){ 0 }), 0);
}

TEST(pair_set_tells_the_order_of_both_bytes)
{
    struct pair_set *s = xcalloc(1, sizeof(*s));

    pair_set_init(s);
    pair_set_add(s, 'a', 'b', 0);
    CHECK(pair_set_has(s, (const uint8_t *)"ab"));
    CHECK(!pair_set_has(s, (const uint8_t *)"ba"));
    CHECK_INT(pair_set_find(s, (const uint8_t *)"xxabxxba", 7), 1u << 2);
    free(s);
}
