/* SPDX-License-Identifier: GPL-2.0-or-later */
/* isdataat - does the buffer have data at this position, or that far after the last match? */
#include "detect/rule/program.h"

#include <ctype.h>

/* A decimal number or a byte variable. 65,535 is Suricata's limit. */
static int isdataat_number(struct rule_parser *p, struct text in, struct rule_op *op)
{
    uint64_t value;

    if (in.n > 0 && isalpha((unsigned char)in.p[0])) {
        int var = byte_var_find(p, in);

        if (var < 0)
            return rule_error(p, "Unknown byte_extract var seen in isdataat - %.*s", TEXT(in));
        op->flags |= OP_OFFSET_VAR;
        op->byte.offset = var;
        return 0;
    }
    if (!text_to_decimal(in, 65535, &value))
        return rule_error(p, "isdataat: expected 0 to 65535, got \"%.*s\"", TEXT(in));
    op->byte.offset = (int32_t)value;
    return 0;
}

/* "isdataat:!1,relative" after a content means that the data end there. That is
 * `endswith`, which costs no further step. After a negated content it must be that: rules mean
 * data that do not end so, and there is no match from which to count. */
static struct rule_op *content_that_ends(struct rule_parser *p, struct text number)
{
    struct rule_op *last = p->current != NULL ? p->current->last : op_last(p);

    if (!p->negated || !text_equal(number, "1") || last == NULL || last->kind != OP_CONTENT)
        return NULL;
    return last;
}

/* "rawbytes" is accepted and changes nothing, as with content. */
static int isdataat_parse(struct rule_parser *p, struct text in, void *arg UNUSED)
{
    struct text number, word;
    bool relative = false;
    struct rule_op *op;

    if (!text_split(&in, ',', &number))
        return rule_error(p, "isdataat: expected N[,relative][,rawbytes]");
    while (text_split(&in, ',', &word)) {
        if (text_equal(word, "relative"))
            relative = true;
        else if (!text_equal(word, "rawbytes"))
            return rule_error(p, "isdataat: unknown option \"%.*s\"", TEXT(word));
    }
    op = relative ? content_that_ends(p, number) : NULL;
    if (op != NULL) {
        op->flags |= OP_ENDSWITH;
        return 0;
    }
    op = op_append(p, OP_ISDATAAT, relative);
    return op != NULL ? isdataat_number(p, number, op) : -1;
}

const struct keyword_ops keyword_isdataat = {
    .name = "isdataat",
    .doc = "is there data so many bytes further on?",
    .syntax = "[!]<n or name>[,relative][,rawbytes]",
    .point = POINT_BUFFER,
    .negatable = true,
    .parse = isdataat_parse,
};
