/* SPDX-License-Identifier: GPL-2.0-or-later */
/* main/job_process.h - captures that are read at once, each in a process of its own. All of it runs
 * on the main thread. */
#ifndef MAIN_JOB_PROCESS_H
#define MAIN_JOB_PROCESS_H

#include "control/jobs.h"
#include "main/setup.h"

struct job_processes;

/* NULL with *err set: no descriptors are left. */
struct job_processes *job_processes_new(struct jobs *jobs, struct err *err);
/* Ends those that run and waits for them. */
void job_processes_free(struct job_processes *all);
/* Readable when a job may wait or a process has ended. */
int job_processes_fd(const struct job_processes *all);
/* Runs `run` in a new process, which ends with it. -1 with *err set: there is no process. */
int job_processes_start(struct job_processes *all, struct setup *s, const struct job *job,
                        int (*run)(struct setup *s, const struct job *job, struct err *err),
                        struct err *err);
/* Reports and forgets the processes that have ended. */
void job_processes_reap(struct job_processes *all);

#endif
