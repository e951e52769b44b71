/* SPDX-License-Identifier: GPL-2.0-or-later */
/* main/job_process.c - reads captures at once, each in a copy of this process.
 *
 * Counters, settings of a capture and the outputs belong to the whole process, so a process
 * reads one capture at a time. fork(2) makes another process in a moment, and its rules cost no
 * memory: the kernel copies only the pages that one of the two changes. A capture that ends its
 * process does not end the others, and what it changes stays in its process. So each has the
 * result that it has alone. */
#include "config.h"

#include "main/job_process.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/array.h"
#include "base/report/log.h"
#include "base/system/clock.h"
#include "control/sandbox.h"
#include "control/web/web.h"

#define END_MS 30000            /* for the processes at the end of the engine; then SIGKILL */

/* `pipe` brings the reason of a failure, then its end says that the process has ended. */
struct job_process {
    const struct job *job;
    pid_t pid;
    int pipe;
};

/* `poll` is an epoll(7) set: one descriptor to wait for, however many processes there are. */
struct job_processes {
    struct jobs *jobs;
    int poll;
    ARRAY_OF(struct job_process) list;
};

static int watch(struct job_processes *all, int fd, struct err *err)
{
    struct epoll_event event = { .events = EPOLLIN, .data.fd = fd };

    if (epoll_ctl(all->poll, EPOLL_CTL_ADD, fd, &event) == 0)
        return 0;
    return err_set(err, "epoll_ctl: %s", strerror(errno));
}

struct job_processes *job_processes_new(struct jobs *jobs, struct err *err)
{
    struct job_processes *all = xcalloc(1, sizeof(*all));

    all->jobs = jobs;
    all->poll = epoll_create1(EPOLL_CLOEXEC);
    if (all->poll >= 0 && watch(all, jobs_fd(jobs), err) == 0)
        return all;
    if (all->poll < 0)
        err_set(err, "epoll_create1: %s", strerror(errno));
    job_processes_free(all);
    return NULL;
}

int job_processes_fd(const struct job_processes *all)
{
    return all->poll;
}

/* The parent's end must not leave processes behind. It may have ended before prctl(2). */
static void end_with(pid_t parent)
{
    (void)prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() != parent)
        _exit(EXIT_FAILURE);
}

/* In the new process. It tells the service manager nothing, because it is not the service. _exit()
 * leaves the socket and the pid file alone, which belong to the parent. */
static void run_here(struct job_processes *all, struct setup *s, int out,
                     int (*run)(struct setup *s, const struct job *job, struct err *err),
                     const struct job *job)
{
    struct err err = { 0 };
    int status;

    for (size_t i = 0; i < all->list.count; i++)
        close(all->list.at[i].pipe);
    close(all->poll);
    web_leave(s->web);
    s->web = NULL;
    s->control = NULL;
    s->context.explain_live = NULL;     /* its answer would be lost */
    unsetenv("NOTIFY_SOCKET");
    status = sandbox_refuse_copies(s->root, &err) < 0 ? -1 : run(s, job, &err);
    if (status < 0 && write(out, err.text, strlen(err.text)) < 0)
        log_error("unix-manager", "'%s': its result is lost: %s", job->file, strerror(errno));
    _exit(status < 0 ? EXIT_FAILURE : EXIT_SUCCESS);
}

int job_processes_start(struct job_processes *all, struct setup *s, const struct job *job,
                        int (*run)(struct setup *s, const struct job *job, struct err *err),
                        struct err *err)
{
    struct job_process process = { .job = job };
    pid_t self = getpid();
    int ends[2];

    if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) < 0)
        return err_set(err, "pipe2: %s", strerror(errno));
    process.pid = control_fork(s->control);
    if (process.pid == 0) {
        end_with(self);
        close(ends[0]);
        run_here(all, s, ends[1], run, job);
    }
    close(ends[1]);
    process.pipe = ends[0];
    if (process.pid < 0) {
        close(ends[0]);
        return err_set(err, "cannot make a process: %s", strerror(errno));
    }
    jobs_set_process(all->jobs, job, process.pid);
    ARRAY_PUSH(&all->list, process);
    if (watch(all, process.pipe, err) < 0) {
        log_err(LOG_LEVEL_WARNING, "unix-manager", err);    /* seen at the next round anyway */
        *err = (struct err){ 0 };
    }
    return 0;
}

/* What the process has written; "" when it has been ended by a signal. False: it runs. */
static bool is_finished(const struct job_process *p, char *text, size_t size)
{
    ssize_t n = read(p->pipe, text, size - 1);

    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return false;
    text[n > 0 ? n : 0] = '\0';
    return true;
}

/* NULL: the capture has been read. */
static const char *failure(int status, char *text, size_t size)
{
    if (WIFSIGNALED(status))
        snprintf(text, size, "its process was ended by signal %d (%s)", WTERMSIG(status),
                 strsignal(WTERMSIG(status)));
    else if (WEXITSTATUS(status) == EXIT_SUCCESS)
        return NULL;
    else if (text[0] == '\0')
        snprintf(text, size, "its process ended with status %d", WEXITSTATUS(status));
    return text;
}

static void finish(struct job_processes *all, const struct job_process *p, char *text, size_t size)
{
    double seconds = (double)(clock_ns() - p->job->started_ns) / 1e9;
    struct rusage usage = { 0 };
    const char *failed;
    int status = 0;

    close(p->pipe);
    jobs_set_process(all->jobs, p->job, 0);
    while (wait4(p->pid, &status, 0, &usage) < 0 && errno == EINTR)
        ;
    failed = failure(status, text, size);
    if (failed != NULL && WIFSIGNALED(status))
        log_error("unix-manager", "'%s' failed: %s", p->job->file, failed);
    log_info("unix-manager", "'%s' %s after %.1f s, at most %ld MB", p->job->file,
             failed != NULL ? "failed" : "was read", seconds, usage.ru_maxrss / 1024);
    jobs_done(all->jobs, p->job, clock_wall_us() / 1000, failed);
}

void job_processes_reap(struct job_processes *all)
{
    char text[512];
    size_t kept = 0;

    for (size_t i = 0; i < all->list.count; i++) {
        struct job_process p = all->list.at[i];

        if (is_finished(&p, text, sizeof(text)))
            finish(all, &p, text, sizeof(text));
        else
            all->list.at[kept++] = p;
    }
    all->list.count = kept;
}

/* A capture that a signal ends stops between two packets and writes its records. */
void job_processes_free(struct job_processes *all)
{
    uint64_t until = clock_ns() + END_MS * 1000000ull;

    if (all == NULL)
        return;
    (void)jobs_signal(all->jobs, NULL, SIGTERM);
    while (all->list.count > 0) {
        struct epoll_event event;

        (void)epoll_wait(all->poll, &event, 1, 100);
        job_processes_reap(all);
        if (clock_ns() > until)
            (void)jobs_signal(all->jobs, NULL, SIGKILL);
    }
    if (all->poll >= 0)
        close(all->poll);
    ARRAY_FREE(&all->list);
    free(all);
}
