/* SPDX-License-Identifier: GPL-2.0-or-later */
/* control/web/pages.c - the pages of the listener, one function per path.
 *
 * Each holds the control lock while it reads the engine's state, and renders into memory, so a slow
 * reader holds no lock. */
#include "control/web/web_private.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/report/counters.h"
#include "base/report/json.h"
#include "config.h"
#include "control/explain.h"
#include "control/limits.h"
#include "control/metrics.h"
#include "control/private.h"

#define TYPE_JSON "application/json"
/* Rules that /api/rules names. */
#define RULES_SHOWN 100

/* --- metrics ---------------------------------------------------------------------------------- */

/* Uses OpenMetrics only if the client accepts it, as Prometheus does. */
static const char *metrics_write(struct web *web, const struct web_request *request,
                                 struct buf *out)
{
    struct control *c = web_control(web);
    bool open = request->accept != NULL &&
                strstr(request->accept, "application/openmetrics-text") != NULL;
    struct metrics_text m = { out, open ? METRICS_OPENMETRICS : METRICS_PROMETHEUS, NULL, 0 };

    pthread_mutex_lock(&c->lock);
    control_metrics(c, &m);
    pthread_mutex_unlock(&c->lock);
    metrics_end(&m);
    return metrics_content_type(m.format);
}

/* --- the engine as it is ---------------------------------------------------------------------- */

static void state_memory(struct json *j, const struct run_context *ctx)
{
    struct memory_limit limit;

    json_array(j, "memory");
    for (unsigned i = 0; memory_limit_at(i, &limit); i++) {
        json_object(j, NULL);
        json_string(j, "part", limit.name);
        json_u64(j, "used", memory_limit_used(&limit, ctx));
        json_u64(j, "limit", memory_limit_get(&limit, ctx));
        json_object_end(j);
    }
    json_array_end(j);
}

static void state_sinks(struct json *j, const struct output_conf *output)
{
    json_array(j, "sinks");
    for (unsigned i = 0; i < output_sink_count(output); i++) {
        struct output_sink_report report;

        output_sink_report(output, i, &report);
        json_object(j, NULL);
        json_string(j, "path", report.path);
        json_string(j, "type", report.type);
        json_u64(j, "written", report.written);
        json_u64(j, "lost", report.lost);
        if (report.queue_size > 0) {
            json_u64(j, "queued", report.queued);
            json_u64(j, "queue_size", report.queue_size);
        }
        json_object_end(j);
    }
    json_array_end(j);
}

/* The last line of the report names the bottleneck. */
static void state_bottleneck(struct json *j, const struct engine *engine)
{
    struct buf report = { 0 };
    const char *last;
    size_t len;

    engine_report(engine, &report);
    while (report.len > 0 && report.data[report.len - 1] == '\n')
        report.len--;
    last = report.len > 0 ? memrchr(report.data, '\n', report.len) : NULL;
    last = last != NULL ? last + 1 : (const char *)report.data;
    len = report.len - (size_t)(last - (const char *)report.data);
    json_bytes(j, "bottleneck", last, len);
    buf_fini(&report);
}

static void state_rules(struct json *j, struct run_context *ctx)
{
    struct ruleset_report report = { 0 };
    uint64_t loaded_us = 0;

    run_context_rules_report(ctx, &report, &loaded_us);
    json_object(j, "rules");
    json_u64(j, "loaded", report.loaded);
    json_u64(j, "failed", report.failed);
    json_u64(j, "skipped", report.skipped);
    json_u64(j, "loaded_at", loaded_us / 1000000);
    json_object_end(j);
}

static void state_run(struct web *web, struct json *j, struct control *c)
{
    json_string(j, "run_mode", c->plan->mode->name);
    json_string(j, "capture", c->plan->method);
    json_u64(j, "packets", counter_total(counter_register("decoder.pkts", COUNTER_SUM)));
    json_u64(j, "bytes", counter_total(counter_register("decoder.bytes", COUNTER_SUM)));
    json_u64(j, "alerts", counter_total(counter_register("detect.alert", COUNTER_SUM)));
    threads_json(web, j, c->plan);
    state_memory(j, c->conf.context);
    state_sinks(j, c->conf.context->output);
    state_bottleneck(j, c->engine);
}

static const char *state_write(struct web *web, const struct web_request *request, struct buf *out)
{
    struct control *c = web_control(web);
    struct json j;

    (void)request;
    json_init(&j, out);
    json_object(&j, NULL);
    pthread_mutex_lock(&c->lock);
    json_string(&j, "version", PACKAGE_VERSION);
    json_u64(&j, "uptime", control_uptime_s(c));
    json_u64(&j, "resident", (uint64_t)control_resident_bytes());
    state_rules(&j, c->conf.context);
    if (c->engine != NULL && c->plan != NULL)
        state_run(web, &j, c);
    pthread_mutex_unlock(&c->lock);
    json_object_end(&j);
    return NULL;
}

/* --- the machine, the plan, the past ---------------------------------------------------------- */

static void machine_cpu(struct json *j, const struct topology_cpu *cpu)
{
    json_object(j, NULL);
    json_u64(j, "os", cpu->os);
    json_i64(j, "core", cpu->core);
    json_i64(j, "package", cpu->package);
    json_i64(j, "numa", cpu->numa);
    json_i64(j, "l3", cpu->l3);
    json_i64(j, "l2", cpu->l2);
    json_u64(j, "thread", cpu->thread);
    json_object_end(j);
}

static const char *machine_write(struct web *web, const struct web_request *request,
                                 struct buf *out)
{
    struct control *c = web_control(web);
    struct json j;

    (void)request;
    json_init(&j, out);
    json_object(&j, NULL);
    pthread_mutex_lock(&c->lock);
    if (c->plan != NULL) {
        const struct topology *t = c->plan->topology;

        json_string(&j, "text", t->text);
        json_array(&j, "cpus");
        for (unsigned i = 0; i < t->count; i++)
            machine_cpu(&j, &t->cpu[i]);
        json_array_end(&j);
        json_array(&j, "interfaces");
        for (unsigned i = 0; i < c->plan->source_count; i++) {
            json_object(&j, NULL);
            json_string(&j, "name", c->plan->sources[i].name);
            json_u64(&j, "queues", c->plan->sources[i].queues);
            json_i64(&j, "numa", topology_interface_numa(t, c->plan->sources[i].name));
            json_object_end(&j);
        }
        json_array_end(&j);
    }
    pthread_mutex_unlock(&c->lock);
    json_object_end(&j);
    return NULL;
}

static const char *plan_write(struct web *web, const struct web_request *request, struct buf *out)
{
    struct control *c = web_control(web);

    (void)request;
    pthread_mutex_lock(&c->lock);
    if (c->plan != NULL)
        plan_print_json(c->plan, out);
    else
        BUF_LITERAL(out, "{}");
    pthread_mutex_unlock(&c->lock);
    return NULL;
}

static const char *history_write(struct web *web, const struct web_request *request,
                                 struct buf *out)
{
    struct json j;

    json_init(&j, out);
    json_object(&j, NULL);
    pthread_mutex_lock(&web_control(web)->lock);
    history_json(web_history(web), request->since != NULL ? strtoull(request->since, NULL, 10) : 0,
                 &j);
    pthread_mutex_unlock(&web_control(web)->lock);
    json_object_end(&j);
    return NULL;
}

/* --- rules and configuration ------------------------------------------------------------------ */

static const char *rules_write(struct web *web, const struct web_request *request, struct buf *out)
{
    struct control *c = web_control(web);
    struct rule_profile_conf conf = *c->conf.rule_profile;
    struct json j;

    (void)request;
    conf.limit = RULES_SHOWN;
    json_init(&j, out);
    json_object(&j, NULL);
    pthread_mutex_lock(&c->lock);
    rule_profile_json(c->conf.context, &conf, &j);
    pthread_mutex_unlock(&c->lock);
    json_object_end(&j);
    return NULL;
}

/* The line of a rule's file, where the rule itself keeps no text. */
static void rule_line(struct json *j, const char *file, unsigned line)
{
    FILE *f = fopen(file, "re");
    char *text = NULL;
    size_t size = 0;
    ssize_t len = -1;

    for (unsigned at = 0; f != NULL && at < line && (len = getline(&text, &size, f)) >= 0;)
        at++;
    if (len > 0)
        json_lossy(j, "text", (struct slice){
            .data = (uint8_t *)text, .len = (uint32_t)(len - (text[len - 1] == '\n')) });
    free(text);
    if (f != NULL)
        fclose(f);
}

static void rule_json(struct json *j, const struct rule *rule)
{
    json_u64(j, "sid", rule->sid);
    json_u64(j, "rev", rule->rev);
    if (rule->at.file != NULL) {
        json_string(j, "file", rule->at.file);
        json_u64(j, "line", rule->at.line);
        rule_line(j, rule->at.file, rule->at.line);
    }
}

static const char *rule_write(struct web *web, const struct web_request *request, struct buf *out)
{
    struct control *c = web_control(web);
    uint64_t sid = request->sid != NULL ? strtoull(request->sid, NULL, 10) : 0;
    struct ruleset *rules;
    unsigned generation;
    struct json j;

    json_init(&j, out);
    json_object(&j, NULL);
    pthread_mutex_lock(&c->lock);
    rules = run_context_rules(c->conf.context, &generation);
    for (unsigned i = 0; rules != NULL && i < ruleset_rule_count(rules); i++)
        if (ruleset_rule(rules, i)->sid == sid) {
            rule_json(&j, ruleset_rule(rules, i));
            break;
        }
    ruleset_unref(rules);
    rule_cost_json(&j, c, (uint32_t)sid);
    pthread_mutex_unlock(&c->lock);
    json_object_end(&j);
    return NULL;
}

/* The last question, and its answer as text. */
static const char *explain_page_write(struct web *web, const struct web_request *request,
                                      struct buf *out)
{
    struct control *c = web_control(web);
    struct buf text = { 0 };
    struct json j;

    (void)request;
    json_init(&j, out);
    json_object(&j, NULL);
    pthread_mutex_lock(&c->lock);
    json_bool(&j, "may_ask", web_may_ask(c));
    explain_state_members(c->conf.context, &j);
    json_bool(&j, "done", explain_state(c->conf.context) == EXPLAIN_DONE);
    explain_text(c->conf.context, &text);
    pthread_mutex_unlock(&c->lock);
    json_slice(&j, "text", buf_slice(&text));
    json_object_end(&j);
    buf_fini(&text);
    return NULL;
}

static void conf_values(struct json *j, const struct conf_node *node)
{
    char path[512];

    CONF_EACH (child, node) {
        conf_values(j, child);
        if (child->kind != CONF_SCALAR)
            continue;
        json_object(j, NULL);
        json_string(j, "key", conf_path(child, path, sizeof(path)));
        json_string(j, "value", web_is_secret(path, child->value) ||
                                web_is_secret(child->name, NULL) ? "(hidden)" : child->value);
        if (child->at.file != NULL) {
            json_string(j, "file", child->at.file);
            json_u64(j, "line", child->at.line);
        }
        json_object_end(j);
    }
}

/* The configuration is read-only once loaded, so this needs no lock. For jobs some values change
 * between captures. */
static const char *config_write(struct web *web, const struct web_request *request,
                                struct buf *out)
{
    struct control *c = web_control(web);
    struct json j;

    (void)request;
    json_init(&j, out);
    json_object(&j, NULL);
    json_array(&j, "values");
    pthread_mutex_lock(&c->lock);
    conf_values(&j, c->conf.root);
    pthread_mutex_unlock(&c->lock);
    json_array_end(&j);
    json_object_end(&j);
    return NULL;
}

static const char *page_write(struct web *web, const struct web_request *request, struct buf *out)
{
    (void)web;
    (void)request;
    buf_add(out, web_page_html, (size_t)(web_page_html_end - web_page_html));
    return NULL;
}

const struct web_page web_pages[] = {
    { "/", "text/html; charset=utf-8", page_write },
    { "/metrics", NULL, metrics_write },
    { "/api/state", TYPE_JSON, state_write },
    { "/api/history", TYPE_JSON, history_write },
    { "/api/machine", TYPE_JSON, machine_write },
    { "/api/machine.svg", "image/svg+xml", threads_svg_write },
    { "/api/plan", TYPE_JSON, plan_write },
    { "/api/rules", TYPE_JSON, rules_write },
    { "/api/rule", TYPE_JSON, rule_write },
    { "/api/explain", TYPE_JSON, explain_page_write },
    { "/api/rule-costs", TYPE_JSON, rule_costs_write },
    { "/api/config", TYPE_JSON, config_write },
    { NULL, NULL, NULL },
};
