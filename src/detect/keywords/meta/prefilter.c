/* SPDX-License-Identifier: GPL-2.0-or-later */
/* detect/keywords/meta/prefilter.c - lets the keyword before it decide whether to look further. */
#include "detect/rule/keyword.h"
#include "detect/rule/program.h"

#include <string.h>

static int prefilter_on(struct rule_parser *p, const struct keyword_ops *keyword)
{
    if (keyword->features == NULL || strstr(keyword->features, "prefilter") == NULL)
        return rule_error(p, "prefilter is not supported for %s", keyword->name);
    p->rule->prefilter = keyword;
    return 0;
}

/* Right after a content it means the same as fast_pattern. */
static int prefilter_on_op(struct rule_parser *p, struct rule_op *op)
{
    if (op->kind != OP_CONTENT)
        return rule_error(p, "prefilter is not supported for %s", op->keyword->name);
    if ((op->flags & OP_NEGATED) &&
        (op->flags & (OP_DISTANCE | OP_WITHIN | OP_OFFSET | OP_DEPTH)))
        return rule_error(p, "prefilter; cannot be used with negated content, along with "
                          "relative modifiers");
    op->flags |= OP_FAST;
    return 0;
}

static int prefilter_parse(struct rule_parser *p, struct text in UNUSED, void *arg UNUSED)
{
    struct rule_op *op = op_last(p);

    if (op == NULL && p->last_test == NULL)
        return rule_error(p, "prefilter: must stand behind the keyword it is about");
    p->rule->flags |= RULE_PREFILTER;
    return p->last_test != NULL ? prefilter_on(p, p->last_test) : prefilter_on_op(p, op);
}

const struct keyword_ops keyword_prefilter = {
    .name = "prefilter",
    .doc = "use the keyword before it as prefilter",
    .point = POINT_NONE,
    .argument = ARGUMENT_NONE,
    .parse = prefilter_parse,
};
