/* SPDX-License-Identifier: GPL-2.0-or-later */
/* control/web/rule_costs.c - what rules cost: for the page, and the dearest of them as metrics. */
#include "control/web/web_private.h"

#include <stdio.h>

#include "base/report/json.h"
#include "control/private.h"
#include "output/metrics.h"

/* Rules that /api/rule-costs names in each order. */
#define COSTS_SHOWN 50
/* Rules that are metrics: each is a series of its own in the database that collects them. */
#define COSTS_METRICS 10

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
void rule_cost_metrics(struct metrics_text *m, struct control *c)
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

void rule_cost_json(struct json *j, struct control *c, uint32_t sid)
{
    struct rule_costs t;

    rule_costs_collect(&t, c->conf.context);
    for (size_t i = 0; i < t.rows.count; i++) {
        if (t.rows.at[i].rule->sid != sid || t.rows.at[i].tenant_id != 0)
            continue;
        json_object(j, "cost");
        rule_cost_members(&t, &t.rows.at[i], j);
        json_object_end(j);
        break;
    }
    rule_costs_fini(&t);
}

const char *rule_costs_write(struct web *web, const struct web_request *request, struct buf *out)
{
    struct control *c = web_control(web);
    struct json j;

    (void)request;
    json_init(&j, out);
    json_object(&j, NULL);
    pthread_mutex_lock(&c->lock);
    rule_costs_json(c->conf.context, COSTS_SHOWN, &j);
    pthread_mutex_unlock(&c->lock);
    json_object_end(&j);
    return NULL;
}
