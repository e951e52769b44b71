/* SPDX-License-Identifier: GPL-2.0-or-later */
/* detect/keywords/meta/prefilter.c - lets the keyword before it decide whether to look further. */
#include "detect/keyword.h"
#include "detect/program.h"

/* Right behind a content it means the same as fast_pattern. */
static int prefilter_parse(struct rule_parser *p, struct text in UNUSED, void *arg UNUSED)
{
    struct rule_op *op = op_last(p);
    struct rule_test *test = rule_last_test(p, POINT_PACKET);

    if (op == NULL && test == NULL)
        return rule_error(p, "prefilter: must stand behind the keyword it is about");
    if (p->last_is_test)
        p->rule->prefilter = test->keyword;
    else if (op != NULL && op->kind == OP_CONTENT)
        op->flags |= OP_FAST;
    p->rule->flags |= RULE_PREFILTER;
    return 0;
}

const struct keyword_ops keyword_prefilter = {
    .name = "prefilter",
    .doc = "use the keyword before it as prefilter",
    .point = POINT_NONE,
    .argument = ARGUMENT_NONE,
    .parse = prefilter_parse,
};
