/* SPDX-License-Identifier: GPL-2.0-or-later */
/* control/rule_costs.c - collects what rules cost, sorts it, and writes it. */
#include "control/rule_costs.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/system/clock.h"
#include "detect/state/profile.h"
#include "output/output.h"

/* --- the table ------------------------------------------------------------------------------ */

/* Rules that cost nothing have no row. A rule that matched only on packets that were not timed has
 * been checked at least as often. */
static void add_rows(struct rule_costs *t, const struct ruleset *set, uint32_t tenant_id)
{
    double tick_ns;
    struct rule_profile *all = ruleset_costs_sum(set, &tick_ns);

    for (unsigned i = 0; all != NULL && i < ruleset_rule_count(set); i++) {
        const struct rule_profile *c = &all[i];
        uint64_t ns = (uint64_t)((double)c->ticks * tick_ns);

        if (c->checks == 0 && c->matches == 0 && c->limits == 0)
            continue;
        ARRAY_PUSH(&t->rows, (struct rule_cost){
            .rule = ruleset_rule(set, i), .tenant_id = tenant_id,
            .checks = MAX(c->checks, MAX(c->matches, c->limits)), .matches = c->matches,
            .limits = c->limits, .timed = c->timed, .ns = ns,
            .avg_ns = c->checks > 0 ? ns / c->checks : 0,
            .max_ns = (uint64_t)((double)c->max_ticks * tick_ns) });
        t->ns += ns;
    }
    free(all);
}

void rule_costs_collect(struct rule_costs *t, struct run_context *ctx)
{
    *t = (struct rule_costs){ .in_force = rules_in_force_get(ctx) };
    for (size_t i = 0; i < t->in_force.sets.count; i++)
        add_rows(t, t->in_force.sets.at[i], t->in_force.tenants.at[i]);
    for (unsigned kind = 0; kind < COST_KINDS; kind++)
        part_cost_rows_collect(&t->part[kind], &t->in_force, (enum cost_kind)kind);
}

void rule_costs_fini(struct rule_costs *t)
{
    rules_in_force_put(&t->in_force);
    for (unsigned kind = 0; kind < COST_KINDS; kind++)
        part_cost_rows_fini(&t->part[kind]);
    ARRAY_FREE(&t->rows);
}

static uint64_t value_of(const struct rule_cost *c, enum rule_cost_order order)
{
    switch (order) {
    case RULE_COSTS_BY_TIME:    return c->ns;
    case RULE_COSTS_BY_CHECKS:  return c->checks;
    case RULE_COSTS_BY_MATCHES: return c->matches;
    }
    return 0;
}

/* Equal values by number, so that the same counts give the same order. */
static int compare(const void *a, const void *b, void *order)
{
    const struct rule_cost *x = a, *y = b;
    uint64_t vx = value_of(x, *(enum rule_cost_order *)order);
    uint64_t vy = value_of(y, *(enum rule_cost_order *)order);

    if (vx != vy)
        return vx > vy ? -1 : 1;
    if (x->rule->sid != y->rule->sid)
        return x->rule->sid < y->rule->sid ? -1 : 1;
    return x->tenant_id < y->tenant_id ? -1 : x->tenant_id > y->tenant_id;
}

void rule_costs_sort(struct rule_costs *t, enum rule_cost_order order)
{
    if (t->rows.count > 0)
        qsort_r(t->rows.at, t->rows.count, sizeof(t->rows.at[0]), compare, &order);
}

/* --- JSON ------------------------------------------------------------------------------------- */

void rule_cost_members(const struct rule_costs *t, const struct rule_cost *c, struct json *j)
{
    json_u64(j, "signature_id", c->rule->sid);
    json_u64(j, "gid", c->rule->gid);
    json_u64(j, "rev", c->rule->rev);
    if (c->tenant_id != 0)
        json_u64(j, "tenant_id", c->tenant_id);
    json_string(j, "signature", rule_info(c->rule)->msg != NULL ? rule_info(c->rule)->msg : "");
    json_u64(j, "checks", c->checks);
    json_u64(j, "matches", c->matches);
    json_u64(j, "ns", c->ns);
    json_u64(j, "ns_avg", c->avg_ns);
    json_u64(j, "ns_max", c->max_ns);
    json_double(j, "percent", cost_percent(c->ns, t->ns));
    json_u64(j, "timed", c->timed);
    if (c->limits > 0)
        json_u64(j, "limits", c->limits);
}

static void rows_json(const struct rule_costs *t, const char *key, size_t limit, struct json *j)
{
    json_array(j, key);
    for (size_t i = 0; i < MIN(t->rows.count, limit); i++) {
        json_object(j, NULL);
        rule_cost_members(t, &t->rows.at[i], j);
        json_object_end(j);
    }
    json_array_end(j);
}

static void parts_json(const struct rule_costs *t, size_t limit, struct json *j)
{
    for (unsigned kind = 0; kind < COST_KINDS; kind++)
        part_cost_rows_json(&t->part[kind], (enum cost_kind)kind, limit, j);
}

static void total_members(const struct rule_costs *t, struct json *j)
{
    output_time(j, "timestamp", clock_wall_us());
    json_u64(j, "rules", t->rows.count);
    json_u64(j, "ns", t->ns);
}

void rule_costs_json(struct run_context *ctx, size_t limit, struct json *j)
{
    static const char *const keys[] = {
        [RULE_COSTS_BY_TIME] = "by_time",
        [RULE_COSTS_BY_CHECKS] = "by_checks",
        [RULE_COSTS_BY_MATCHES] = "by_matches",
    };
    struct rule_costs t;

    rule_costs_collect(&t, ctx);
    total_members(&t, j);
    for (unsigned order = 0; order < ARRAY_LEN(keys); order++) {
        rule_costs_sort(&t, (enum rule_cost_order)order);
        rows_json(&t, keys[order], limit, j);
    }
    parts_json(&t, limit, j);
    rule_costs_fini(&t);
}

/* --- the file --------------------------------------------------------------------------------- */

static bool has_ending(const char *path, const char *ending)
{
    size_t len = strlen(path), n = strlen(ending);

    return len > n && strcmp(path + len - n, ending) == 0;
}

int rule_cost_file_open(struct rule_cost_file *file, const char *path, struct err *err)
{
    *file = (struct rule_cost_file){ .path = path, .is_csv = has_ending(path, ".csv") };
    if (!file->is_csv && !has_ending(path, ".json"))
        return err_set(err, "--rule-profile: expected a name that ends in .csv or .json, got "
                       "\"%s\"", path);
    file->f = fopen(path, "we");
    if (file->f == NULL)
        return err_set(err, "--rule-profile %s: %s", path, strerror(errno));
    if (file->is_csv)
        fputs("timestamp,gid,sid,rev,tenant,checks,matches,limits,timed,ns,ns_avg,ns_max,percent,"
              "msg,kind\r\n", file->f);
    return 0;
}

/* RFC 4180, 2: in quotes, and a quote is two. */
static void csv_text(struct buf *out, const char *text)
{
    BUF_LITERAL(out, "\"");
    for (; *text != '\0'; text++) {
        if (*text == '"')
            BUF_LITERAL(out, "\"");
        buf_add(out, text, 1);
    }
    BUF_LITERAL(out, "\"");
}

/* Groups, buffers and keywords have no number, no matches and no limits. */
static void write_csv_parts(const struct part_cost_rows *t, enum cost_kind kind, const char *date,
                            struct buf *out)
{
    for (size_t i = 0; i < t->rows.count; i++) {
        const struct part_cost_row *row = &t->rows.at[i];

        buf_printf(out, "%s,,,,,%" PRIu64 ",,,%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64
                   ",%.2f,", date, row->checks, row->timed, row->ns,
                   row->checks > 0 ? row->ns / row->checks : 0, row->max_ns,
                   cost_percent(row->ns, t->ns));
        csv_text(out, row->name);
        buf_printf(out, ",%s\r\n", cost_kind_name(kind));
    }
}

static void write_csv(const struct rule_costs *t, struct buf *out)
{
    time_t now = (time_t)(clock_wall_us() / 1000000);
    struct tm tm;
    char date[64];

    localtime_r(&now, &tm);
    strftime(date, sizeof(date), "%Y-%m-%dT%H:%M:%S%z", &tm);
    for (size_t i = 0; i < t->rows.count; i++) {
        const struct rule_cost *c = &t->rows.at[i];

        buf_printf(out, "%s,%" PRIu32 ",%" PRIu32 ",%" PRIu32 ",", date, c->rule->gid,
                   c->rule->sid, c->rule->rev);
        if (c->tenant_id != 0)
            buf_printf(out, "%" PRIu32, c->tenant_id);
        buf_printf(out, ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64
                   ",%" PRIu64 ",%.2f,", c->checks, c->matches, c->limits, c->timed, c->ns,
                   c->avg_ns, c->max_ns, cost_percent(c->ns, t->ns));
        csv_text(out, rule_info(c->rule)->msg != NULL ? rule_info(c->rule)->msg : "");
        BUF_LITERAL(out, ",rule\r\n");
    }
    for (unsigned kind = 0; kind < COST_KINDS; kind++)
        write_csv_parts(&t->part[kind], (enum cost_kind)kind, date, out);
}

/* One line per write, so that the file stays readable when rules have been loaded again. */
static void write_json(const struct rule_costs *t, struct buf *out)
{
    struct json j;

    json_init(&j, out);
    json_object(&j, NULL);
    total_members(t, &j);
    rows_json(t, "costs", t->rows.count, &j);
    parts_json(t, SIZE_MAX, &j);
    json_object_end(&j);
    BUF_LITERAL(out, "\n");
}

int rule_cost_file_write(struct rule_cost_file *file, struct run_context *ctx, struct err *err)
{
    struct buf out = { 0 };
    struct rule_costs t;
    bool ok;

    if (file->f == NULL)
        return 0;
    rule_costs_collect(&t, ctx);
    rule_costs_sort(&t, RULE_COSTS_BY_TIME);
    (file->is_csv ? write_csv : write_json)(&t, &out);
    rule_costs_fini(&t);
    ok = fwrite(out.data, 1, out.len, file->f) == out.len && fflush(file->f) == 0;
    buf_fini(&out);
    return ok ? 0 : err_set(err, "--rule-profile %s: %s", file->path, strerror(errno));
}

void rule_cost_file_close(struct rule_cost_file *file)
{
    if (file->f != NULL)
        fclose(file->f);
    file->f = NULL;
}
