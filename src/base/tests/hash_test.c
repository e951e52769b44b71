/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tests of base/hash. */
#include "base/hash.h"
#include "base/test.h"

TEST(hash_sees_every_byte_and_the_length)
{
    uint8_t data[64] = { 0 };

    for (size_t len = 0; len < sizeof(data); len++) {
        uint64_t h = hash_bytes(data, len, 1);

        CHECK(h != hash_bytes(data, len + 1, 1));
        CHECK(h != hash_bytes(data, len, 2));
        for (size_t i = 0; i < len; i++) {
            data[i] ^= 0x80;
            CHECK(h != hash_bytes(data, len, 1));
            data[i] ^= 0x80;
        }
    }
}

/* A million keys in a row over 256 buckets: none far from its share. */
TEST(hash_spreads)
{
    static unsigned bucket[256];

    for (uint32_t i = 0; i < 256 * 1000; i++)
        bucket[hash_bytes(&i, sizeof(i), 99) & 255]++;
    for (int i = 0; i < 256; i++)
        CHECK(bucket[i] > 800 && bucket[i] < 1200);
}

TEST(hash_seed_stays)
{
    CHECK_INT(hash_seed(), hash_seed());
    CHECK_INT(hash_string("abc", 5), hash_bytes("abc", 3, 5));
}
