/* SPDX-License-Identifier: GPL-2.0-or-later */
/* control/jobs.h - the list of captures that commands add, read one after another. The control
 * thread adds, the main thread takes. */
#ifndef CONTROL_JOBS_H
#define CONTROL_JOBS_H

#include "base/base.h"

struct jobs;
struct job {
    struct job *next;
    char *file, *log_dir;
    bool continuous, delete_when_done;
    uint64_t delay_s, poll_s;
    uint32_t tenant;            /* tenant whose rules inspect the capture; 0: none */
};

struct jobs *jobs_new(void);
void jobs_free(struct jobs *jobs);
int jobs_fd(const struct jobs *jobs);           /* readable when a job may wait */
/* Takes ownership of the job's memory. */
void jobs_add(struct jobs *jobs, const struct job *job);
/* Returns the next job, which becomes the current one; NULL: none waits. */
const struct job *jobs_take(struct jobs *jobs);
/* Ends the current job; error: why it was not read, or NULL. */
void jobs_done(struct jobs *jobs, uint64_t wall_ms, const char *error);

/* The texts are only valid while `visit` runs. */
unsigned jobs_each(struct jobs *jobs, void (*visit)(const struct job *job, void *arg), void *arg);
bool jobs_current(struct jobs *jobs, void (*visit)(const struct job *job, void *arg), void *arg);
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
