/* SPDX-License-Identifier: GPL-2.0-or-later */
/* match/mpm_kernels.h - the inner loops of match/mpm_ngram.h: they find the positions of a text
 * whose n-gram is in a bit table. There is a variant in plain C, and there are some for CPUs that
 * test sixteen positions at once.
 *
 * An n-gram is the next bytes of the text, little-endian, with NGRAM_CASE_MASK set and the bytes
 * beyond its width cleared. Four bytes must be readable at each position. */
#ifndef MATCH_MPM_KERNELS_H
#define MATCH_MPM_KERNELS_H

#include "base/text/bytes.h"

/* Makes both cases of a letter equal, and some other bytes; later the literals are compared
 * exactly. */
#define NGRAM_CASE_MASK 0x20202020u
#define SCAN_RUN 3                      /* equal bytes that make a run */
#define SCAN_MAX 256                    /* positions of one call */
#define SCAN_CAPACITY (SCAN_MAX + 16)   /* size of an output array: a vector store may write
                                         * beyond the hits */

/* A Bloom filter with one hash: the upper bits of an n-gram's hash are the index of its bit. */
struct bit_table {
    uint64_t *bits;
    uint8_t shift;
    uint32_t mask;              /* selects the bytes of an n-gram */
};

static inline uint32_t ngram_hash(uint32_t ngram)
{
    return ngram * 0x9e3779b1u;
}

static inline unsigned bit_table_has(struct bit_table t, uint32_t ngram)
{
    uint32_t h = ngram_hash(ngram) >> t.shift;

    return t.bits[h >> 6] >> (h & 63) & 1;
}

static inline uint32_t ngram_of(const uint8_t *at, uint32_t mask)
{
    return (get_le32(at) | NGRAM_CASE_MASK) & mask;
}

/* The positions at, at + stride, ...; `count` of them, at most SCAN_MAX. */
struct stride_positions {
    uint32_t at;
    unsigned stride, count;
};

/* Hits of an earlier pass, at most SCAN_MAX, and the positions `back` bytes before each. */
struct hit_positions {
    const uint32_t *at;
    unsigned count, back;
};

struct mpm_kernels {
    const char *name;
    /* Writes the positions whose n-gram is in the table into out[SCAN_CAPACITY]. Returns their
     * number. */
    unsigned (*scan_stride)(struct bit_table t, struct slice text, struct stride_positions in,
                            uint32_t *out);
    /* The same for earlier hits, into out[2 * SCAN_CAPACITY]. A position may come twice. */
    unsigned (*scan_confirm)(struct bit_table t, const uint8_t *data, struct hit_positions in,
                             uint32_t *out);
    /* Returns the position of the next SCAN_RUN equal bytes, from `at` on; len if there are
     * none. */
    uint32_t (*run)(const uint8_t *data, uint32_t len, uint32_t at);
};

extern const struct mpm_kernels mpm_kernels_plain;
/* Returns the fastest variant for this CPU. */
const struct mpm_kernels *mpm_kernels_best(void);

#endif
