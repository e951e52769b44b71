/* SPDX-License-Identifier: GPL-2.0-or-later */
/* control/commands/rule_profile.c - the cost of each rule: estimated at any time, and counted
 * exactly while profiling is on. Suricata can only switch that on when it is built for it; here it
 * starts and stops at run time. */
#include "control/private.h"

static enum command_status profile_run(struct command *c)
{
    const struct control_conf *conf = &c->control->conf;

    json_object(c->j, "message");
    rule_profile_json(conf->context, conf->rule_profile, c->j);
    json_object_end(c->j);
    return COMMAND_OK;
}

const struct command_ops command_ruleset_profile = {
    .name = "ruleset-profile", .doc = "what each rule has cost since counting began",
    .run = profile_run,
};

static enum command_status profile_start_run(struct command *c)
{
    rule_profile_start(c->control->conf.context);
    return command_ok(c, "OK");
}

const struct command_ops command_ruleset_profile_start = {
    .name = "ruleset-profile-start", .doc = "counts from now on what each rule costs",
    .run = profile_start_run,
};

static enum command_status profile_stop_run(struct command *c)
{
    rule_profile_stop(c->control->conf.context);
    return command_ok(c, "OK");
}

const struct command_ops command_ruleset_profile_stop = {
    .name = "ruleset-profile-stop", .doc = "stops counting; what has been counted stays",
    .run = profile_stop_run,
};

#define COSTS_SHOWN 10
#define COSTS_MAX 10000

static enum command_status costs_run(struct command *c)
{
    int64_t count = COSTS_SHOWN;

    if (request_has(c->request, "count") && (!request_int(c->request, "count", &count) ||
                                             count < 1 || count > COSTS_MAX))
        return command_nok(c, "count: expected 1 to %d", COSTS_MAX);
    json_object(c->j, "message");
    rule_costs_json(c->control->conf.context, (size_t)count, c->j);
    json_object_end(c->j);
    return COMMAND_OK;
}

const struct command_ops command_rule_costs = {
    .name = "rule-costs",
    .doc = "the rules that take most time, are checked and match most often, without profiling",
    .args = { { "count", ARG_INT, true } }, .run = costs_run,
};
