/* SPDX-License-Identifier: GPL-2.0-or-later */
/* match/mpm_ngram.h - thousands of literals at once, by a few bytes of each.
 *
 * Of each literal the rarest bytes are chosen: an n-gram of three. A bit table says for every
 * n-gram whether any literal has it; only where one has, literals are compared. The text is looked
 * at every second byte only, because a literal of four bytes and more is entered with two n-grams
 * that stand side by side, of which one is met. Literals of two and three bytes are met by two.
 *
 * Where the CPU can, Teddy looks at all positions instead (match/mpm_teddy.h).
 *
 * Runs of one byte, such as zeros in binary protocols, would be met everywhere. They are looked
 * for as runs, and literals that consist of little else are compared at a run's ends only.
 *
 * A set is immutable, needs no scratch and is quick to make. */
#ifndef MATCH_MPM_NGRAM_H
#define MATCH_MPM_NGRAM_H

#include "match/mpm_teddy.h"
#include "match/hs.h"

struct mpm_ngram;

/* Ids are the indices; literals of one byte and more. Nothing of `pattern` is kept. */
struct mpm_ngram *mpm_ngram_new(const struct literal_pattern *pattern, unsigned count);
/* With these kernels in place of this CPU's best; teddy NULL: the tables of n-grams come first. */
struct mpm_ngram *mpm_ngram_new_with(const struct literal_pattern *pattern, unsigned count,
                                   const struct mpm_kernels *kernels,
                                   const struct teddy_kernel *teddy);
/* The name of the kernel that new sets look with first. */
const char *mpm_ngram_kernel(void);
void mpm_ngram_free(struct mpm_ngram *set);

/* So many bytes from its start on are what each search begins with. */
unsigned mpm_ngram_hot_bytes(const struct mpm_ngram *set);

/* Calls back for each literal that occurs: once or oftener. */
void mpm_ngram_scan(const struct mpm_ngram *set, const uint8_t *data, uint32_t len, hs_hit hit,
                   void *arg);

#endif
