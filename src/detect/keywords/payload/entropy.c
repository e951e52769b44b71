/* SPDX-License-Identifier: GPL-2.0-or-later */
/* entropy - Shannon's entropy, in bits per byte, of the buffer or a part of it. */
#include "detect/rule/program.h"
#include "flow/vars.h"

#include <math.h>

/* In the ruleset's arena. `b` is used by ranges only; `bytes` 0: to the end of the buffer. */
struct entropy {
    double a, b;
    uint8_t op;                 /* enum int_op */
    int32_t bytes, offset;
    uint32_t name;              /* under which EVE shows it */
};

/* 0 for one repeated byte, 8 for 256 equally frequent ones. `len` must not be 0. */
static double entropy_of(const uint8_t *data, uint32_t len)
{
    uint32_t seen[256] = { 0 };
    double sum = 0.0;

    for (uint32_t i = 0; i < len; i++)
        seen[data[i]]++;
    for (unsigned i = 0; i < 256; i++) {
        double share = (double)seen[i] / len;

        if (seen[i] > 0)
            sum -= share * log2(share);
    }
    return sum;
}

/* Sums of logarithms are rarely exact, so equality allows a billionth. */
static bool entropy_has(const struct entropy *e, double v)
{
    switch (e->op) {
    case INT_EQ:        return fabs(v - e->a) < 1e-9;
    case INT_NE:        return fabs(v - e->a) >= 1e-9;
    case INT_LT:        return v < e->a;
    case INT_LE:        return v <= e->a;
    case INT_GT:        return v > e->a;
    case INT_GE:        return v >= e->a;
    case INT_RANGE:     return v > e->a && v < e->b;
    case INT_NOT_RANGE: return !(v > e->a && v < e->b);
    default:            return false;
    }
}

/* The value goes to the flow before it is compared, so EVE shows it for rules that do not
 * match too. A negative offset counts as 0. Too few bytes for `bytes` are no match. */
static enum step_result entropy_step(struct program_run *run, const void *arg)
{
    const struct entropy *e = arg;
    uint32_t from = (uint32_t)MAX(e->offset, 0), len;
    double value;

    if (from > run->len)
        return STEP_NO;
    len = run->len - from;
    if (e->bytes > 0) {
        if ((uint32_t)e->bytes > len)
            return STEP_NO;
        len = (uint32_t)e->bytes;
    }
    value = len > 0 ? entropy_of(run->data + from, len) : 0.0;
    if (run->input != NULL && run->input->flow != NULL)
        flow_entropy_put(run->input->flow, e->name, value);
    return entropy_has(e, value) ? STEP_YES : STEP_NO;
}

/* Takes the word and the blanks after it off *in. */
static bool starts(struct text *in, const char *word)
{
    if (!text_starts(*in, word))
        return false;
    *in = text_trim(text_from(*in, __builtin_strlen(word)));
    return true;
}

/* "7.5", "> 7.5", "7 - 8", "7 <> 8", "!7 - 8". The search for a dash starts at the second
 * character, so that a sign is not one. A range excludes both ends. */
static bool entropy_value(struct text in, struct entropy *e)
{
    bool negated = false;

    e->op = INT_EQ;
    if (starts(&in, "<="))
        e->op = INT_LE;
    else if (starts(&in, ">="))
        e->op = INT_GE;
    else if (starts(&in, "!="))
        e->op = INT_NE;
    else if (starts(&in, "<"))
        e->op = INT_LT;
    else if (starts(&in, ">"))
        e->op = INT_GT;
    else if (starts(&in, "="))
        e->op = INT_EQ;
    else
        negated = starts(&in, "!");
    for (size_t i = 1; i < in.n; i++) {
        bool dash = in.p[i] == '-', arrows = in.p[i] == '<' && i + 1 < in.n && in.p[i + 1] == '>';

        if (!dash && !arrows)
            continue;
        e->op = negated ? INT_NOT_RANGE : INT_RANGE;
        return text_to_double(text_trim((struct text){ in.p, i }), &e->a) &&
               text_to_double(text_trim(text_from(in, i + (dash ? 1 : 2))), &e->b);
    }
    if (negated)
        e->op = INT_NE;
    return text_to_double(text_trim(in), &e->a);
}

/* `value` is required; `bytes` and `offset` have the range of a packet's payload. */
static int entropy_option(struct rule_parser *p, struct text word, struct entropy *e, bool *value)
{
    struct text rest = word, name = { "", 0 };
    int64_t number = 0;

    /* As in Suricata nothing need stand between two commas. */
    if (word.n == 0)
        return 0;
    text_split(&rest, ' ', &name);
    rest = text_trim(rest);
    if (text_equal(name, "value")) {
        *value = true;
        return entropy_value(rest, e) ? 0 :
            rule_error(p, "invalid entropy value: %.*s", TEXT(rest));
    }
    if (!text_equal(name, "bytes") && !text_equal(name, "offset"))
        return rule_error(p, "unknown entropy option: %.*s", TEXT(name));
    if (!text_to_i64(rest, &number) || number < -65535 || number > 65535)
        return rule_error(p, "invalid %.*s value: %.*s", TEXT(name), TEXT(rest));
    *(text_equal(name, "bytes") ? &e->bytes : &e->offset) = (int32_t)number;
    return 0;
}

/* The key in EVE: the buffer's name with '_' for '.'. That of the payload is "content". */
static uint32_t entropy_name(struct rule_parser *p)
{
    const struct buffer *b = p->current != NULL ? p->current->buffer : NULL;
    char *name = arena_printf(p->arena, "%s", b != NULL ? b->base->name : "content");

    for (char *c = name; *c != '\0'; c++)
        if (*c == '.')
            *c = '_';
    return var_name_id(VAR_ENTROPY, name);
}

static int entropy_parse(struct rule_parser *p, struct text in, void *arg UNUSED)
{
    struct entropy *e = arena_zalloc(p->arena, sizeof(*e));
    bool value = false;
    struct rule_op *op;
    struct text word;

    while (text_split(&in, ',', &word))
        if (entropy_option(p, word, e, &value) < 0)
            return -1;
    if (!value)
        return rule_error(p, "entropy: the option \"value\" is missing");
    e->name = entropy_name(p);
    op = op_append(p, OP_CALL, false);
    if (op == NULL)
        return -1;
    op->call = (struct call_op){ entropy_step, e };
    return 0;
}

const struct keyword_ops keyword_entropy = {
    .name = "entropy",
    .doc = "calculate entropy",
    .syntax = "value <number>[,bytes <n>][,offset <n>]",
    .point = POINT_BUFFER,
    .parse = entropy_parse,
};
