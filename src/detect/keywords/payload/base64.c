/* SPDX-License-Identifier: GPL-2.0-or-later */
/* base64_decode and base64_data - base64_decode decodes a part of the buffer. The tests
 * after base64_data apply to the decoded bytes. */
#include "detect/rule/program.h"

/* "relative", "bytes N" or "offset N". Without "bytes", decoding goes on to the end of the
 * buffer; `bytes` is at most 65,535 as in Suricata. */
static int base64_option(struct rule_parser *p, struct text word, struct base64_op *out,
                         bool *relative)
{
    struct text rest = word, name = { "", 0 };
    uint64_t value;

    if (text_equal(word, "relative")) {
        *relative = true;
        return 0;
    }
    /* As in Suricata nothing need stand between two commas. */
    if (word.n == 0)
        return 0;
    text_split(&rest, ' ', &name);
    rest = text_trim(rest);
    if (text_equal(name, "bytes")) {
        if (!text_to_u64(rest, 65535, &value))
            return rule_error(p, "Bad value for bytes: \"%.*s\"", TEXT(rest));
        out->bytes = (uint32_t)value;
    } else if (text_equal(name, "offset")) {
        if (!text_to_u64(rest, UINT32_MAX, &value))
            return rule_error(p, "Bad value for offset: \"%.*s\"", TEXT(rest));
        out->offset = (uint32_t)value;
    } else {
        return rule_error(p, "Invalid argument: \"%.*s\"", TEXT(word));
    }
    return 0;
}

static int base64_decode_parse(struct rule_parser *p, struct text in, void *arg UNUSED)
{
    struct base64_op b = { 0 };
    struct rule_op *op, *last = op_last(p);
    bool relative = false;
    struct text word;

    while (text_split(&in, ',', &word))
        if (base64_option(p, text_trim(word), &b, &relative) < 0)
            return -1;
    /* It belongs to the list of the test before it even if it does not start where that test ended.
     * So op_append() gets "relative", and the flag is cleared again below. */
    op = op_append(p, OP_BASE64, last != NULL);
    if (op == NULL)
        return -1;
    op->base64 = b;
    if (!relative)
        op->flags &= ~(uint32_t)OP_RELATIVE;
    return 0;
}

const struct keyword_ops keyword_base64_decode = {
    .name = "base64_decode",
    .doc = "decodes base64 encoded data",
    .syntax = "[bytes <n>][,offset <n>][,relative]",
    .point = POINT_BUFFER,
    .argument = ARGUMENT_OPTIONAL,
    .parse = base64_decode_parse,
};

/* base64_data without base64_decode has nothing to look at: the rule would never match. */
static bool has_decode(const struct rule *rule)
{
    for (const struct rule_list *l = rule->list; l != NULL; l = l->next)
        for (const struct rule_op *op = l->first; op != NULL; op = op->next)
            if (op->kind == OP_BASE64)
                return true;
    return false;
}

static int base64_data_parse(struct rule_parser *p, struct text in UNUSED, void *arg UNUSED)
{
    if (!has_decode(p->rule))
        return rule_error(p, "\"base64_data\" keyword seen without preceding base64_decode.");
    return rule_set_buffer(p, buffer_find(p->ruleset, TEXT_LITERAL("base64_data")));
}

const struct keyword_ops keyword_base64_data = {
    .name = "base64_data",
    .doc = "content match base64 decoded data",
    .features = "No option,sticky buffer",
    .point = POINT_NONE,
    .argument = ARGUMENT_NONE,
    .parse = base64_data_parse,
};
