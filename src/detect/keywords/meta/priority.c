/* SPDX-License-Identifier: GPL-2.0-or-later */
/* detect/keywords/meta/priority.c - how urgent the rule is, over the default of its class. */
#include "detect/rule/keyword.h"

static int priority_parse(struct rule_parser *p, struct text in, void *arg UNUSED)
{
    uint64_t value;
    int32_t priority;

    if (!text_to_decimal(in, INT32_MAX, &value))
        return rule_error(p, "priority: expected a number, 1 is most urgent, found \"%.*s\"",
                          TEXT(in));
    priority = (int32_t)value;
    if (p->priority_given) {
        rule_warning(p, "priority: occurs twice in the rule, the more urgent one counts");
        priority = MIN(priority, p->rule->priority);
    }
    p->rule->priority = priority;
    p->priority_given = true;
    return 0;
}

const struct keyword_ops keyword_priority = {
    .name = "priority",
    .doc = "1 is most urgent, overrides what the classtype gives",
    .syntax = "<1-2147483647>",
    .point = POINT_NONE,
    .quotes = true,
    .parse = priority_parse,
};
