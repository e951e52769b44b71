/* SPDX-License-Identifier: GPL-2.0-or-later */
/* control/part_costs.h - what groups, buffers and keywords of the rules in force cost
 * (detect/state/part_costs.h); part of the table of what rules cost. */
#ifndef CONTROL_PART_COSTS_H
#define CONTROL_PART_COSTS_H

#include "base/report/json.h"
#include "control/rules_in_force.h"
#include "detect/state/part_costs.h"

/* All are estimates, but how often it was timed. */
struct part_cost_row {
    const char *name;           /* borrowed from the rules in force */
    uint64_t checks, timed, ns, max_ns;
};

/* Parts of a kind; the one that takes most time first. */
struct part_cost_rows {
    ARRAY_OF(struct part_cost_row) rows;
    uint64_t ns;                /* of all */
};

void part_cost_rows_collect(struct part_cost_rows *t, const struct rules_in_force *f,
                            enum cost_kind kind);
void part_cost_rows_fini(struct part_cost_rows *t);
/* "group", "buffer", "keyword". */
const char *cost_kind_name(enum cost_kind kind);
/* Writes the members of an open object. */
void part_cost_members(const struct part_cost_rows *t, const struct part_cost_row *row,
                       struct json *j);
/* An array "groups", "buffers" or "keywords", of at most `limit` of them. */
void part_cost_rows_json(const struct part_cost_rows *t, enum cost_kind kind, size_t limit,
                         struct json *j);

/* In percent with two digits; 0 for an empty total, so that nothing divides by 0. */
double cost_percent(uint64_t part, uint64_t total);

#endif
