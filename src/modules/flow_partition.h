/* SPDX-License-Identifier: GPL-2.0-or-later */
/* modules/flow_partition.h - several threads that read the same file, each for its share of the
 * flows.
 *
 * All see the same frames in the same order. A new flow is claimed by the thread that meets it
 * first: the one that is ahead of the others, because it had less to do. The claim stays, so that
 * all agree on whose a frame is, however far apart they are. A plain frame (packet/decode/peek.h)
 * is known by a look at it: receive passes over another thread's, and its own thread counts it. All
 * others every thread decodes, to see what comes of them, and thread 0 counts them.
 *
 * One for each thread, of which receive and decode stand in one stage. */
#ifndef MODULES_SHARE_H
#define MODULES_SHARE_H

#include "engine/module.h"
#include "modules/context.h"

struct file_share;

/* NULL: this run shares no file. Made by receive, which opens first; decode finds it and, closing
 * last, frees it. */
struct file_share *share_new(const struct module_env *env);
void share_free(struct file_share *share);
struct file_share *share_of(const struct module_env *env);

/* A vector begins. */
void share_begin(struct file_share *share);
/* capture_ops.choose: is this frame, the next of the file, to be taken? */
unsigned share_takes(void *share, enum datalink link, const uint8_t *frame, uint32_t len,
                     uint64_t order);

/* What is to become of the frame that was taken as this one of the vector: all decode it, or it is
 * ours, or another's after all. */
enum share_answer { SHARE_DECODE, SHARE_OURS, SHARE_FOREIGN };
enum share_answer share_look(struct file_share *share, unsigned number, struct packet *p);
/* A packet of ours has been decoded: its hosts_after is what both know of it. */
void share_decoded(struct file_share *share, struct packet *p);
/* Is this packet, which was decoded by all, ours? */
bool share_has(struct file_share *share, struct packet *p);
/* While set, no frame is plain: all threads look at all packets. */
void share_decode_all(struct file_share *share, bool on);
/* Where to count what all threads decode: the thread's counters, or a block nobody adds up. */
struct counters *share_counters(struct file_share *share);

#endif
