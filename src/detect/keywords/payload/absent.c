/* SPDX-License-Identifier: GPL-2.0-or-later */
/* absent - the buffer does not exist. With or_else, the rule also matches when the buffer
 * exists and passes the tests after it. */
#include "detect/rule/program.h"

/* Rules inspect only frames that exist, so "absent" could never hold for a frame. It must
 * come first, because the program decides by it whether the rest runs
 * (rule_program.absent). */
static int absent_parse(struct rule_parser *p, struct text in, void *arg UNUSED)
{
    struct rule_op *op;

    if (p->current == NULL || p->current->buffer == NULL)
        return rule_error(p, "no buffer for absent keyword");
    if (in.n > 0 && !text_equal(in, "or_else"))
        return rule_error(p, "unhandled value for absent keyword: %.*s", TEXT(in));
    if (p->current->buffer->kind == BUFFER_FRAME)
        return rule_error(p, "absent does not work with frames");
    if (p->current->first != NULL)
        return rule_error(p, "absent must come first right after buffer");
    op = op_append(p, OP_ABSENT, false);
    if (op != NULL && in.n > 0)
        op->flags |= OP_OR_ELSE;
    return op != NULL ? 0 : -1;
}

const struct keyword_ops keyword_absent = {
    .name = "absent",
    .doc = "the buffer is not there",
    .syntax = "[or_else]",
    .point = POINT_BUFFER,
    .argument = ARGUMENT_OPTIONAL,
    .parse = absent_parse,
};
