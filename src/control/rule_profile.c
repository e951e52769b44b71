/* SPDX-License-Identifier: GPL-2.0-or-later */
/* control/rule_profile.c - collects the cost of rules, sorts them, and writes tables. */
#include "control/rule_profile.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/array.h"
#include "base/system/clock.h"
#include "control/rules_in_force.h"
#include "detect/state/profile.h"

struct row { /* `rule` is borrowed from a set of the table's */
    const struct rule *rule;
    uint32_t tenant_id;
    struct rule_profile profile;
};

/* Ticks are those of the CPU's time stamp counter. */
struct table {
    struct rules_in_force rules;
    bool counted;                           /* has anything ever been? */
    ARRAY_OF(struct row) rows;              /* of rules that have been evaluated */
    uint64_t ticks;                         /* of all */
};

/* --- settings ------------------------------------------------------------------------------- */

/* Suricata's words, in the order of enum rule_profile_sort. */
static const char *const order_words[] = {
    "ticks", "avgticks", "avgticks_match", "avgticks_no_match", "checks", "matches", "maxticks",
    NULL,
};

/* Keys and defaults are Suricata's, but `active`: there counting depends on how it was
 * built. */
void rule_profile_conf_read(struct rule_profile_conf *c, const struct conf_node *root)
{
    const struct conf_node *node = conf_find(root, "profiling.rules");

    *c = (struct rule_profile_conf){
        .active = conf_bool(node, "active", false),
        .enabled = conf_bool(node, "enabled", true),
        .json = conf_bool(node, "json", false),
        .append = conf_bool(node, "append", true),
        .filename = conf_string(node, "filename", "rule_perf.log"),
        .limit = (unsigned)conf_u64_range(node, "limit", UINT32_MAX, 1, UINT32_MAX),
        .order = (enum rule_profile_sort)conf_choice(node, "sort", order_words, RULE_PROFILE_SORTS),
    };
}

/* --- rules in force ------------------------------------------------------------------------- */

static void each_set(struct run_context *ctx, void (*act)(struct ruleset *set))
{
    struct rules_in_force f = rules_in_force_get(ctx);

    for (size_t i = 0; i < f.sets.count; i++)
        act(f.sets.at[i]);
    rules_in_force_put(&f);
}

/* Threads notice between two vectors; the command returns when all have. */
void rule_profile_start(struct run_context *ctx)
{
    each_set(ctx, ruleset_profile_start);
    (void)qsbr_synchronize(ctx, NULL, NULL, 2000);
}

void rule_profile_stop(struct run_context *ctx)
{
    each_set(ctx, ruleset_profile_stop);
    (void)qsbr_synchronize(ctx, NULL, NULL, 2000);
}

void rule_profile_clear(struct run_context *ctx)
{
    each_set(ctx, ruleset_profile_clear);
}

/* --- the table ------------------------------------------------------------------------------ */

/* Rules that were never evaluated have no row. */
static void add_rows(struct table *t, struct ruleset *set, uint32_t tenant_id)
{
    struct rule_profile *profile = ruleset_profile_sum(set);

    if (profile == NULL)
        return;
    t->counted = true;
    for (unsigned i = 0; i < ruleset_rule_count(set); i++) {
        if (profile[i].checks == 0)
            continue;
        ARRAY_PUSH(&t->rows, (struct row){ ruleset_rule(set, i), tenant_id, profile[i] });
        t->ticks += profile[i].ticks;
    }
    free(profile);
}

static struct table table_make(struct run_context *ctx)
{
    struct table t = { .rules = rules_in_force_get(ctx) };

    for (size_t i = 0; i < t.rules.sets.count; i++)
        add_rows(&t, t.rules.sets.at[i], t.rules.tenants.at[i]);
    return t;
}

static void table_fini(struct table *t)
{
    rules_in_force_put(&t->rules);
    ARRAY_FREE(&t->rows);
}

/* 0 for an empty total, so that nothing divides by 0. */
static double share_of(uint64_t part, uint64_t total)
{
    return total > 0 ? (double)part / (double)total : 0;
}

static double value_of(const struct rule_profile *c, enum rule_profile_sort order)
{
    switch (order) {
    case RULE_PROFILE_BY_TICKS:            return (double)c->ticks;
    case RULE_PROFILE_BY_AVERAGE:          return share_of(c->ticks, c->checks);
    case RULE_PROFILE_BY_AVERAGE_MATCH:    return share_of(c->match_ticks, c->matches);
    case RULE_PROFILE_BY_AVERAGE_NO_MATCH:
        return share_of(c->ticks - c->match_ticks, c->checks - c->matches);
    case RULE_PROFILE_BY_CHECKS:           return (double)c->checks;
    case RULE_PROFILE_BY_MATCHES:          return (double)c->matches;
    case RULE_PROFILE_BY_MAX:              return (double)c->max_ticks;
    case RULE_PROFILE_SORTS:              break;
    }
    return 0;
}

/* The largest first; equal values by rule number, so that two runs give the same order. */
static int compare(const void *a, const void *b, void *order)
{
    const struct row *x = a, *y = b;
    double vx = value_of(&x->profile, *(enum rule_profile_sort *)order);
    double vy = value_of(&y->profile, *(enum rule_profile_sort *)order);

    if (vx != vy)
        return vx > vy ? -1 : 1;
    if (x->rule->sid != y->rule->sid)
        return x->rule->sid < y->rule->sid ? -1 : 1;
    return x->tenant_id < y->tenant_id ? -1 : x->tenant_id > y->tenant_id;
}

static void sort(struct table *t, enum rule_profile_sort order)
{
    if (t->rows.count > 0)
        qsort_r(t->rows.at, t->rows.count, sizeof(t->rows.at[0]), compare, &order);
}

/* --- writing -------------------------------------------------------------------------------- */

/* In the order of enum rule_profile_sort; Suricata's words. */
static const char *const titles[] = {
    "ticks", "average ticks", "average ticks (match)", "average ticks (no match)",
    "number of checks", "number of matches", "max ticks",
};

/* Keys are Suricata's. `limits` is additional: how often a limit ended the evaluation. */
static void row_json(const struct row *r, const struct table *t, struct json *j)
{
    const struct rule_profile *c = &r->profile;

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
    json_u64(j, "ticks_avg", (uint64_t)value_of(c, RULE_PROFILE_BY_AVERAGE));
    json_u64(j, "ticks_avg_match", (uint64_t)value_of(c, RULE_PROFILE_BY_AVERAGE_MATCH));
    json_u64(j, "ticks_avg_nomatch", (uint64_t)value_of(c, RULE_PROFILE_BY_AVERAGE_NO_MATCH));
    json_u64(j, "percent", (uint64_t)(100 * share_of(c->ticks, t->ticks)));
    if (c->limits > 0)
        json_u64(j, "limits", c->limits);
    json_object_end(j);
}

static void table_json(struct table *t, const struct rule_profile_conf *c,
                       enum rule_profile_sort order, struct json *j)
{
    sort(t, order);
    output_time(j, "timestamp", clock_wall_us());
    json_string(j, "sort", titles[order]);
    json_array(j, "rules");
    for (size_t i = 0; i < MIN(t->rows.count, (size_t)c->limit); i++)
        row_json(&t->rows.at[i], t, j);
    json_array_end(j);
}

#define DASHES "--------------------------------------------------------------------------"

static void table_heading(enum rule_profile_sort order, struct buf *out)
{
    time_t now = (time_t)(clock_wall_us() / 1000000);
    struct tm tm;
    char date[64];

    localtime_r(&now, &tm);
    strftime(date, sizeof(date), "%m/%d/%Y -- %H:%M:%S", &tm);
    buf_printf(out, "  " DASHES "\n  Date: %s. Sorted by: %s.\n  " DASHES "\n", date,
               titles[order]);
    buf_printf(out, "   %-8s %-12s %-8s %-8s %-12s %-6s %-8s %-8s %-11s %-11s %-11s %s\n", "Num",
               "Rule", "Gid", "Rev", "Ticks", "%", "Checks", "Matches", "Max Ticks", "Avg Ticks",
               "Avg Match", "Avg No Match");
    buf_printf(out, "  -------- ------------ -------- -------- ------------ ------ -------- "
               "-------- ----------- ----------- ----------- --------------\n");
}

/* The columns of Suricata's rule_perf.log, because scripts read them. */
static void table_text(struct table *t, const struct rule_profile_conf *c,
                       enum rule_profile_sort order, struct buf *out)
{
    sort(t, order);
    table_heading(order, out);
    for (size_t i = 0; i < MIN(t->rows.count, (size_t)c->limit); i++) {
        const struct row *r = &t->rows.at[i];
        const struct rule_profile *profile = &r->profile;

        buf_printf(out, "  %-8zu %-12" PRIu32 " %-8" PRIu32 " %-8" PRIu32 " %-12" PRIu64
                   " %-6.2f %-8" PRIu64 " %-8" PRIu64 " %-11" PRIu64 " %-11.2f %-11.2f %.2f",
                   i + 1, r->rule->sid, r->rule->gid, r->rule->rev, profile->ticks,
                   100 * share_of(profile->ticks, t->ticks), profile->checks, profile->matches,
                   profile->max_ticks, value_of(profile, RULE_PROFILE_BY_AVERAGE),
                   value_of(profile, RULE_PROFILE_BY_AVERAGE_MATCH),
                   value_of(profile, RULE_PROFILE_BY_AVERAGE_NO_MATCH));
        if (profile->limits > 0)
            buf_printf(out, " (met a limit %" PRIu64 " times)", profile->limits);
        buf_printf(out, "\n");
    }
    buf_printf(out, "\n");
}

/* In the file, JSON is one line per table. */
static void table_write(struct table *t, const struct rule_profile_conf *c,
                        enum rule_profile_sort order, struct buf *out)
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

void rule_profile_json(struct run_context *ctx, const struct rule_profile_conf *c, struct json *j)
{
    struct table t = table_make(ctx);

    table_json(&t, c, c->order != RULE_PROFILE_SORTS ? c->order : RULE_PROFILE_BY_TICKS, j);
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

/* Writes one table per order, or the configured one. Nothing is written when nothing was
 * counted. */
int rule_profile_write(struct run_context *ctx, const struct rule_profile_conf *c,
                     const char *log_dir, struct err *err)
{
    struct buf out = { 0 };
    struct table t;
    char path[4096];
    int status = 0;

    if (!c->enabled)
        return 0;
    t = table_make(ctx);
    if (t.counted) {
        for (unsigned order = 0; order < RULE_PROFILE_SORTS; order++)
            if (c->order == RULE_PROFILE_SORTS || c->order == (enum rule_profile_sort)order)
                table_write(&t, c, (enum rule_profile_sort)order, &out);
        snprintf(path, sizeof(path), "%s%s%s", c->filename[0] == '/' ? "" : log_dir,
                 c->filename[0] == '/' ? "" : "/", c->filename);
        status = file_put(path, c->append, &out, err);
    }
    buf_fini(&out);
    table_fini(&t);
    return status;
}
