/* SPDX-License-Identifier: GPL-2.0-or-later */
/* control/jobs.c - the list of capture files to read. The control thread adds, the main
 * thread takes; one lock guards all of it. */
#include "control/jobs.h"

#include <pthread.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/array.h"

/* `fd` is an eventfd that wakes the main loop. `current` is out of the list, and still
 * owned by it. */
struct jobs {
    pthread_mutex_t lock;
    struct job *first, **last, *current;
    uint64_t last_ms;
    uint64_t failed, failed_ms;
    char *failed_file, *failed_error;       /* of the latest that failed */
    int fd;
};

struct jobs *jobs_new(void)
{
    struct jobs *jobs = xcalloc(1, sizeof(*jobs));

    pthread_mutex_init(&jobs->lock, NULL);
    jobs->last = &jobs->first;
    jobs->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    return jobs;
}

/* The strings belong to the job since jobs_add(). */
static void job_free(struct job *job)
{
    if (job == NULL)
        return;
    free(job->file);
    free(job->log_dir);
    free(job);
}

void jobs_free(struct jobs *jobs)
{
    if (jobs == NULL)
        return;
    while (jobs->first != NULL) {
        struct job *job = jobs->first;

        jobs->first = job->next;
        job_free(job);
    }
    job_free(jobs->current);
    free(jobs->failed_file);
    free(jobs->failed_error);
    pthread_mutex_destroy(&jobs->lock);
    if (jobs->fd >= 0)
        close(jobs->fd);
    free(jobs);
}

int jobs_fd(const struct jobs *jobs)
{
    return jobs->fd;
}

/* The write to the eventfd comes after the unlock, so the main thread need not wait for
 * the lock. */
void jobs_add(struct jobs *jobs, const struct job *job)
{
    struct job *copy = xmalloc(sizeof(*copy));

    *copy = *job;
    copy->next = NULL;
    pthread_mutex_lock(&jobs->lock);
    *jobs->last = copy;
    jobs->last = &copy->next;
    pthread_mutex_unlock(&jobs->lock);
    eventfd_write(jobs->fd, 1);
}

/* NULL: the list is empty. The job stays valid until jobs_done(). */
const struct job *jobs_take(struct jobs *jobs)
{
    struct job *job;
    eventfd_t n;

    (void)eventfd_read(jobs->fd, &n);
    pthread_mutex_lock(&jobs->lock);
    job = jobs->first;
    if (job != NULL) {
        jobs->first = job->next;
        if (jobs->first == NULL)
            jobs->last = &jobs->first;
        jobs->current = job;
    }
    pthread_mutex_unlock(&jobs->lock);
    return job;
}

/* Called with the lock held. */
static void note_failure(struct jobs *jobs, const struct job *job, uint64_t wall_ms,
                         const char *error)
{
    free(jobs->failed_file);
    free(jobs->failed_error);
    jobs->failed_file = xstrdup(job->file);
    jobs->failed_error = xstrdup(error);
    jobs->failed_ms = wall_ms;
    jobs->failed++;
}

/* Wakes the main loop again when more files wait, because jobs_take() reads the eventfd to
 * 0. */
void jobs_done(struct jobs *jobs, uint64_t wall_ms, const char *error)
{
    struct job *job;
    bool more;

    pthread_mutex_lock(&jobs->lock);
    job = jobs->current;
    jobs->current = NULL;
    jobs->last_ms = wall_ms;
    if (error != NULL && job != NULL)
        note_failure(jobs, job, wall_ms, error);
    more = jobs->first != NULL;
    pthread_mutex_unlock(&jobs->lock);
    job_free(job);
    if (more)
        eventfd_write(jobs->fd, 1);
}

/* visit() runs with the lock held, so it must not call back here. `visit` NULL only
 * counts. */
unsigned jobs_each(struct jobs *jobs, void (*visit)(const struct job *job, void *arg), void *arg)
{
    unsigned count = 0;

    pthread_mutex_lock(&jobs->lock);
    for (const struct job *job = jobs->first; job != NULL; job = job->next, count++)
        if (visit != NULL)
            visit(job, arg);
    pthread_mutex_unlock(&jobs->lock);
    return count;
}

bool jobs_current(struct jobs *jobs, void (*visit)(const struct job *job, void *arg), void *arg)
{
    bool is_one;

    pthread_mutex_lock(&jobs->lock);
    is_one = jobs->current != NULL;
    if (is_one)
        visit(jobs->current, arg);
    pthread_mutex_unlock(&jobs->lock);
    return is_one;
}

uint64_t jobs_last_ms(struct jobs *jobs)
{
    uint64_t ms;

    pthread_mutex_lock(&jobs->lock);
    ms = jobs->last_ms;
    pthread_mutex_unlock(&jobs->lock);
    return ms;
}

void jobs_failed(struct jobs *jobs, void (*visit)(const struct jobs_failed *f, void *arg),
                 void *arg)
{
    struct jobs_failed f;

    pthread_mutex_lock(&jobs->lock);
    f = (struct jobs_failed){ jobs->failed, jobs->failed_file, jobs->failed_error,
                              jobs->failed_ms };
    visit(&f, arg);
    pthread_mutex_unlock(&jobs->lock);
}
