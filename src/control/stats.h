/* SPDX-License-Identifier: GPL-2.0-or-later */
/* control/stats.h - the thread that writes statistics at intervals, and once at the end. */
#ifndef CONTROL_STATS_H
#define CONTROL_STATS_H

#include "output/output.h"

struct stats_thread;

/* NULL when statistics are off; fine for the others. `settle` runs on the thread first. */
struct stats_thread *stats_thread_start(struct output_conf *output, void (*settle)(void *arg),
                                        void *arg);
/* The last round is written, the thread gone. */
void stats_thread_stop(struct stats_thread *st);

#endif
