/* SPDX-License-Identifier: GPL-2.0-or-later */
/* main/job_loop.h - captures one after another, as commands ask for them. */
#ifndef MAIN_JOB_LOOP_H
#define MAIN_JOB_LOOP_H

#include "main/setup.h"

/* Until a signal or a command ends it. Exit status. */
int jobs_run(struct setup *s, struct err *err);

#endif
