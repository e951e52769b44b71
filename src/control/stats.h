/* SPDX-License-Identifier: GPL-2.0-or-later */
/* control/stats.h - the thread that writes statistics at intervals, and once at the end. */
#ifndef CONTROL_STATS_H
#define CONTROL_STATS_H

#include "output/output.h"

struct stats_thread;

/* `on_start` runs on the thread first, `before` ahead of each round; either may be NULL. */
struct stats_hooks {
    void (*on_start)(void *arg);
    void (*before)(void *arg);
    void *arg;
};

/* NULL when statistics are off; fine for the others. */
struct stats_thread *stats_thread_start(struct output_conf *output,
                                        const struct stats_hooks *hooks);
/* The last round is written, the thread gone. */
void stats_thread_stop(struct stats_thread *st);

#endif
