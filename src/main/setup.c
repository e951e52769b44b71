/* SPDX-License-Identifier: GPL-2.0-or-later */
/* main/setup.c - builds what a run needs: the libraries' settings, the rules, the outputs,
 * the plan and the capture. All of it runs on the main thread before the engine's threads
 * start. */
#include "config.h"

#include "app/conf.h"
#include "main/take_over.h"
#include "main/setup.h"

#include "main/global_memcap.h"

#include <errno.h>
#include <libgen.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/system/clock.h"
#include "base/report/log.h"
#include "control/systemd.h"
#include "control/web/web.h"
#include "detect/explain/explain.h"
#include "detect/explain/life.h"
#include "detect/explain/live.h"
#include "detect/keywords/registry.h"
#include "flow/exception.h"
#include "sequencer/setup.h"

/* Ended by NULL, see setup_sources(). */
static const char *const *source_names(const struct setup *s)
{
    return (const char *const *)s->sources.at;
}

/* Is it IPS mode? Then packets can be dropped, and streams are inspected before they pass.
 * The firewall makes no sense without it, so it implies it. */
static bool setup_is_inline(const struct setup *s)
{
    const struct capture_ops *capture = s->context.capture;

    if (s->options->simulate_ips || conf_bool(s->root, "firewall.enabled", false))
        return true;
    return capture != NULL && capture->verdicts &&
           (capture->is_inline == NULL ||
            capture->is_inline(s->root, source_names(s), s->sources.count));
}

/* A bridge forwards packets in IDS mode too, so it needs a verdict for each. */
static bool setup_gives_verdict(const struct setup *s)
{
    const struct capture_ops *capture = s->context.capture;

    return setup_is_inline(s) ||
           (capture != NULL && capture->forwards != NULL &&
            capture->forwards(s->root, source_names(s), s->sources.count));
}

/* Some captures derive their sources from the configuration when the command line gives
 * none. The strings belong to the setup. */
int setup_sources(struct setup *s, struct err *err)
{
    const struct capture_ops *capture = s->context.capture;
    const struct options *o = s->options;
    int status = 0;

    if (capture != NULL && capture->sources != NULL)
        status = capture->sources(s->root, o->sources.at, o->sources.count, &s->sources, err);
    else
        for (size_t i = 0; i < o->sources.count; i++)
            ARRAY_PUSH(&s->sources, xstrdup(o->sources.at[i]));
    /* NULL ends the list and does not count. */
    ARRAY_PUSH(&s->sources, NULL);
    s->sources.count--;
    return status;
}

/* An unknown word is a warning, as in Suricata. */
static const char *host_mode(const struct conf_node *root)
{
    static const char *const modes[] = { "auto", "router", "sniffer-only" };
    const char *mode = conf_string(root, "host-mode", "auto");

    for (unsigned i = 0; i < ARRAY_LEN(modes); i++)
        if (strcmp(mode, modes[i]) == 0)
            return mode;
    conf_warning(conf_find(root, "host-mode"), "expected auto, router or sniffer-only, got \"%s\"; "
                 "the default is used: auto", mode);
    return "auto";
}

/* The route of reject packets: the routing table of a router, or back through the interface. */
static int setup_reject(struct setup *s, struct err *err)
{
    const char *mode = host_mode(s->root);
    const char *device = s->options->reject_device;

    s->context.rejects_by_route = strcmp(mode, "router") == 0;
    if (device == NULL)
        return 0;
    s->context.reject_if_index = (int)if_nametoindex(device);
    if (s->context.reject_if_index == 0)
        return err_set(err, "--reject-dev: there is no interface \"%s\"", device);
    return 0;
}

/* Captures depend on libraries, so a known name may be missing in this build. */
const struct capture_ops *setup_capture_ops(const struct options *o, struct err *err)
{
    const struct capture_ops *ops;

    if (o->capture == NULL) {
        err_set(err, "nothing to read packets from: give -r FILE, -i INTERFACE or -q QUEUE");
        return NULL;
    }
    ops = capture_find(o->capture);
    if (ops == NULL)
        err_set(err, "capture by %s is not built in", o->capture);
    return ops;
}

/* Checked before anything is opened: one message instead of one per output. */
static int setup_log_dir(struct setup *s, struct err *err)
{
    const struct conf_node *node = conf_find(s->root, "default-log-dir");
    struct where at = { 0 };
    struct stat st;

    s->log_dir = s->options->log_dir != NULL ? s->options->log_dir
                                             : conf_string(s->root, "default-log-dir", IDS_LOGDIR);
    if (s->options->log_dir == NULL && node != NULL)
        at = node->at;
    if (stat(s->log_dir, &st) < 0)
        return err_at(err, at, "log directory %s: %s", s->log_dir, strerror(errno));
    if (!S_ISDIR(st.st_mode))
        return err_at(err, at, "log directory %s is not a directory", s->log_dir);
    if (access(s->log_dir, W_OK) < 0)
        return err_at(err, at, "log directory %s cannot be written to", s->log_dir);
    return 0;
}

/* dirname(3) changes its argument, so it gets a copy. */
static void setup_config_dir(struct setup *s)
{
    char path[4096];

    snprintf(path, sizeof(path), "%s", s->options->config != NULL ? s->options->config
                                                                   : IDS_SYSCONFDIR "/ids.yaml");
    snprintf(s->config_dir, sizeof(s->config_dir), "%s", dirname(path));
}

/* Finds a file that the configuration does not name. The first that exists counts: in the
 * configuration's directory, in its rules/, or where the installed files are. */
static void setup_default_file(struct setup *s, const char *key, const char *name)
{
    char path[4200];

    if (conf_find(s->root, key) != NULL)
        return;
    for (size_t i = 0; i < 3; i++) {
        snprintf(path, sizeof(path), i == 1 ? "%s/rules/%s" : "%s/%s",
                 i == 2 ? IDS_SYSCONFDIR : s->config_dir, name);
        if (access(path, R_OK) == 0) {
            conf_set(s->conf, key, path);
            return;
        }
    }
}

int setup_fail(const struct err *err)
{
    if (err->text[0] != '\0')
        log_err(LOG_LEVEL_ERROR, "ids", err);
    return EXIT_FAILURE;
}

const char *setup_user(const struct options *o, const struct conf_node *root)
{
    return o->user != NULL ? o->user : conf_string(root, "run-as.user", NULL);
}

const char *setup_group(const struct options *o, const struct conf_node *root)
{
    return o->group != NULL ? o->group : conf_string(root, "run-as.group", NULL);
}

/* The configured file is for daemons only; --pidfile always counts. This is Suricata's
 * behaviour. */
const char *setup_pid_file(const struct options *o, const struct conf_node *root)
{
    if (o->pid_file != NULL || !o->daemon)
        return o->pid_file;
    return conf_string(root, "pid-file", NULL);
}

/* Warns when rules store files and no output does. The text is Suricata's. */
static void check_file_store(const struct setup *s)
{
    if (conf_bool(s->root, "outputs.file-store.enabled", false))
        return;
    for (unsigned i = 0; i < ruleset_rule_count(s->context.rules); i++) {
        if (!(ruleset_rule(s->context.rules, i)->flags & RULE_FILESTORE))
            continue;
        log_warning("detect", "One or more rule(s) depends on the file-store output log which is "
                    "not enabled. Enable the output \"file-store\".");
        return;
    }
}

/* Only --engine-analysis uses detect.profile, but a wrong value ends every start. */
static void check_profile(const struct setup *s)
{
    static const char *const profiles[] = { "low", "medium", "high", "custom" };
    const struct conf_node *node = conf_find(s->root, "detect.profile");
    bool known = node == NULL || node->value == NULL;

    for (unsigned i = 0; i < ARRAY_LEN(profiles); i++)
        known = known || strcmp(node->value, profiles[i]) == 0;
    if (!known)
        conf_fatal(node, "expected low, medium, high or custom, got \"%s\"", node->value);
}

/* Each packet thread reads packet-alert-max; a wrong value is reported here, once. */
static void check_alert_max(const struct setup *s)
{
    const struct conf_node *node = conf_find(s->root, "packet-alert-max");
    uint64_t n;

    if (node != NULL && node->value != NULL &&
        (!text_to_u64(text_of(node->value), UINT8_MAX, &n) || n == 0))
        conf_warning(node,
                     "Invalid value for packet-alert-max, default value set instead: expected 1 "
                     "to 255, got \"%s\", 15 is taken",
                     node->value);
}

/* Called after the first load and after each reload, before packet threads see the rules. */
void setup_rules_changed(struct setup *s, const struct ruleset *rules,
                         const struct ruleset_report *report)
{
    run_context_rules_loaded(&s->context, report, clock_wall_us());
    if (s->context.output != NULL)
        output_set_rules(s->context.output, report, s->context.rules_loaded_us);
    if (s->context.output != NULL && s->context.tenants != NULL)
        output_set_tenants(s->context.output, s->context.tenants);
    stream_conf_set_lookback(s->stream, ruleset_looks_at_streams(rules) ||
                                            tenants_look_at_streams(s->context.tenants));
    stream_conf_set_compare(s->stream, ruleset_looks_at_overlap(rules) ||
                                           tenants_look_at_overlap(s->context.tenants));
}

/* With tenants the common rules are loaded only when multi-detect.default is set; -T
 * checks them anyway. */
struct ruleset_request setup_rules_request(const struct setup *s)
{
    struct ruleset_request request = s->rules_request;

    if (conf_bool(s->root, "multi-detect.enabled", false) &&
        !conf_bool(s->root, "multi-detect.default", false) && s->options->job != JOB_TEST &&
        s->options->job != JOB_LINT)
        request.disabled = true;
    return request;
}

/* Single invalid rules are not fatal here. But all rules of a firewall and the file of -S are
 * required: without them the engine would act against the user's request. */
static int setup_rules(struct setup *s, struct err *err)
{
    const struct options *o = s->options;
    struct ruleset_request everybody;

    s->rules_request = (struct ruleset_request){
        .conf = s->root,
        .app = s->app,
        .extra_files = o->rule_files.count > 0 ? o->rule_files.at : NULL,
        .exclusive_file = o->only_rule_file,
        .firewall_file = o->firewall_file,
        .is_inline = s->context.is_inline,
        .disabled = o->no_detection,
        .strict_all = o->strict_all,
        .strict_keywords = o->strict_keywords,
        .config_dir = s->config_dir,
        .all_or_none = o->init_errors_fatal || o->job == JOB_TEST,
        .drop_texts = o->job != JOB_ENGINE_ANALYSIS && o->job != JOB_LINT &&
                      o->explain == NULL && !output_shows_rules(s->root),
    };
    everybody = setup_rules_request(s);
    s->context.rules = ruleset_load(&everybody, &s->rules_report, err);
    if (s->context.rules == NULL)
        return -1;
    if (s->rules_report.firewall_failed)
        return err_set(err, "without all rules of the firewall nothing begins");
    if (o->only_rule_file != NULL && s->rules_report.files_failed > 0)
        return err_set(err, "-S %s: without these rules nothing begins", o->only_rule_file);
    *err = (struct err){ 0 };               /* earlier errors have been logged */
    s->context.tenants = tenants_load(&s->rules_request, err);
    if (s->context.tenants == NULL && err->text[0] != '\0')
        return -1;
    check_file_store(s);
    check_alert_max(s);
    check_profile(s);
    setup_rules_changed(s, s->context.rules, &s->rules_report);
    return 0;
}

static int setup_explain(struct setup *s, struct err *err)
{
    const struct options *o = s->options;
    const struct explain_request request = { .rules = o->explain, .flow = o->explain_flow,
                                             .nearest = o->explain_nearest,
                                             .summary = o->explain_summary,
                                             .json = o->json,
                                             .tenants = s->context.tenants };

    if (o->life != NULL) {
        s->context.life = life_new(&(struct life_request){ o->life, o->json, s->app,
                                                           s->stream }, err);
        return s->context.life != NULL ? 0 : -1;
    }
    if (o->explain == NULL)
        return 0;
    s->context.explain = explain_new(&request, s->context.rules, err);
    if (!o->explain_summary)
        app_require_buffers(s->app);    /* it says in which other buffer a content is */
    return s->context.explain != NULL ? 0 : -1;
}

/* In job mode an invalid output ends the job, not the engine. */
static int setup_outputs(struct setup *s, struct err *err)
{
    struct output_request request = {
        .conf = s->root,
        .app = s->app,
        .stream = s->stream,
        .log_dir = s->log_dir,
        .is_inline = s->context.is_inline,
        .offline = s->context.offline,
        .stop = &s->stop,
        .deterministic = s->options->deterministic && s->context.offline,
    };
    unsigned before;

    before = log_fatal_count();
    s->context.output = output_conf_new(&request, err);
    if (s->context.output == NULL)
        return -1;
    if (s->takes_jobs && log_fatal_count() > before)
        return err_set(err, "an output cannot begin; see the log");
    return 0;
}

/* Sets up the packet sources, and the effect of verdicts. */
static int setup_source(struct setup *s, struct err *err)
{
    struct run_context *ctx = &s->context;

    if (s->options->capture != NULL) {
        ctx->capture = setup_capture_ops(s->options, err);
        if (ctx->capture == NULL)
            return -1;
    }
    if (setup_sources(s, err) < 0 || setup_reject(s, err) < 0)
        return -1;
    ctx->is_inline = setup_is_inline(s);
    ctx->gives_verdict = setup_gives_verdict(s);
    ctx->offline = ctx->capture == NULL || !ctx->capture->live;
    /* The two directions of a flow arrive on different interfaces of a bridge. */
    if (ctx->gives_verdict)
        conf_set(s->conf, "livedev.use-for-tracking", "no");
    return 0;
}

static int setup_directories(struct setup *s, struct err *err)
{
    setup_config_dir(s);
    if (setup_log_dir(s, err) < 0)
        return -1;
    setup_default_file(s, "classification-file", "classification.config");
    setup_default_file(s, "reference-config-file", "reference.config");
    setup_default_file(s, "threshold-file", "threshold.config");
    return 0;
}

/* The settings of the libraries that packets pass, in the order of the passage. */
static int setup_packet_path(struct setup *s, struct err *err)
{
    if ((s->decode = decode_conf_new(s->root, err)) == NULL ||
        (s->flow = flow_conf_new(s->root, 1, err)) == NULL ||
        (s->stream = stream_conf_new(s->root, s->context.is_inline, err)) == NULL ||
        (s->app = app_conf_new(s->root, s->context.is_inline, err)) == NULL)
        return -1;
    if (s->context.capture != NULL && s->context.capture->adopt != NULL)
        app_conf_hand_over(s->app);
    s->context.decode = s->decode;
    s->context.flow = s->flow;
    s->context.stream = s->stream;
    s->context.app = s->app;
    return 0;
}

/* The order follows the dependencies. Rules and outputs determine the features that parsers
 * need, so the parsers' settings come first. setup_free() also frees a setup that failed in the
 * middle. */
int setup_libraries(struct setup *s, const struct options *o, struct conf *conf, struct err *err)
{
    s->options = o;
    s->conf = conf;
    s->root = conf_root(conf);
    s->context.conf = s->root;
    if (setup_source(s, err) < 0 || web_check(s->root, err) < 0)
        return -1;
    pthread_mutex_init(&s->context.rules_lock, NULL);
    pthread_mutex_init(&s->context.qsbr_lock, NULL);
    if (setup_directories(s, err) < 0)
        return -1;
    keyword_registry_init();
    exception_policy_announce(s->root);
    global_memcap_begin(s->root);
    if (setup_packet_path(s, err) < 0)
        return -1;
    /* In job mode each job opens outputs of its own. */
    if (!s->takes_jobs && setup_outputs(s, err) < 0)
        return -1;
    if (setup_rules(s, err) < 0 || setup_explain(s, err) < 0)
        return -1;
    rule_profile_conf_read(&s->rule_profile, s->root);
    if (s->rule_profile.active)
        rule_profile_start(&s->context);
    return 0;
}

/* Counts the threads that run this module, over all stages. */
static unsigned threads_with(const struct plan *plan, const char *module)
{
    unsigned count = 0;

    for (unsigned i = 0; i < plan->stage_count; i++)
        if (stage_has(plan->stages[i].stage, module))
            count += plan->stages[i].count;
    return count;
}

/* True when several threads inspect parts of one file, or when one thread inspects and
 * others run early hooks that share state. Only then the order across flows has to be
 * restored. */
static bool needs_sequence(const struct setup *s)
{
    const struct plan *plan = s->plan;
    bool early_hooks_share_state =
        s->context.rules != NULL && ruleset_early_hooks_share_state(s->context.rules);

    if (plan->file_per_queue)
        return false;
    for (unsigned i = 0; i < plan->stage_count && !plan->live; i++) {
        const struct run_stage *stage = plan->stages[i].stage;

        if (stage_has(stage, "detect"))
            return plan->stages[i].count > 1 ||
                   (early_hooks_share_state && !stage_has(stage, "stream"));
    }
    return false;
}

/* The threads outside of the plan: the first one, which waits for signals; statistics, commands,
 * the watchdog. */
#define MANAGEMENT_MAX 7
static void name_management(const struct setup *s, bool live, char *main_name, size_t size,
                            struct plan_manager out[MANAGEMENT_MAX])
{
    unsigned n = 0;

    if (pthread_getname_np(pthread_self(), main_name, size) != 0)
        snprintf(main_name, size, "ids");
    out[n++] = (struct plan_manager){ main_name, "signals, reloads" };
    if (conf_bool(s->root, "stats.enabled", true))
        out[n++] = (struct plan_manager){ "CS", "statistics" };
    if (s->takes_jobs || control_is_enabled(s->root, live))
        out[n++] = (struct plan_manager){ "US", "control socket" };
    if (web_is_enabled(s->root))
        out[n++] = (struct plan_manager){ "Web", "metrics, page" };
    if (live || systemd_watchdog_ms() > 0)
        out[n++] = (struct plan_manager){ "WD", "watchdog" };
    if (live)
        out[n++] = (struct plan_manager){ "Sink", "writes records" };
    out[n] = (struct plan_manager){ NULL, NULL };
}

static void describe(const struct conf_node *root, const struct capture_ops *capture,
                     struct plan_source *source)
{
    capture->describe(root, source->name, source->detail, sizeof(source->detail));
    if (source->peer != NULL)
        capture->describe(root, source->peer, source->peer_detail, sizeof(source->peer_detail));
}

/* Asks the capture for queues and threads of a source. With --topology only the CPUs of
 * the other machine are known, not its interfaces. */
static void ask_capture(const struct setup *s, const struct capture_ops *capture,
                        struct plan_source *source)
{
    const struct topology *t = s->topology;

    if (capture->peer != NULL)
        source->peer = capture->peer(s->root, source->name);
    if (t->is_this_machine && capture->queues != NULL)
        source->queues = capture->queues(s->root, source->name);
    if (capture->auto_threads != NULL)
        source->auto_threads = capture->auto_threads(s->root, source->name,
                                                     cpu_set_count(&t->allowed), source->queues);
    if (s->options->job == JOB_PLAN && t->is_this_machine && capture->describe != NULL)
        describe(s->root, capture, source);
    source->missing = t->is_this_machine && capture->has_interfaces &&
                      strcmp(source->name, "any") != 0 && if_nametoindex(source->name) == 0;
}

/* Lists the interfaces for the message about a source that does not exist. */
static const char *interface_names(char *buf, size_t size)
{
    struct if_nameindex *all = if_nameindex();
    size_t at = 0;

    buf[0] = '\0';
    for (unsigned i = 0; all != NULL && all[i].if_name != NULL && at < size; i++)
        at += (size_t)snprintf(buf + at, size - at, "%s%s", i > 0 ? ", " : "", all[i].if_name);
    if (all != NULL)
        if_freenameindex(all);
    return buf;
}

/* Without run modes there is no plan. The section `threading` is still checked, so that
 * the user sees all errors at once. */
static void threading_check(const struct setup *s, struct err *err)
{
    struct diagnostics diagnostics = { 0 };
    struct err mine = { 0 };
    struct affinity *a = affinity_new(s->root, s->topology, NULL, &diagnostics, &mine);

    if (a == NULL)
        (void)log_err_also("ids", err, &mine);
    affinity_free(a);
    diagnostics_fini(&diagnostics);
}

/* The command line, then `runmode`, then the capture's default. NULL with *err set: there
 * is no mode of that name. */
static const struct run_mode *requested_mode(const struct setup *s, struct err *err)
{
    const struct capture_ops *capture = s->context.capture;
    const struct conf_node *in_file = conf_find(s->root, "runmode");
    const char *name = s->options->run_mode;
    const struct run_mode *mode;
    char names[512];

    if (name != NULL)
        in_file = NULL;
    else
        name = conf_string(s->root, "runmode",
                           capture != NULL ? capture->default_run_mode : "autofp");
    mode = run_modes_find(s->modes, name);
    if (mode == NULL)
        err_at(err, in_file != NULL ? in_file->at : NO_LOCATION, "there is no run mode \"%s\": %s",
               name, run_modes_names(s->modes, names, sizeof(names)));
    return mode;
}

/* The machine stays as it was for the first capture; what the engine may use of it does not. */
static void read_topology(struct setup *s, const char *topology, struct err *err)
{
    if (s->topology != NULL)
        topology_read_limits(s->topology);
    else
        s->topology = topology != NULL ? topology_described(topology, err)
                                       : topology_of_machine(err);
}

/* Fills s->modes and s->topology; setup_free() frees them. */
static int read_modes(struct setup *s, const char *topology, struct err *err)
{
    s->modes = run_modes_new(s->root, err);
    read_topology(s, topology, err);
    if (s->modes == NULL && s->topology != NULL)
        threading_check(s, err);
    return s->modes != NULL && s->topology != NULL ? 0 : -1;
}

static const char *section_of(const struct capture_ops *capture, const char *method)
{
    return capture != NULL && capture->section != NULL ? capture->section : method;
}

/* The request and its arrays are needed only until plan_new() returns. */
static struct plan *make_plan(struct setup *s, const struct run_mode *mode, struct err *err)
{
    const struct capture_ops *capture = s->context.capture;
    unsigned count = (unsigned)s->sources.count;
    struct plan_source *sources = xcalloc(count + 1, sizeof(*sources));
    char interfaces[512], main_name[16];
    struct plan_manager management[MANAGEMENT_MAX];
    struct plan_request request = {
        .mode = mode,
        .root = s->root,
        .topology = s->topology,
        .method = capture != NULL ? capture->name : "pcap-file",
        .live = capture != NULL && capture->live,
        .verdict_threads = capture != NULL && strcmp(capture->name, "nfq") == 0,
        .sends_apart = capture != NULL && setup_gives_verdict(s) ? capture->sends_apart : NULL,
        .sources = sources,
        .source_count = count,
        .management = management,
    };
    struct plan *plan;

    if (count > 0)
        plan_sources_read(s->root, section_of(capture, request.method), source_names(s), sources,
                          count);
    for (unsigned i = 0; i < count && capture != NULL; i++)
        ask_capture(s, capture, &sources[i]);
    name_management(s, request.live, main_name, sizeof(main_name), management);
    if (s->topology->is_this_machine)
        request.interfaces = interface_names(interfaces, sizeof(interfaces));
    plan = plan_new(&request, err);
    free(sources);
    return plan;
}

#define SMALL_CAPTURE (UINT64_C(4) << 20)

/* Suricata reads a small file before its flow manager comes by. A pipe or a directory has no size
 * that says how much there is to read. */
static bool capture_is_small(const struct setup *s)
{
    uint64_t limit = conf_size(s->root, "pcap-file.flow-timeouts-from", SMALL_CAPTURE);
    uint64_t sum = 0;

    if (s->context.capture == NULL || strcmp(s->context.capture->name, "pcap-file") != 0)
        return false;
    for (size_t i = 0; i < s->sources.count; i++) {
        struct stat st;

        if (stat(s->sources.at[i], &st) < 0 || !S_ISREG(st.st_mode))
            return false;
        sum += (uint64_t)st.st_size;
    }
    return sum < limit;
}

/* Passes facts of the plan to the libraries, such as the number of threads that have flow
 * tables. */
static void report_plan(struct setup *s)
{
    struct run_context *context = &s->context;

    context->shares_file = s->plan->shares_file;
    if (needs_sequence(s))
        context->seq = sequencer_new();
    if (context->seq != NULL && s->options->deterministic && context->output != NULL)
        output_conf_merge(context->output, context->seq);
    if (s->decode != NULL)
        decode_conf_set_run(s->decode, threads_with(s->plan, "decode"), context->is_inline);
    if (s->flow != NULL) {
        flow_conf_set_tables(s->flow, threads_with(s->plan, "stream"));
        flow_conf_keep_idle(s->flow, capture_is_small(s));
    }
}

/* --deterministic needs one order of all packets, which several files at once do not have. */
int setup_plan(struct setup *s, const char *topology, struct err *err)
{
    const struct run_mode *mode;

    if (read_modes(s, topology, err) < 0)
        return -1;
    mode = requested_mode(s, err);
    if (mode == NULL)
        return -1;
    s->plan = make_plan(s, mode, err);
    if (s->plan == NULL)
        return -1;
    if (s->options->deterministic && s->plan->file_per_queue && s->plan->stages[0].count > 1)
        return err_at(err, conf_find(s->root, "pcap-file.directory")->at, "directory: files: with "
                      "--deterministic one thread reads them: expected run mode single");
    report_plan(s);
    if (s->plan->live && s->options->job != JOB_PLAN)
        diagnostics_log(&s->plan->diagnostics);
    return 0;
}

/* A thread reads one source. A run mode with fewer threads than sources would leave some
 * unread. */
static int check_threads(const struct setup *s, const unsigned *threads, struct err *err)
{
    for (size_t i = 0; i < s->sources.count && s->plan->live; i++)
        if (threads[i] == 0)
            return err_set(err, "run mode %s has no thread for %s: take another one, or capture "
                           "from %s alone", s->plan->mode->name, s->sources.at[i],
                           s->sources.at[0]);
    return 0;
}

static void *open_capture(const struct capture_ops *ops, const struct capture_request *request,
                          struct err *err)
{
    return ops->open_registered != NULL ? ops->open_registered(ops, request, err)
                                        : ops->open(request, err);
}

/* The share of the flows of a file that this engine inspects. Threads that read one file together
 * divide its flows by themselves. */
static int set_share(struct setup *s, struct err *err)
{
    const char *text = conf_string(s->root, "pcap-file.flow-share", NULL);
    struct flow_share *share = &s->context.share;
    struct where at = { 0 };

    *share = s->job_share;
    if (text != NULL)
        at = conf_find(s->root, "pcap-file.flow-share")->at;
    if (share->count == 0 && text != NULL && !flow_share_parse(text, share))
        return err_at(err, at, "flow-share: want NUMBER/COUNT, with a count up to %d, got \"%s\"",
                      FLOW_SHARES_MAX, text);
    if (!s->context.offline)
        *share = (struct flow_share){ 0 };
    if (share->count > 0 && s->plan->shares_file)
        return err_at(err, at, "flow-share: in run mode %s threads share a file: take single",
                      s->plan->mode->name);
    return 0;
}

/* Opens the sources. In live captures this needs the privileges that are dropped
 * afterwards. */
int setup_capture(struct setup *s, struct err *err)
{
    unsigned *threads = xcalloc(s->sources.count + 1, sizeof(threads[0]));
    struct capture_request request = {
        .sources = source_names(s),
        .bpf_filter = s->options->bpf,
        .threads = s->plan->stages[0].count,
        .source_threads = threads,
        .conf = s->root,
        .packets = s->plan->stages[0].pool_size,
        .simulate_ips = s->options->simulate_ips,
        .file_per_queue = s->plan->file_per_queue,
        .is_shared = s->plan->shares_file,
        .stop = &s->stop,
    };

    if (set_share(s, err) < 0) {
        free(threads);
        return -1;
    }
    if (s->context.capture != NULL)
        plan_source_threads(s->plan, threads);
    if (setup_capture_ops(s->options, err) != NULL && check_threads(s, threads, err) == 0)
        s->context.capture_handle = open_capture(s->context.capture, &request, err);
    free(threads);
    return s->context.capture_handle != NULL ? 0 : -1;
}

/* A listener that is configured but cannot listen ends the start. */
static int open_listener(struct setup *s, struct err *err)
{
    if (!web_is_enabled(s->root))
        return 0;
    s->web = web_open(s->control, err);
    return s->web != NULL ? 0 : -1;
}

unsigned setup_parallel_jobs(const struct setup *s)
{
    return (unsigned)conf_u64_range(s->root, "unix-command.parallel-jobs", 1, 1,
                                    JOBS_PARALLEL_MAX);
}

/* The engine runs without as well, but for commands it was started for. */
int setup_control(struct setup *s, struct err *err)
{
    const struct options *o = s->options;
    struct control_conf conf = {
        .root = s->root,
        .context = &s->context,
        .rules_request = &s->rules_request,
        .stream = s->stream,
        .rule_profile = &s->rule_profile,
        .path = s->takes_jobs ? o->job_argument : NULL,
        .user = setup_user(o, s->root),
        .group = setup_group(o, s->root),
        .predecessor = take_over_predecessor(s),
        .takes_jobs = s->takes_jobs,
        .has_listener = web_is_enabled(s->root),
        .parallel_jobs = s->takes_jobs ? setup_parallel_jobs(s) : 1,
        .fixed_rules = (o->rule_files.count > 0 || o->only_rule_file != NULL) &&
                       !conf_bool(s->root, "unix-command.reload-given-rules", false),
        .merge_reloads = conf_bool(s->root, "unix-command.merge-reloads", false),
    };

    if (o->rule_profile != NULL && rule_cost_file_open(&s->rule_costs, o->rule_profile, err) < 0)
        return -1;
    if (control_open(&conf, &s->control, err) == 0)
        return open_listener(s, err);
    if (s->takes_jobs)
        return -1;
    log_err(LOG_LEVEL_WARNING, "unix-manager", err);
    *err = (struct err){ 0 };
    return 0;
}

/* Sets only what changes: the configuration never frees an old value. */
static void job_setting(struct setup *s, const char *path, const char *value)
{
    if (strcmp(conf_string(s->root, path, ""), value) != 0)
        conf_set(s->conf, path, value);
}

/* Seconds are limited to a day; a poll interval of 0 would not sleep. */
static void job_settings(struct setup *s, const struct job *job)
{
    char number[24];

    s->job_share = job->share;
    job_setting(s, "pcap-file.continuous", job->continuous ? "true" : "false");
    job_setting(s, "pcap-file.delete-when-done", job->delete_when_done ? "true" : "false");
    snprintf(number, sizeof(number), "%llu", (unsigned long long)MIN(job->delay_s, 86400u));
    job_setting(s, "pcap-file.delay", number);
    snprintf(number, sizeof(number), "%llu",
             (unsigned long long)MIN(MAX(job->poll_s, 1u), 86400u));
    job_setting(s, "pcap-file.poll-interval", number);
}

/* Creates the parsers' settings again and sets counters to 0, because a job must not see state
 * of the capture before. */
static int job_libraries(struct setup *s, struct err *err)
{
    struct app_conf *app = app_conf_new(s->root, s->context.is_inline, err);

    if (app == NULL)
        return -1;
    ruleset_require(s->context.rules, app);
    for (size_t i = 0; s->context.tenants != NULL && i < s->context.tenants->list.count; i++)
        ruleset_require(s->context.tenants->list.at[i]->rules, app);
    app_conf_free(s->app);
    s->app = app;
    s->context.app = s->rules_request.app = app;
    counters_reset_all();
    return 0;
}

/* All packets of the capture belong to this tenant. */
static void job_tenant(struct setup *s, uint32_t tenant)
{
    struct tenants *changed;

    if (s->context.tenants == NULL)
        return;
    changed = tenants_copy(s->context.tenants);
    changed->direct = tenant;
    run_context_set_tenants(&s->context, changed);
    output_set_tenants(s->context.output, changed);
}

/* hwloc opens hundreds of files, and the clock is watched for 10 ms: together three quarters of the
 * time that a capture of 6 kB took. */
int setup_machine(struct setup *s, struct err *err)
{
    clock_fast_init(&s->clock);
    s->has_clock = true;
    read_topology(s, s->options->topology, err);
    return s->topology != NULL ? 0 : -1;
}

/* Called with the control lock held. On failure setup_job_free() still has to be called. */
int setup_job(struct setup *s, const struct job *job, struct err *err)
{
    job_settings(s, job);
    s->stop = 0;
    s->log_dir = job->log_dir;
    ARRAY_PUSH(&s->sources, xstrdup(job->file));
    ARRAY_PUSH(&s->sources, NULL);
    s->sources.count--;
    if (job_libraries(s, err) < 0 || setup_outputs(s, err) < 0)
        return -1;
    output_set_rules(s->context.output, &s->context.rules_report, s->context.rules_loaded_us);
    job_tenant(s, job->tenant);
    return setup_plan(s, s->options->topology, err) < 0 ? -1 : setup_capture(s, err);
}

/* Frees what one job created, in reverse order of its creation. */
static void job_free(struct setup *s)
{
    run_context_end_run(&s->context);
    sequencer_free(s->context.seq);
    plan_free(s->plan);
    run_modes_free(s->modes);
    if (s->context.capture_handle != NULL)
        s->context.capture->close(s->context.capture_handle);
    output_conf_free(s->context.output);
    capture_names_free(&s->sources);
}

/* Bits on hosts that commands set before a capture apply to that capture, so they are
 * cleared only after it. */
void setup_job_free(struct setup *s)
{
    ruleset_clear_hosts(s->context.rules);
    job_free(s);
    s->context.seq = NULL;
    s->plan = NULL;
    s->modes = NULL;
    s->context.capture_handle = NULL;
    s->context.output = NULL;
}

void setup_free(struct setup *s)
{
    web_free(s->web);
    control_free(s->control);
    job_free(s);
    topology_free(s->topology);
    take_over_free(s);
    tenants_unref(s->context.tenants);
    explain_free(s->context.explain);
    explain_live_free(s->context.explain_live);
    rule_cost_file_close(&s->rule_costs);
    life_free(s->context.life);
    if (s->context.rules != NULL)
        ruleset_unref(s->context.rules);
    app_conf_free(s->app);
    stream_conf_free(s->stream);
    flow_conf_free(s->flow);
    decode_conf_free(s->decode);
}
