/* SPDX-License-Identifier: GPL-2.0-or-later */
/* detect/keywords/meta/gid.c - the group that the rule number belongs to. */
#include "detect/rule/keyword.h"

static int gid_parse(struct rule_parser *p, struct text in, void *arg UNUSED)
{
    uint64_t value;

    if (text_starts_nocase(in, "0x") || !text_to_u64(in, UINT32_MAX, &value))
        return rule_error(p, "gid: expected a number from 0 to 4294967295, found \"%.*s\"",
                          TEXT(in));
    p->rule->gid = (uint32_t)value;
    return 0;
}

const struct keyword_ops keyword_gid = {
    .name = "gid",
    .doc = "group of rule numbers, 1 unless given",
    .syntax = "<0-4294967295>",
    .point = POINT_NONE,
    .quotes = true,
    .parse = gid_parse,
};
