/* SPDX-License-Identifier: GPL-2.0-or-later */
/* control/rule_profile.h - tables of what each rule has cost (profiling.rules): for a command, and
 * for a file when rules go. The counting itself is detect/state/profile.h; names, orders and
 * columns are those of Suricata's tables. */
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
    RULE_PROFILE_SORTS,           /* a table for each of them */
};

struct rule_profile_conf {
    bool active;            /* from the start; else by command */
    bool enabled;           /* a file is written; commands work in any case */
    bool json, append;
    const char *filename;   /* of the configuration */
    unsigned limit;         /* rules in a table */
    enum rule_profile_sort order;
};
void rule_profile_conf_read(struct rule_profile_conf *c, const struct conf_node *root);

/* Of all rules in force, those of tenants as well; when it returns, all threads know, or two
 * seconds have passed. */
void rule_profile_start(struct run_context *ctx);
void rule_profile_stop(struct run_context *ctx);
/* Members of the open object: when, the order, the table. */
void rule_profile_json(struct run_context *ctx, const struct rule_profile_conf *c, struct json *j);
/* The file, in log_dir unless its name says where. Nothing has been counted: no file. */
int rule_profile_write(struct run_context *ctx, const struct rule_profile_conf *c,
                     const char *log_dir, struct err *err);
/* The threads have ended: another run begins at nothing. */
void rule_profile_clear(struct run_context *ctx);

#endif
