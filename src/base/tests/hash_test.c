/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tests of base/hash. */
#include "base/containers/hash.h"
#include "base/test.h"

static const struct hash_key counting = { { UINT64_C(0x0706050403020100),
                                            UINT64_C(0x0f0e0d0c0b0a0908) } };

/* The key 00 01 .. 0f, the bytes 00 01 ..; and a key of zeros. */
TEST(hash_is_siphash_1_3)
{
    static const struct { size_t len; uint64_t hash; } known[] = {
        { 0, UINT64_C(0xabac0158050fc4dc) }, { 1, UINT64_C(0xc9f49bf37d57ca93) },
        { 7, UINT64_C(0xd3927d989bb11140) }, { 8, UINT64_C(0x369095118d299a8e) },
        { 15, UINT64_C(0xd320d86d2a519956) }, { 16, UINT64_C(0xcc4fdd1a7d908b66) },
        { 63, UINT64_C(0x9d199062b7bbb3a8) },
    };
    uint8_t data[64];

    for (unsigned i = 0; i < sizeof(data); i++)
        data[i] = (uint8_t)i;
    for (unsigned i = 0; i < ARRAY_LEN(known); i++)
        CHECK(hash_bytes_keyed(data, known[i].len, counting) == known[i].hash);
    CHECK(hash_bytes_keyed("abc", 3, (struct hash_key){ { 0, 0 } }) ==
          UINT64_C(0xc03bc3a0042630f2));
}

TEST(hash_sees_every_byte_and_the_length)
{
    static const struct hash_key other = { { 1, 2 } };
    uint8_t data[64] = { 0 };

    for (size_t len = 0; len < sizeof(data); len++) {
        uint64_t h = hash_bytes_keyed(data, len, counting);

        CHECK(h != hash_bytes_keyed(data, len + 1, counting));
        CHECK(h != hash_bytes_keyed(data, len, other));
        for (size_t i = 0; i < len; i++) {
            data[i] ^= 0x80;
            CHECK(h != hash_bytes_keyed(data, len, counting));
            data[i] ^= 0x80;
        }
    }
}

#define KEYS 4096u

/* As many keys as buckets: with random numbers more than 16 in one is a matter of 1 in 10^9. */
static unsigned fullest(const uint64_t hash[static KEYS])
{
    static uint16_t bucket[KEYS];
    unsigned most = 0;

    memset(bucket, 0, sizeof(bucket));
    for (unsigned i = 0; i < KEYS; i++)
        most = MAX(most, ++bucket[hash[i] % KEYS]);
    return most;
}

/* A multiplication by an operand that the input makes 0 forgets all that went before. */
TEST(hash_of_strings_with_one_end)
{
    static const uint64_t ends[] = { UINT64_C(0xd1b54a32d192ed03), UINT64_C(0x9e3779b97f4a7c15), 0,
                                     UINT64_MAX };
    static uint64_t hash[KEYS];
    uint64_t words[3];

    for (unsigned e = 0; e < ARRAY_LEN(ends); e++) {
        for (unsigned i = 0; i < KEYS; i++) {
            words[0] = i;
            words[1] = i * i;
            words[2] = ends[e];
            hash[i] = hash_bytes(words, sizeof(words));
        }
        CHECK(fullest(hash) <= 16);
    }
}

TEST(hash_of_pairs_with_one_constant)
{
    static const uint64_t ends[] = { UINT64_C(0xd1b54a32d192ed03), UINT64_C(0x9e3779b97f4a7c15), 0,
                                     UINT64_MAX };
    static uint64_t hash[2][KEYS];

    for (unsigned e = 0; e < ARRAY_LEN(ends); e++) {
        for (uint64_t i = 0; i < KEYS; i++) {
            struct hash_sum a = { 0 }, b = { 0 };

            hash_pair(&a, hash_keys(), 0, i << 48, ends[e]);
            hash_pair(&b, hash_keys(), 0, ends[e], i);
            hash[0][i] = hash_finish(&a, hash_keys());
            hash[1][i] = hash_finish(&b, hash_keys());
        }
        CHECK(fullest(hash[0]) <= 16);
        CHECK(fullest(hash[1]) <= 16);
    }
}

/* A million keys in a row over 256 buckets: none far from its share. */
TEST(hash_spreads)
{
    static unsigned bucket[256];

    for (uint32_t i = 0; i < 256 * 1000; i++)
        bucket[hash_bytes_keyed(&i, sizeof(i), counting) & 255]++;
    for (int i = 0; i < 256; i++)
        CHECK(bucket[i] > 800 && bucket[i] < 1200);
}

TEST(hash_keys_stay)
{
    CHECK(hash_string("abc") == hash_bytes("abc", 3));
    CHECK(hash_string("abc") == hash_bytes_keyed("abc", 3, hash_keys()->bytes));
    CHECK(hash_keys()->pair[0] != hash_keys()->pair[1]);
}
