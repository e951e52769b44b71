/* SPDX-License-Identifier: GPL-2.0-or-later */
/* control/jobs.h - the list of captures that commands add. The control thread adds, the main thread
 * takes. They are read one after another, or several at once, each in a process of its own. */
#ifndef CONTROL_JOBS_H
#define CONTROL_JOBS_H

#include "base/base.h"
#include "packet/flow_share.h"

#include <sys/types.h>

struct jobs;
struct job {
    struct job *next;
    char *file, *log_dir;
    bool continuous, delete_when_done;
    uint64_t delay_s, poll_s;
    uint32_t tenant;            /* tenant whose rules inspect the capture; 0: none */
    struct flow_share share;    /* of its flows that are inspected; count 0: as configured */
    unsigned parallel;          /* at most so many at once, with this one; 0: as configured */
    pid_t pid;                  /* the process that reads it; 0: this one */
    uint64_t started_ns;        /* clock_ns() of jobs_take() */
};

#define JOBS_PARALLEL_MAX 256

/* parallel: of jobs that do not say it. */
struct jobs *jobs_new(unsigned parallel);
void jobs_free(struct jobs *jobs);
int jobs_fd(const struct jobs *jobs);           /* readable when a job may wait */
/* Takes ownership of the job's memory. */
void jobs_add(struct jobs *jobs, const struct job *job);
/* Returns the next job, which then runs until jobs_done(). NULL: none waits, or it has to wait for
 * the end of another. job->parallel is no longer 0. */
const struct job *jobs_take(struct jobs *jobs);
/* pid 0, before the process is waited for: its number may then be another one's. */
void jobs_set_process(struct jobs *jobs, const struct job *job, pid_t pid);
/* Ends and frees a running job; error: why it was not read, or NULL. */
void jobs_done(struct jobs *jobs, const struct job *job, uint64_t wall_ms, const char *error);
/* Sends a signal to the processes of running jobs, or of those with this file. Returns how many. */
unsigned jobs_signal(struct jobs *jobs, const char *file, int number);

/* The texts are only valid while `visit` runs. */
unsigned jobs_each(struct jobs *jobs, void (*visit)(const struct job *job, void *arg), void *arg);
/* The same for those that run, the oldest first. */
unsigned jobs_each_running(struct jobs *jobs, void (*visit)(const struct job *job, void *arg),
                           void *arg);
uint64_t jobs_last_ms(struct jobs *jobs);      /* time at which the latest one ended; 0: none has */

/* The jobs that could not be read. All members are 0 and NULL if there is none. */
struct jobs_failed {
    uint64_t count;
    const char *file, *error;                   /* of the latest one */
    uint64_t wall_ms;
};
/* Calls `visit` under the lock; what it gets is only valid during the call. */
void jobs_failed(struct jobs *jobs, void (*visit)(const struct jobs_failed *f, void *arg),
                 void *arg);

#endif
