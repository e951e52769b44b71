/* SPDX-License-Identifier: GPL-2.0-or-later */
/* control/rule_costs.h - what rules cost, which detect/state/profile.h always counts: a table for a
 * command, the listener, and a file (--rule-profile). */
#ifndef CONTROL_RULE_COSTS_H
#define CONTROL_RULE_COSTS_H

#include <stdio.h>

#include "base/err.h"
#include "base/report/json.h"
#include "control/part_costs.h"
#include "control/rules_in_force.h"

/* Checks and times are estimates for all packets; matches and limits are counted. */
struct rule_cost {
    const struct rule *rule;    /* borrowed from a set of the table's */
    uint32_t tenant_id;         /* 0: the common rules */
    uint64_t checks, matches, limits;
    uint64_t timed;             /* evaluations that the estimates come from */
    uint64_t ns, avg_ns, max_ns;    /* of all checks; the longest that was timed */
};

/* Rules that were evaluated, or matched, since they were loaded. */
struct rule_costs {
    struct rules_in_force in_force;
    ARRAY_OF(struct rule_cost) rows;
    uint64_t ns;                /* of all */
    struct part_cost_rows part[COST_KINDS];
};

enum rule_cost_order { RULE_COSTS_BY_TIME, RULE_COSTS_BY_CHECKS, RULE_COSTS_BY_MATCHES };

void rule_costs_collect(struct rule_costs *t, struct run_context *ctx);
void rule_costs_fini(struct rule_costs *t);
/* The largest first. */
void rule_costs_sort(struct rule_costs *t, enum rule_cost_order order);
/* Writes the members of an open object. */
void rule_cost_members(const struct rule_costs *t, const struct rule_cost *c, struct json *j);
/* Writes members of the open object: the total, for each order at most `limit` rules, and at most
 * so many groups, buffers and keywords. */
void rule_costs_json(struct run_context *ctx, size_t limit, struct json *j);

/* The file of --rule-profile, CSV or JSON by its name. It is opened before privileges are dropped.
 * Each write adds the rules that are in force then. */
struct rule_cost_file {
    FILE *f;                    /* NULL: none */
    const char *path;           /* borrowed */
    bool is_csv;
};
int rule_cost_file_open(struct rule_cost_file *file, const char *path, struct err *err);
int rule_cost_file_write(struct rule_cost_file *file, struct run_context *ctx, struct err *err);
void rule_cost_file_close(struct rule_cost_file *file);

#endif
