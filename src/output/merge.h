/* SPDX-License-Identifier: GPL-2.0-or-later */
/* output/merge.h - records of several threads in the order of the capture (--deterministic).
 *
 * Each rendering thread keeps the records of its packets, with the packets' place in the order
 * (sequencer.h). Whenever enough has come together, what lies before the place that all threads
 * have passed is merged and written. One lock: this is for runs to be compared, not for speed. */
#ifndef OUTPUT_MERGE_H
#define OUTPUT_MERGE_H

#include "output/output.h"
#include "sequencer/sequencer.h"

struct merge;
struct merge_input;

/* seq: borrowed; read in merge_add(). write: gets whole records, in order, under the lock. */
struct merge *merge_new(const struct sequencer *seq,
                        void (*write)(void *arg, const uint8_t *records, size_t len), void *arg);
void merge_free(struct merge *merge);       /* writes what is left; NULL is fine */

/* At start, by one thread after the other. */
struct merge_input *merge_input_new(struct merge *merge);
/* By the input's thread, for each packet in its order. Copies. */
/* False: no memory to keep them. */
bool merge_add(struct merge_input *input, const struct packet *p, const struct buf *records);

#endif
