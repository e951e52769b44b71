/* SPDX-License-Identifier: GPL-2.0-or-later */
/* main/job_loop.c - ids --unix-socket: processes one capture file after another.
 *
 * Rules and settings stay. Each capture has its own threads, tables and outputs, and leaves no
 * state for the next one. A file that cannot be read does not end the engine. */
#include "config.h"

#include "main/job_loop.h"

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
static bool wait_for_job(struct setup *s, int signals)
{
    unsigned alive_ms = systemd_watchdog_ms();
    enum signal_event event = signals_wait(signals, jobs_fd(control_jobs(s->control)),
                                           alive_ms > 0 ? (int)alive_ms : 10000);

    if (alive_ms > 0)
        systemd_alive();
    switch (event) {
    case SIGNAL_STOP:
        log_notice("ids", "signal received: stopping");
        return false;
    case SIGNAL_ROTATE:
        log_reopen();
        break;
    case SIGNAL_RELOAD:
        engine_loop_reload_rules(s);
        break;
    default:
        break;
    }
    return true;
}

/* jobs_done() frees the job. */
static void loop(struct setup *s, int signals)
{
    struct jobs *jobs = control_jobs(s->control);
    const struct job *job;
    struct err err;
    int status;

    while (!s->ending && wait_for_job(s, signals)) {
        job = jobs_take(jobs);
        if (job == NULL)
            continue;
        err = (struct err){ 0 };
        status = run_job(s, job, &err);
        jobs_done(jobs, clock_wall_us() / 1000, status < 0 ? err.text : NULL);
    }
}

/* Returns an exit status. Sandbox and privileges come before the first other thread. */
int jobs_run(struct setup *s, struct err *err)
{
    int signals = signals_open();

    if (sandbox_policy_enter(s, err) < 0 || engine_loop_drop_privileges(s, err) < 0 ||
        control_start(s->control, err) < 0 || web_start(s->web, err) < 0) {
        close(signals);
        return EXIT_FAILURE;
    }
    log_notice("threads", "Engine started: waiting for commands.");
    process_ready();
    systemd_ready("waiting for commands");
    loop(s, signals);
    systemd_stopping();
    close(signals);
    return EXIT_SUCCESS;
}
