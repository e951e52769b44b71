/* SPDX-License-Identifier: GPL-2.0-or-later */
/* detect/keywords/payload/byte_options.h - what byte_test, byte_jump, byte_extract and byte_math
 * have in common: a number of bytes, an offset, and words behind them. */
#ifndef DETECT_BYTE_OPTIONS_H
#define DETECT_BYTE_OPTIONS_H

#include "detect/rule/program.h"

struct byte_options {
    struct byte_op byte;
    uint32_t flags;             /* enum op_flag */
    enum app_proto_id order_of; /* with OP_DCE: whose order of bytes */
    bool base_given, endian_given;
    bool any_source;            /* variables may come from any byte_ keyword: for messages */
};

/* A number of a keyword. A variable may stand for it; its op then gets `var_flag`. */
struct byte_number {
    const char *what;           /* for messages */
    int64_t min, max;
    uint32_t var_flag;
};

/* Reads the number, or the variable's index, into *out. */
int byte_number(struct rule_parser *p, struct text in, const struct byte_number *kind,
                struct byte_options *o, int64_t *out);
int byte_nbytes(struct rule_parser *p, struct text in, struct byte_options *o);
int byte_offset(struct rule_parser *p, struct text in, struct byte_options *o);
/* "!" before an operator sets OP_NEGATED. False: no such operator. */
bool byte_operator_parse(struct text in, const char *const *names, uint8_t *op);

/* relative, string, dec/hex/oct, big/little, a protocol's word (dce), "bitmask 0x..": 1 when
 * taken, 0 when the word is not one of them, -1 on error. */
int byte_word(struct rule_parser *p, struct text word, struct byte_options *o);
/* Words fit each other and nbytes fits them: at most `max` of binary, `max_string` of digits. */
int byte_check(struct rule_parser *p, struct byte_options *o, unsigned max, unsigned max_string);
/* "name value" -> value, when the word begins with that name. */
bool byte_named(struct text word, const char *name, struct text *value);
/* The op at the end of its list. */
struct rule_op *byte_append(struct rule_parser *p, enum op_kind kind, const struct byte_options *o);
int byte_result(struct rule_parser *p, struct text name, struct byte_options *o);

#endif
