/* SPDX-License-Identifier: GPL-2.0-or-later */
/* content - a literal; the modifiers after it restrict where it may occur. */
#include "detect/rule/program.h"

/* A content that a transform before it can never produce (capitals after to_lowercase, for
 * example) would never match, so it is an error. A negated one would always match;
 * Suricata accepts that, and so do we. */
static int content_parse(struct rule_parser *p, struct text in, void *arg UNUSED)
{
    const struct buffer *buffer = p->current != NULL ? p->current->buffer : NULL;
    struct rule_op *op;
    uint8_t *bytes;
    uint16_t len;

    if (content_bytes_parse(p, in, "content", &bytes, &len) < 0)
        return -1;
    for (unsigned i = 0; buffer != NULL && !p->negated && i < buffer->transform_count; i++) {
        const struct transform_use *use = &buffer->transform[i];
        struct slice pattern = { bytes, len };

        if (use->ops->content_ok != NULL && !use->ops->content_ok(pattern, use->arg))
            return rule_error(p, "content string \"%.*s\" incompatible with %s transform",
                              TEXT(in), use->ops->name);
    }
    op = op_append(p, OP_CONTENT, false);
    if (op == NULL)
        return -1;
    op->content = (struct content_op){ .bytes = bytes, .written = bytes, .len = len };
    p->last_content = op;
    return 0;
}

const struct keyword_ops keyword_content = {
    .name = "content",
    .doc = "match on payload content",
    .syntax = "[!]\"<text, bytes as |hex|>\"",
    .features = "supports firewall",
    .point = POINT_BUFFER,
    .negatable = true,
    .quotes = true,
    .quotes_required = true,
    .parse = content_parse,
};
