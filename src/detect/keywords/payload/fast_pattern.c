/* SPDX-License-Identifier: GPL-2.0-or-later */
/* fast_pattern - the content before it is the one that the prefilter searches;
 * "offset,length" restricts that to a part of it. "only" is an old promise that the
 * content need not be confirmed. */
#include "detect/rule/program.h"

/* The part must be inside the content. The prefilter searches only that part; the program still
 * confirms the entire content. */
static int fast_pattern_chop(struct rule_parser *p, struct text in, struct rule_op *op)
{
    struct text first, second;
    uint64_t offset, len;

    if (!text_split(&in, ',', &first) || !text_split(&in, ',', &second) || in.n > 0 ||
        !text_to_u64(first, 65535, &offset) || !text_to_u64(second, 65535, &len))
        return rule_error(p, "fast_pattern: expected \"only\" or offset,length");
    if (offset + len > 65535)
        return rule_error(p, "Fast pattern (length + offset) exceeds limit pattern length limit");
    if (offset + len > op->content.len)
        return rule_error(p, "Fast pattern (length + offset (%u)) exceeds pattern length (%u)",
                          (unsigned)(offset + len), op->content.len);
    op->content.fast_offset = (uint16_t)offset;
    op->content.fast_len = (uint16_t)len;
    op->flags |= OP_FAST_CHOP;
    return 0;
}

/* Only one content of the payload may have fast_pattern. Several contents of buffers may
 * have it; the first one counts then. */
static bool has_fast_pattern(const struct rule *rule)
{
    for (const struct rule_list *l = rule->list; l != NULL; l = l->next)
        for (const struct rule_op *op = l->first; op != NULL && l->buffer == NULL; op = op->next)
            if (op->flags & OP_FAST)
                return true;
    return false;
}

/* The last content in the rule's text. op_last_content() knows the current list; the loop
 * adds contents of earlier sticky buffers. */
static struct rule_op *target(struct rule_parser *p)
{
    struct rule_op *last = op_last_content(p);

    for (struct rule_list *l = p->rule->list; l != NULL; l = l->next)
        for (struct rule_op *op = l->last; op != NULL && l->buffer != NULL; op = op->prev)
            if (op->kind == OP_CONTENT && (last == NULL || op->serial > last->serial))
                last = op;
    return last;
}

/* The checks are Suricata's. A prefilter cannot use base64_data, because those bytes exist
 * only after the rule has run. A negated content with a position says nothing about the
 * rest of the buffer. */
static int fast_pattern_parse(struct rule_parser *p, struct text in, void *arg UNUSED)
{
    const uint32_t position_flags = OP_DISTANCE | OP_WITHIN | OP_OFFSET | OP_DEPTH;
    struct rule_op *op = target(p);

    if (op == NULL)
        return rule_error(p, "fast_pattern found inside the rule, without a content context. "
                          "Please use a content based keyword before using fast_pattern");
    if ((op->flags & OP_NEGATED) && (op->flags & position_flags))
        return rule_error(p, "fast_pattern; cannot be used with negated content, along with "
                          "relative modifiers");
    if (in.n == 0 && (op->flags & OP_FAST))
        return rule_error(p, "can't use multiple fast_pattern options for the same content");
    if (in.n == 0 && has_fast_pattern(p->rule))
        return rule_error(p, "fast_pattern can be used on only one content in a rule");
    if (op->list->buffer != NULL && op->list->buffer->kind == BUFFER_BASE64)
        return rule_error(p, "fast_pattern cannot be used with base64_data");
    if (text_equal(in, "only")) {
        if (op->flags & (position_flags | OP_NEGATED))
            return rule_error(p, "fast_pattern: only; cannot be used with negated content or with "
                              "any of the relative modifiers like distance, within, offset, depth");
        op->flags |= OP_FAST_ONLY;
    } else if (in.n > 0 && fast_pattern_chop(p, in, op) < 0) {
        return -1;
    }
    op->flags |= OP_FAST;
    return 0;
}

const struct keyword_ops keyword_fast_pattern = {
    .name = "fast_pattern",
    .doc = "this content is the one to search for in all traffic",
    .syntax = "[only|<offset>,<length>]",
    .point = POINT_NONE,
    .argument = ARGUMENT_OPTIONAL,
    .parse = fast_pattern_parse,
};
