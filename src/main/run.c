/* SPDX-License-Identifier: GPL-2.0-or-later */
/* main/run.c - one run: sets up, starts, waits for the end or a signal, and takes
 * everything down. */
#include "config.h"

#include "app/conf.h"
#include "base/memory/arena.h"
#include "main/run.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "base/containers/hash.h"
#include "base/report/counters.h"
#include "base/report/log.h"
#include "base/system/cpu.h"
#include "base/version.h"
#include "control/process.h"
#include "control/signals.h"
#include "detect/analysis/analysis.h"
#include "detect/explain/explain.h"
#include "detect/explain/life.h"
#include "detect/lint/lint.h"
#include "main/job_loop.h"
#include "main/logging.h"
#include "main/engine_loop.h"
#include "main/plugin_guard.h"
#include "main/take_over.h"
#include "match/mpm_ngram.h"
#include "plugins/load.h"

/* --- configuration ------------------------------------------------------------------------ */

/* A file is read by a user at a terminal, as rules are for --lint: results go to the current
 * directory, unless the command line names another one. */
static void configure_offline(const struct options *o, struct conf *conf)
{
    if (o->job != JOB_LINT && (o->capture == NULL || strcmp(o->capture, "pcap-file") != 0))
        return;
    if (o->log_dir == NULL)
        conf_set(conf, "default-log-dir", ".");
    if (o->data_dir == NULL)
        conf_set(conf, "default-data-dir", ".");
}

/* capture.checksum-validation is the option -k as a setting. It decides about the stream
 * only. Whether a capture trusts checksums depends on its own checksum-checks, and so do
 * the keywords that ask for wrong ones. */
static void configure_checksums(struct conf *conf)
{
    const char *which = conf_string(conf_root(conf), "capture.checksum-validation", "");

    if (strcmp(which, "all") == 0 || strcmp(which, "none") == 0)
        conf_set(conf, "stream.checksum-validation", *which == 'a' ? "yes" : "no");
}

/* --explain prints its result, so it writes no logs, and existing log files stay as they are. */
static void configure_answer(struct conf *conf)
{
    conf_set(conf, "outputs", "");
    conf_set(conf, "logging.outputs", "");
    conf_set(conf, "logging.default-log-level", "error");
    conf_set(conf, "stats.enabled", "no");
}

/* Options that are another way to write a setting become that setting, so that the rest of
 * the program reads one source. They override the file. */
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
    configure_offline(o, conf);
    if (o->explain != NULL || o->life != NULL || o->job == JOB_LINT)
        configure_answer(conf);
    if (o->checksums != NULL)
        conf_set(conf, "stream.checksum-validation",
                 strcmp(o->checksums, "all") == 0 ? "yes" : "no");
    else
        configure_checksums(conf);
    if (o->no_hashing)
        conf_set(conf, "hashing", "no");
    if (o->firewall || o->firewall_file != NULL)
        conf_set(conf, "firewall.enabled", "yes");
    take_over_configure(o, conf);
}

/* Options that contradict the system or the configuration. */
static int check_options(const struct options *o, const struct conf *conf, struct err *err)
{
    const struct conf_node *root = conf_root(conf);
    struct stat st;

    if (o->data_dir != NULL && (stat(o->data_dir, &st) < 0 || !S_ISDIR(st.st_mode)))
        return err_set(err, "--data-dir: there is no directory %s", o->data_dir);
    if ((o->firewall || o->firewall_file != NULL) && conf_find(root, "firewall.enabled") != NULL &&
        !conf_bool(root, "firewall.enabled", false))
        return err_at(err, conf_find(root, "firewall.enabled")->at,
                      "the command line wants the firewall, the configuration says no");
    return 0;
}

/* --dump-config shows the configuration of a plugin that does not load, too. */
static int load_plugins(const struct options *o, const struct conf *conf, struct err *err)
{
    int status;

    if (o->job == JOB_DUMP_CONFIG)
        return 0;
    plugin_guard_begin();
    status = plugins_load(o->plugins.at, o->plugins.count, conf_root(conf), err);
    plugin_guard_end();
    return status;
}

/* The order gives the precedence: the file, --include, --set, other options. NULL: the
 * error is logged. Hash keys come first: large sections have an index. */
struct conf *run_configure(const struct options *o)
{
    const char *path = o->config != NULL ? o->config : IDS_SYSCONFDIR "/ids.yaml";
    struct conf *conf = conf_new();
    struct err err = { 0 };

    if (o->no_random || o->deterministic)
        hash_seed_fix(1);
    if (conf_load(conf, path, &err) < 0)
        goto failed;
    for (size_t i = 0; i < o->include.count; i++)
        if (conf_load(conf, o->include.at[i], &err) < 0)
            goto failed;
    for (size_t i = 0; i < o->set.count; i++)
        if (conf_set_argument(conf, o->set.at[i], &err) < 0)
            goto failed;
    if (check_options(o, conf, &err) < 0)
        goto failed;
    configure_options(o, conf);
    if (load_plugins(o, conf, &err) < 0)
        goto failed;
    return conf;

failed:
    log_err(LOG_LEVEL_ERROR, "conf", &err);
    conf_free(conf);
    return NULL;
}

/* --- checking ----------------------------------------------------------------------------- */

/* Rules that were skipped on purpose (`requires`) do not count. */
static bool rules_broken(const struct setup *s)
{
    return s->rules_report.failed > 0 || s->rules_report.files_failed > 0;
}

/* The text is Suricata's, because scripts look for it. */
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

/* Called before anything is opened, because an unknown name must not show up after the start. */
static int prepare_user(const struct options *o, const struct conf_node *root, struct err *err)
{
    return process_own_directories(setup_user(o, root), setup_group(o, root), err);
}

/* Warns of keys that no part of the engine reads, because most are misspelt. */
static unsigned check_keys(const struct conf *conf)
{
    const char *const *keys;
    struct arena arena;
    unsigned unknown;

    arena_init(&arena, 16 * 1024, 0);
    keys = output_settings_keys(&arena, app_settings_keys(&arena));
    unknown = conf_check_keys(conf, plugins_settings_keys(&arena, keys));
    arena_fini(&arena);
    return unknown;
}

/* Unknown keys are errors only for -T with --init-errors-fatal. */
static int start_logging(const struct options *o, const struct conf *conf, struct err *err)
{
    const struct conf_node *root = conf_root(conf);
    const char *log_dir = o->log_dir != NULL ? o->log_dir
                                             : conf_string(root, "default-log-dir", IDS_LOGDIR);

    if (logging_setup(root, log_dir, o->verbose, o->daemon, err) < 0)
        return -1;
    log_notice("ids", "This is ids version %s running in %s mode", IDS_VERSION,
               o->job == JOB_TEST || o->capture == NULL ? "TEST" : "USER");
    log_info("ids", "CPU level %s; many literals are looked for with %s", cpu_level(),
             mpm_ngram_kernel());
    conf_check_values(root, hs_available());
    if (check_keys(conf) > 0 && o->job == JOB_TEST && o->init_errors_fatal)
        return err_set(err, "there are unknown keys, and --init-errors-fatal is given");
    return 0;
}

/* Fails early, with the operating system's reason, when the user's file cannot be read. */
static int check_sources(const struct options *o, struct err *err)
{
    if (o->capture == NULL || strcmp(o->capture, "pcap-file") != 0)
        return 0;
    for (size_t i = 0; i < o->sources.count; i++)
        if (strcmp(o->sources.at[i], "-") != 0 && access(o->sources.at[i], R_OK) < 0)
            return err_set(err, "capture file '%s': %s", o->sources.at[i], strerror(errno));
    return 0;
}

/* Said with -v only, because dashboards made for Suricata show these counters. */
static void report_zero_counters(void)
{
    struct buf names = { 0 };

    for (unsigned id = 0; id < counter_count(); id++)
        if (counter_is_zero((counter_id)id))
            buf_printf(&names, "%s%s", names.len > 0 ? ", " : "", counter_name((counter_id)id));
    log_info("ids", "these counters are always 0, doc/from-suricata.md says why: %.*s",
             (int)names.len, (const char *)names.data);
    buf_fini(&names);
}

/* -T and --engine-analysis: everything but packets. For -T each logged error makes it
 * fail. */
int run_check(const struct options *o, struct conf *conf)
{
    struct setup s = { 0 };
    struct err err = { 0 };
    int status = EXIT_SUCCESS;

    if (check_sources(o, &err) < 0 || start_logging(o, conf, &err) < 0 ||
        prepare_user(o, conf_root(conf), &err) < 0 || setup_libraries(&s, o, conf, &err) < 0 ||
        setup_plan(&s, o->topology, &err) < 0)
        status = setup_fail(&err);
    else if ((s.rules_request.all_or_none && rules_broken(&s)) ||
             (o->job == JOB_TEST && log_error_count() > 0))
        status = loading_failed(&s);
    if (o->job == JOB_ENGINE_ANALYSIS && s.context.rules != NULL && write_analysis(&s, &err) < 0)
        status = setup_fail(&err);
    if (status == EXIT_SUCCESS) {
        report_zero_counters();
        log_notice("ids", "Configuration provided was successfully loaded. Exiting.");
    } else {
        log_notice("ids", "the configuration has mistakes; see above");
    }
    setup_free(&s);
    return status;
}

static int write_findings(const struct setup *s, struct err *err)
{
    const struct lint_request request = { .off = s->options->lint_off, .json = s->options->json };
    struct buf out = { 0 };
    unsigned count = 0;
    bool complete;

    if (lint_write(s->context.rules, &request, &out, &count, err) < 0)
        return -1;
    complete = !out.failed && fwrite(out.data, 1, out.len, stdout) == out.len &&
               fflush(stdout) == 0;
    buf_fini(&out);
    if (!complete)
        return err_set(err, "the findings are incomplete: no memory, or they cannot be written");
    return count > 0 ? 1 : 0;
}

/* Logs are off but for what ends the program, so an error is printed here. */
static int lint_fail(const struct err *err)
{
    char text[1024];

    fprintf(stderr, "ids: %s\n", err_text(err, text, sizeof(text)));
    return EXIT_FAILURE;
}

int run_lint(const struct options *o, struct conf *conf)
{
    struct setup s = { 0 };
    struct err err = { 0 };
    int found;

    if (start_logging(o, conf, &err) < 0 || setup_libraries(&s, o, conf, &err) < 0) {
        setup_free(&s);
        return lint_fail(&err);
    }
    found = write_findings(&s, &err);
    if (found >= 0 && s.rules_report.files_failed > 0)
        found = err_set(&err, "%u rule files could not be read; -T says why",
                        s.rules_report.files_failed);
    setup_free(&s);
    if (found < 0)
        return lint_fail(&err);
    return found > 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}

/* Names for --plan; the first is the default. */
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
    err_set(err, "--plan: expected text, json, dot or svg, got \"%s\"", name);
    return NULL;
}

/* Needs no rules, no privileges and, with --topology, not this machine. */
int run_plan(const struct options *o, struct conf *conf)
{
    void (*print)(const struct plan *, struct buf *);
    const char *form = o->job_argument;
    struct setup s = { .options = o, .conf = conf, .root = conf_root(conf) };
    struct buf out = { 0 };
    struct err err = { 0 };

    if ((print = plan_form(form, &err)) == NULL)
        return setup_fail(&err);
    check_keys(conf);
    if (o->capture != NULL && (s.context.capture = setup_capture_ops(o, &err)) == NULL)
        return setup_fail(&err);
    if (setup_sources(&s, &err) < 0 || setup_plan(&s, o->topology, &err) < 0) {
        setup_free(&s);
        return setup_fail(&err);
    }
    print(s.plan, &out);
    fwrite(out.data, 1, out.len, stdout);
    buf_fini(&out);
    setup_free(&s);
    return log_error_count() > 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}

/* --- running ------------------------------------------------------------------------------ */

/* Goes into the background if requested, then applies umask, core file size and working
 * directory. Called before logging starts, because the umask applies to log files. */
static int begin_process(const struct options *o, const struct conf *conf, struct err *err)
{
    if (o->daemon && process_daemonize(err) < 0)
        return -1;
    return process_apply_settings(conf_root(conf), o->daemon, err);
}

/* Mistakes of the configuration that must end the start; logs it. */
static bool has_mistakes(void)
{
    if (log_fatal_count() > 0)
        log_notice("ids", "not started: the configuration has mistakes; see above");
    return log_fatal_count() > 0;
}

/* Rules that cannot be loaded end the start only with --init-errors-fatal, as in Suricata. */
static bool may_start(const struct setup *s)
{
    if (has_mistakes())
        return false;
    if (s->options->init_errors_fatal && (rules_broken(s) || log_error_count() > 0)) {
        loading_failed(s);
        log_notice("ids", "not started: there are errors, and --init-errors-fatal is given");
        return false;
    }
    return true;
}

static int write_explanation(const struct run_context *ctx)
{
    struct buf out = { 0 };
    bool complete = ctx->life != NULL ? life_write(ctx->life, &out)
                                      : explain_write(ctx->explain, &out);

    complete = complete && fwrite(out.data, 1, out.len, stdout) == out.len && fflush(stdout) == 0;
    buf_fini(&out);
    if (!complete)
        log_error("detect", "the explanation is incomplete: no memory, or it cannot be written");
    return complete && (ctx->life != NULL ? life_found(ctx->life) : explain_found(ctx->explain))
               ? EXIT_SUCCESS : EXIT_FAILURE;
}

/* The plan comes after the libraries, because it needs the capture's sources. The pid file
 * comes after everything that may fail for a wrong configuration. */
int run_engine(const struct options *o, struct conf *conf)
{
    const char *pid_file = setup_pid_file(o, conf_root(conf));
    struct setup s = { 0 };
    struct err err = { 0 };
    int status;

    if (check_sources(o, &err) < 0)
        return setup_fail(&err);
    if (begin_process(o, conf, &err) < 0)
        return setup_fail(&err);
    signals_block();
    if (start_logging(o, conf, &err) < 0 || prepare_user(o, conf_root(conf), &err) < 0 ||
        setup_libraries(&s, o, conf, &err) < 0)
        goto failed;
    if (!may_start(&s))
        goto failed;
    if (setup_plan(&s, o->topology, &err) < 0 || take_over_begin(&s, &err) < 0 ||
        setup_capture(&s, &err) < 0 || take_over_adopt(&s, &err) < 0 || has_mistakes())
        goto failed;
    if (pid_file != NULL && take_over_pid_file(&s, pid_file, &err) < 0)
        goto failed;
    status = setup_control(&s, &err) < 0 ? EXIT_FAILURE : engine_loop_run(&s, &err);
    if (status != EXIT_SUCCESS)
        setup_fail(&err);
    else if (s.context.explain != NULL || s.context.life != NULL)
        status = write_explanation(&s.context);
    process_pid_file_remove(pid_file);
    setup_free(&s);
    return status;

failed:
    setup_free(&s);
    return setup_fail(&err);
}

/* --- captures by command ---------------------------------------------------------------------- */

/* The way of capture is fixed: clients name files. `o` is a copy, because the job changes
 * it. */
int run_jobs(const struct options *given, struct conf *conf)
{
    const char *pid_file = setup_pid_file(given, conf_root(conf));
    struct options o = *given;
    struct setup s = { .takes_jobs = true };
    struct err err = { 0 };
    int status = EXIT_FAILURE;

    o.capture = "pcap-file";
    if (begin_process(&o, conf, &err) < 0)
        return setup_fail(&err);
    signals_block();
    if (start_logging(&o, conf, &err) < 0 || prepare_user(&o, conf_root(conf), &err) < 0 ||
        setup_libraries(&s, &o, conf, &err) < 0 || setup_control(&s, &err) < 0)
        goto out;
    if (!may_start(&s))
        goto out;
    if (pid_file != NULL && process_pid_file(pid_file, &err) < 0)
        goto out;
    status = jobs_run(&s, &err);
    process_pid_file_remove(pid_file);

out:
    if (status != EXIT_SUCCESS)
        setup_fail(&err);
    setup_free(&s);
    return status;
}
