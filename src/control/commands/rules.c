/* SPDX-License-Identifier: GPL-2.0-or-later */
/* control/commands/rules.c - the rules in force, and their reload. The main thread loads
 * the new rules, as on SIGUSR2, so that this thread can go on answering other clients. */
#include "control/private.h"
#include "control/signals.h"

#define FAILURES_REPORTED 1000          /* bounds one reply */

/* All requests during a reload lead to one further reload, because files may have changed after
 * they were read. Those before it begins are answered by it. */
static void merge(struct control *control)
{
    bool runs = control->reload == RELOAD_RUNNING;

    control->reload_again |= runs;
    control->reload_awaited = control->reloads + runs;
}

/* Requests a reload from the main thread. A second one is refused while it runs, as in Suricata,
 * unless the configuration wants them merged. */
static enum command_status reload(struct command *c, enum command_status status)
{
    struct control *control = c->control;

    if (control->conf.fixed_rules)
        return command_nok(c, "Live rule reload not possible if -s or -S option used at runtime.");
    if (control->reload != RELOAD_IDLE && !control->conf.merge_reloads)
        return command_nok(c, "Reload already in progress");
    if (control->reload != RELOAD_IDLE) {
        merge(control);
        return status;
    }
    control->reload = RELOAD_ASKED;
    control->reload_awaited = control->reloads;
    signals_raise(SIGNAL_RELOAD);
    return status;
}

/* COMMAND_LATER: the reply is sent when the reload has ended (control_reload_ends). */
static enum command_status reload_run(struct command *c)
{
    return reload(c, COMMAND_LATER);
}

const struct command_ops command_reload_rules = {
    .name = "reload-rules", .doc = "as ruleset-reload-rules", .run = reload_run,
};

const struct command_ops command_ruleset_reload_rules = {
    .name = "ruleset-reload-rules", .doc = "loads the rules again; answers when they are in force",
    .run = reload_run,
};

static enum command_status reload_nonblocking_run(struct command *c)
{
    enum command_status status = reload(c, COMMAND_OK);

    return status == COMMAND_OK ? command_ok(c, "done") : status;
}

const struct command_ops command_ruleset_reload_nonblocking = {
    .name = "ruleset-reload-nonblocking", .doc = "loads the rules again; answers at once",
    .run = reload_nonblocking_run,
};

/* "id" is the tenant in Suricata's reply; 0 means the common rules. */
static enum command_status reload_time_run(struct command *c)
{
    struct ruleset_report report = { 0 };
    uint64_t loaded_us = 0;

    run_context_rules_report(c->control->conf.context, &report, &loaded_us);
    json_array(c->j, "message");
    json_object(c->j, NULL);
    json_u64(c->j, "id", 0);
    output_time(c->j, "last_reload", loaded_us);
    json_object_end(c->j);
    json_array_end(c->j);
    return COMMAND_OK;
}

const struct command_ops command_ruleset_reload_time = {
    .name = "ruleset-reload-time", .doc = "when the rules in force were loaded",
    .run = reload_time_run,
};

static enum command_status stats_run(struct command *c)
{
    struct ruleset_report report = { 0 };
    uint64_t loaded_us;

    run_context_rules_report(c->control->conf.context, &report, &loaded_us);
    json_array(c->j, "message");
    json_object(c->j, NULL);
    json_u64(c->j, "id", 0);
    json_u64(c->j, "rules_loaded", report.loaded);
    json_u64(c->j, "rules_failed", report.failed);
    json_u64(c->j, "rules_skipped", report.skipped);
    json_object_end(c->j);
    json_array_end(c->j);
    return COMMAND_OK;
}

const struct command_ops command_ruleset_stats = {
    .name = "ruleset-stats", .doc = "how many rules are in force", .run = stats_run,
};

/* A rule file may hold bytes that are not UTF-8. */
static void write_text(struct json *j, const char *key, const char *text)
{
    struct text t = text_of(text);

    json_lossy(j, key, (struct slice){ .data = (const uint8_t *)t.p, .len = (uint32_t)t.n });
}

/* The failures belong to the ruleset in force; a reload that was rejected leaves the old
 * list. */
static enum command_status failed_rules_run(struct command *c)
{
    unsigned generation;
    struct ruleset *rules = run_context_rules(c->control->conf.context, &generation);
    const struct ruleset_failure *failures;
    size_t count;

    failures = ruleset_failures(rules, &count);
    json_array(c->j, "message");
    for (size_t i = 0; i < MIN(count, (size_t)FAILURES_REPORTED); i++) {
        json_object(c->j, NULL);
        json_u64(c->j, "tenant_id", 0);
        write_text(c->j, "rule", failures[i].rule);
        write_text(c->j, "filename", failures[i].file);
        json_u64(c->j, "line", failures[i].line);
        write_text(c->j, "error", failures[i].error);
        json_object_end(c->j);
    }
    json_array_end(c->j);
    ruleset_unref(rules);
    return COMMAND_OK;
}

const struct command_ops command_ruleset_failed_rules = {
    .name = "ruleset-failed-rules", .doc = "the rules that could not be read, and why",
    .run = failed_rules_run,
};
