/* SPDX-License-Identifier: GPL-2.0-or-later */
/* main/progress.h - one line on a terminal that shows how much of a long file is read. */
#ifndef MAIN_PROGRESS_H
#define MAIN_PROGRESS_H

#include "main/setup.h"

struct progress {
    const struct setup *setup;
    bool shown;                 /* standard error is a terminal, and files are read */
    bool drawn;
    uint64_t started_ns, next_ns;
};

void progress_start(struct progress *p, const struct setup *setup);
bool progress_is_shown(const struct progress *p);
void progress_show(struct progress *p);
void progress_end(struct progress *p);

#endif
