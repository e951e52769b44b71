/* SPDX-License-Identifier: GPL-2.0-or-later */
/* detect/prefilter/payload_batch.h - searches several payloads as one text.
 *
 * A search of a short payload mostly waits: for the set's tables, and for branches on how long the
 * payload is and how many positions pass. In a long text of several payloads these waits overlap or
 * come once. The payloads are copied, which costs far less. A hit is then assigned to its payload;
 * one that spans two payloads is none. One thread owns a batch. */
#ifndef DETECT_PAYLOAD_BATCH_H
#define DETECT_PAYLOAD_BATCH_H

#include "detect/prefilter/payload_sets.h"

#define BATCH_PAYLOADS 32
#define BATCH_BYTES (16u << 10)         /* of all payloads; leaves space in the L1 cache */

struct payload_batch;

struct payload_batch *payload_batch_new(void);
void payload_batch_free(struct payload_batch *b);       /* NULL is fine */

/* Begins a batch of payloads that are searched with these sets. */
void payload_batch_begin(struct payload_batch *b, const struct payload_sets *sets);
/* The next payload; its bytes stay where they are until payload_batch_collect(). False: it has no
 * space. */
bool payload_batch_add(struct payload_batch *b, const struct sent_payload *payload);
void payload_batch_scan(struct payload_batch *b, struct hs_scratch *scratch);
/* Adds what payload_sets_scan() would find in payload i. False: there were too many hits. */
bool payload_batch_collect(const struct payload_batch *b, unsigned i, struct hs_scratch *scratch,
                           struct candidates *out);

#endif
