/* SPDX-License-Identifier: GPL-2.0-or-later */
/* control/rule_profile.h - tables of what each rule has cost (profiling.rules): for a command, and
 * for a file when rules go. The counting itself is detect/profile.h; names, orders and columns are
 * those of Suricata's tables. */
#ifndef CONTROL_RULE_COSTS_H
#define CONTROL_RULE_COSTS_H

#include "base/err.h"
#include "base/json.h"
#include "modules/context.h"

enum rule_costs_order {
    COSTS_BY_TICKS,
    COSTS_BY_AVERAGE,
    COSTS_BY_AVERAGE_MATCH,
    COSTS_BY_AVERAGE_NO_MATCH,
    COSTS_BY_CHECKS,
    COSTS_BY_MATCHES,
    COSTS_BY_MAX,
    COSTS_ORDERS,           /* a table for each of them */
};

struct rule_costs_conf {
    bool active;            /* from the start; else by command */
    bool enabled;           /* a file is written; commands work in any case */
    bool json, append;
    const char *filename;   /* of the configuration */
    unsigned limit;         /* rules in a table */
    enum rule_costs_order order;
};
void rule_costs_conf_read(struct rule_costs_conf *c, const struct conf_node *root);

/* Of all rules in force, those of tenants as well; when it returns, all threads know, or two
 * seconds have passed. */
void rule_costs_start(struct run_context *ctx);
void rule_costs_stop(struct run_context *ctx);
/* Members of the open object: when, the order, the table. */
void rule_costs_json(struct run_context *ctx, const struct rule_costs_conf *c, struct json *j);
/* The file, in log_dir unless its name says where. Nothing has been counted: no file. */
int rule_costs_write(struct run_context *ctx, const struct rule_costs_conf *c,
                     const char *log_dir, struct err *err);
/* The threads have ended: another run begins at nothing. */
void rule_costs_clear(struct run_context *ctx);

#endif
