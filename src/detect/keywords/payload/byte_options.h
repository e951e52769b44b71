/* SPDX-License-Identifier: GPL-2.0-or-later */
/* detect/keywords/payload/byte_options.h - the common options of byte_test, byte_jump, byte_extract
 * and byte_math: a number of bytes, an offset, and words after them. */
#ifndef DETECT_BYTE_OPTIONS_H
#define DETECT_BYTE_OPTIONS_H

#include "detect/rule/program.h"

struct byte_options {
    struct byte_op byte;
    uint32_t flags;             /* enum op_flag */
    enum app_proto_id order_of; /* with OP_DCE: the protocol that defines the byte order */
    bool base_given, endian_given;
    bool any_source;            /* variables may come from any byte_ keyword; for messages */
};

/* A number in a keyword's argument. A variable may replace it; the op then gets `var_flag`. */
struct byte_number {
    const char *what;           /* for messages */
    int64_t min, max;
    uint32_t var_flag;
};

/* Reads the number, or the index of the variable, into *out. */
int byte_number(struct rule_parser *p, struct text in, const struct byte_number *kind,
                struct byte_options *o, int64_t *out);
int byte_nbytes(struct rule_parser *p, struct text in, struct byte_options *o);
int byte_offset(struct rule_parser *p, struct text in, struct byte_options *o);
/* "!" before an operator sets OP_NEGATED. False: unknown operator. */
bool byte_operator_parse(struct text in, const char *const *names, uint8_t *op);

/* Parses relative, string, dec/hex/oct, big/little, a protocol's word (dce), "bitmask 0x..".
 * Returns 1 when taken, 0 for another word, -1 on error. */
int byte_word(struct rule_parser *p, struct text word, struct byte_options *o);
/* Checks that the options are consistent and that nbytes is valid: at most `max` binary bytes,
 * `max_string` digits. */
int byte_check(struct rule_parser *p, struct byte_options *o, unsigned max, unsigned max_string);
/* "name value" -> value, if the word begins with that name. */
bool byte_named(struct text word, const char *name, struct text *value);
/* Appends the op to its list. */
struct rule_op *byte_append(struct rule_parser *p, enum op_kind kind, const struct byte_options *o);
int byte_result(struct rule_parser *p, struct text name, struct byte_options *o);

#endif
