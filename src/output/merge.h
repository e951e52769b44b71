/* SPDX-License-Identifier: GPL-2.0-or-later */
/* output/merge.h - writes records of several threads in the order of the capture (--deterministic).
 *
 * Each rendering thread stores the records of its packets with their positions (sequencer.h). From
 * time to time the records before the position that all threads have passed are merged and written.
 * There is one lock, because this mode is for comparing runs, not for speed. */
#ifndef OUTPUT_MERGE_H
#define OUTPUT_MERGE_H

#include "output/output.h"
#include "sequencer/sequencer.h"

struct merge;
struct merge_input;

/* seq: borrowed; read in merge_add(). write: gets entire records, in order, under the lock. */
struct merge *merge_new(const struct sequencer *seq,
                        void (*write)(void *arg, const uint8_t *records, size_t len), void *arg);
void merge_free(struct merge *merge);       /* writes the rest; NULL is allowed */

/* Called at start, by one thread after the other. */
struct merge_input *merge_input_new(struct merge *merge);
/* Whether the input holds so much that its thread has to wait until the others have passed its
 * packet. Then all that it holds can be written. */
bool merge_is_full(struct merge_input *input);
/* Copies the records of a packet; the input's thread calls it for each packet in order. False: out
 * of memory. */
bool merge_add(struct merge_input *input, const struct packet *p, const struct buf *records);

#endif
