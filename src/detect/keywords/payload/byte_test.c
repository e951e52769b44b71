/* SPDX-License-Identifier: GPL-2.0-or-later */
/* byte_test - reads a number and compares it. */
#include "detect/keywords/payload/byte_options.h"

#include <ctype.h>

/* In the order of enum byte_operator. */
static const char *const operators[] = { "=", "<", ">", "<=", ">=", "&", "^", NULL };

/* "!" may precede an operator. Alone it means "not equal": op stays BYTE_EQ, which is 0. */
static int byte_test_operator(struct rule_parser *p, struct text in, struct byte_options *o)
{
    if (in.n > 0 && in.p[0] == '!') {
        o->flags |= OP_NEGATED;
        in = text_trim(text_from(in, 1));
        if (in.n == 0)
            return 0;           /* "!" alone: not equal */
    }
    return byte_operator_parse(in, operators, &o->byte.op) ? 0 :
        rule_error(p, "byte_test: invalid operator \"%.*s\"", TEXT(in));
}

/* A number in C's notation or a variable. A negative number wraps to 64 bits. Only values
 * of 2^63 or more need the second, unsigned attempt. */
static int byte_test_value(struct rule_parser *p, struct text in, struct byte_options *o)
{
    static const struct byte_number variable = { "value", 0, 0, OP_VALUE_VAR };
    struct text rest = in;
    int64_t value = 0;

    if (in.n > 0 && isalpha((unsigned char)in.p[0])) {
        if (byte_number(p, in, &variable, o, &value) < 0)
            return -1;
        o->byte.value = (uint64_t)value;
        return 0;
    }
    if (!text_take_c_number(&rest, &value) && text_to_u64(in, UINT64_MAX, &o->byte.value))
        return 0;                                   /* larger than any signed number */
    if (rest.n == in.n)
        return rule_error(p, "byte_test: malformed value: %.*s", TEXT(in));
    o->byte.value = (uint64_t)value;
    return 0;
}

static int byte_test_parse(struct rule_parser *p, struct text in, void *arg UNUSED)
{
    struct byte_options o = { 0 };
    struct text nbytes, op, value, offset, word;

    if (!text_split(&in, ',', &nbytes) || !text_split(&in, ',', &op) ||
        !text_split(&in, ',', &value) || !text_split(&in, ',', &offset))
        return rule_error(p, "byte_test: expected bytes, operator, value, offset[, options]");
    if (byte_nbytes(p, nbytes, &o) < 0 || byte_test_operator(p, op, &o) < 0 ||
        byte_test_value(p, value, &o) < 0 || byte_offset(p, offset, &o) < 0)
        return -1;
    while (text_split(&in, ',', &word)) {
        int taken = byte_word(p, word, &o);

        if (taken < 0)
            return -1;
        if (taken == 0)
            return rule_error(p, "Unknown value: \"%.*s\"", TEXT(word));
    }
    if (byte_check(p, &o, 8, 23) < 0)
        return -1;
    return byte_append(p, OP_BYTE_TEST, &o) != NULL ? 0 : -1;
}

const struct keyword_ops keyword_byte_test = {
    .name = "byte_test",
    .doc = "compares a number from the data with a value: = < > <= >=, bits in common (&), others "
           "(^)",
    .syntax = "<bytes>,[!]<op>,<value or name>,<offset>[,relative][,big|little|dce]"
              "[,string][,hex|dec|oct][,bitmask <mask>]",
    .point = POINT_BUFFER,
    .parse = byte_test_parse,
};
