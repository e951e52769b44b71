/* SPDX-License-Identifier: GPL-2.0-or-later */
/* detect/keywords/flow/config.c - settings for the transaction or packet that a rule matched. */
#include "detect/rule/keyword.h"
#include "flow/flow.h"

/* Two forms have an effect: "logging disable, type tx, scope tx", and before the flow table
 * "tracking disable, type flow, scope packet", with which users exempt traffic. Other settings are
 * ignored, as in Suricata. */
struct config_arg {
    bool of_tx, untracked;
};

#define EXPECTED "expected \"logging disable, type tx, scope tx\", found \"%.*s\""

static bool is_one_of(struct text in, const char *a, const char *b)
{
    return text_equal(in, a) || text_equal(in, b);
}

/* All three parts are required; anything else is an error, so that a typing error is not
 * silent. */
static bool is_scope(struct text in)
{
    return is_one_of(in, "scope tx", "scope flow") || text_equal(in, "scope packet");
}

static int config_parse(struct rule_parser *p, struct text in, void *arg)
{
    struct text rest = in, what = { "", 0 }, type = { "", 0 }, scope = { "", 0 };
    struct config_arg *a = arg;

    text_split(&rest, ',', &what);
    text_split(&rest, ',', &type);
    text_split(&rest, ',', &scope);
    if (rest.n > 0 || !is_one_of(what, "logging disable", "tracking disable") ||
        !is_one_of(type, "type tx", "type flow") || !is_scope(scope))
        return rule_error(p, "config: " EXPECTED, TEXT(in));
    a->of_tx = text_equal(type, "type tx") && text_equal(scope, "scope tx");
    a->untracked = text_equal(what, "tracking disable") && text_equal(type, "type flow") &&
                   text_equal(scope, "scope packet");
    if (a->untracked && p->rule->hook == HOOK_NONE)
        return rule_error(p, "config: disabling flow tracking is only supported in 'pre_flow' "
                             "hook");
    a->untracked &= p->rule->hook == HOOK_PRE_FLOW;
    return 0;
}

/* Returns the transaction of the match. A rule that matched a packet without a transaction
 * means the flow's first one; NULL when that is gone already. */
static struct app_tx *tx_meant(const struct match_input *in)
{
    struct app_tx *first;

    if (in->tx != NULL || in->flow == NULL || in->flow->app == NULL)
        return in->tx;
    first = in->flow->app->first;
    return first != NULL && first->id == 0 ? first : NULL;
}

/* Outputs skip a transaction with `no_log`. Alerts are not affected. */
static bool config_match(const struct match_input *in, const void *arg)
{
    const struct config_arg *a = arg;
    struct app_tx *tx = a->of_tx ? tx_meant(in) : NULL;

    if (tx != NULL)
        tx->no_log = true;
    if (a->untracked)
        in->packet->flow_hash = 0;      /* the mark of packets that belong to no flow */
    return true;
}

const struct keyword_ops keyword_config = {
    .name = "config",
    .doc = "switch logging of the matched transaction off, or in a pre_flow rule the "
           "packet's flow",
    .syntax = "logging disable,type tx,scope tx\n"
              "tracking disable,type flow,scope packet",
    .features = "supports firewall",
    .point = POINT_POST,
    .arg_size = sizeof(struct config_arg),
    .parse = config_parse,
    .match = config_match,
};
