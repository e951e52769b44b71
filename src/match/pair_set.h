/* SPDX-License-Identifier: GPL-2.0-or-later */
/* match/pair_set.h - a set of pairs of bytes, and the search for them in a text, many positions at
 * once. For literals of two bytes and more that are too short for the searches of many patterns.
 * Read-only once built. */
#ifndef MATCH_PAIR_SET_H
#define MATCH_PAIR_SET_H

#include "base/base.h"

#define PAIR_BLOCK 64           /* positions of one step */
#define PAIR_BUCKETS 8

struct pair_set {
    uint64_t bits[65536 / 64];  /* by the pair as a little-endian number */
    /* A bit for each bucket with a pair whose first byte has this lower, or upper, half; the same
     * for the second byte. A position may have a pair if all four have a bit in common. */
    uint8_t half[4][16];
    uint64_t (*find)(const struct pair_set *s, const uint8_t *data, unsigned count);
};

/* Chooses the fastest search for this CPU. `s` is zeroed. */
void pair_set_init(struct pair_set *s);
/* Pairs of a bucket are best like each other. */
void pair_set_add(struct pair_set *s, uint8_t first, uint8_t second, unsigned bucket);

static inline bool pair_set_has(const struct pair_set *s, const uint8_t *at)
{
    unsigned pair = at[0] | (unsigned)at[1] << 8;

    return s->bits[pair >> 6] >> (pair & 63) & 1;
}

/* A bit for each of the first `count` positions, at most PAIR_BLOCK, at which a pair of the set may
 * be: pair_set_has() decides. count + 1 bytes are readable. */
static inline uint64_t pair_set_find(const struct pair_set *s, const uint8_t *data, unsigned count)
{
    return s->find(s, data, count);
}

/* In plain C: only positions that have one. Tests compare the others with it. */
uint64_t pair_set_find_plain(const struct pair_set *s, const uint8_t *data, unsigned count);

#endif
