/* SPDX-License-Identifier: GPL-2.0-or-later */
/* detect/keywords/meta/bypass.c - stop looking at the flow once the rule has matched. */
#include "detect/rule/keyword.h"
#include "flow/flow.h"

static int bypass_parse(struct rule_parser *p, struct text in UNUSED, void *arg UNUSED)
{
    if (p->rule->flags & RULE_BYPASS)
        rule_warning(p, "bypass: occurs twice in the rule");
    p->rule->flags |= RULE_BYPASS;
    return 0;
}

static bool bypass_match(const struct match_input *in, const void *arg UNUSED)
{
    if (in->flow != NULL)
        flow_request(in->flow, FLOW_REQ_BYPASS);
    return true;
}

const struct keyword_ops keyword_bypass = {
    .name = "bypass",
    .doc = "stop inspecting the flow after a match",
    .point = POINT_POST,
    .argument = ARGUMENT_NONE,
    .parse = bypass_parse,
    .match = bypass_match,
};
