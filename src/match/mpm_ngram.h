/* SPDX-License-Identifier: GPL-2.0-or-later */
/* match/mpm_ngram.h - search for thousands of literals at once, by a few bytes of each.
 *
 * Each literal is entered by its rarest n-gram of three bytes. A bit table shows for every n-gram
 * whether any literal has it. Literals are compared only at positions where the bit is set. Only
 * every second position of the text is tested: a literal of at least four bytes is entered with two
 * adjacent n-grams, and one of them is at a tested position. Literals of two and three bytes have
 * tables of their own.
 *
 * Where the CPU supports it, Teddy tests all positions instead (match/mpm_teddy.h).
 *
 * Runs of one byte, such as zeros in binary protocols, would hit everywhere. They are searched as
 * runs: literals that consist mostly of a run are compared only at the ends of a run.
 *
 * A set is immutable, needs no scratch and is built fast. */
#ifndef MATCH_MPM_NGRAM_H
#define MATCH_MPM_NGRAM_H

#include "match/mpm_teddy.h"
#include "match/hs.h"

struct mpm_ngram;

/* Builds a set of literals of one byte and more; a literal's id is its index. Copies what it needs
 * of `pattern`. */
struct mpm_ngram *mpm_ngram_new(const struct literal_pattern *pattern, unsigned count);
/* With these kernels in place of this CPU's best; teddy NULL: the tables of n-grams come first. */
struct mpm_ngram *mpm_ngram_new_with(const struct literal_pattern *pattern, unsigned count,
                                   const struct mpm_kernels *kernels,
                                   const struct teddy_kernel *teddy);
/* The set was built from literals that are found where these are found, in the same order. */
bool mpm_ngram_is_for(const struct mpm_ngram *set, const struct literal_pattern *pattern,
                      unsigned count);
/* The name of the kernel that new sets look with first. */
const char *mpm_ngram_kernel(void);
void mpm_ngram_free(struct mpm_ngram *set);

/* The number of bytes at the set's start that every search reads. */
unsigned mpm_ngram_hot_bytes(const struct mpm_ngram *set);

/* Calls back for each literal that occurs, once or more. */
void mpm_ngram_scan(const struct mpm_ngram *set, const uint8_t *data, uint32_t len, hs_hit hit,
                   void *arg);

#endif
