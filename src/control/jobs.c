/* SPDX-License-Identifier: GPL-2.0-or-later */
/* control/jobs.c - the list of capture files to read. The control thread adds, the main
 * thread takes; one lock guards all of it. */
#include "control/jobs.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/array.h"
#include "base/system/clock.h"

/* `fd` is an eventfd that wakes the main loop. `running` is a list of its own, at most
 * JOBS_PARALLEL_MAX long. */
struct jobs {
    pthread_mutex_t lock;
    struct job *first, **last, *running;
    unsigned parallel;                      /* of jobs that do not say it */
    uint64_t last_ms;
    uint64_t failed, failed_ms;
    char *failed_file, *failed_error;       /* of the latest that failed */
    int fd;
};

struct jobs *jobs_new(unsigned parallel)
{
    struct jobs *jobs = xcalloc(1, sizeof(*jobs));

    pthread_mutex_init(&jobs->lock, NULL);
    jobs->last = &jobs->first;
    jobs->parallel = MAX(parallel, 1u);
    jobs->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    return jobs;
}

/* The strings belong to the job since jobs_add(). */
static void job_free(struct job *job)
{
    free(job->file);
    free(job->log_dir);
    free(job);
}

static void list_free(struct job *job)
{
    while (job != NULL) {
        struct job *next = job->next;

        job_free(job);
        job = next;
    }
}

void jobs_free(struct jobs *jobs)
{
    if (jobs == NULL)
        return;
    list_free(jobs->first);
    list_free(jobs->running);
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

/* Called with the lock held. A job may say that fewer run beside it than others allow, so the
 * smallest number counts. One that demands to run alone is thus never overtaken. */
static bool may_start(const struct jobs *jobs, const struct job *job)
{
    unsigned running = 0, most = job->parallel;

    for (const struct job *at = jobs->running; at != NULL; at = at->next, running++)
        most = MIN(most, at->parallel);
    return running < most;
}

/* Called with the lock held. The oldest stays first. */
static void start(struct jobs *jobs, struct job *job)
{
    struct job **at = &jobs->running;

    jobs->first = job->next;
    if (jobs->first == NULL)
        jobs->last = &jobs->first;
    while (*at != NULL)
        at = &(*at)->next;
    *at = job;
    job->next = NULL;
    job->started_ns = clock_ns();
}

/* The job stays valid until jobs_done(). */
const struct job *jobs_take(struct jobs *jobs)
{
    struct job *job;
    eventfd_t n;

    (void)eventfd_read(jobs->fd, &n);
    pthread_mutex_lock(&jobs->lock);
    job = jobs->first;
    if (job != NULL && job->parallel == 0)
        job->parallel = jobs->parallel;
    if (job != NULL && may_start(jobs, job))
        start(jobs, job);
    else
        job = NULL;
    pthread_mutex_unlock(&jobs->lock);
    return job;
}

/* The lock keeps jobs_signal() from a process that has just been waited for. */
void jobs_set_process(struct jobs *jobs, const struct job *job, pid_t pid)
{
    pthread_mutex_lock(&jobs->lock);
    ((struct job *)(uintptr_t)job)->pid = pid;
    pthread_mutex_unlock(&jobs->lock);
}

unsigned jobs_signal(struct jobs *jobs, const char *file, int number)
{
    unsigned count = 0;

    pthread_mutex_lock(&jobs->lock);
    for (const struct job *job = jobs->running; job != NULL; job = job->next)
        if (job->pid > 0 && (file == NULL || strcmp(file, job->file) == 0))
            count += kill(job->pid, number) == 0;
    pthread_mutex_unlock(&jobs->lock);
    return count;
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
void jobs_done(struct jobs *jobs, const struct job *done, uint64_t wall_ms, const char *error)
{
    struct job **at = &jobs->running, *job;
    bool more;

    pthread_mutex_lock(&jobs->lock);
    while (*at != done)
        at = &(*at)->next;
    job = *at;
    *at = job->next;
    jobs->last_ms = wall_ms;
    if (error != NULL)
        note_failure(jobs, job, wall_ms, error);
    more = jobs->first != NULL;
    pthread_mutex_unlock(&jobs->lock);
    job_free(job);
    if (more)
        eventfd_write(jobs->fd, 1);
}

/* visit() runs with the lock held, so it must not call back here. `visit` NULL only
 * counts. */
static unsigned each(struct jobs *jobs, struct job *const *first,
                     void (*visit)(const struct job *job, void *arg), void *arg)
{
    unsigned count = 0;

    pthread_mutex_lock(&jobs->lock);
    for (const struct job *job = *first; job != NULL; job = job->next, count++)
        if (visit != NULL)
            visit(job, arg);
    pthread_mutex_unlock(&jobs->lock);
    return count;
}

unsigned jobs_each(struct jobs *jobs, void (*visit)(const struct job *job, void *arg), void *arg)
{
    return each(jobs, &jobs->first, visit, arg);
}

unsigned jobs_each_running(struct jobs *jobs, void (*visit)(const struct job *job, void *arg),
                           void *arg)
{
    return each(jobs, &jobs->running, visit, arg);
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
