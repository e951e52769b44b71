/* SPDX-License-Identifier: GPL-2.0-or-later */
/* detect/keywords/meta/target.c - which side of the traffic is the one attacked. */
#include "detect/keyword.h"

static int target_parse(struct rule_parser *p, struct text in, void *arg UNUSED)
{
    bool is_src = text_equal(in, "src_ip");

    if (!is_src && !text_equal(in, "dest_ip"))
        return rule_error(p, "target: want src_ip or dest_ip, found \"%.*s\"", TEXT(in));
    if (p->rule->flags & (RULE_TARGET_SRC | RULE_TARGET_DST))
        return rule_error(p, "target: stands twice in the rule");
    p->rule->flags |= is_src ? RULE_TARGET_SRC : RULE_TARGET_DST;
    return 0;
}

const struct keyword_ops keyword_target = {
    .name = "target",
    .doc = "which side is attacked: src_ip or dest_ip",
    .point = POINT_NONE,
    .parse = target_parse,
};
