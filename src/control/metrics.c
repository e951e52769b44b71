/* SPDX-License-Identifier: GPL-2.0-or-later */
/* control/metrics.c - gauges of the limits on memory, which belong to no thread. Then, as text,
 * metrics of the process, its rules, limits, outputs and threads, and all counters, the same for
 * the listener, the socket and its command. */
#include "control/metrics.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/memory/traffic_memory.h"
#include "base/report/counters.h"
#include "config.h"
#include "control/limits.h"
#include "control/private.h"
#include "output/output.h"

/* Rules that are metrics: each is a series of its own in the database that collects them. */
#define COSTS_METRICS 10
#define GAUGES_MAX 16

/* One per engine. `at` has a row for each row of shared[]. */
struct gauges {
    const struct run_context *ctx;
    struct counters *counters;
    unsigned count;
    struct gauge {
        struct memory_limit limit;
        counter_id used, most;
    } at[GAUGES_MAX];
    counter_id refused, given_back[PRESSURE_STEPS];
};

/* Registers gauges of a limit: the memory in use and, if it has a name, the limit. */
static void gauge_add(struct gauges *g, const struct memory_limit *limit)
{
    struct gauge *to = &g->at[g->count++];

    to->limit = *limit;
    to->used = counter_register(limit->used_counter, COUNTER_GAUGE);
    if (limit->limit_counter != NULL)
        to->most = counter_register(limit->limit_counter, COUNTER_GAUGE);
}

/* Registers what global-memcap counts, which Suricata does not have: how often memory was refused,
 * and how often parts freed memory under pressure. */
static void register_pressure(struct gauges *g)
{
    (void)counter_register_own("engine.memory_used", COUNTER_GAUGE);
    (void)counter_register_own("engine.memory_limit", COUNTER_GAUGE);
    g->refused = counter_register_own("engine.memory_refused", COUNTER_GAUGE);
    g->given_back[PRESSURE_IDLE] = counter_register_own("engine.memory_idle_flows", COUNTER_GAUGE);
    g->given_back[PRESSURE_BODIES] = counter_register_own("engine.memory_bodies", COUNTER_GAUGE);
    g->given_back[PRESSURE_LARGEST] =
        counter_register_own("engine.memory_largest_flows", COUNTER_GAUGE);
}

static void update_pressure(const struct gauges *g)
{
    counter_set(g->counters, g->refused, traffic_memory_refused());
    for (unsigned step = PRESSURE_IDLE; step < PRESSURE_STEPS; step++)
        counter_set(g->counters, g->given_back[step],
                    traffic_memory_given_back((enum memory_pressure)step));
}

struct gauges *gauges_new(const struct run_context *ctx)
{
    struct gauges *g = xcalloc(1, sizeof(*g));
    struct memory_limit limit;

    g->ctx = ctx;
    g->counters = counters_new("Global");
    /* Suricata's records have these keys even when no module counts them. */
    (void)counter_register("file_store.open_files", COUNTER_GAUGE);
    register_pressure(g);
    for (unsigned n = 0; g->count < GAUGES_MAX && memory_limit_at(n, &limit); n++)
        if (limit.used_counter != NULL)
            gauge_add(g, &limit);
    return g;
}

void gauges_free(struct gauges *g)
{
    if (g == NULL)
        return;
    counters_free(g->counters);
    free(g);
}

/* The statistics thread and the control thread call it; each figure is one atomic store. */
void gauges_update(struct gauges *g)
{
    for (unsigned i = 0; g != NULL && i < g->count; i++) {
        const struct gauge *at = &g->at[i];

        counter_set(g->counters, at->used, memory_limit_used(&at->limit, g->ctx));
        if (at->limit.limit_counter != NULL)
            counter_set(g->counters, at->most, memory_limit_get(&at->limit, g->ctx));
    }
    if (g != NULL)
        update_pressure(g);
}

/* --- as text ---------------------------------------------------------------------------------- */

/* The interface of a thread, by the plan. */
static const char *thread_source(const char *thread, void *arg)
{
    const struct plan *plan = ((struct control *)arg)->plan;

    for (unsigned i = 0; plan != NULL && i < plan->thread_count; i++)
        if (strcmp(plan->threads[i].name, thread) == 0)
            return plan->threads[i].source;
    return NULL;
}

static void metric(struct metrics_text *m, const char *name, enum metrics_kind kind,
                   const char *help, double value)
{
    metrics_family(m, name, kind, help);
    metrics_sample(m, NULL, value);
}

static double page_bytes(void)
{
    return (double)sysconf(_SC_PAGESIZE);
}

/* Resident memory by /proc/self/statm, in bytes. */
double control_resident_bytes(void)
{
    FILE *f = fopen("/proc/self/statm", "re");
    unsigned long size, resident = 0;

    if (f == NULL)
        return 0;
    if (fscanf(f, "%lu %lu", &size, &resident) != 2)
        resident = 0;
    fclose(f);
    return (double)resident * page_bytes();
}

static void process_metrics(struct metrics_text *m, struct control *c)
{
    struct buf labels = { 0 };

    metrics_label(&labels, "version", PACKAGE_VERSION);
    metrics_label(&labels, "run_mode", c->plan != NULL ? c->plan->mode->name : "none");
    metrics_label(&labels, "capture", c->plan != NULL ? c->plan->method : "none");
    metrics_family(m, "build_info", METRICS_GAUGE, "The engine's version; the value is 1");
    metrics_sample(m, (const char *)labels.data, 1);
    buf_fini(&labels);
    metric(m, "start_time_seconds", METRICS_GAUGE, "When the engine started, in seconds since 1970",
           (double)(clock_wall_us() / 1000000 - control_uptime_s(c)));
    metric(m, "resident_memory_bytes", METRICS_GAUGE, "Resident memory of the process",
           control_resident_bytes());
}

static void rule_samples(struct metrics_text *m, const struct rule_costs *t, bool matches)
{
    for (size_t i = 0; i < MIN(t->rows.count, (size_t)COSTS_METRICS); i++) {
        const struct rule_cost *c = &t->rows.at[i];
        struct buf labels = { 0 };
        char number[12];

        snprintf(number, sizeof(number), "%u", (unsigned)c->rule->gid);
        metrics_label(&labels, "gid", number);
        snprintf(number, sizeof(number), "%u", (unsigned)c->rule->sid);
        metrics_label(&labels, "sid", number);
        if (c->tenant_id != 0) {
            snprintf(number, sizeof(number), "%u", (unsigned)c->tenant_id);
            metrics_label(&labels, "tenant", number);
        }
        metrics_sample(m, (const char *)labels.data,
                       matches ? (double)c->matches : (double)c->ns / 1e9);
        buf_fini(&labels);
    }
}

static void part_samples(struct metrics_text *m, const struct part_cost_rows *t,
                         enum cost_kind kind)
{
    for (size_t i = 0; i < MIN(t->rows.count, (size_t)COSTS_METRICS); i++) {
        struct buf labels = { 0 };

        metrics_label(&labels, cost_kind_name(kind), t->rows.at[i].name);
        metrics_sample(m, (const char *)labels.data, (double)t->rows.at[i].ns / 1e9);
        buf_fini(&labels);
    }
}

static void part_families(struct metrics_text *m, const struct rule_costs *t)
{
    metrics_family(m, "rule_group_time_seconds", METRICS_COUNTER,
                   "Time for the rules of a transport or protocol, of the ten that take most");
    part_samples(m, &t->part[COST_GROUP], COST_GROUP);
    metrics_family(m, "rule_buffer_time_seconds", METRICS_COUNTER,
                   "Time for looking into a buffer, of the ten that take most");
    part_samples(m, &t->part[COST_BUFFER], COST_BUFFER);
    metrics_family(m, "rule_keyword_time_seconds", METRICS_COUNTER,
                   "Time for a keyword of rules, of the ten that take most");
    part_samples(m, &t->part[COST_KEYWORD], COST_KEYWORD);
}

/* The same rules in all families, so that one can be divided by another. */
static void rule_cost_metrics(struct metrics_text *m, struct control *c)
{
    struct rule_costs t;

    rule_costs_collect(&t, c->conf.context);
    rule_costs_sort(&t, RULE_COSTS_BY_TIME);
    metrics_family(m, "rules_time_seconds", METRICS_COUNTER,
                   "Time for evaluating all rules in force, estimated from one packet in 128");
    metrics_sample(m, NULL, (double)t.ns / 1e9);
    metrics_family(m, "rule_time_seconds", METRICS_COUNTER,
                   "Time for evaluating a rule, of the ten rules that take most");
    rule_samples(m, &t, false);
    metrics_family(m, "rule_matches", METRICS_COUNTER,
                   "Matches of a rule, of the ten rules that take most time");
    rule_samples(m, &t, true);
    part_families(m, &t);
    rule_costs_fini(&t);
}

static void rule_metrics(struct metrics_text *m, struct control *c)
{
    struct ruleset_report report = { 0 };
    uint64_t loaded_us = 0;

    run_context_rules_report(c->conf.context, &report, &loaded_us);
    metric(m, "rules_loaded", METRICS_GAUGE, "Rules in force", report.loaded);
    metric(m, "rules_failed", METRICS_GAUGE, "Rules that could not be loaded", report.failed);
    metric(m, "rules_skipped", METRICS_GAUGE, "Rules left out because of their requirements",
           report.skipped);
    metric(m, "rules_loaded_time_seconds", METRICS_GAUGE,
           "When the rules in force were loaded, in seconds since 1970", (double)loaded_us / 1e6);
    metric(m, "rule_reloads", METRICS_COUNTER, "Reloads of the rules", (double)c->reloads);
    metric(m, "rule_reload_failed", METRICS_GAUGE, "Whether the newest reload failed",
           c->reload_failed[0] != '\0');
    rule_cost_metrics(m, c);
}

static void limit_metrics(struct metrics_text *m, struct control *c, bool used)
{
    struct memory_limit limit;

    for (unsigned i = 0; memory_limit_at(i, &limit); i++) {
        struct buf labels = { 0 };

        metrics_label(&labels, "part", limit.name);
        metrics_sample(m, (const char *)labels.data,
                       (double)(used ? memory_limit_used : memory_limit_get)(&limit,
                                                                             c->conf.context));
        buf_fini(&labels);
    }
}

static void memory_metrics(struct metrics_text *m, struct control *c)
{
    metrics_family(m, "memory_used_bytes", METRICS_GAUGE, "Bytes held, by part of the engine");
    limit_metrics(m, c, true);
    metrics_family(m, "memory_limit_bytes", METRICS_GAUGE,
                   "Limit on the bytes of a part of the engine; 0: none");
    limit_metrics(m, c, false);
}

enum sink_value { SINK_WRITTEN, SINK_LOST, SINK_QUEUED, SINK_QUEUE_SIZE };

static double sink_value(const struct output_sink_report *report, enum sink_value what)
{
    switch (what) {
    case SINK_WRITTEN: return (double)report->written;
    case SINK_LOST: return (double)report->lost;
    case SINK_QUEUED: return (double)report->queued;
    case SINK_QUEUE_SIZE: return (double)report->queue_size;
    }
    return 0;
}

static void sink_samples(struct metrics_text *m, const struct output_conf *output,
                         enum sink_value what)
{
    for (unsigned i = 0; i < output_sink_count(output); i++) {
        struct output_sink_report report;
        struct buf labels = { 0 };

        output_sink_report(output, i, &report);
        metrics_label(&labels, "sink", report.path);
        metrics_label(&labels, "type", report.type);
        metrics_sample(m, (const char *)labels.data, sink_value(&report, what));
        buf_fini(&labels);
    }
}

static void sink_metrics(struct metrics_text *m, const struct output_conf *output)
{
    metrics_family(m, "output_records", METRICS_COUNTER, "Records handed to a sink");
    sink_samples(m, output, SINK_WRITTEN);
    metrics_family(m, "output_records_lost", METRICS_COUNTER, "Records that a sink did not take");
    sink_samples(m, output, SINK_LOST);
    metrics_family(m, "output_queue_bytes", METRICS_GAUGE,
                   "Bytes that wait in the queue of a sink");
    sink_samples(m, output, SINK_QUEUED);
    metrics_family(m, "output_queue_limit_bytes", METRICS_GAUGE,
                   "Bytes that the queue of a sink holds; 0: it has no queue");
    sink_samples(m, output, SINK_QUEUE_SIZE);
}

enum thread_value { THREAD_BUSY, THREAD_WAIT, THREAD_BLOCKED, THREAD_PACKETS };

static double thread_value(const struct engine_load *load, enum thread_value what)
{
    switch (what) {
    case THREAD_BUSY: return (double)load->busy_ns / 1e9;
    case THREAD_WAIT: return (double)load->wait_ns / 1e9;
    case THREAD_BLOCKED: return (double)load->blocked_ns / 1e9;
    case THREAD_PACKETS: return (double)load->packets;
    }
    return 0;
}

/* The loads are read once, so that the times of a thread are of one moment. */
static void thread_metrics(struct metrics_text *m, const struct engine *engine)
{
    static const struct {
        const char *name, *help;
    } families[] = {
        [THREAD_BUSY] = { "thread_busy_seconds", "Time in which a thread worked" },
        [THREAD_WAIT] = { "thread_wait_seconds", "Time in which a thread waited for input" },
        [THREAD_BLOCKED] = { "thread_blocked_seconds",
                             "Time in which a thread waited for room in the next ring" },
        [THREAD_PACKETS] = { "thread_packets", "Packets that a thread handled" },
    };
    unsigned max = 4096, count;
    struct engine_load *load = xcalloc(max, sizeof(*load));

    count = engine_loads(engine, load, max);
    for (unsigned what = 0; what < ARRAY_LEN(families); what++) {
        metrics_family(m, families[what].name, METRICS_COUNTER, families[what].help);
        for (unsigned i = 0; i < count; i++) {
            struct buf labels = { 0 };

            metrics_label(&labels, "thread", load[i].name);
            metrics_sample(m, (const char *)labels.data, thread_value(&load[i], what));
            buf_fini(&labels);
        }
    }
    free(load);
}

void control_metrics(struct control *c, struct metrics_text *m)
{
    const struct metrics_sources sources = { thread_source, c };

    process_metrics(m, c);
    rule_metrics(m, c);
    if (c->engine != NULL) {
        engine_update_gauges(c->engine);
        gauges_update(c->conf.context->gauges);
        memory_metrics(m, c);
        sink_metrics(m, c->conf.context->output);
        thread_metrics(m, c->engine);
    }
    output_metrics(m, &sources);
}
