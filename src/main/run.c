/* SPDX-License-Identifier: GPL-2.0-or-later */
/* main/run.c - one run: set up, start, wait for the end or a signal, take down. */
#include "config.h"

#include "main/run.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "base/array.h"
#include "base/hash.h"
#include "base/log.h"
#include "base/version.h"
#include "control/process.h"
#include "control/signals.h"
#include "control/stats.h"
#include "control/systemd.h"
#include "detect/analysis/analysis.h"
#include "main/fence.h"
#include "main/logging.h"
#include "main/progress.h"
#include "main/setup.h"

static int fail(const struct err *err)
{
    if (err->text[0] != '\0')
        log_err(LOG_LEVEL_ERROR, "ids", err);
    return EXIT_FAILURE;
}

/* --- configuration ------------------------------------------------------------------------ */

/* Options that are another way to write a setting. */
static void configure_options(const struct options *o, struct conf *conf)
{
    if (o->recursive)
        conf_set(conf, "pcap-file.recursive", "true");
    if (o->continuous)
        conf_set(conf, "pcap-file.continuous", "true");
    if (o->delete_done)
        conf_set(conf, "pcap-file.delete-when-done", "true");
    if (o->pcap_file_buffer_size != NULL)
        conf_set(conf, "pcap-file.buffer-size", o->pcap_file_buffer_size);
    if (o->data_dir != NULL)
        conf_set(conf, "default-data-dir", o->data_dir);
    if (o->log_dir != NULL)
        conf_set(conf, "default-log-dir", o->log_dir);
    if (o->checksums != NULL) {
        bool all = strcmp(o->checksums, "all") == 0;

        conf_set(conf, "capture.checksum-validation", o->checksums);
        conf_set(conf, "stream.checksum-validation", all ? "yes" : "no");
        conf_set(conf, "pcap-file.checksum-checks", all ? "yes" : "no");
    }
    if (o->no_hashing)
        conf_set(conf, "hashing", "no");
    if (o->firewall || o->firewall_file != NULL)
        conf_set(conf, "firewall.enabled", "yes");
}

struct conf *run_configure(const struct options *o)
{
    const char *path = o->config != NULL ? o->config : IDS_SYSCONFDIR "/ids.yaml";
    struct conf *conf = conf_new();
    struct err err = { 0 };

    if (conf_load(conf, path, &err) < 0)
        goto failed;
    for (size_t i = 0; i < o->include.count; i++)
        if (conf_load(conf, o->include.at[i], &err) < 0)
            goto failed;
    for (size_t i = 0; i < o->set.count; i++)
        if (conf_set_argument(conf, o->set.at[i], &err) < 0)
            goto failed;
    configure_options(o, conf);
    return conf;

failed:
    log_err(LOG_LEVEL_ERROR, "conf", &err);
    conf_free(conf);
    return NULL;
}

/* --- checking ----------------------------------------------------------------------------- */

static bool rules_broken(const struct setup *s)
{
    return s->rules_report.failed > 0 || s->rules_report.files_failed > 0;
}

static int loading_failed(const struct setup *s)
{
    if (rules_broken(s))
        log_error("ids", "Loading signatures failed.");
    return EXIT_FAILURE;
}

static int write_analysis(const struct setup *s, struct err *err)
{
    if (analysis_write(s->context.rules, s->root, s->log_dir, err) < 0)
        return -1;
    return analysis_write_groups(s->context.rules, s->root, s->log_dir, err);
}

/* The command line wins over run-as. */
static const char *run_as(const char *option, const struct conf_node *root, const char *key)
{
    return option != NULL ? option : conf_string(root, key, NULL);
}

static int check_user(const struct options *o, const struct conf_node *root, struct err *err)
{
    return process_check_user(run_as(o->user, root, "run-as.user"),
                              run_as(o->group, root, "run-as.group"), err);
}

static int start_logging(const struct options *o, const struct conf *conf, struct err *err)
{
    const struct conf_node *root = conf_root(conf);
    const char *log_dir = o->log_dir != NULL ? o->log_dir
                                             : conf_string(root, "default-log-dir", IDS_LOGDIR);

    if (logging_setup(root, log_dir, o->verbose, o->daemon, err) < 0)
        return -1;
    log_notice("ids", "This is ids version %s running in %s mode", IDS_VERSION,
               o->job == JOB_RUN && o->capture != NULL ? "USER" : "TEST");
    conf_check_keys(conf);
    return 0;
}

int run_check(const struct options *o, struct conf *conf)
{
    struct setup s = { 0 };
    struct err err = { 0 };
    int status = EXIT_SUCCESS;

    if (start_logging(o, conf, &err) < 0 || check_user(o, conf_root(conf), &err) < 0 ||
        setup_libraries(&s, o, conf, &err) < 0 || setup_plan(&s, o->topology, &err) < 0)
        status = fail(&err);
    else if (rules_broken(&s) || (o->job == JOB_TEST && log_error_count() > 0))
        status = loading_failed(&s);
    if (o->job == JOB_ENGINE_ANALYSIS && s.context.rules != NULL && write_analysis(&s, &err) < 0)
        status = fail(&err);
    if (status == EXIT_SUCCESS)
        log_notice("ids", "Configuration provided was successfully loaded. Exiting.");
    else
        log_notice("ids", "the configuration has mistakes; see above");
    setup_free(&s);
    return status;
}

static const struct {
    const char *name;
    void (*print)(const struct plan *plan, struct buf *out);
} plan_forms[] = {
    { "text", plan_print }, { "json", plan_print_json }, { "dot", plan_print_dot },
    { "svg", plan_print_svg },
};

static void (*plan_form(const char *name, struct err *err))(const struct plan *, struct buf *)
{
    for (unsigned i = 0; i < ARRAY_LEN(plan_forms); i++)
        if (name == NULL || strcmp(plan_forms[i].name, name) == 0)
            return plan_forms[i].print;
    err_set(err, "--plan: want text, json, dot or svg, got \"%s\"", name);
    return NULL;
}

int run_plan(const struct options *o, struct conf *conf)
{
    void (*print)(const struct plan *, struct buf *);
    const char *form = o->job_argument;
    struct setup s = { .options = o, .conf = conf, .root = conf_root(conf) };
    struct buf out = { 0 };
    struct err err = { 0 };

    if ((print = plan_form(form, &err)) == NULL)
        return fail(&err);
    conf_check_keys(conf);
    if (o->capture != NULL && (s.context.capture = setup_capture_ops(o, &err)) == NULL)
        return fail(&err);
    if (setup_sources(&s, &err) < 0 || setup_plan(&s, o->topology, &err) < 0) {
        setup_free(&s);
        return fail(&err);
    }
    print(s.plan, &out);
    fwrite(out.data, 1, out.len, stdout);
    buf_fini(&out);
    setup_free(&s);
    return log_error_count() > 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}

/* --- running ------------------------------------------------------------------------------ */

struct running {
    struct setup *setup;
    struct engine *engine;
};

static void settle_stats(void *arg)
{
    const struct running *r = arg;

    engine_place_management(r->setup->plan, "CS");
}

static void gauge_engine(void *arg)
{
    const struct running *r = arg;

    engine_update_gauges(r->engine);
}

/* Builds the new set aside; a broken file keeps the old one. */
static void reload_rules(struct setup *s)
{
    struct ruleset_request request = s->rules_request;
    struct ruleset_report report = { 0 };
    struct err err = { 0 };
    struct ruleset *set;

    log_notice("detect", "rule reload starting");
    request.previous = s->context.rules;
    set = ruleset_load(&request, &report, &err);
    if (set == NULL || (report.loaded == 0 && (report.failed > 0 || report.files_failed > 0))) {
        if (err.text[0] != '\0')
            log_err(LOG_LEVEL_ERROR, "detect", &err);
        log_error("detect", "rule reload failed: the old rules stay in force");
        if (set != NULL)
            ruleset_unref(set);
        return;
    }
    setup_rules_changed(s, set, &report);
    run_context_set_rules(&s->context, set);
    log_notice("detect", "rule reload complete: %u rules in force, %u failed", report.loaded,
               report.failed);
}

static void report(const struct engine *engine)
{
    struct buf out = { 0 };

    engine_report(engine, &out);
    fwrite(out.data, 1, out.len, stderr);
    buf_fini(&out);
}

static void begin_stop(struct setup *s, struct engine *engine)
{
    if (s->stop != 0)
        return;
    log_notice("ids", "signal received: stopping");
    systemd_stopping();
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
        systemd_reloading();
        reload_rules(s);
        systemd_ready("running");
        break;
    case SIGNAL_REPORT:
        report(engine);
        break;
    case SIGNAL_NONE:
        break;
    }
}

/* The manager hears of us as long as this thread runs; it says nothing of the packet threads. */
static void wait_for_end(struct setup *s, struct engine *engine)
{
    unsigned watchdog_ms = systemd_watchdog_ms();
    int fd = signals_open(), timeout_ms = watchdog_ms > 0 ? (int)watchdog_ms : 10000;
    struct progress progress;

    progress_start(&progress, s);
    if (progress_is_shown(&progress))
        timeout_ms = 200;
    while (engine_is_running(engine)) {
        handle_signal(s, engine, signals_wait(fd, engine_end_fd(engine), timeout_ms));
        if (watchdog_ms > 0)
            systemd_alive();
        progress_show(&progress);
    }
    progress_end(&progress);
    if (fd >= 0)
        close(fd);
}

/* Live, the threads must not start with more rights than they keep; a file may be readable for
 * the old user only, and is opened by its thread. */
static int drop_rights(const struct setup *s, struct err *err)
{
    const struct options *o = s->options;

    return process_drop_rights(run_as(o->user, s->root, "run-as.user"),
                               run_as(o->group, s->root, "run-as.group"),
                               s->context.capture->live, err);
}

static void run_started(struct setup *s, struct engine *engine)
{
    struct running running = { .setup = s, .engine = engine };
    struct stats_hooks hooks = { .settle = settle_stats, .before = gauge_engine,
                                 .arg = &running };
    struct stats_thread *stats = stats_thread_start(s->context.output, &hooks);
    char summary[256];

    log_notice("threads", "Threads created -> %s   Engine started.",
               engine_thread_summary(s->plan, summary, sizeof(summary)));
    process_ready();
    systemd_ready("running");
    wait_for_end(s, engine);
    systemd_stopping();
    engine_wait(engine);
    stats_thread_stop(stats);
}

static int run_threads(struct setup *s)
{
    bool live = s->context.capture->live;
    struct engine_conf conf;
    struct engine *engine;
    struct err err = { 0 };
    int status;

    engine_conf_read(&conf, s->root, live, s->context.is_inline);
    engine = engine_new(&conf, s->plan, module_table, &s->context, &err);
    if (engine == NULL)
        return fail(&err);
    if ((live && drop_rights(s, &err) < 0) || fence_enter(s, &err) < 0 ||
        engine_start(engine, &err) < 0) {
        engine_free(engine);
        return fail(&err);
    }
    if (!live && drop_rights(s, &err) < 0) {
        engine_stop(engine);
        engine_wait(engine);
        engine_free(engine);
        return fail(&err);
    }
    run_started(s, engine);
    status = engine_wait(engine) < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
    if (s->options->verbose > 0)
        report(engine);
    engine_free(engine);
    return status;
}

/* Asks for the file the user gave, in the words of the operating system. */
static int check_sources(const struct options *o, struct err *err)
{
    if (o->capture == NULL || strcmp(o->capture, "pcap-file") != 0)
        return 0;
    for (size_t i = 0; i < o->sources.count; i++)
        if (strcmp(o->sources.at[i], "-") != 0 && access(o->sources.at[i], R_OK) < 0)
            return err_set(err, "capture file '%s': %s", o->sources.at[i], strerror(errno));
    return 0;
}

int run_engine(const struct options *o, struct conf *conf)
{
    struct setup s = { 0 };
    struct err err = { 0 };
    int status;

    if (o->no_random || o->deterministic)
        hash_seed_fix(1);
    if (check_sources(o, &err) < 0)
        return fail(&err);
    if (o->daemon && process_daemonize(&err) < 0)
        return fail(&err);
    signals_block();
    if (start_logging(o, conf, &err) < 0 || check_user(o, conf_root(conf), &err) < 0 ||
        setup_libraries(&s, o, conf, &err) < 0)
        goto failed;
    if (o->init_errors_fatal && (rules_broken(&s) || log_error_count() > 0)) {
        loading_failed(&s);
        log_notice("ids", "not started: there are errors, and --init-errors-fatal is given");
        goto failed;
    }
    if (setup_plan(&s, o->topology, &err) < 0 || setup_capture(&s, &err) < 0)
        goto failed;
    if (o->pid_file != NULL && process_pid_file(o->pid_file, &err) < 0)
        goto failed;
    status = run_threads(&s);
    process_pid_file_remove(o->pid_file);
    setup_free(&s);
    return status;

failed:
    setup_free(&s);
    return fail(&err);
}
