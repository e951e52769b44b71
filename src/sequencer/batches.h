/* SPDX-License-Identifier: GPL-2.0-or-later */
/* sequencer/batches.h - the frames of a file, read once, as one list for each thread.
 *
 * Threads that inspect one file process it batch by batch. The first thread that begins the newest
 * batch scans the next, under a lock: it reads some thousand frames, and adds each to the list of
 * the thread that owns its flow. Where reading may wait, as for a pipe, the scan comes when a
 * thread needs the batch. No thread visits the frames of others. Every thread
 * takes part in every batch, even with an empty list, so that time advances for all of them.
 *
 * There is a fixed number of batches, used in rotation. A batch is free again when all threads have
 * left it. A thread so far ahead that none is free sleeps; the last thread that leaves a batch
 * scans the next one into it and wakes the sleepers. So no two threads wait for each other: the
 * thread in the earliest batch always has its list ready. */
#ifndef SEQUENCER_BATCHES_H
#define SEQUENCER_BATCHES_H

#include "base/memory/buf.h"
#include "packet/frame_ref.h"
#include "packet/packet.h"

#define SEQ_BATCH_FRAMES 4096
#define SEQ_BATCHES 8                   /* number of batches */
/* A frame with tunnels in it becomes several packets. */
#define SEQ_BATCH_ENTRIES (2 * SEQ_BATCH_FRAMES)

/* One packet for one thread: a frame, or a packet that the scan has decoded. */
struct seq_entry {
    struct frame_ref frame;
    struct packet *packet;              /* NULL: to be created from the frame */
};

/* The entries of one thread, in the order of the file. */
struct seq_list {
    const uint16_t *at, *end;           /* their numbers in the batch */
};

struct seq_batch {
    struct seq_entry *entry;
    unsigned count;
    struct frame_ref first;             /* frame that was scanned first, if there is one */
    uint16_t *thread;                   /* by entry */
    uint16_t *index;                    /* numbers of entries, those of thread 0 first */
    unsigned *index_end;                /* by thread: behind its last in `index` */
    uint64_t end;                       /* no later batch has anything before this position */
    uint64_t now_us;                    /* the newest time in it */
    bool last;                          /* the capture ends with it */
    bool failed;                        /* because it could not be read */
    bool more_at_hand;                  /* the next scan waits for nothing, such as a pipe */
    bool no_checksum;                   /* checksums of its frames are not to be verified */
    struct buf bytes;                   /* of frames that are not stable, one after the other */
    CACHE_ALIGNED unsigned users;       /* threads that have not left it; atomic */
};

struct seq_batches;

/* Fills an empty batch. False: nothing is available now. One thread at a time. */
typedef bool seq_scan_fn(void *arg, struct seq_batch *batch);

struct seq_batches *seq_batches_new(unsigned threads, seq_scan_fn *scan, void *arg);
void seq_batches_free(struct seq_batches *b);       /* NULL is fine */

/* By the scan: adds an entry for this thread, of SEQ_BATCH_ENTRIES. */
struct seq_entry *seq_batch_add(struct seq_batch *batch, unsigned thread);
/* By the scan: the thread for a new flow. That is the one with the fewest entries assigned and not
 * taken, or `preferred` (-1: none) if that has not many more, nor a much larger share of the file
 * so far. */
unsigned seq_batches_choose(struct seq_batches *b, int preferred);
/* By the scan: this many entries were assigned to the thread. */
void seq_batches_assign(struct seq_batches *b, unsigned thread, unsigned count);

/* By the scan: the oldest batch that a thread has not left; NULL: there is none. */
const struct seq_batch *seq_batches_oldest(const struct seq_batches *b);

/* By the thread: its next batch, which it may have to scan. NULL: none yet. */
struct seq_batch *seq_batches_next(struct seq_batches *b, unsigned thread);
/* Its entries in the batch, until it leaves the batch. */
struct seq_list seq_batch_list(const struct seq_batch *batch, unsigned thread);
/* By the thread: so many of its entries have been taken. */
void seq_batches_took(struct seq_batches *b, unsigned thread, unsigned count);
/* By the thread: it has left its batch and uses nothing of it any more. */
void seq_batches_leave(struct seq_batches *b, unsigned thread);
/* By the thread, when seq_batches_next() returned NULL: sleeps until it may return a batch, and at
 * most timeout_ns. If the scan found nothing, it is tried again after pause_ns. */
void seq_batches_wait(struct seq_batches *b, unsigned thread, uint64_t timeout_ns,
                      uint64_t pause_ns);
/* By any thread: makes the sleepers check again. */
void seq_batches_wake(struct seq_batches *b);

#endif
