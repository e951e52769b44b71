/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/proto/modbus/keyword.c - the keyword modbus: "unit 1<>9, function 8, subfunction 4", "access
 * write holding, address 100, value >5". */
#include "app/proto/modbus/modbus.h"

#include <ctype.h>

struct range { bool set; uint16_t low, high; };     /* equal: that value; otherwise between */

struct modbus_arg {
    struct range unit, address, value;
    uint8_t access;                     /* ACCESS_*; 0: not required */
    bool has_category, has_function, has_subfunction;
    uint8_t category, function;
    uint16_t subfunction;
};

/* --- reading -------------------------------------------------------------------------------- */

static struct text skip_spaces(struct text t)
{
    while (t.n > 0 && isspace((unsigned char)t.p[0]))
        t = text_from(t, 1);
    return t;
}

/* Takes `word` after spaces. Words need no space after them. */
static bool take_word(struct text *in, const char *word)
{
    struct text t = skip_spaces(*in);
    size_t n = strlen(word);

    if (!text_starts(t, word))
        return false;
    *in = text_from(t, n);
    return true;
}

/* Takes ", word". */
static bool take_next(struct text *in, const char *word)
{
    struct text t = *in;

    if (!take_word(&t, ",") || !take_word(&t, word))
        return false;
    *in = t;
    return true;
}

static bool take_number(struct text *in, uint64_t max, uint64_t *out)
{
    struct text t = skip_spaces(*in);
    size_t n = 0;

    while (n < t.n && isdigit((unsigned char)t.p[n]))
        n++;
    if (n == 0 || !text_to_u64((struct text){ t.p, n }, max, out))
        return false;
    *in = text_from(t, n);
    return true;
}

/* Takes "N", "<N", ">N" or "N<>M". */
static bool take_range(struct text *in, struct range *out)
{
    bool less = take_word(in, "<"), more = !less && take_word(in, ">");
    uint64_t low, high;

    if (!take_number(in, UINT16_MAX, &low))
        return false;
    high = low;
    if (less)
        low = 0;
    else if (more)
        high = UINT16_MAX;
    if (take_word(in, "<>") && (less || more || !take_number(in, UINT16_MAX, &high)))
        return false;
    *out = (struct range){ true, (uint16_t)low, (uint16_t)high };
    return true;
}

static bool is_over(struct text in)
{
    return skip_spaces(in).n == 0;
}

/* A category of function codes; "!" means all others. */
static bool take_category(struct text *in, struct modbus_arg *a)
{
    static const struct { const char *name; uint8_t category; } names[] = {
        { "assigned", CATEGORY_ASSIGNED }, { "unassigned", CATEGORY_UNASSIGNED },
        { "public", CATEGORY_ASSIGNED | CATEGORY_UNASSIGNED }, { "user", CATEGORY_USER },
        { "reserved", CATEGORY_RESERVED },
        { "all", CATEGORY_ASSIGNED | CATEGORY_UNASSIGNED | CATEGORY_USER | CATEGORY_RESERVED },
    };
    bool negated = take_word(in, "!");

    for (unsigned i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if (!take_word(in, names[i].name))
            continue;
        a->has_category = true;
        a->category = negated ? (uint8_t)~names[i].category : names[i].category;
        return true;
    }
    return false;
}

/* A number outside the known functions matches unknown functions. Function 0 is an error. */
static bool take_function(struct text *in, struct modbus_arg *a)
{
    uint64_t n;

    if (take_number(in, UINT8_MAX, &n)) {
        a->has_function = true;
        a->function = (n >= 1 && n <= MODBUS_READ_FIFO) || n == MODBUS_MEI ? (uint8_t)n
                                                                           : MODBUS_UNKNOWN;
        if (n == 0)
            return false;
    } else if (!take_category(in, a)) {
        return false;
    }
    if (!take_next(in, "subfunction"))
        return true;
    if (!take_number(in, UINT16_MAX, &n))
        return false;
    a->has_subfunction = true;
    a->subfunction = (uint16_t)n;
    return true;
}

/* Discretes and inputs are read-only: writing them is an error in a rule. */
static bool take_table(struct text *in, struct modbus_arg *a)
{
    bool writes = (a->access & ACCESS_WRITE) != 0;

    if (take_word(in, "coils"))
        a->access |= ACCESS_COILS;
    else if (take_word(in, "holding"))
        a->access |= ACCESS_HOLDING;
    else if (take_word(in, "discretes"))
        a->access |= ACCESS_DISCRETES;
    else if (take_word(in, "input"))
        a->access |= ACCESS_INPUT;
    return !writes || (a->access & (ACCESS_DISCRETES | ACCESS_INPUT)) == 0;
}

/* A value needs a single address, and writing. */
static bool take_access(struct text *in, struct modbus_arg *a)
{
    if (take_word(in, "read"))
        a->access = ACCESS_READ;
    else if (take_word(in, "write"))
        a->access = ACCESS_WRITE;
    else
        return false;
    if (!take_table(in, a))
        return false;
    if (!take_next(in, "address"))
        return true;
    if (!take_range(in, &a->address))
        return false;
    if (!take_next(in, "value"))
        return true;
    return take_range(in, &a->value) && a->address.low == a->address.high &&
           a->access != ACCESS_READ;
}

static bool take_all(struct text in, struct modbus_arg *a)
{
    if (take_word(&in, "unit")) {
        if (!take_range(&in, &a->unit))
            return false;
        if (is_over(in))
            return true;
        if (!take_word(&in, ","))
            return false;
    }
    if (take_word(&in, "function"))
        return take_function(&in, a) && is_over(in);
    return take_word(&in, "access") && take_access(&in, a) && is_over(in);
}

static int parse(struct text in, void *arg, struct arena *arena UNUSED, struct err *err)
{
    if (take_all(in, arg))
        return 0;
    return err_set(err, "modbus: expected \"unit N\", \"function N or name[, subfunction N]\" or "
                   "\"access read or write [table][, address N[, value N]]\", found \"%.*s\"",
                   TEXT(in));
}

/* --- matching ------------------------------------------------------------------------------- */

/* "<N" and ">N" exclude N; "N<>M" excludes both. */
static bool range_has(const struct range *r, uint32_t value)
{
    if (r->low == r->high)
        return value == r->low;
    if (r->low == 0)
        return value < r->high;
    return value > r->low && (r->high == UINT16_MAX || value < r->high);
}

/* Does the range overlap first to last? */
static bool range_meets(const struct range *r, uint32_t first, uint32_t last)
{
    if (r->low == r->high)
        return r->low >= first && r->low <= last;
    if (r->low == 0)
        return r->high > first;
    return r->low < last && (r->high == UINT16_MAX || first < r->high);
}

static bool match_access(const struct modbus_message *m, const struct modbus_arg *a)
{
    uint8_t how = a->access & (ACCESS_READ | ACCESS_WRITE), table = a->access & ACCESS_TABLES;
    uint32_t first, last, value;

    if ((m->access & how) == 0 || (table != 0 && (m->access & table) == 0))
        return false;
    if (!a->address.set)
        return true;
    if (!modbus_addresses(m, &first, &last) || !range_meets(&a->address, first, last))
        return false;
    if (!a->value.set)
        return true;
    return modbus_value_at(m, a->address.low, &value) && range_has(&a->value, value);
}

/* The request contains all that rules ask for. Without a request the response must do. */
static bool match(struct app_tx *tx, enum direction d UNUSED, const void *arg)
{
    const struct modbus_tx *t = modbus_tx_of(tx);
    const struct modbus_message *m = t->message[TO_SERVER] != NULL ? t->message[TO_SERVER]
                                                                : t->message[TO_CLIENT];
    const struct modbus_arg *a = arg;

    if (m == NULL || (a->unit.set && !range_has(&a->unit, m->unit)))
        return false;
    if (a->access != 0)
        return match_access(m, a);
    if (a->has_category)
        return (m->category & a->category) != 0;
    if (!a->has_function)
        return true;
    return m->function == a->function &&
           (!a->has_subfunction ||
            (m->kind == MODBUS_DIAGNOSTIC_DATA && m->code == a->subfunction));
}

const struct app_match modbus_keyword = {
    .name = "modbus", .doc = "unit, function, or access to a table",
    .syntax = "[unit <range>,]function <n>|[!]<category>[,subfunction <n>]\n"
              "[unit <range>,]access read|write[ <table>][,address <range>[,value <range>]]\n"
              "unit <range>",
    .directions = APP_TS,
    .quotes = true, .arg_size = sizeof(struct modbus_arg), .parse = parse, .match = match,
};
