/* SPDX-License-Identifier: GPL-2.0-or-later */
/* detect/keywords/meta/target.c - which side of the traffic is the one attacked. */
#include "detect/rule/keyword.h"

static int target_parse(struct rule_parser *p, struct text in, void *arg UNUSED)
{
    uint32_t flag = text_equal(in, "src_ip") ? RULE_TARGET_SRC : RULE_TARGET_DST;

    if (flag == RULE_TARGET_DST && !text_equal(in, "dest_ip"))
        return rule_error(p, "target: expected src_ip or dest_ip, found \"%.*s\"", TEXT(in));
    if (p->rule->flags & (RULE_TARGET_SRC | RULE_TARGET_DST) & ~flag)
        return rule_error(p, "target: contradicts the one before it");
    p->rule->flags |= flag;
    return 0;
}

const struct keyword_ops keyword_target = {
    .name = "target",
    .doc = "which side is attacked",
    .syntax = "src_ip|dest_ip",
    .point = POINT_NONE,
    .parse = target_parse,
};
