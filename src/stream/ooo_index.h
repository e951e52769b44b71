/* SPDX-License-Identifier: GPL-2.0-or-later */
/* stream/ooo_index.h - finds segments after holes without a walk over all of them.
 *
 * A sender that leaves holes can make thousands of segments wait. Their list is divided into runs
 * of at most OOO_RUN_MAX neighbours; an array has the bounds of each run, in order. An insertion is
 * a binary search and a walk over one run. With few segments there is no index, and the list is one
 * run. */
#ifndef STREAM_OOO_INDEX_H
#define STREAM_OOO_INDEX_H

#include "stream/segment.h"
#include "stream/stream_thread.h"

#define OOO_RUN_MAX 64

/* Neighbours in the list. */
struct ooo_run {
    struct segment *first;
    uint32_t end;               /* no segment of the run reaches further */
    uint32_t count;
};

/* Inserts by sequence number; of two with the same start the shorter comes first. */
void ooo_insert(struct stream_thread *st, struct stream_holes *holes, struct segment *seg);
/* Removes the first segment. */
struct segment *ooo_take_first(struct stream_thread *st, struct stream_holes *holes);
/* Call it when the last segment has grown. */
void ooo_last_extended(struct stream_holes *holes);
/* Call it before the list is freed. */
void ooo_index_free(struct stream_thread *st, struct stream_holes *holes);

/* Visits the segments that may overlap [from, to), in the order of the list. */
struct ooo_scan {
    const struct stream_holes *holes;
    uint32_t from, to;
    uint32_t run, left;         /* of the current run: segments not visited yet */
    struct segment *at;
};
void ooo_scan_begin(struct ooo_scan *scan, const struct tcp_stream *s, uint32_t from, uint32_t to);
struct segment *ooo_scan_next(struct ooo_scan *scan);       /* NULL: no more */

#endif
