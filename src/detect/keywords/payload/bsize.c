/* SPDX-License-Identifier: GPL-2.0-or-later */
/* bsize - the length of the buffer. */
#include "detect/rule/program.h"

/* Compares with a number, a range, or a byte variable (then only for equality). It needs a
 * sticky buffer: for the length of a payload there is `dsize`. The compiler later rejects
 * rules whose contents do not fit into the size (compile/finish_rule.c). */
static int bsize_parse(struct rule_parser *p, struct text in, void *arg UNUSED)
{
    struct rule_op *op;
    int var = byte_var_find(p, in);

    if (p->current == NULL)
        return rule_error(p, "bsize needs a sticky buffer before it");
    op = op_append(p, OP_BSIZE, false);
    if (op == NULL)
        return -1;
    if (var >= 0) {
        op->flags |= OP_VALUE_VAR;
        op->size = (struct int_match){ .op = INT_EQ, .a = (uint64_t)var };
        return 0;
    }
    return int_match_parse(p, in, 64, NULL, &op->size);
}

const struct keyword_ops keyword_bsize = {
    .name = "bsize",
    .doc = "how long the buffer is",
    .syntax = "<number or name>",
    .features = "supports firewall",
    .point = POINT_BUFFER,
    .parse = bsize_parse,
};
