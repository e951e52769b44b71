/* SPDX-License-Identifier: GPL-2.0-or-later */
/* match/mpm_teddy.h - the first pass of match/mpm_ngram.h on CPUs that can test many positions at
 * once.
 *
 * Literals are sorted into buckets; each bucket has a bit. Four bytes of each literal are tested.
 * Each byte and its neighbour are folded to a number of seven bits, the last byte with the first
 * one: four numbers. For each of the four, a table of 128 bytes, which fits into registers, holds
 * the buckets that have a literal with that number. Where a smaller table is much quicker, sets of
 * few literals fold the numbers to fewer bits. A position of the text passes when some bucket has
 * all four. The tested bytes and the bucket of each literal are chosen so that common text seldom
 * passes. */
#ifndef MATCH_MPM_TEDDY_H
#define MATCH_MPM_TEDDY_H

#include "match/mpm_kernels.h"
#include "match/hs.h"

#include <limits.h>

#define TEDDY_WIDTH 4          /* tested bytes of a literal */
#define TEDDY_WINDOW 128       /* they begin within this many bytes */
#define TEDDY_GROUPS 2         /* groups of eight buckets */
#define TEDDY_CAPACITY (SCAN_MAX + 64)

struct mpm_teddy {
    uint8_t groups;             /* groups in use */
    uint8_t bits;               /* of a number that count: see teddy_fold() */
    uint8_t shorts;             /* bits of group 0 for literals of two and three bytes */
    uint8_t table[TEDDY_GROUPS][TEDDY_WIDTH][128] __attribute__((aligned(CACHE_LINE)));
};

/* Positions that pass: for literals of four bytes and more, and for shorter ones. */
struct teddy_hits {
    unsigned count, short_count;
    uint32_t position[TEDDY_CAPACITY], short_position[TEDDY_CAPACITY];
};

/* How sets of at most so many literals are made; the last one of a kernel is for any number. */
struct teddy_shape { unsigned literals; uint8_t bits, groups; };
#define TEDDY_ANY UINT_MAX

/* Of literals of two bytes and more; others, and those whose at[] is TEDDY_NONE, are left out.
 * at[i] becomes where the tested bytes of literal i stand. */
#define TEDDY_NONE 0xff
void mpm_teddy_init(struct mpm_teddy *teddy, const struct teddy_shape *shape,
                      const struct literal_pattern *pattern, unsigned count, uint8_t *at);

/* True when each four bytes of the literal are mostly a run of one byte: it would hit
 * everywhere. */
bool teddy_is_flat(const struct literal_pattern *p);

/* Tests the positions from `at` on at which four bytes can be read, until `hits` may be full.
 * Returns where to continue; len - 3 at the end. len is at least 4. */
typedef uint32_t mpm_teddy_scan(const struct mpm_teddy *s, const uint8_t *data, uint32_t len,
                                  uint32_t at, struct teddy_hits *hits);
mpm_teddy_scan mpm_teddy_plain;
#ifdef __x86_64__
mpm_teddy_scan mpm_teddy_avx2, mpm_teddy_avx512;
void mpm_teddy_rows_differ(struct mpm_teddy *s);
#endif
#ifdef __aarch64__
mpm_teddy_scan mpm_teddy_neon;
#endif

/* shape: the sets that this kernel looks up, by the number of literals. rows_differ: changes the
 * tables of mpm_teddy_init() to what the kernel reads; NULL: it reads them as they are. */
struct teddy_kernel {
    const char *name;
    mpm_teddy_scan *scan;
    const struct teddy_shape *shape;
    void (*rows_differ)(struct mpm_teddy *s);
};
/* NULL: this CPU has nothing that would be quicker than match/mpm_kernels.h. */
const struct teddy_kernel *mpm_teddy_best(void);

/* The seven bits that count of the first and of the second of two neighbouring bytes. */
static inline uint8_t teddy_first(uint8_t c)
{
    return (uint8_t)((c & 0x5f) | (c >> 2 & 0x20));
}

static inline uint8_t teddy_second(uint8_t c)
{
    return (uint8_t)((c & 0x0f) << 3 | (c >> 4 & 1) | (c >> 6 & 2) | (c >> 4 & 4));
}

/* The four numbers of four bytes. */
static inline void teddy_numbers(const uint8_t *at, uint8_t number[TEDDY_WIDTH])
{
    for (unsigned k = 0; k < TEDDY_WIDTH; k++)
        number[k] = teddy_first(at[k]) ^ teddy_second(at[(k + 1) % TEDDY_WIDTH]);
}

/* The bits of a number above the `bits` that count are added to others, without carry. */
static inline uint8_t teddy_fold(uint8_t number, unsigned bits)
{
    if (bits <= 6)
        number = (uint8_t)((number & 0x3f) ^ (number >> 6) << 2);
    if (bits <= 5)
        number = (uint8_t)((number & 0x1f) ^ (number >> 5) << 3);
    return number;
}

#endif
