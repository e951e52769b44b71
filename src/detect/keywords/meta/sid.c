/* SPDX-License-Identifier: GPL-2.0-or-later */
/* detect/keywords/meta/sid.c - the number of the rule, unique within its group. */
#include "detect/rule/keyword.h"

static int sid_parse(struct rule_parser *p, struct text in, void *arg UNUSED)
{
    uint64_t value;

    if (text_starts_nocase(in, "0x") || !text_to_u64(in, UINT32_MAX, &value) || value == 0)
        return rule_error(p, "sid: expected a number from 1 to 4294967295, found \"%.*s\"",
                          TEXT(in));
    if (p->rule->sid != 0)
        return rule_error(p, "sid: occurs twice in the rule");
    p->rule->sid = (uint32_t)value;
    return 0;
}

const struct keyword_ops keyword_sid = {
    .name = "sid",
    .doc = "number of the rule, unique in its group",
    .syntax = "<1-4294967295>",
    .features = "supports firewall",
    .point = POINT_NONE,
    .quotes = true,
    .parse = sid_parse,
};
