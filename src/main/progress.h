/* SPDX-License-Identifier: GPL-2.0-or-later */
/* main/progress.h - the progress of a run on a terminal, and the sums at its end. */
#ifndef MAIN_PROGRESS_H
#define MAIN_PROGRESS_H

#include "main/setup.h"

struct progress {
    const struct setup *setup;
    bool at_terminal;           /* standard error is a terminal, and the engine is in the
                                 * foreground */
    bool shown;                 /* and it reads files */
    uint64_t started_ns, next_ns;
};

struct progress_sums {
    double seconds;             /* since the start; above 0 */
    uint64_t packets, alerts;
};

void progress_start(struct progress *p, const struct setup *setup);
bool progress_is_shown(const struct progress *p);
void progress_show(struct progress *p);
/* Writes the line: "12.0 MB of 48.0 MB, 25 %, 3 s left, 90000 packets/s, 7 alerts". */
void progress_text(const struct capture_progress *at, const struct progress_sums *sums,
                   struct buf *out);
/* Cuts the line to what a terminal of that width shows without a break: behind a comma, if any part
 * fits. */
void progress_cut(struct buf *line, unsigned columns);
/* "480 B", "12.5 kB", "3.0 MB" and "0.4 ms", "250 ms", "3.0 s". */
void progress_size(struct buf *out, uint64_t bytes);
void progress_duration(struct buf *out, double seconds);
/* Prints the line with the sums, after all threads have ended. */
void progress_end(const struct progress *p);

#endif
