/* SPDX-License-Identifier: GPL-2.0-or-later */
/* control/commands/metrics.c - counters, and how the threads spend their time. */
#include "control/metrics.h"
#include "control/private.h"

/* Gauges are computed on demand, so they are updated first. */
static enum command_status dump_counters_run(struct command *c)
{
    struct control *control = c->control;

    if (control->engine == NULL)
        return command_nok(c, "No capture is running");
    engine_update_gauges(control->engine);
    gauges_update(control->conf.context->gauges);
    json_object(c->j, "message");
    output_stats_members(control->conf.context->output, c->j, control_uptime_s(control));
    json_object_end(c->j);
    return COMMAND_OK;
}

const struct command_ops command_dump_counters = {
    .name = "dump-counters", .doc = "all counters, as in the stats records of EVE",
    .run = dump_counters_run,
};

static void text_message(struct command *c, struct buf *text)
{
    json_bytes(c->j, "message", text->data, text->len);
    buf_fini(text);
}

/* The same text as GET on the socket. It works between two captures too, when there is no
 * engine. */
static enum command_status metrics_run(struct command *c)
{
    struct buf out = { 0 };

    control_metrics(c->control, &(struct metrics_text){ .out = &out });
    text_message(c, &out);
    return COMMAND_OK;
}

const struct command_ops command_metrics = {
    .name = "metrics", .doc = "all metrics in Prometheus' text format", .run = metrics_run,
};

static enum command_status thread_report_run(struct command *c)
{
    struct buf out = { 0 };

    if (c->control->engine == NULL)
        return command_nok(c, "No capture is running");
    engine_report(c->control->engine, &out);
    text_message(c, &out);
    return COMMAND_OK;
}

const struct command_ops command_thread_report = {
    .name = "thread-report", .doc = "where each thread's time went, and the bottleneck",
    .run = thread_report_run,
};
