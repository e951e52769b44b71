/* SPDX-License-Identifier: GPL-2.0-or-later */
/* detect/keywords/flow/flowint.c - flowint: named counters of 32 bits on the flow.
 * Additions and subtractions wrap, as in Suricata. */
#include "detect/rule/keyword.h"
#include "flow/vars.h"

#include <ctype.h>
#include <string.h>

/* Operations up to OP_SUB change the counter, the others test it. */
enum flowint_op { OP_SET, OP_ADD, OP_SUB, OP_LT, OP_LE, OP_EQ, OP_NE, OP_GE, OP_GT, OP_ISSET,
                  OP_NOTSET };

/* `id` and `other` are numbers of names (var_name_id). */
struct flowint_arg {
    uint32_t id;
    uint32_t number;
    uint32_t other;             /* the number is that of this variable; 0: no */
    uint8_t op;
};

/* "notset" is Suricata's spelling, "isnotset" that of the other keywords. */
static const struct { const char *text; uint8_t op; } operators[] = {
    { "=", OP_SET },        { "+", OP_ADD },         { "-", OP_SUB },      { "<", OP_LT },
    { "<=", OP_LE },        { "==", OP_EQ },         { "!=", OP_NE },      { ">=", OP_GE },
    { ">", OP_GT },         { "isset", OP_ISSET },   { "notset", OP_NOTSET },
    { "isnotset", OP_NOTSET },
};

/* The operand. A variable that does not exist counts as 0 on the right side; on the left
 * side it fails every comparison. */
static uint32_t right_side(const struct flow *f, const struct flowint_arg *a)
{
    uint32_t value = a->number;

    if (a->other != 0 && !flowint_get(f, a->other, &value))
        value = 0;
    return value;
}

/* Runs before the buffers of the rule, on the thread of the flow. */
static bool flowint_test(const struct match_input *in, const void *arg)
{
    const struct flowint_arg *a = arg;
    uint32_t value, operand;
    bool is_set;

    if (in->flow == NULL)
        return false;
    is_set = flowint_get(in->flow, a->id, &value);
    if (a->op == OP_ISSET || a->op == OP_NOTSET)
        return is_set == (a->op == OP_ISSET);
    if (!is_set)
        return false;
    operand = right_side(in->flow, a);
    switch ((enum flowint_op)a->op) {
    case OP_LT: return value < operand;
    case OP_LE: return value <= operand;
    case OP_EQ: return value == operand;
    case OP_NE: return value != operand;
    case OP_GE: return value >= operand;
    case OP_GT: return value > operand;
    default: return false;
    }
}

/* "+" creates the counter, "-" does not: a counter must not begin with a wrap. */
static bool flowint_change(const struct match_input *in, const void *arg)
{
    const struct flowint_arg *a = arg;
    uint32_t value = 0, by;
    bool is_set;

    if (in->flow == NULL)
        return true;
    by = right_side(in->flow, a);
    is_set = flowint_get(in->flow, a->id, &value);
    if (a->op == OP_SET)
        flowint_put(in->flow, a->id, by);
    else if (a->op == OP_ADD)
        flowint_put(in->flow, a->id, is_set ? value + by : by);
    else if (is_set)
        flowint_put(in->flow, a->id, value - by);
    return true;
}

/* The longest one. */
static bool operator_parse(struct text *rest, uint8_t *op)
{
    size_t length = 0;

    for (size_t i = 0; i < ARRAY_LEN(operators); i++) {
        size_t n = strlen(operators[i].text);

        if (n > length && text_starts(*rest, operators[i].text)) {
            length = n;
            *op = operators[i].op;
        }
    }
    *rest = text_from(*rest, length);
    return length > 0;
}

/* The length of the name at the start, 0 if there is none. As in Suricata a name has at least
 * two characters and begins with a letter. `also` are characters besides letters, digits and
 * "_". */
static size_t name_length(struct text in, const char *also)
{
    size_t n = 0;

    while (n < in.n && in.p[n] != '\0' && (isalnum((unsigned char)in.p[n]) || in.p[n] == '_' ||
                                          strchr(also, in.p[n]) != NULL))
        n++;
    return n > 1 && isalpha((unsigned char)in.p[0]) ? n : 0;
}

static bool is_number(struct text in)
{
    size_t n = 0;

    while (n < in.n && isdigit((unsigned char)in.p[n]))
        n++;
    return n == in.n && n > 0 && n <= 10;
}

/* NAME,OP,VALUE. Suricata lets the second comma and, for isset, the value come or not. */
static bool flowint_split(struct text in, struct text *name, uint8_t *op, struct text *value)
{
    struct text rest = text_trim(in);

    *name = (struct text){ rest.p, name_length(rest, "./") };
    rest = text_trim(text_from(rest, name->n));
    if (name->n == 0 || !text_starts(rest, ","))
        return false;
    rest = text_trim(text_from(rest, 1));
    if (!operator_parse(&rest, op))
        return false;
    rest = text_trim(rest);
    if (text_starts(rest, ","))
        rest = text_trim(text_from(rest, 1));
    *value = rest;
    return rest.n == 0 || is_number(rest) || name_length(rest, "") == rest.n;
}

/* Reads and changes order the rules like flowbits (RULE_VAR_INT). */
static int flowint_parse(struct rule_parser *p, struct text in, void *arg)
{
    struct flowint_arg *a = arg;
    struct rule_test test = { .keyword = p->keyword, .arg = arg };
    struct text name, value = { NULL, 0 };
    uint64_t number;

    if (!flowint_split(in, &name, &a->op, &value))
        return rule_error(p, "flowint: expected NAME,OP,VALUE with OP of = + - < <= == != >= >, or "
                          "NAME,isset or NAME,isnotset, and names of two characters or more, found "
                          "\"%.*s\"", TEXT(in));
    a->id = var_name_id(VAR_FLOWINT, arena_text(p->arena, name));
    if (a->op != OP_ISSET && a->op != OP_NOTSET) {
        if (text_to_u64(value, UINT32_MAX, &number))
            a->number = (uint32_t)number;
        else if (name_length(value, "") > 0)
            a->other = var_name_id(VAR_FLOWINT, arena_text(p->arena, value));
        else
            return rule_error(p, "flowint: expected a number up to 4294967295 or a name as value, "
                              "found \"%.*s\"", TEXT(value));
    }
    test.match = a->op <= OP_SUB ? flowint_change : flowint_test;
    *(a->op <= OP_SUB ? &p->rule->vars_set : &p->rule->vars_read) |= RULE_VAR_INT;
    rule_add_test(p, a->op <= OP_SUB ? POINT_POST : POINT_PACKET, &test);
    return 0;
}

const struct keyword_ops keyword_flowint = {
    .name = "flowint",
    .doc = "set (=), change (+ -) and compare (< <= == != >= >) named numbers on the flow",
    .syntax = "<name>,<op>,<number or name>\n"
              "<name>,isset|isnotset",
    .point = POINT_NONE,
    .arg_size = sizeof(struct flowint_arg),
    .parse = flowint_parse,
};
