/* SPDX-License-Identifier: GPL-2.0-or-later */
/* control/rule_costs.c - collects what rules have cost, sorts it, writes tables. */
#include "control/rule_costs.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/array.h"
#include "detect/profile.h"

struct row {
    const struct rule *rule;
    uint32_t tenant_id;
    struct rule_cost cost;
};

struct table {
    ARRAY_OF(struct ruleset *) sets;        /* referenced: rows name their rules */
    ARRAY_OF(struct row) rows;              /* of rules that have been asked */
    uint64_t ticks;                         /* of all */
};

/* --- settings ------------------------------------------------------------------------------- */

static const char *const order_words[] = {
    "ticks", "avgticks", "avgticks_match", "avgticks_no_match", "checks", "matches", "maxticks",
    NULL,
};

void rule_costs_conf_read(struct rule_costs_conf *c, const struct conf_node *root)
{
    const struct conf_node *node = conf_find(root, "profiling.rules");

    *c = (struct rule_costs_conf){
        .active = conf_bool(node, "active", false),
        .enabled = conf_bool(node, "enabled", true),
        .json = conf_bool(node, "json", false),
        .append = conf_bool(node, "append", true),
        .filename = conf_string(node, "filename", "rule_perf.log"),
        .limit = (unsigned)conf_u64_range(node, "limit", UINT32_MAX, 1, UINT32_MAX),
        .order = (enum rule_costs_order)conf_choice(node, "sort", order_words, COSTS_ORDERS),
    };
}

/* --- rules in force ------------------------------------------------------------------------- */

static void each_set(struct run_context *ctx,
                     void (*visit)(struct ruleset *set, uint32_t tenant_id, void *arg), void *arg)
{
    struct tenants *tenants = run_context_tenants(ctx);
    unsigned generation;
    struct ruleset *rules = run_context_rules(ctx, &generation);

    visit(rules, 0, arg);
    for (size_t i = 0; tenants != NULL && i < tenants->list.count; i++)
        visit(tenants->list.at[i]->rules, tenants->list.at[i]->id, arg);
    ruleset_unref(rules);
    tenants_unref(tenants);
}

static void start(struct ruleset *set, uint32_t tenant_id, void *arg)
{
    (void)tenant_id;
    (void)arg;
    ruleset_profile_start(set);
}

static void stop(struct ruleset *set, uint32_t tenant_id, void *arg)
{
    (void)tenant_id;
    (void)arg;
    ruleset_profile_stop(set);
}

static void clear(struct ruleset *set, uint32_t tenant_id, void *arg)
{
    (void)tenant_id;
    (void)arg;
    ruleset_profile_clear(set);
}

void rule_costs_start(struct run_context *ctx)
{
    each_set(ctx, start, NULL);
}

void rule_costs_stop(struct run_context *ctx)
{
    each_set(ctx, stop, NULL);
}

void rule_costs_clear(struct run_context *ctx)
{
    each_set(ctx, clear, NULL);
}

/* --- the table ------------------------------------------------------------------------------ */

static void collect(struct ruleset *set, uint32_t tenant_id, void *arg)
{
    struct table *t = arg;
    struct rule_cost *cost = ruleset_profile_sum(set);

    if (cost == NULL)
        return;
    ARRAY_PUSH(&t->sets, ruleset_ref(set));
    for (unsigned i = 0; i < ruleset_rule_count(set); i++) {
        if (cost[i].checks == 0)
            continue;
        ARRAY_PUSH(&t->rows, (struct row){ ruleset_rule(set, i), tenant_id, cost[i] });
        t->ticks += cost[i].ticks;
    }
    free(cost);
}

static void table_fini(struct table *t)
{
    for (size_t i = 0; i < t->sets.count; i++)
        ruleset_unref(t->sets.at[i]);
    ARRAY_FREE(&t->sets);
    ARRAY_FREE(&t->rows);
}

static double share_of(uint64_t part, uint64_t whole)
{
    return whole > 0 ? (double)part / (double)whole : 0;
}

static double value_of(const struct rule_cost *c, enum rule_costs_order order)
{
    switch (order) {
    case COSTS_BY_TICKS:            return (double)c->ticks;
    case COSTS_BY_AVERAGE:          return share_of(c->ticks, c->checks);
    case COSTS_BY_AVERAGE_MATCH:    return share_of(c->match_ticks, c->matches);
    case COSTS_BY_AVERAGE_NO_MATCH:
        return share_of(c->ticks - c->match_ticks, c->checks - c->matches);
    case COSTS_BY_CHECKS:           return (double)c->checks;
    case COSTS_BY_MATCHES:          return (double)c->matches;
    case COSTS_BY_MAX:              return (double)c->max_ticks;
    case COSTS_ORDERS:              break;
    }
    return 0;
}

/* The largest first; equals by their numbers, so that two runs give the same order. */
static int compare(const void *a, const void *b, void *order)
{
    const struct row *x = a, *y = b;
    double vx = value_of(&x->cost, *(enum rule_costs_order *)order);
    double vy = value_of(&y->cost, *(enum rule_costs_order *)order);

    if (vx != vy)
        return vx > vy ? -1 : 1;
    if (x->rule->sid != y->rule->sid)
        return x->rule->sid < y->rule->sid ? -1 : 1;
    return x->tenant_id < y->tenant_id ? -1 : x->tenant_id > y->tenant_id;
}

static void sort(struct table *t, enum rule_costs_order order)
{
    if (t->rows.count > 0)
        qsort_r(t->rows.at, t->rows.count, sizeof(t->rows.at[0]), compare, &order);
}

/* --- writing -------------------------------------------------------------------------------- */

static const char *const titles[] = {
    "ticks", "average ticks", "average ticks (match)", "average ticks (no match)",
    "number of checks", "number of matches", "max ticks",
};

static uint64_t now_us(void)
{
    struct timespec now;

    clock_gettime(CLOCK_REALTIME, &now);
    return (uint64_t)now.tv_sec * 1000000u + (uint64_t)now.tv_nsec / 1000u;
}

static void row_json(const struct row *r, const struct table *t, struct json *j)
{
    const struct rule_cost *c = &r->cost;

    json_object(j, NULL);
    json_u64(j, "signature_id", r->rule->sid);
    json_u64(j, "gid", r->rule->gid);
    json_u64(j, "rev", r->rule->rev);
    if (r->tenant_id != 0)
        json_u64(j, "tenant_id", r->tenant_id);
    json_u64(j, "checks", c->checks);
    json_u64(j, "matches", c->matches);
    json_u64(j, "ticks_total", c->ticks);
    json_u64(j, "ticks_max", c->max_ticks);
    json_u64(j, "ticks_avg", (uint64_t)value_of(c, COSTS_BY_AVERAGE));
    json_u64(j, "ticks_avg_match", (uint64_t)value_of(c, COSTS_BY_AVERAGE_MATCH));
    json_u64(j, "ticks_avg_nomatch", (uint64_t)value_of(c, COSTS_BY_AVERAGE_NO_MATCH));
    json_u64(j, "percent", (uint64_t)(100 * share_of(c->ticks, t->ticks)));
    json_object_end(j);
}

static void table_json(struct table *t, const struct rule_costs_conf *c,
                       enum rule_costs_order order, struct json *j)
{
    sort(t, order);
    output_time(j, "timestamp", now_us());
    json_string(j, "sort", titles[order]);
    json_array(j, "rules");
    for (size_t i = 0; i < MIN(t->rows.count, (size_t)c->limit); i++)
        row_json(&t->rows.at[i], t, j);
    json_array_end(j);
}

#define DASHES "--------------------------------------------------------------------------"

static void table_text(struct table *t, const struct rule_costs_conf *c,
                       enum rule_costs_order order, struct buf *out)
{
    time_t now = (time_t)(now_us() / 1000000);
    struct tm tm;
    char date[64];

    sort(t, order);
    localtime_r(&now, &tm);
    strftime(date, sizeof(date), "%m/%d/%Y -- %H:%M:%S", &tm);
    buf_printf(out, "  " DASHES "\n  Date: %s. Sorted by: %s.\n  " DASHES "\n", date,
               titles[order]);
    buf_printf(out, "   %-8s %-12s %-8s %-8s %-12s %-6s %-8s %-8s %-11s %-11s %-11s %s\n", "Num",
               "Rule", "Gid", "Rev", "Ticks", "%", "Checks", "Matches", "Max Ticks", "Avg Ticks",
               "Avg Match", "Avg No Match");
    buf_printf(out, "  -------- ------------ -------- -------- ------------ ------ -------- "
               "-------- ----------- ----------- ----------- --------------\n");
    for (size_t i = 0; i < MIN(t->rows.count, (size_t)c->limit); i++) {
        const struct row *r = &t->rows.at[i];
        const struct rule_cost *cost = &r->cost;

        buf_printf(out, "  %-8zu %-12" PRIu32 " %-8" PRIu32 " %-8" PRIu32 " %-12" PRIu64
                   " %-6.2f %-8" PRIu64 " %-8" PRIu64 " %-11" PRIu64 " %-11.2f %-11.2f %.2f\n",
                   i + 1, r->rule->sid, r->rule->gid, r->rule->rev, cost->ticks,
                   100 * share_of(cost->ticks, t->ticks), cost->checks, cost->matches,
                   cost->max_ticks, value_of(cost, COSTS_BY_AVERAGE),
                   value_of(cost, COSTS_BY_AVERAGE_MATCH),
                   value_of(cost, COSTS_BY_AVERAGE_NO_MATCH));
    }
    buf_printf(out, "\n");
}

static void table_write(struct table *t, const struct rule_costs_conf *c,
                        enum rule_costs_order order, struct buf *out)
{
    struct json j;

    if (!c->json) {
        table_text(t, c, order, out);
        return;
    }
    json_init(&j, out);
    json_object(&j, NULL);
    table_json(t, c, order, &j);
    json_object_end(&j);
    buf_printf(out, "\n");
}

void rule_costs_json(struct run_context *ctx, const struct rule_costs_conf *c, struct json *j)
{
    struct table t = { 0 };

    each_set(ctx, collect, &t);
    table_json(&t, c, c->order != COSTS_ORDERS ? c->order : COSTS_BY_TICKS, j);
    table_fini(&t);
}

static int file_put(const char *path, bool append, const struct buf *out, struct err *err)
{
    FILE *f = fopen(path, append ? "ae" : "we");
    bool ok;

    if (f == NULL)
        return err_set(err, "profiling.rules: %s: %s", path, strerror(errno));
    ok = fwrite(out->data, 1, out->len, f) == out->len;
    if (fclose(f) != 0 || !ok)
        return err_set(err, "profiling.rules: %s: %s", path, strerror(errno));
    return 0;
}

int rule_costs_write(struct run_context *ctx, const struct rule_costs_conf *c,
                     const char *log_dir, struct err *err)
{
    struct table t = { 0 };
    struct buf out = { 0 };
    char path[4096];
    int status = 0;

    if (!c->enabled)
        return 0;
    each_set(ctx, collect, &t);
    if (t.sets.count > 0) {
        for (unsigned order = 0; order < COSTS_ORDERS; order++)
            if (c->order == COSTS_ORDERS || c->order == (enum rule_costs_order)order)
                table_write(&t, c, (enum rule_costs_order)order, &out);
        snprintf(path, sizeof(path), "%s%s%s", c->filename[0] == '/' ? "" : log_dir,
                 c->filename[0] == '/' ? "" : "/", c->filename);
        status = file_put(path, c->append, &out, err);
    }
    buf_fini(&out);
    table_fini(&t);
    return status;
}
