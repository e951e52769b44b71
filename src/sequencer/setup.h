/* SPDX-License-Identifier: GPL-2.0-or-later */
/* sequencer/setup.h - makes the sequencer and the handle of each thread; for code that starts
 * threads, and for a module that leaves the sequence while it has no flows. */
#ifndef SEQUENCER_SETUP_H
#define SEQUENCER_SETUP_H

#include "sequencer/sequencer.h"

/* What the engine provides for waiting threads. */
struct seq_thread {
    void *self;
    void (*kick)(void *self);      /* by another thread: publish your progress. NULL: the thread
                                    * always advances while it is behind the others */
    void (*sleeps)(void *self);     /* around a wait, to account for the time */
    void (*wakes)(void *self);
};

struct sequencer;
struct seq_hosts;

struct sequencer *sequencer_new(void);
void sequencer_free(struct sequencer *seq);               /* NULL is fine */

/* At start, by one thread after the other. */
struct seq_handle *seq_handle_new(struct sequencer *seq, const struct seq_thread *thread);
/* Made at the first call, and the sequencer's: what the scan of a file notes. */
struct seq_hosts *sequencer_hosts(struct sequencer *seq);
/* At start: the notes of the scan, and the handle's number in them. */
void seq_handle_set_hosts(struct seq_handle *handle, const struct seq_hosts *hosts,
                          unsigned thread);
/* By the handle's own thread: others need not wait for it until it enters again after what it has
 * finished. A thread that checks during the entry may still pass it. */
void seq_handle_leave(struct seq_handle *handle);
void seq_handle_enter(struct seq_handle *handle, struct watermark done);
/* All handles have passed this position. */
struct watermark seq_low_watermark(const struct sequencer *seq);

#endif
