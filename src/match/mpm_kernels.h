/* SPDX-License-Identifier: GPL-2.0-or-later */
/* match/mpm_kernels.h - the inner loops of match/mpm_ngram.h: which positions of a text have an
 * n-gram that is in a table of bits. In plain C, and for CPUs that take sixteen positions at once.
 *
 * An n-gram is the next bytes of the text with FOLD laid over them, little-endian, as far as `mask`
 * goes. Four bytes can be read at each position that is looked at. */
#ifndef MATCH_MPM_KERNELS_H
#define MATCH_MPM_KERNELS_H

#include "base/text/bytes.h"

/* letters of both cases fall together, as do a few other bytes */
#define NGRAM_CASE_MASK 0x20202020u
#define SCAN_RUN 3             /* so many equal bytes are a run */
#define SCAN_MAX 256
#define SCAN_CAPACITY (SCAN_MAX + 16)     /* of an array that takes what has been met */

/* By the upper bits of an n-gram's hash. */
struct bit_table { uint64_t *bits; uint8_t shift; };

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

struct mpm_kernels {
    /* Of the positions at, at + stride, ... (`count` of them, at most SCAN_MAX; the text ends at
     * len) those whose n-gram is in the table, into out[SCAN_CAPACITY]. Returns how many. */
    unsigned (*scan_stride)(struct bit_table t, uint32_t mask, const uint8_t *data, uint32_t len,
                      uint32_t at, unsigned stride, unsigned count, uint32_t *out);
    /* Of the positions in[] and those `back` bytes before (none before 0; a position may come
     * twice), likewise, into out[2 * SCAN_CAPACITY]. `count` is at most SCAN_MAX. */
    unsigned (*scan_confirm)(struct bit_table t, uint32_t mask, const uint8_t *data,
                             const uint32_t *in, unsigned count, unsigned back, uint32_t *out);
    /* Where the next SCAN_RUN equal bytes begin, from `at` on; len: nowhere. */
    uint32_t (*run)(const uint8_t *data, uint32_t len, uint32_t at);
};

extern const struct mpm_kernels mpm_kernels_plain;
/* The quickest that this CPU can do. */
const struct mpm_kernels *mpm_kernels_best(void);

#endif
