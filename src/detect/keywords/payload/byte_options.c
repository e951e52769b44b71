/* SPDX-License-Identifier: GPL-2.0-or-later */
/* detect/keywords/payload/byte_options.c - parses what byte_test, byte_jump, byte_extract and
 * byte_math have in common. Suricata wrote a parser for each, so limits and messages differ from
 * keyword to keyword; rule writers know them that way. */
#include "detect/keywords/payload/byte_options.h"

#include <ctype.h>
#include <string.h>

/* A letter at the start makes it a variable's name. An unknown variable is an error; the
 * message is Suricata's, because tools that rewrite rules look for it. */
int byte_number(struct rule_parser *p, struct text in, const struct byte_number *kind,
                struct byte_options *o, int64_t *out)
{
    if (in.n > 0 && isalpha((unsigned char)in.p[0])) {
        int var = byte_var_find(p, in);

        if (var < 0)
            return rule_error(p, "%s var seen in %s - %.*s",
                              o->any_source ? "unknown byte_ keyword" : "Unknown byte_extract",
                              p->keyword->name, TEXT(in));
        o->flags |= kind->var_flag;
        *out = var;
        return 0;
    }
    if (!text_to_i64(in, out) || *out < kind->min || *out > kind->max)
        return rule_error(p, "%s: malformed %s: %.*s", p->keyword->name, kind->what, TEXT(in));
    return 0;
}

/* A 64 bit number has 22 octal digits at most; 23 leaves one for a leading 0. byte_check()
 * applies the tighter limit of the keyword. */
int byte_nbytes(struct rule_parser *p, struct text in, struct byte_options *o)
{
    static const struct byte_number kind = { "number of bytes", 0, 23, OP_NBYTES_VAR };
    int64_t value;

    if (byte_number(p, in, &kind, o, &value) < 0)
        return -1;
    o->byte.nbytes = (uint32_t)value;
    return 0;
}

/* The offset may be negative after a match. The range is that of a packet's payload. */
int byte_offset(struct rule_parser *p, struct text in, struct byte_options *o)
{
    static const struct byte_number kind = { "offset", -65535, 65535, OP_OFFSET_VAR };
    int64_t value;

    if (byte_number(p, in, &kind, o, &value) < 0)
        return -1;
    o->byte.offset = (int32_t)value;
    return 0;
}

/* Sets *op to the index in `names`, a NULL-ended list. */
bool byte_operator_parse(struct text in, const char *const *names, uint8_t *op)
{
    for (unsigned i = 0; names[i] != NULL; i++)
        if (text_equal(in, names[i])) {
            *op = (uint8_t)i;
            return true;
        }
    return false;
}

/* "NAME VALUE" with a blank in between. False: the word is something else. */
bool byte_named(struct text word, const char *name, struct text *value)
{
    size_t n = strlen(name);

    if (!text_starts_nocase(word, name) || word.n <= n || !isspace((unsigned char)word.p[n]))
        return false;
    *value = text_trim(text_from(word, n));
    return true;
}

/* The result of the mask is shifted right by the zeros below its lowest bit, so that a
 * field inside a byte compares with small numbers. A mask of 0 has no lowest bit and
 * shifts nothing. */
static int byte_mask(struct rule_parser *p, struct text in, struct byte_options *o)
{
    uint64_t value;

    if (!text_to_u64(in, UINT32_MAX, &value) &&
        !text_to_u64((struct text){ in.p, in.n }, UINT32_MAX, &value))
        return rule_error(p, "Malformed bitmask value: %.*s", TEXT(in));
    o->byte.mask = (uint32_t)value;
    o->byte.mask_shift = value != 0 ? (uint8_t)__builtin_ctzll(value) : 0;
    o->flags |= OP_BITMASK;
    return 1;
}

/* Returns 1, as byte_word() does for a word it took. */
static int byte_base(struct byte_options *o, uint8_t base)
{
    o->byte.base = base;
    o->base_given = true;
    return 1;
}

/* Returns the protocol whose byte order the word selects; UNKNOWN: none. */
static enum app_proto_id byte_order_proto(struct text word)
{
    for (enum app_proto_id id = APP_PROTO_FIRST; id < app_proto_end(); id++) {
        const char *own = app_proto_by_id(id)->byte_order_word;

        if (own != NULL && text_equal_nocase(word, own))
            return id;
    }
    return APP_PROTO_UNKNOWN;
}

int byte_word(struct rule_parser *p, struct text word, struct byte_options *o)
{
    enum app_proto_id order = byte_order_proto(word);
    struct text value;

    if (byte_named(word, "bitmask", &value))
        return byte_mask(p, value, o);
    if (text_equal_nocase(word, "dec"))
        return byte_base(o, 10);
    if (text_equal_nocase(word, "hex"))
        return byte_base(o, 16);
    if (text_equal_nocase(word, "oct"))
        return byte_base(o, 8);
    if (text_equal(word, "relative")) {
        o->flags |= OP_RELATIVE;
    } else if (text_equal_nocase(word, "string")) {
        o->flags |= OP_STRING;
    } else if (order != APP_PROTO_UNKNOWN) {
        o->flags |= OP_DCE;
        o->order_of = order;
    } else if (text_equal_nocase(word, "little")) {
        o->flags |= OP_LITTLE;
        o->endian_given = true;
    } else if (text_equal_nocase(word, "big")) {
        o->flags &= ~(uint32_t)OP_LITTLE;
        o->endian_given = true;
    } else {
        return 0;
    }
    return 1;
}

/* The combinations that Suricata rejects. `dce` takes the byte order from the DCERPC
 * header, so an explicit order, digits or an absolute origin contradict it. Outside of a
 * sticky buffer it also makes the rule one about DCERPC. `max` bounds binary numbers,
 * `max_string` the digits. */
int byte_check(struct rule_parser *p, struct byte_options *o, unsigned max, unsigned max_string)
{
    bool string = o->flags & OP_STRING;

    if (!string && o->base_given)
        return rule_error(p, "Cannot use a base without \"string\"");
    if ((o->flags & OP_DCE) && (string || o->endian_given || o->base_given ||
                                (o->flags & (OP_FROM_BEGINNING | OP_FROM_END))))
        return rule_error(p, "Invalid option. A %s keyword with dce holds other invalid "
                          "modifiers.", p->keyword->name);
    if ((o->flags & OP_DCE) && !p->current_is_sticky && rule_set_app_proto(p, o->order_of) < 0)
        return -1;
    if (!(o->flags & OP_NBYTES_VAR) && o->byte.nbytes > (string ? max_string : max))
        return rule_error(p, "%s: at most %u bytes %s \"string\", got %u", p->keyword->name,
                          string ? max_string : max, string ? "with" : "without",
                          o->byte.nbytes);
    return 0;
}

/* op_append() would turn p->negated into OP_NEGATED. The four keywords carry a negation in
 * their operator ("!="), so it is hidden from op_append() and put back afterwards. */
struct rule_op *byte_append(struct rule_parser *p, enum op_kind kind, const struct byte_options *o)
{
    bool negated = p->negated;
    struct rule_op *op;

    p->negated = false;
    op = op_append(p, kind, o->flags & OP_RELATIVE);
    p->negated = negated;
    if (op == NULL)
        return NULL;
    op->flags |= o->flags;
    op->byte = o->byte;
    return op;
}

/* Binds the name of a result. A name that exists keeps its number: a rule may overwrite a
 * variable. At most BYTE_VARS_MAX, because their values are an array on the stack. */
int byte_result(struct rule_parser *p, struct text name, struct byte_options *o)
{
    int var = byte_var_find(p, name);

    if (name.n == 0 || !(isalpha((unsigned char)name.p[0]) || name.p[0] == '_'))
        return rule_error(p, "%s: \"%.*s\" is not a name of a variable", p->keyword->name,
                          TEXT(name));
    if (var < 0)
        var = byte_var_make(p, name);
    if (var < 0)
        return rule_error(p, "%s: more than %u variables in one rule", p->keyword->name,
                          BYTE_VARS_MAX);
    o->byte.result = (uint8_t)var;
    return 0;
}
