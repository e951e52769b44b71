/* SPDX-License-Identifier: GPL-2.0-or-later */
/* nocase and rawbytes - modifiers of the content before them. */
#include "detect/rule/program.h"

/* Twice is an error, because it most often means that the second one belongs to a content
 * which is missing. */
static int nocase_parse(struct rule_parser *p, struct text in UNUSED, void *arg UNUSED)
{
    struct rule_op *op = op_last_content(p);

    if (op == NULL)
        return rule_error(p, "nocase needs a preceding content option");
    if (op->flags & OP_NOCASE)
        return rule_error(p, "can't use multiple nocase modifiers with the same content");
    content_set_nocase(p, &op->content, &op->flags);
    return 0;
}

const struct keyword_ops keyword_nocase = {
    .name = "nocase",
    .doc = "upper and lower case are the same in this content",
    .features = "No option",
    .point = POINT_NONE,
    .argument = ARGUMENT_NONE,
    .parse = nocase_parse,
};

/* No preprocessor changes a payload here, so there are no other bytes than the raw ones.
 * The rule is still checked as Suricata checks it. */
static int rawbytes_parse(struct rule_parser *p, struct text in UNUSED, void *arg UNUSED)
{
    struct rule_op *op = op_last_content(p);

    if (p->current != NULL)
        return rule_error(p, "\"rawbytes\" cannot be combined with a sticky buffer");
    if (op == NULL || op->list->buffer != NULL)
        return rule_error(p, "\"rawbytes\" needs a preceding content option");
    if (op->flags & OP_RAWBYTES)
        return rule_error(p, "can't use multiple rawbytes modifiers for the same content. ");
    op->flags |= OP_RAWBYTES;
    return 0;
}

const struct keyword_ops keyword_rawbytes = {
    .name = "rawbytes",
    .doc = "accepted for Snort's rules, changes nothing",
    .features = "No option",
    .point = POINT_NONE,
    .argument = ARGUMENT_NONE,
    .parse = rawbytes_parse,
};
