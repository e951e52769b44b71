/* SPDX-License-Identifier: GPL-2.0-or-later */
/* main/job_loop.h - processes captures one after another, on command. */
#ifndef MAIN_JOB_LOOP_H
#define MAIN_JOB_LOOP_H

#include "main/setup.h"

/* Runs until a signal or a command ends it. Returns an exit status. */
int jobs_run(struct setup *s, struct err *err);

#endif
