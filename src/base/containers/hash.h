/* SPDX-License-Identifier: GPL-2.0-or-later */
/* base/containers/hash.h - keyed hashing, against crafted collisions.
 *
 * Keys that share a bucket turn a table into a list. An attacker who knows the constants can
 * compute such keys, unless the hash has a secret whose effect they cannot cancel. This file has
 * two such hashes and says why each is safe.
 *
 * hash_bytes(): SipHash-1-3 with 128 random bits as its key, for strings and for tables that are
 * not used for every packet. It is designed as a pseudorandom function: without the key its results
 * cannot be distinguished from random numbers. No known attack on 1-3 finds collisions better than
 * chance does.
 *
 * hash_pair() and hash_finish(): for the few words of a flow's addresses, in a few nanoseconds.
 *
 *   1. The words are taken in pairs, and the pairs' products added, in 128 bits:
 *      sum of (a_i + k_2i) * (b_i + k_2i+1). This is NH (Black, Halevi, Krawczyk, Krovetz, Rogaway:
 *      UMAC, 1999). Each operand of each multiplication has a random key of its own. Of two
 *      different inputs let a_i differ: then the difference of both sums is k_2i+1 times
 *      (a_i - a'_i) plus things without k_2i+1, and for each value of these at most one k_2i+1 in
 *      2^64 makes it 0. So two inputs, chosen without the keys, have one sum with a chance of at
 *      most 2^-64. In particular no choice of a makes b count for nothing: a would have to be
 *      -k_2i.
 *   2. The four words w of the sum become 32 bits: the upper half of
 *      f_0 + (w_0 + f_1)(w_1 + f_2) + (w_2 + f_3)(w_3 + f_4), again each with a random key. This
 *      family is strongly universal (Lemire, Kaser: Strongly universal string hashing is fast,
 *      2014): the results of two different sums are random and independent of each other.
 *
 *   So two different inputs meet with a chance of 2^-32 + 2^-64, and n inputs make n^2 / 2^33 pairs
 *   that meet: as many as random numbers would. That holds for each set of inputs chosen before
 *   the results are seen, and an attacker sees none. (flow_id in the logs has one: logs are the
 *   operator's.) A last step that loses nothing takes away what order inputs in a row have left.
 *
 * All inputs of one table have the same number of pairs, or the last pair holds the number. */
#ifndef BASE_HASH_H
#define BASE_HASH_H

#include "base/base.h"

#include <string.h>

#define HASH_PAIRS 4

/* Random numbers, each independent of all others. */
struct hash_key {
    uint64_t k[2];
};

struct hash_keys {
    struct hash_key bytes;
    uint64_t pair[2 * HASH_PAIRS];
    uint64_t finish[5], last;
    bool drawn;
};

/* The keys of this process. The first call, at load time, draws them. */
extern struct hash_keys hash_process_keys;
void hash_keys_draw(void);
/* Derives all keys from the seed, for --no-random. */
void hash_seed_fix(uint64_t seed);

static inline const struct hash_keys *hash_keys(void)
{
    if (UNLIKELY(!hash_process_keys.drawn))
        hash_keys_draw();
    return &hash_process_keys;
}

/* Hash with the process's key. */
uint64_t hash_bytes(const void *data, size_t len);
uint64_t hash_string(const char *s);
/* Hashes with the given key. A constant key gives a checksum that is equal in every process. */
uint64_t hash_bytes_keyed(const void *data, size_t len, struct hash_key key);

struct hash_sum {
    unsigned __int128 sum;
};

/* Adds pair number i. Each i may occur once per sum. */
static inline void hash_pair(struct hash_sum *s, const struct hash_keys *keys, unsigned i,
                             uint64_t a, uint64_t b)
{
    s->sum += (unsigned __int128)(a + keys->pair[2 * i]) * (b + keys->pair[2 * i + 1]);
}

static inline uint32_t hash_finish(const struct hash_sum *s, const struct hash_keys *keys)
{
    const uint64_t *f = keys->finish;
    uint64_t low = (uint64_t)s->sum, high = (uint64_t)(s->sum >> 64);
    uint64_t h = f[0] + ((uint32_t)low + f[1]) * ((low >> 32) + f[2]) +
                 ((uint32_t)high + f[3]) * ((high >> 32) + f[4]);
    uint32_t out = (uint32_t)(h >> 32);

    out = (out ^ out >> 16) * ((uint32_t)keys->last | 1);
    return out ^ out >> 15;
}

/* Mixes two numbers without a key; only for numbers that traffic does not choose. */
static inline uint64_t hash_mix(uint64_t a, uint64_t b)
{
    unsigned __int128 m = (unsigned __int128)(a ^ 0x9e3779b97f4a7c15u) * (b ^ 0xd1b54a32d192ed03u);

    return (uint64_t)m ^ (uint64_t)(m >> 64);
}

#endif
