/* SPDX-License-Identifier: GPL-2.0-or-later */
/* control/stats.h - the thread that writes statistics at intervals, and once at the end. */
#ifndef CONTROL_STATS_H
#define CONTROL_STATS_H

#include "output/output.h"

struct stats_thread;

/* `on_start` runs once on the thread, `before` before each round; either may be NULL. */
struct stats_hooks {
    void (*on_start)(void *arg);
    void (*before)(void *arg);
    void *arg;
};

/* Returns NULL when statistics are off; the other functions accept NULL. */
struct stats_thread *stats_thread_start(struct output_conf *output,
                                        const struct stats_hooks *hooks);
/* Ends the thread; returns after the last round is written. */
void stats_thread_stop(struct stats_thread *st);

#endif
