/* SPDX-License-Identifier: GPL-2.0-or-later */
/* detect/keywords/meta/alert.c - raises an alert even if the action raises none. */
#include "detect/rule/keyword.h"

static int alert_parse(struct rule_parser *p, struct text in UNUSED, void *arg UNUSED)
{
    p->rule->flags &= ~(uint32_t)RULE_NOALERT;      /* the last of both counts, as in Suricata */
    p->rule->flags |= RULE_ALERT_KEYWORD;
    return 0;
}

const struct keyword_ops keyword_alert = {
    .name = "alert",
    .doc = "make an alert even if the action, such as pass, makes none",
    .point = POINT_NONE,
    .argument = ARGUMENT_NONE,
    .parse = alert_parse,
};
