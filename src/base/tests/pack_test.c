/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tests of base/memory/pack: what comes back, what is refused, and damaged input. */
#include "base/memory/pack.h"
#include "base/test.h"

#include <string.h>

#define MOST (PACK_MOST + 1)

static uint32_t next(uint32_t *seed)
{
    *seed = *seed * 1664525 + 1013904223;
    return *seed >> 8;
}

/* Without liblz4 nothing is packed. */
static bool is_built(struct test *t)
{
    uint8_t in[1000] = { 0 }, out[1000];

    t->skipped = pack(in, sizeof(in), out, sizeof(out)) == 0;
    return !t->skipped;
}

/* Packs, unpacks and compares. Returns the packed size. */
static size_t there_and_back(struct test *t, const uint8_t *in, size_t len, size_t space)
{
    static uint8_t packed[MOST], out[MOST];
    size_t size = pack(in, len, packed, space);

    if (size == 0)
        return 0;
    CHECK(size <= space);
    memset(out, 0xaa, sizeof(out));
    CHECK(unpack(packed, size, out, len));
    CHECK(memcmp(in, out, len) == 0);
    CHECK(!unpack(packed, size, out, len + 1));
    CHECK(!unpack(packed, size, out, len - 1));
    CHECK(!unpack(packed, size - 1, out, len));
    return size;
}

TEST(pack_runs)
{
    static uint8_t in[MOST];

    if (!is_built(t))
        return;
    memset(in, 'a', sizeof(in));
    for (size_t len = 1; len <= PACK_MOST; len += len / 3 + 1)
        CHECK(there_and_back(t, in, len, sizeof(in)) > 0);
    CHECK(there_and_back(t, in, 20000, sizeof(in)) < 100);
    CHECK_INT(pack(in, PACK_MOST + 1, in, sizeof(in)), 0);
    CHECK_INT(pack(in, 0, in, sizeof(in)), 0);
}

TEST(pack_words)
{
    static const char words[] = "the quick brown fox jumps over the lazy dog again and ";
    static uint8_t in[20000];

    if (!is_built(t))
        return;
    for (size_t i = 0; i < sizeof(in); i++)
        in[i] = (uint8_t)(words[i % (sizeof(words) - 1)] ^ (i % 4096 == 77));
    CHECK(there_and_back(t, in, sizeof(in), sizeof(in)) < sizeof(in) / 50);
}

/* Each period from a byte on, and literals of each length before and after. */
TEST(pack_periods)
{
    static uint8_t in[2000];
    uint32_t seed = 1;

    if (!is_built(t))
        return;
    for (size_t period = 1; period < 300; period++) {
        size_t at = (size_t)next(&seed) % 300;

        for (size_t i = 0; i < sizeof(in); i++)
            in[i] = i < at || i < period || i > 1900 ? (uint8_t)next(&seed) : in[i - period];
        CHECK(there_and_back(t, in, sizeof(in), 2 * sizeof(in)) > 0);
    }
}

/* Random bytes do not become smaller, and their packed form only a little larger. */
TEST(pack_random)
{
    static uint8_t in[9000];
    uint32_t seed = 2;

    if (!is_built(t))
        return;
    for (size_t i = 0; i < sizeof(in); i++)
        in[i] = (uint8_t)next(&seed);
    CHECK_INT(there_and_back(t, in, sizeof(in), sizeof(in) / 4), 0);
    CHECK(there_and_back(t, in, sizeof(in), 2 * sizeof(in)) < sizeof(in) + sizeof(in) / 100);
}

TEST(unpack_damaged)
{
    static uint8_t in[3000], packed[6000], out[3000], damaged[6000];
    uint32_t seed = 3;
    size_t size;

    if (!is_built(t))
        return;
    for (size_t i = 0; i < sizeof(in); i++)
        in[i] = (uint8_t)(i % 5 == 0 ? next(&seed) : i / 50);
    size = pack(in, sizeof(in), packed, sizeof(packed));
    CHECK(size > 0);
    for (unsigned round = 0; round < 5000; round++) {
        memcpy(damaged, packed, size);
        for (unsigned i = 0; i < 1 + round % 4; i++)
            damaged[(size_t)next(&seed) % size] = (uint8_t)next(&seed);
        (void)!unpack(damaged, 1 + (size_t)next(&seed) % size, out, (size_t)next(&seed) % sizeof(out));
    }
}
