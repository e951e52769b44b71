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
    bool drawn;
    uint64_t started_ns, next_ns;
};

void progress_start(struct progress *p, const struct setup *setup);
bool progress_is_shown(const struct progress *p);
void progress_show(struct progress *p);
/* Clears the line, for other output. */
void progress_clear(struct progress *p);
/* Prints the line with the sums, after all threads have ended. */
void progress_end(const struct progress *p);

#endif
