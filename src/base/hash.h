/* SPDX-License-Identifier: GPL-2.0-or-later */
/* base/hash.h - hashing of keys. Not for secrets, but seeded against crafted collisions. */
#ifndef BASE_HASH_H
#define BASE_HASH_H

#include "base/base.h"

#include <string.h>

static inline uint64_t hash_mix(uint64_t a, uint64_t b)
{
    unsigned __int128 m = (unsigned __int128)(a ^ 0x9e3779b97f4a7c15u) * (b ^ 0xd1b54a32d192ed03u);

    return (uint64_t)m ^ (uint64_t)(m >> 64);
}

uint64_t hash_bytes(const void *data, size_t len, uint64_t seed);
uint64_t hash_string(const char *s, uint64_t seed);

/* Random seed for tables that attackers may fill; fixed when set by --no-random. */
uint64_t hash_seed(void);
void hash_seed_fix(uint64_t seed);

#endif
