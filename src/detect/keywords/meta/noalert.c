/* SPDX-License-Identifier: GPL-2.0-or-later */
/* detect/keywords/meta/noalert.c - match without an alert. */
#include "detect/rule/keyword.h"

static int noalert_parse(struct rule_parser *p, struct text in UNUSED, void *arg UNUSED)
{
    p->rule->flags &= ~(uint32_t)RULE_ALERT_KEYWORD;    /* the last of both counts */
    p->rule->flags |= RULE_NOALERT;
    return 0;
}

const struct keyword_ops keyword_noalert = {
    .name = "noalert",
    .doc = "match without an alert",
    .point = POINT_NONE,
    .argument = ARGUMENT_NONE,
    .parse = noalert_parse,
};
