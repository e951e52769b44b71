/* SPDX-License-Identifier: GPL-2.0-or-later */
/* control/jobs.h - captures to be read one after another, as commands ask for them. The control
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
    uint32_t tenant;            /* its rules inspect the capture; 0: no tenant's */
};

struct jobs *jobs_new(void);
void jobs_free(struct jobs *jobs);
int jobs_fd(const struct jobs *jobs);           /* readable when there may be one to take */
/* Becomes the owner of the job's memory. */
void jobs_add(struct jobs *jobs, const struct job *job);
/* The next one, which is the current one from now on; NULL: none waits. */
const struct job *jobs_take(struct jobs *jobs);
/* The current one; error: why it was not read, NULL: it was. */
void jobs_done(struct jobs *jobs, uint64_t wall_ms, const char *error);

/* Texts are lent while `visit` runs. */
unsigned jobs_each(struct jobs *jobs, void (*visit)(const struct job *job, void *arg), void *arg);
bool jobs_current(struct jobs *jobs, void (*visit)(const struct job *job, void *arg), void *arg);
uint64_t jobs_last_ms(struct jobs *jobs);       /* when the latest one was done; 0: none was */

/* Those that were not read. Texts and all are 0 and NULL while there is none. */
struct jobs_failed {
    uint64_t count;
    const char *file, *error;                   /* of the latest */
    uint64_t wall_ms;
};
/* `visit` runs under the lock, and what it sees is lent. */
void jobs_failed(struct jobs *jobs, void (*visit)(const struct jobs_failed *f, void *arg),
                 void *arg);

#endif
