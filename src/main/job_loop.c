/* SPDX-License-Identifier: GPL-2.0-or-later */
/* main/job_loop.c - ids --unix-socket: runs one capture file after another, or several at once.
 * Rules and settings stay. Each capture has its own threads, tables and outputs, and leaves nothing
 * for the next one. A file that cannot be read does not end the engine. */
#include "config.h"

#include "main/job_loop.h"

#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/system/clock.h"
#include "base/report/log.h"
#include "control/process.h"
#include "control/signals.h"
#include "control/systemd.h"
#include "control/web/web.h"
#include "main/sandbox_policy.h"
#include "main/engine_loop.h"
#include "main/job_process.h"

/* The log gives the reason, and so does the command pcap-file-failed. */
static void job_failed(const struct job *job, struct err *err)
{
    if (err->text[0] == '\0')
        err_set(err, "it could not be read; see the log");
    log_error("unix-manager", "'%s' failed: %s", job->file, err->text);
}

/* Holds the control lock while the outputs and the plan are replaced, because commands
 * read them. 0: *err stays as it is. */
static int run_job(struct setup *s, const struct job *job, struct err *err)
{
    int status;

    log_info("unix-manager", "Starting run for '%s'", job->file);
    control_hold(s->control);
    status = setup_job(s, job, err);
    control_release(s->control);
    if (status == 0)
        status = engine_loop_run(s, err) == EXIT_SUCCESS ? 0 : -1;
    if (status < 0)
        job_failed(job, err);
    control_hold(s->control);
    setup_job_free(s);
    control_release(s->control);
    return status;
}

/* Returns false after a signal. Between captures this loop, not the watchdog, tells the service
 * manager that the engine is alive. */
static bool wait_for_job(struct setup *s, int signals, const struct job_processes *processes)
{
    unsigned alive_ms = systemd_watchdog_ms();
    enum signal_event event = signals_wait(signals, job_processes_fd(processes),
                                           alive_ms > 0 ? (int)alive_ms : 10000);

    if (alive_ms > 0)
        systemd_alive();
    switch (event) {
    case SIGNAL_STOP:
        log_notice("ids", "signal received: stopping");
        return false;
    case SIGNAL_ROTATE:
        log_reopen();
        (void)jobs_signal(control_jobs(s->control), NULL, SIGHUP);
        break;
    case SIGNAL_RELOAD:
        engine_loop_reload_rules(s);
        break;
    default:
        break;
    }
    return true;
}

/* In this process, so that all commands see the run. jobs_done() frees the job. */
static void run_alone(struct setup *s, const struct job *job)
{
    struct err err = { 0 };
    int status = run_job(s, job, &err);

    jobs_done(control_jobs(s->control), job, clock_wall_us() / 1000,
              status < 0 ? err.text : NULL);
}

/* A capture that may have others beside it gets a process. Bits on hosts that commands have set are
 * in its copy, and hold for this capture only. */
static void start_job(struct setup *s, struct job_processes *processes, const struct job *job)
{
    struct err err = { 0 };

    if (job->parallel == 1) {
        run_alone(s, job);
        return;
    }
    if (job_processes_start(processes, s, job, run_job, &err) < 0) {
        job_failed(job, &err);
        jobs_done(control_jobs(s->control), job, clock_wall_us() / 1000, err.text);
    }
    ruleset_clear_hosts(s->context.rules);
}

static void loop(struct setup *s, int signals, struct job_processes *processes)
{
    struct jobs *jobs = control_jobs(s->control);
    const struct job *job;

    while (!s->ending && wait_for_job(s, signals, processes)) {
        job_processes_reap(processes);
        while (!s->ending && (job = jobs_take(jobs)) != NULL)
            start_job(s, processes, job);
    }
}

/* Returns an exit status. Sandbox and privileges come before the first other thread. */
int jobs_run(struct setup *s, struct err *err)
{
    struct job_processes *processes = job_processes_new(control_jobs(s->control), err);
    int signals = signals_open();

    if (processes == NULL || setup_machine(s, err) < 0 || sandbox_policy_enter(s, err) < 0 ||
        engine_loop_drop_privileges(s, err) < 0 || control_start(s->control, err) < 0 ||
        web_start(s->web, err) < 0) {
        job_processes_free(processes);
        close(signals);
        return EXIT_FAILURE;
    }
    log_notice("threads", "Engine started: waiting for commands.");
    process_ready();
    systemd_ready("waiting for commands");
    loop(s, signals, processes);
    systemd_stopping();
    job_processes_free(processes);
    close(signals);
    return EXIT_SUCCESS;
}
