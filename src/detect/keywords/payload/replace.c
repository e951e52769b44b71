/* SPDX-License-Identifier: GPL-2.0-or-later */
/* replace - in IPS mode, overwrites the content before it with as many other bytes. */
#include "detect/rule/program.h"
#include "detect/rule/ruleset_private.h"

/* In IDS mode the rule stays as an alert, with a warning: the same rule file serves both
 * modes. The length must not change, because TCP sequence numbers would no longer fit.
 * Packets of a stream are changed one by one, so the rule needs RULE_NEEDS_PACKET. */
static int replace_parse(struct rule_parser *p, struct text in, void *arg UNUSED)
{
    struct rule_op *op = op_last_content(p);
    uint8_t *bytes;
    uint16_t len;

    if (p->negated)
        return rule_error(p, "Can't negate replacement string: %.*s", TEXT(in));
    if (!p->ruleset->is_inline) {
        rule_warning(p, "replace: packets can be changed inline only, the rule alerts without it");
        return 0;
    }
    if (content_bytes_parse(p, in, "replace", &bytes, &len) < 0)
        return -1;
    if (op == NULL || op->list->buffer != NULL)
        return rule_error(p, "replace needs a preceding content of the payload");
    if (op->flags & OP_NEGATED)
        return rule_error(p, "can't have a relative negated keyword set along with a replacement");
    if (op->content.len != len)
        return rule_error(p, "can't have a content length different from replace length");
    op->content.replace = arena_copy(p->arena, bytes, len);
    op->flags |= OP_REPLACE;
    p->rule->flags |= RULE_NEEDS_PACKET;
    return 0;
}

const struct keyword_ops keyword_replace = {
    .name = "replace",
    .doc = "inline: the content before it leaves as this text",
    .syntax = "\"<text>\"",
    .point = POINT_NONE,
    .negatable = true,
    .quotes = true,
    .quotes_required = true,
    .parse = replace_parse,
};
