/* SPDX-License-Identifier: GPL-2.0-or-later */
/* sequencer/batches.h - the frames of a file, read once, as one list for each thread.
 *
 * Threads that inspect one file take it batch by batch. The thread that first needs a batch which
 * nobody has scanned scans it, under a lock: it reads some thousand frames, and puts each into the
 * list of the thread that owns its flow. No thread passes over the frames of others. Every thread
 * takes part in every batch, also with an empty list: time passes for all of them alike.
 *
 * A few batches exist, and are used in turn. One is free again when all threads have left it. A
 * thread that is so far ahead that none is free sleeps; the last thread that leaves a batch scans
 * the next one into it and wakes the sleepers. So a thread never waits for one that waits for it:
 * the thread that is in the earliest batch always has its list at hand. */
#ifndef SEQUENCER_BATCHES_H
#define SEQUENCER_BATCHES_H

#include "base/memory/buf.h"
#include "packet/frame_ref.h"
#include "packet/packet.h"

#define SEQ_BATCH_FRAMES 4096
#define SEQ_BATCHES 8                   /* that exist */
/* A frame with tunnels in it becomes several packets. */
#define SEQ_BATCH_ENTRIES (2 * SEQ_BATCH_FRAMES)

/* One packet for one thread: a frame, or a packet that the scan has decoded. */
struct seq_entry {
    struct frame_ref frame;
    struct packet *packet;              /* NULL: to be made of the frame */
    uint32_t bytes_at;                  /* of a frame that is not stable: in seq_batch.bytes */
    uint16_t next;                      /* in its thread's list */
};

struct seq_batch {
    struct seq_entry *entry;
    unsigned count;
    struct { uint16_t first, last; } *list;     /* by thread */
    uint64_t end;                       /* nothing before this place comes in later batches */
    uint64_t now_us;                    /* the newest time up to its end */
    bool last;                          /* the capture ends with it */
    bool no_checksum;                   /* checksums of its frames are not to be verified */
    struct buf bytes;                   /* of frames that are not stable */
    CACHE_ALIGNED unsigned users;       /* threads that have not left it; atomic */
};

#define SEQ_NO_ENTRY UINT16_MAX

struct seq_batches;

/* Fills an empty batch. False: nothing can be had now. By one thread at a time. */
typedef bool seq_scan_fn(void *arg, struct seq_batch *batch);

struct seq_batches *seq_batches_new(unsigned threads, seq_scan_fn *scan, void *arg);
void seq_batches_free(struct seq_batches *b);       /* NULL is fine */

/* By the scan: one more entry for this thread, of SEQ_BATCH_ENTRIES. */
struct seq_entry *seq_batch_add(struct seq_batch *batch, unsigned thread);
/* By the scan: the thread that has the least to do, of entries it was given and has not taken. */
unsigned seq_least_loaded(const struct seq_batches *b);
/* By the scan: this many were given to the thread. */
void seq_batches_assign(struct seq_batches *b, unsigned thread, unsigned count);

/* By the thread: its next batch, which it may have to scan. NULL: not yet. */
struct seq_batch *seq_batches_next(struct seq_batches *b, unsigned thread);
/* By the thread: so many of its entries have been taken. */
void seq_batches_took(struct seq_batches *b, unsigned thread, unsigned count);
/* By the thread: it is done with its batch, and needs none of it any more. */
void seq_batches_leave(struct seq_batches *b, unsigned thread);
/* By the thread, when seq_batches_next() gave NULL: sleeps until it may give a batch, and no longer
 * than timeout_ns. Where the scan had nothing, it is tried again after pause_ns. */
void seq_batches_wait(struct seq_batches *b, unsigned thread, uint64_t timeout_ns,
                      uint64_t pause_ns);
/* By any thread: the sleepers look again. */
void seq_batches_wake(struct seq_batches *b);

#endif
