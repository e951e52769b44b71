/* SPDX-License-Identifier: GPL-2.0-or-later */
/* byte_math - reads a number, calculates with it, and keeps the result in a variable. */
#include "detect/keywords/payload/byte_options.h"

/* In the order of BYTE_ADD to BYTE_SHR. */
static const char *const operators[] = { "+", "-", "*", "/", "<<", ">>", NULL };

/* Byte_math names its arguments, so they come in any order. All five of these are
 * required. */
enum { SEEN_BYTES = 1, SEEN_OFFSET = 2, SEEN_OPER = 4, SEEN_RVALUE = 8, SEEN_RESULT = 16,
       SEEN_ALL = 31 };

/* An argument that comes twice is an error: which one counts would be a guess. */
static int byte_math_once(struct rule_parser *p, unsigned *seen, unsigned bit, const char *what)
{
    if (*seen & bit)
        return rule_error(p, "byte_math: %s given twice", what);
    *seen |= bit;
    return 0;
}

/* `op` is the place in operators[]; enum byte_operator has the same order from BYTE_ADD
 * on. */
static int byte_math_oper(struct rule_parser *p, struct text in, struct byte_options *o)
{
    uint8_t op;

    if (!byte_operator_parse(in, operators, &op))
        return rule_error(p, "byte_math: unknown oper value %.*s", TEXT(in));
    o->byte.op = (uint8_t)(BYTE_ADD + op);
    return 0;
}

/* The right operand: a number of 32 bits or an earlier variable, for which OP_VALUE_VAR is
 * set. A division by a variable that is 0 fails at run time. */
static int byte_math_rvalue(struct rule_parser *p, struct text in, struct byte_options *o)
{
    static const struct byte_number kind = { "rvalue", 0, UINT32_MAX, OP_VALUE_VAR };
    int64_t value;

    if (byte_number(p, in, &kind, o, &value) < 0)
        return -1;
    o->byte.value = (uint64_t)value;
    return 0;
}

/* "endian big" and "string hex" carry a word that byte_word() knows on its own; so the
 * value is parsed in place of the option. */
static int byte_math_option(struct rule_parser *p, struct text word, struct byte_options *o,
                            unsigned *seen, struct text *result)
{
    struct text v;

    if (byte_named(word, "bytes", &v))
        return byte_math_once(p, seen, SEEN_BYTES, "bytes") < 0 ? -1 : byte_nbytes(p, v, o);
    if (byte_named(word, "offset", &v))
        return byte_math_once(p, seen, SEEN_OFFSET, "offset") < 0 ? -1 : byte_offset(p, v, o);
    if (byte_named(word, "oper", &v))
        return byte_math_once(p, seen, SEEN_OPER, "oper") < 0 ? -1 : byte_math_oper(p, v, o);
    if (byte_named(word, "rvalue", &v))
        return byte_math_once(p, seen, SEEN_RVALUE, "rvalue") < 0 ? -1 : byte_math_rvalue(p, v, o);
    if (byte_named(word, "result", &v)) {
        *result = v;
        return byte_math_once(p, seen, SEEN_RESULT, "result");
    }
    if (byte_named(word, "endian", &v) || byte_named(word, "string", &v)) {
        if (byte_named(word, "string", &v))
            o->flags |= OP_STRING;
        word = v;
    }
    switch (byte_word(p, word, o)) {
    case 1:  return 0;
    case 0:  return rule_error(p, "byte_math: unknown option \"%.*s\"", TEXT(word));
    default: return -1;
    }
}

/* At most 4 bytes of binary or 10 digits, as in Suricata. `any_source`: its operands may
 * come from byte_math too, which only changes the text of an error. */
static int byte_math_parse(struct rule_parser *p, struct text in, void *arg UNUSED)
{
    struct byte_options o = { .byte = { .base = 10 }, .any_source = true };
    struct text word, result = { 0 };
    unsigned seen = 0;

    while (text_split(&in, ',', &word))
        if (byte_math_option(p, word, &o, &seen, &result) < 0)
            return -1;
    if (seen != SEEN_ALL)
        return rule_error(p, "byte_math: expected bytes, offset, oper, rvalue and result");
    if (!(o.flags & OP_NBYTES_VAR) && o.byte.nbytes == 0)
        return rule_error(p, "byte_math: bytes must be at least 1");
    if (byte_check(p, &o, 4, 10) < 0 || byte_result(p, result, &o) < 0)
        return -1;
    return byte_append(p, OP_BYTE_MATH, &o) != NULL ? 0 : -1;
}

const struct keyword_ops keyword_byte_math = {
    .name = "byte_math",
    .doc = "calculates with a number from the data (+ - * / << >>) and keeps the result",
    .syntax = "bytes <n>,offset <n>,oper <op>,rvalue <n or name>,result <name>"
              "[,relative][,endian big|little][,string hex|dec|oct][,dce][,bitmask <mask>]",
    .point = POINT_BUFFER,
    .parse = byte_math_parse,
};
