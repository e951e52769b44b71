/* SPDX-License-Identifier: GPL-2.0-or-later */
/* detect/rule/int_match.c - integer arguments of keywords: comparisons, ranges, masks, units,
 * names. Ranges exclude their ends, as in Suricata, except for the few keywords where
 * Suricata includes them. */
#include "base/report/json.h"
#include "detect/rule/keyword.h"

#include <string.h>
#include <strings.h>

/* Powers of 1024, in any case. */
static const struct { const char *name; unsigned shift; } units[] = {
    { "kib", 10 }, { "kb", 10 }, { "mib", 20 }, { "mb", 20 }, { "gib", 30 }, { "gb", 30 },
};

/* The longer ones first, because the shorter ones are their beginnings. */
static const struct { const char *text; uint8_t op; } operators[] = {
    { ">=", INT_GE }, { "<=", INT_LE }, { ">", INT_GT }, { "<", INT_LT },
    { "!=", INT_NE }, { "!", INT_NE },  { "=", INT_EQ },
};

bool int_op_parse(struct text in, uint8_t *op)
{
    for (size_t i = 0; i < ARRAY_LEN(operators); i++) {
        if (text_equal(in, operators[i].text)) {
            *op = operators[i].op;
            return true;
        }
    }
    return false;
}

static struct text skip_spaces(struct text t)
{
    while (t.n > 0 && t.p[0] == ' ')
        t = text_from(t, 1);
    return t;
}

/* Returns how many digits the text begins with. */
static size_t digits_of(struct text t, bool hex)
{
    size_t n = 0;

    while (n < t.n && ((t.p[n] >= '0' && t.p[n] <= '9') ||
                       (hex && ((t.p[n] | 32) >= 'a' && (t.p[n] | 32) <= 'f'))))
        n++;
    return n;
}

/* Takes a number with an optional unit off *in. False also for a number above `max`. */
static bool take_number(struct text *in, uint64_t max, uint64_t *out)
{
    struct text t = skip_spaces(*in);
    bool hex = text_starts(t, "0x");
    size_t n = hex ? 2 + digits_of(text_from(t, 2), true) : digits_of(t, false);

    if (n == 0 || !text_to_u64((struct text){ t.p, n }, max, out))
        return false;
    t = text_from(t, n);
    for (size_t i = 0; i < ARRAY_LEN(units) && !hex; i++) {
        if (!text_starts_nocase(t, units[i].name))
            continue;
        if (*out > max >> units[i].shift)
            return false;
        *out <<= units[i].shift;
        t = text_from(t, strlen(units[i].name));
        break;
    }
    *in = skip_spaces(t);
    return true;
}

/* Takes `token` off *in if it begins with it. */
static bool take(struct text *in, const char *token)
{
    if (!text_starts(*in, token))
        return false;
    *in = text_from(*in, strlen(token));
    return true;
}

/* Each of these takes a comparison off *in, or leaves it as it is. */

/* "&mask=value", "&mask!=value". A value with bits outside the mask can never be equal. */
static bool take_mask(struct text *in, uint64_t max, struct int_match *out)
{
    struct text t = *in;

    out->op = INT_MASK;
    if (!take(&t, "&") || !take_number(&t, max, &out->a))
        return false;
    if (take(&t, "!"))
        out->op = INT_NOT_MASK;
    if (!take(&t, "=") || !take_number(&t, max, &out->b) || (out->a & out->b) != out->b)
        return false;
    *in = t;
    return true;
}

/* "A-B", "A<>B", "!A-B"; B must be larger than A. */
static bool take_bounds(struct text *in, uint64_t max, struct int_match *out)
{
    struct text t = *in;

    out->op = take(&t, "!") ? INT_NOT_RANGE : INT_RANGE;
    if (!take_number(&t, max, &out->a) || !(take(&t, "-") || take(&t, "<>")) ||
        !take_number(&t, max, &out->b) || out->b <= out->a)
        return false;
    *in = t;
    return true;
}

/* A range without its ends must still contain a number. */
static bool take_range(struct text *in, uint64_t max, struct int_match *out)
{
    struct text t = *in;

    if (!take_bounds(&t, max, out) || out->b - out->a <= 1)
        return false;
    *in = t;
    return true;
}

/* "N", ">N", "!N" ... Comparisons that no value fails or that none passes (">=0", "<0")
 * are errors: they are mistakes. */
static bool take_comparison(struct text *in, uint64_t max, struct int_match *out)
{
    struct text t = *in;

    out->op = INT_EQ;
    for (size_t i = 0; i < ARRAY_LEN(operators); i++) {
        if (take(&t, operators[i].text)) {
            out->op = operators[i].op;
            break;
        }
    }
    if (!take_number(&t, max, &out->a))
        return false;
    if (out->a == 0 && (out->op == INT_LT || out->op == INT_GE))
        return false;
    if (out->a == max && (out->op == INT_GT || out->op == INT_LE))
        return false;
    *in = t;
    return true;
}

/* "NAME" or "!NAME", in any case. */
static bool name_parse(struct text in, const struct app_name *names, struct int_match *out)
{
    out->op = take(&in, "!") ? INT_NE : INT_EQ;
    in = skip_spaces(in);
    for (const struct app_name *n = names; n != NULL && n->name != NULL; n++) {
        if (in.n == strlen(n->name) && strncasecmp(in.p, n->name, in.n) == 0) {
            out->a = (uint64_t)n->value;
            return true;
        }
    }
    return false;
}

/* The largest value of `bits` bits. */
static uint64_t max_of(unsigned bits)
{
    return bits >= 64 ? UINT64_MAX : (UINT64_C(1) << bits) - 1;
}

bool int_match_take(struct text *in, unsigned bits, struct int_match *out)
{
    uint64_t max = max_of(bits);
    struct text t = text_trim(*in);

    *out = (struct int_match){ 0 };
    if (!take_mask(&t, max, out) && !take_range(&t, max, out) && !take_comparison(&t, max, out))
        return false;
    *in = t;
    return true;
}

/* One message for all forms, with the limit of the keyword. */
static int refuse(struct rule_parser *p, struct text in, uint64_t max,
                  const struct app_name *names)
{
    return rule_error(p,
                      "invalid formatting or malformed option to %s keyword: '%.*s'; expected N, "
                      "!N, <N, <=N, >N, >=N, A-B with room between, or &MASK=N, up to %llu%s",
                      p->keyword->name, TEXT(in), (unsigned long long)max,
                      names != NULL ? ", or a name" : "");
}

/* A number or a comparison, else a name. */
int int_match_parse(struct rule_parser *p, struct text in, unsigned bits,
                    const struct app_name *names, struct int_match *out)
{
    struct text rest = in;

    if (int_match_take(&rest, bits, out) && rest.n == 0)
        return 0;
    *out = (struct int_match){ 0 };
    return name_parse(text_trim(in), names, out) ? 0 : refuse(p, in, max_of(bits), names);
}

/* For keywords whose ranges contain their ends. Converts them to exclusive ranges, or to a
 * comparison where an end has no neighbour. */
int int_match_parse_inclusive(struct rule_parser *p, struct text in, unsigned bits,
                              const struct app_name *names, struct int_match *out)
{
    struct text rest = text_trim(in);
    bool within;

    if (text_starts(rest, "&"))
        return refuse(p, in, max_of(bits), names);
    *out = (struct int_match){ 0 };
    if (!take_bounds(&rest, max_of(bits), out) || rest.n > 0)
        return int_match_parse(p, in, bits, names, out);
    within = out->op == INT_RANGE;
    if (out->a == 0) {
        *out = (struct int_match){ .op = within ? INT_LE : INT_GT, .a = out->b };
    } else if (out->b == UINT64_MAX) {
        out->op = within ? INT_GE : INT_LT;
    } else {
        out->a--;
        out->b++;
    }
    return 0;
}

static const struct app_name *find_name(struct text in, const struct app_name *names)
{
    for (const struct app_name *n = names; n != NULL && n->name != NULL; n++)
        if (text_equal(in, n->name))
            return n;
    return NULL;
}

/* The names of bits, each with or without '!': all must be as given. A bit that comes
 * twice is rejected. */
bool int_match_bits(struct text in, const struct app_name *names, struct int_match *out)
{
    struct text word;

    *out = (struct int_match){ .op = INT_MASK };
    while (text_split(&in, ',', &word)) {
        bool negated = take(&word, "!");
        const struct app_name *bit = find_name(text_trim(word), names);

        if (bit == NULL || (out->a & (uint64_t)bit->value) != 0)
            return false;
        out->a |= (uint64_t)bit->value;
        out->b |= negated ? 0 : (uint64_t)bit->value;
    }
    return out->a != 0;
}

bool int_match_has(const struct int_match *m, uint64_t value)
{
    switch ((enum int_op)m->op) {
    case INT_EQ: return value == m->a;
    case INT_NE: return value != m->a;
    case INT_LT: return value < m->a;
    case INT_LE: return value <= m->a;
    case INT_GT: return value > m->a;
    case INT_GE: return value >= m->a;
    case INT_RANGE: return value > m->a && value < m->b;
    case INT_NOT_RANGE: return value <= m->a || value >= m->b;
    case INT_MASK: return (value & m->a) == m->b;
    case INT_NOT_MASK: return (value & m->a) != m->b;
    }
    return false;
}

/* Parse functions for keywords whose argument is only a number. */
int int_parse_u8(struct rule_parser *p, struct text in, void *arg)
{
    return int_match_parse(p, in, 8, NULL, arg);
}

int int_parse_u16(struct rule_parser *p, struct text in, void *arg)
{
    return int_match_parse(p, in, 16, NULL, arg);
}

int int_parse_u32(struct rule_parser *p, struct text in, void *arg)
{
    return int_match_parse(p, in, 32, NULL, arg);
}

int int_parse_u64(struct rule_parser *p, struct text in, void *arg)
{
    return int_match_parse(p, in, 64, NULL, arg);
}

/* --- as JSON ---------------------------------------------------------------------------------- */

static void describe_pair(struct json *j, const char *key, const struct int_match *m,
                          const char *a, const char *b)
{
    json_object(j, key);
    json_u64(j, a, m->a);
    json_u64(j, b, m->b);
    json_object_end(j);
}

/* The keys are those of Suricata's --engine-analysis. */
void int_match_describe(const struct int_match *m, const char *key, struct json *j)
{
    json_object(j, key);
    switch ((enum int_op)m->op) {
    case INT_EQ: json_u64(j, "equal", m->a); break;
    case INT_NE: json_u64(j, "diff", m->a); break;
    case INT_LT: json_u64(j, "lt", m->a); break;
    case INT_LE: json_u64(j, "lte", m->a); break;
    case INT_GT: json_u64(j, "gt", m->a); break;
    case INT_GE: json_u64(j, "gte", m->a); break;
    case INT_RANGE: describe_pair(j, "range", m, "min", "max"); break;
    case INT_NOT_RANGE: describe_pair(j, "negated_range", m, "min", "max"); break;
    case INT_MASK: describe_pair(j, "bitmask", m, "mask", "value"); break;
    case INT_NOT_MASK: describe_pair(j, "negated_bitmask", m, "mask", "value"); break;
    }
    json_object_end(j);
}

void int_match_describe_number(const struct int_match *m, const char *key, struct json *j)
{
    if (m->op != INT_EQ) {
        int_match_describe(m, key, j);
        return;
    }
    json_object(j, key);
    json_u64(j, "number", m->a);
    json_object_end(j);
}
