/* SPDX-License-Identifier: GPL-2.0-or-later */
/* detect/keywords/meta/priority.c - how urgent the rule is, over the default of its class. */
#include "detect/keyword.h"

static int priority_parse(struct rule_parser *p, struct text in, void *arg UNUSED)
{
    uint64_t value;

    if (!text_to_u64(in, 255, &value) || value == 0)
        return rule_error(p, "priority: want 1 (most urgent) to 255, found \"%.*s\"", TEXT(in));
    if (p->priority_given) {
        rule_warning(p, "priority: stands twice in the rule, the more urgent one counts");
        value = MIN(value, p->rule->priority);
    }
    p->rule->priority = (uint8_t)value;
    p->priority_given = true;
    return 0;
}

const struct keyword_ops keyword_priority = {
    .name = "priority",
    .doc = "1 is most urgent; overrides what the classtype gives",
    .point = POINT_NONE,
    .quotes = true,
    .parse = priority_parse,
};
