/* SPDX-License-Identifier: GPL-2.0-or-later */
/* control/rule_profile.h - tables of the cost of each rule (profiling.rules), for a command, and
 * for a file when rules are unloaded. detect/state/profile.h counts; names, orders and columns are
 * those of Suricata's tables. */
#ifndef CONTROL_RULE_PROFILE_H
#define CONTROL_RULE_PROFILE_H

#include "base/err.h"
#include "base/report/json.h"
#include "modules/context.h"

enum rule_profile_sort {
    RULE_PROFILE_BY_TICKS,
    RULE_PROFILE_BY_AVERAGE,
    RULE_PROFILE_BY_AVERAGE_MATCH,
    RULE_PROFILE_BY_AVERAGE_NO_MATCH,
    RULE_PROFILE_BY_CHECKS,
    RULE_PROFILE_BY_MATCHES,
    RULE_PROFILE_BY_MAX,
    RULE_PROFILE_SORTS,           /* one table for each of them */
};

struct rule_profile_conf {
    bool active;            /* from the start; otherwise a command starts it */
    bool enabled;           /* writes a file; commands work in any case */
    bool json, append;
    const char *filename;   /* from the configuration */
    unsigned limit;         /* rules per table */
    enum rule_profile_sort order;
};
void rule_profile_conf_read(struct rule_profile_conf *c, const struct conf_node *root);

/* Starts or stops profiling of all current rules, those of tenants included. Returns when all
 * threads have seen it, or after two seconds. */
void rule_profile_start(struct run_context *ctx);
void rule_profile_stop(struct run_context *ctx);
/* Writes members of the open object: time, order, table. */
void rule_profile_json(struct run_context *ctx, const struct rule_profile_conf *c, struct json *j);
/* Writes the file, in log_dir unless its name has a path. Writes no file if nothing was counted. */
int rule_profile_write(struct run_context *ctx, const struct rule_profile_conf *c,
                     const char *log_dir, struct err *err);
/* Clears the counts between runs, when threads have ended. */
void rule_profile_clear(struct run_context *ctx);

#endif
