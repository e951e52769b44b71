/* SPDX-License-Identifier: GPL-2.0-or-later */
/* byte_jump - reads a number and skips as many bytes. */
#include "detect/keywords/payload/byte_options.h"

/* The options that only byte_jump has. 1: taken, 0: unknown, -1: an error is set.
 * `multiplier` and `post_offset` have Suricata's ranges. */
static int byte_jump_word(struct rule_parser *p, struct text word, struct byte_options *o)
{
    struct text value;
    int64_t number;

    if (text_equal_nocase(word, "from_beginning")) {
        o->flags |= OP_FROM_BEGINNING;
    } else if (text_equal_nocase(word, "from_end")) {
        o->flags |= OP_FROM_END;
    } else if (text_equal_nocase(word, "align")) {
        o->flags |= OP_ALIGN;
    } else if (byte_named(word, "multiplier", &value)) {
        if (!text_to_i64(value, &number) || number < 1 || number > 65535)
            return rule_error(p, "Malformed multiplier: %.*s", TEXT(value));
        o->byte.multiplier = (uint16_t)number;
    } else if (byte_named(word, "post_offset", &value)) {
        if (!text_to_i64(value, &number) || number < -65535 || number > 65535)
            return rule_error(p, "Malformed post_offset: %.*s", TEXT(value));
        o->byte.post_offset = (int32_t)number;
    } else {
        return byte_word(p, word, o);
    }
    return 1;
}

/* from_beginning and from_end name two different origins, so a rule must not have both.
 * Without either the jump starts after the number that was read. */
static int byte_jump_parse(struct rule_parser *p, struct text in, void *arg UNUSED)
{
    struct byte_options o = { .byte = { .multiplier = 1 } };
    struct text nbytes, offset, word;

    if (!text_split(&in, ',', &nbytes) || !text_split(&in, ',', &offset))
        return rule_error(p, "byte_jump: expected bytes, offset[, options]");
    if (byte_nbytes(p, nbytes, &o) < 0 || byte_offset(p, offset, &o) < 0)
        return -1;
    while (text_split(&in, ',', &word)) {
        int taken = byte_jump_word(p, word, &o);

        if (taken < 0)
            return -1;
        if (taken == 0)
            return rule_error(p, "Unknown option: \"%.*s\"", TEXT(word));
    }
    if ((o.flags & OP_FROM_BEGINNING) && (o.flags & OP_FROM_END))
        return rule_error(p, "'from_end' and 'from_beginning' cannot be used in the same byte_jump "
                          "statement");
    if (byte_check(p, &o, 8, 23) < 0)
        return -1;
    return byte_append(p, OP_BYTE_JUMP, &o) != NULL ? 0 : -1;
}

const struct keyword_ops keyword_byte_jump = {
    .name = "byte_jump",
    .doc = "reads a number from the data and goes on from where it points",
    .syntax = "<bytes>,<offset>[,relative][,big|little|dce][,string][,hex|dec|oct]"
              "[,multiplier <n>][,align][,from_beginning|from_end][,post_offset <n>]"
              "[,bitmask <mask>]",
    .point = POINT_BUFFER,
    .parse = byte_jump_parse,
};
