/* SPDX-License-Identifier: GPL-2.0-or-later */
/* detect/keywords/meta/rev.c - the revision of the rule. */
#include "detect/rule/keyword.h"

static int rev_parse(struct rule_parser *p, struct text in, void *arg UNUSED)
{
    uint64_t value;

    if (text_starts_nocase(in, "0x") || !text_to_u64(in, UINT32_MAX, &value) || value == 0)
        return rule_error(p, "rev: expected a number from 1 to 4294967295, found \"%.*s\"",
                          TEXT(in));
    if (p->rule->rev != 0)
        return rule_error(p, "rev: occurs twice in the rule");
    p->rule->rev = (uint32_t)value;
    return 0;
}

const struct keyword_ops keyword_rev = {
    .name = "rev",
    .doc = "revision of the rule",
    .syntax = "<1-4294967295>",
    .point = POINT_NONE,
    .quotes = true,
    .parse = rev_parse,
};
