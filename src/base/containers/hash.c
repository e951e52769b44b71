/* SPDX-License-Identifier: GPL-2.0-or-later */
/* base/containers/hash.c - SipHash-1-3, after Aumasson and Bernstein (SipHash: a fast short-input
 * PRF, 2012), with one round for each word and three at the end; and the keys. Keyed, so that
 * traffic cannot be crafted to fill one bucket. */
#include "base/containers/hash.h"

#include <stddef.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

struct sip {
    uint64_t v0, v1, v2, v3;
};

static inline uint64_t rotl(uint64_t x, unsigned n)
{
    return x << n | x >> (64 - n);
}

static inline void sip_round(struct sip *s)
{
    s->v0 += s->v1;
    s->v2 += s->v3;
    s->v1 = rotl(s->v1, 13) ^ s->v0;
    s->v3 = rotl(s->v3, 16) ^ s->v2;
    s->v0 = rotl(s->v0, 32);
    s->v2 += s->v1;
    s->v0 += s->v3;
    s->v1 = rotl(s->v1, 17) ^ s->v2;
    s->v3 = rotl(s->v3, 21) ^ s->v0;
    s->v2 = rotl(s->v2, 32);
}

static inline void sip_word(struct sip *s, uint64_t word)
{
    s->v3 ^= word;
    sip_round(s);
    s->v0 ^= word;
}

/* SipHash reads words as little-endian. */
static uint64_t load_word(const uint8_t *p)
{
    uint64_t v;

    memcpy(&v, p, 8);
    return __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ ? __builtin_bswap64(v) : v;
}

/* The last 0 to 7 bytes, with the length in the highest byte. */
static uint64_t last_word(const uint8_t *p, size_t len)
{
    uint64_t v = (uint64_t)len << 56;

    for (size_t i = 0, rest = len & 7; i < rest; i++)
        v |= (uint64_t)p[i] << (8 * i);
    return v;
}

/* The constants are the ASCII text "somepseudorandomlygeneratedbytes" of the paper. */
uint64_t hash_bytes_keyed(const void *data, size_t len, struct hash_key key)
{
    struct sip s = { key.k[0] ^ UINT64_C(0x736f6d6570736575),
                     key.k[1] ^ UINT64_C(0x646f72616e646f6d),
                     key.k[0] ^ UINT64_C(0x6c7967656e657261),
                     key.k[1] ^ UINT64_C(0x7465646279746573) };
    const uint8_t *p = data;

    for (size_t words = len / 8; words > 0; words--, p += 8)
        sip_word(&s, load_word(p));
    sip_word(&s, last_word(p, len));
    s.v2 ^= 0xff;
    for (unsigned i = 0; i < 3; i++)
        sip_round(&s);
    return s.v0 ^ s.v1 ^ s.v2 ^ s.v3;
}

uint64_t hash_bytes(const void *data, size_t len)
{
    return hash_bytes_keyed(data, len, hash_keys()->bytes);
}

uint64_t hash_string(const char *s)
{
    return hash_bytes(s, strlen(s));
}

/* --- keys ------------------------------------------------------------------------------------- */

/* Written before threads start, read-only afterwards. */
struct hash_keys hash_process_keys;

/* Derives all keys from one, by hashing a counter. */
static void keys_derive(struct hash_key from)
{
    struct hash_keys *keys = &hash_process_keys;
    uint64_t n = 0;

    for (unsigned i = 0; i < 2; i++, n++)
        keys->bytes.k[i] = hash_bytes_keyed(&n, sizeof(n), from);
    for (unsigned i = 0; i < 2 * HASH_PAIRS; i++, n++)
        keys->pair[i] = hash_bytes_keyed(&n, sizeof(n), from);
    for (unsigned i = 0; i < 5; i++, n++)
        keys->finish[i] = hash_bytes_keyed(&n, sizeof(n), from);
    keys->last = hash_bytes_keyed(&n, sizeof(n), from);
    keys->drawn = true;
}

/* For tests and reproducible runs: the order of hash tables is then the same in each run. */
void hash_seed_fix(uint64_t seed)
{
    keys_derive((struct hash_key){ { seed, ~seed } });
}

#define KEY_BYTES offsetof(struct hash_keys, drawn)

/* All keys come from the kernel. A machine that has just booted may have no entropy yet, and
 * blocking would delay the start. In that case the keys come from times, the process id and an
 * address. */
void hash_keys_draw(void)
{
    struct hash_key weak;
    struct timespec now;

    if (getrandom(&hash_process_keys, KEY_BYTES, GRND_NONBLOCK) == KEY_BYTES) {
        hash_process_keys.drawn = true;
        return;
    }
    clock_gettime(CLOCK_REALTIME, &now);
    weak.k[0] = (uint64_t)now.tv_sec << 32 ^ (uint64_t)now.tv_nsec;
    clock_gettime(CLOCK_MONOTONIC, &now);
    weak.k[1] = (uint64_t)now.tv_nsec << 32 ^ (uint64_t)getpid() ^ (uintptr_t)&weak;
    keys_derive(weak);
}
