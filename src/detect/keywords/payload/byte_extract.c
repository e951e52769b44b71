/* SPDX-License-Identifier: GPL-2.0-or-later */
/* byte_extract - reads a number into a variable. */
#include "detect/keywords/payload/byte_options.h"

/* The options that only byte_extract has. 1: taken, 0: unknown, -1: an error is set;
 * byte_word() returns the same three. */
static int byte_extract_word(struct rule_parser *p, struct text word, struct byte_options *o)
{
    struct text value;
    int64_t number;

    if (byte_named(word, "multiplier", &value)) {
        if (!text_to_i64(value, &number) || number < 1 || number > 65535)
            return rule_error(p, "Malformed multiplier: %.*s", TEXT(value));
        o->byte.multiplier = (uint16_t)number;
    } else if (byte_named(word, "align", &value)) {
        if (!text_to_i64(value, &number) || (number != 2 && number != 4))
            return rule_error(p, "byte_extract: expected align 2 or 4, got \"%.*s\"", TEXT(value));
        o->byte.align = (uint8_t)number;
    } else {
        return byte_word(p, word, o);
    }
    return 1;
}

/* The longest numbers are Suricata's: 8 bytes of binary, or as text 23 octal digits, 20
 * decimal ones, 14 hexadecimal ones. The number of the variable is bound at load time, so
 * later options find it without its name. */
static int byte_extract_parse(struct rule_parser *p, struct text in, void *arg UNUSED)
{
    struct byte_options o = { .byte = { .multiplier = 1, .base = 10 } };
    struct text nbytes, offset, name, word;

    if (!text_split(&in, ',', &nbytes) || !text_split(&in, ',', &offset) ||
        !text_split(&in, ',', &name))
        return rule_error(p, "byte_extract: expected bytes, offset, name[, options]");
    if (byte_nbytes(p, nbytes, &o) < 0 || byte_offset(p, offset, &o) < 0)
        return -1;
    while (text_split(&in, ',', &word)) {
        int taken = byte_extract_word(p, word, &o);

        if (taken < 0)
            return -1;
        if (taken == 0)
            return rule_error(p, "Unknown option: \"%.*s\"", TEXT(word));
    }
    if (byte_check(p, &o, 8, o.byte.base == 8 ? 23 : o.byte.base == 10 ? 20 : 14) < 0 ||
        byte_result(p, name, &o) < 0)
        return -1;
    return byte_append(p, OP_BYTE_EXTRACT, &o) != NULL ? 0 : -1;
}

const struct keyword_ops keyword_byte_extract = {
    .name = "byte_extract",
    .doc = "gives a number from the data a name, for the options after it",
    .syntax = "<bytes>,<offset>,<name>[,relative][,big|little|dce][,string]"
              "[,hex|dec|oct][,multiplier <n>][,align 2|4][,bitmask <mask>]",
    .point = POINT_BUFFER,
    .parse = byte_extract_parse,
};
