/* SPDX-License-Identifier: GPL-2.0-or-later */
/* main/engine_loop.c - one run from the first packet to the last: starts the threads,
 * answers signals, reloads the rules. All of it runs on the main thread. */
#include "config.h"

#include "base/memory/traffic_memory.h"
#include "main/engine_loop.h"

#include <stdio.h>
#include <stdlib.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif
#include <unistd.h>

#include "base/report/counters.h"
#include "base/report/log.h"
#include "base/system/loaded_pages.h"
#include "control/handover.h"
#include "control/metrics.h"
#include "control/process.h"
#include "control/signals.h"
#include "control/stats.h"
#include "control/systemd.h"
#include "control/watchdog.h"
#include "control/web/web.h"
#include "main/logging.h"
#include "main/sandbox_policy.h"
#include "main/progress.h"
#include "main/take_over.h"

struct stats_of { /* for the statistics thread; on run_started()'s stack */
    struct setup *setup;
    struct engine *engine;
};

/* Threads inherit the affinity, so those that the main thread starts from now on run on
 * the CPUs for management. */
static void apply_main_affinity(const struct setup *s)
{
    char name[16];

    if (pthread_getname_np(pthread_self(), name, sizeof(name)) == 0)
        engine_place_management(s->plan, name);
}

/* Runs on the statistics thread; "CS" is its name, as in Suricata. */
static void apply_stats_affinity(void *arg)
{
    const struct stats_of *r = arg;

    engine_place_management(r->setup->plan, "CS");
}

/* Runs on the statistics thread before each record. */
static void gauge_engine(void *arg)
{
    const struct stats_of *r = arg;

    engine_update_gauges(r->engine);
    gauges_update(r->setup->context.gauges);
}

/* All or none: when one tenant cannot be loaded, all keep their rules. */
static void load_tenants_again(struct setup *s)
{
    struct err err = { 0 };
    struct tenants *now = run_context_tenants(&s->context), *changed;

    if (now == NULL)
        return;
    changed = tenants_copy(now);
    tenants_unref(now);
    if (tenants_reload(changed, &s->rules_request, &err) == 0) {
        run_context_change_tenants(&s->context, changed);
        return;
    }
    log_err(LOG_LEVEL_ERROR, "detect", &err);
    tenants_unref(changed);
}

/* Called before other rules replace the counted ones, and at the end of a run. */
static void write_rule_profile(struct setup *s)
{
    struct err err = { 0 };

    if (rule_profile_write(&s->context, &s->rule_profile, s->log_dir, &err) < 0)
        log_err(LOG_LEVEL_ERROR, "detect", &err);
    if (rule_cost_file_write(&s->rule_costs, &s->context, &err) < 0)
        log_err(LOG_LEVEL_ERROR, "detect", &err);
}

/* malloc() keeps what lies below memory in use, so each reload would start from more. Once a reload
 * the walk over free blocks costs little. */
#ifdef __GLIBC__
static void return_memory(void)
{
    malloc_trim(0);
}
#else
static void return_memory(void)
{
}
#endif

/* Builds the new set aside, on this thread, while packets flow. False: the old rules stay,
 * because the new ones do not compile, none could be loaded, or a firewall rule is wrong. */
static bool load_again(struct setup *s)
{
    struct ruleset_request request = setup_rules_request(s);
    struct ruleset_report report = { 0 };
    struct err err = { 0 };
    struct ruleset *set, *old;

    request.previous = s->context.rules;
    set = ruleset_load(&request, &report, &err);
    if (set == NULL || report.firewall_failed ||
        (report.loaded == 0 && (report.failed > 0 || report.files_failed > 0))) {
        if (err.text[0] != '\0')
            log_err(LOG_LEVEL_ERROR, "detect", &err);
        if (set != NULL)
            ruleset_unref(set);
        return false;
    }
    /* The new rules may change sets that the old ones only read, without a lock. */
    (void)qsbr_synchronize(&s->context, NULL, NULL, 2000);
    write_rule_profile(s);
    old = ruleset_ref(s->context.rules);
    setup_rules_changed(s, set, &report);
    run_context_set_rules(&s->context, set);
    /* Freeing many rules takes long, so this thread holds the last reference. */
    (void)qsbr_synchronize(&s->context, NULL, NULL, 2000);
    ruleset_unref(old);
    load_tenants_again(s);
    return_memory();
    log_notice("detect", "rule reload complete: %u rules in force, %u failed", report.loaded,
               report.failed);
    return true;
}

/* The service manager and the clients of the socket learn of the begin and of the end. */
void engine_loop_reload_rules(struct setup *s)
{
    bool loaded;

    control_reload_begins(s->control);
    systemd_reloading();
    log_notice("detect", "rule reload starting");
    loaded = load_again(s);
    if (!loaded)
        log_error("detect", "rule reload failed: the old rules stay in force");
    systemd_ready("running");
    control_reload_ends(s->control, loaded ? NULL : "rule reload failed: the old rules stay in "
                                                    "force; see the log");
}

/* What flow.elephant has done, if it has done anything. */
static void report_elephants(struct buf *out)
{
    static const char *const names[] = {
        "flow_elephants.spread", "flow_elephants.bypassed", "flow_elephants.sampled",
        "flow_elephants.searched_ahead", "flow_elephants.skipped_pkts",
        "flow_elephants.skipped_bytes",
    };
    unsigned long long total[ARRAY_LEN(names)];

    for (unsigned i = 0; i < ARRAY_LEN(names); i++)
        total[i] = counter_total(counter_register(names[i], COUNTER_SUM));
    if (total[0] + total[1] + total[2] > 0)
        buf_printf(out, "elephant flows: %llu spread, %llu bypassed, %llu sampled; searched by "
                        "helpers: %llu packets; not searched: %llu packets, %llu bytes\n",
                   total[0], total[1], total[2], total[3], total[4], total[5]);
}

/* Writes to standard error, because SIGUSR1 and -v come from a user at a terminal. */
static void report(const struct engine *engine)
{
    struct buf out = { 0 };

    engine_report(engine, &out);
    report_elephants(&out);
    fwrite(out.data, 1, out.len, stderr);
    buf_fini(&out);
}

/* A second signal has no effect: the threads end after they have handed off their packets. */
static void begin_stop(struct setup *s, struct engine *engine)
{
    if (s->ending)
        return;
    log_notice("ids", "signal received: stopping");
    systemd_stopping();
    s->ending = true;
    __atomic_store_n(&s->stop, 1, __ATOMIC_RELAXED);
    engine_stop(engine);
}

static void handle_signal(struct setup *s, struct engine *engine, enum signal_event event)
{
    switch (event) {
    case SIGNAL_STOP:
        begin_stop(s, engine);
        break;
    case SIGNAL_ROTATE:
        log_reopen();
        output_rotate(s->context.output);
        break;
    case SIGNAL_RELOAD:
        engine_loop_reload_rules(s);
        break;
    case SIGNAL_REPORT:
        report(engine);
        break;
    case SIGNAL_NONE:
        break;
    }
}

/* Watches live captures only, or runs for which the service manager asks. Reading a file may
 * pause for long (a slow disk, standard input). */
static struct watchdog *start_watchdog(const struct setup *s, const struct engine *engine)
{
    return s->context.capture->live || systemd_watchdog_ms() > 0 ? watchdog_start(engine) : NULL;
}

/* The main loop. It wakes for signals, for the end of the engine, and often enough for the
 * watchdog; five times a second when progress is shown. */
static void wait_for_end(struct setup *s, struct engine *engine, struct progress *progress)
{
    struct watchdog *watchdog = start_watchdog(s, engine);
    int fd = signals_open(), timeout_ms = watchdog_round_ms(watchdog);
    enum signal_event event;

    if (progress_is_shown(progress))
        timeout_ms = 200;
    while (engine_is_running(engine)) {
        watchdog_here(watchdog, false);
        event = signals_wait(fd, engine_end_fd(engine), timeout_ms);
        watchdog_here(watchdog, event == SIGNAL_RELOAD);
        handle_signal(s, engine, event);
        take_over_expire(s);
        progress_show(progress);
    }
    watchdog_stop(watchdog);
    logging_clear_line();
    if (fd >= 0)
        close(fd);
}

/* For live captures, before the threads start, so that no thread ever has more privileges than
 * it keeps. For files, when their threads have opened the first one, which only the old user may
 * be able to read, and before a packet of it is read. */
int engine_loop_drop_privileges(const struct setup *s, struct err *err)
{
    const char *user = setup_user(s->options, s->root), *group = setup_group(s->options, s->root);
    const char *pid_file = setup_pid_file(s->options, s->root);

    if (process_chown_open_files(user, group, err) < 0 ||
        (pid_file != NULL && access(pid_file, F_OK) == 0 &&
         process_chown_file(pid_file, user, group, err) < 0) ||
        process_drop_privileges(user, group, s->context.capture->live, err) < 0)
        return -1;
    if (user != NULL || group != NULL)
        process_allow_core(s->root);
    return 0;
}

/* process_ready() lets the parent of a daemon exit, so it comes after everything that can
 * fail. */
static void run_started(struct setup *s, struct engine *engine)
{
    struct stats_of of = { .setup = s, .engine = engine };
    struct stats_hooks hooks = { .on_start = apply_stats_affinity,
                                 .before = gauge_engine,
                                 .arg = &of };
    struct stats_thread *stats = stats_thread_start(s->context.output, &hooks);
    struct progress progress;
    char summary[256];
    bool leaving;

    log_notice("threads", "Threads created -> %s   Engine started.",
               engine_thread_summary(s->plan, summary, sizeof(summary)));
    process_ready();
    if (!s->takes_jobs)
        systemd_ready("running");
    progress_start(&progress, s);
    wait_for_end(s, engine, &progress);
    leaving = control_hands_over(s->control);
    if (!s->takes_jobs && !leaving)
        systemd_stopping();
    engine_wait(engine);
    s->goes_on = leaving && !take_over_leave(s);
    progress_end(&progress);
    stats_thread_stop(stats);
}

/* Jobs come one after another in one process, so only the first start concerns the process
 * itself (privileges, sandbox). In job mode jobs_run() has done that. */
static bool starts_process(const struct setup *s)
{
    return !s->takes_jobs && !s->goes_on;
}

static int drop_privileges_when_open(void *arg, struct err *err)
{
    return engine_loop_drop_privileges(arg, err);
}

static int start_threads(struct setup *s, struct engine *engine, struct err *err)
{
    bool once = starts_process(s);

    if (once && s->context.capture->live && engine_loop_drop_privileges(s, err) < 0)
        return -1;
    if ((once && sandbox_policy_enter(s, err) < 0) || engine_start(engine, err) < 0)
        return -1;
    alloc_failures_from_environment();
    if (once)
        apply_main_affinity(s);
    output_run_here(s->context.output);
    if (once && (take_over_finish(s, engine, err) < 0 || control_start(s->control, err) < 0 ||
                 web_start(s->web, err) < 0 || take_over_done(s, err) < 0)) {
        engine_stop(engine);
        engine_wait(engine);
        return -1;
    }
    return 0;
}

static void stop_gauges(struct setup *s)
{
    gauges_free(s->context.gauges);
    s->context.gauges = NULL;
}

static int run_once(struct setup *s, struct err *err)
{
    struct engine_conf conf;
    struct engine *engine;
    int status, pages;

    engine_conf_read(&conf, s->root, s->context.capture->live, s->context.is_inline);
    conf.clock = s->has_clock ? &s->clock : NULL;
    if (starts_process(s) && !s->context.capture->live) {
        conf.when_open = drop_privileges_when_open;
        conf.arg = s;
    }
    engine = engine_new(&conf, s->plan, module_table, &s->context, err);
    if (engine == NULL)
        return EXIT_FAILURE;
    s->context.gauges = gauges_new(&s->context);
    pages = starts_process(s) ? loaded_pages_open() : -1;
    if (start_threads(s, engine, err) < 0) {
        loaded_pages_drop(pages);
        stop_gauges(s);
        engine_free(engine);
        return EXIT_FAILURE;
    }
    loaded_pages_drop(pages);   /* the code that has loaded rules and configuration, among others */
    control_set_run(s->control, engine, s->plan, &s->stop);
    web_set_run(s->web);
    run_started(s, engine);
    status = engine_wait(engine) < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
    if (s->options->verbose > 0)
        report(engine);
    control_set_run(s->control, NULL, NULL, NULL);
    web_set_run(s->web);
    stop_gauges(s);
    engine_free(engine);
    write_rule_profile(s);
    rule_profile_clear(&s->context);
    return status;
}

/* Returns an exit status. After a failure *err has the reason, and no thread runs. A process that
 * took over and failed leaves the capture to this one again. */
int engine_loop_run(struct setup *s, struct err *err)
{
    int status = run_once(s, err);

    while (s->goes_on && status == EXIT_SUCCESS) {
        run_context_end_run(&s->context);
        status = run_once(s, err);
    }
    return status;
}
