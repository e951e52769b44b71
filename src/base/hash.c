/* SPDX-License-Identifier: GPL-2.0-or-later */
/* base/hash.c - multiply-and-fold over 16 bytes a step. The seed enters before the data, so
 * that who does not know it cannot make keys collide. */
#include "base/hash.h"

#include <sys/random.h>
#include <time.h>

static uint64_t load64(const uint8_t *p)
{
    uint64_t v;

    memcpy(&v, p, 8);
    return v;
}

/* The last 0-7 bytes as one number. */
static uint64_t load_tail(const uint8_t *p, size_t len)
{
    uint64_t v = 0;

    memcpy(&v, p, len);
    return v;
}

uint64_t hash_bytes(const void *data, size_t len, uint64_t seed)
{
    const uint8_t *p = data;
    uint64_t h = hash_mix(seed, len);

    for (; len >= 16; len -= 16, p += 16)
        h = hash_mix(h ^ load64(p), load64(p + 8) ^ seed);
    if (len >= 8) {
        h = hash_mix(h, load64(p));
        len -= 8;
        p += 8;
    }
    if (len > 0)
        h = hash_mix(h, load_tail(p, len));
    return hash_mix(h, seed);
}

uint64_t hash_string(const char *s, uint64_t seed)
{
    return hash_bytes(s, strlen(s), seed);
}

/* Written before threads start: drawn at the first call, which is one at load time. */
static uint64_t process_seed;
static bool process_seed_set;

void hash_seed_fix(uint64_t seed)
{
    process_seed = seed;
    process_seed_set = true;
}

uint64_t hash_seed(void)
{
    uint64_t seed;
    struct timespec now;

    if (process_seed_set)
        return process_seed;
    if (getrandom(&seed, sizeof(seed), GRND_NONBLOCK) != sizeof(seed)) {
        clock_gettime(CLOCK_REALTIME, &now);
        seed = hash_mix((uint64_t)now.tv_sec, (uint64_t)now.tv_nsec);
    }
    hash_seed_fix(seed);
    return seed;
}
