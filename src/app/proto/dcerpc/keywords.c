/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/proto/dcerpc/keywords.c - arguments of dcerpc.iface and dcerpc.opnum. SMB uses them as
 * well. */
#include "app/proto/dcerpc/pdu.h"

#include <string.h>

#include "base/memory/buf.h"

/* --- dcerpc.iface --------------------------------------------------------------------------- */

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c |= 0x20;
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* With or without its four hyphens. In the order in which it is written. */
static bool parse_uuid(struct text in, uint8_t out[DCE_UUID_LEN])
{
    unsigned digits = 0;
    bool hyphens = in.n == DCE_UUID_TEXT - 1;

    if (!hyphens && in.n != 2 * DCE_UUID_LEN)
        return false;
    for (size_t i = 0; i < in.n; i++) {
        int digit = hex_digit(in.p[i]);

        if (hyphens && (i == 8 || i == 13 || i == 18 || i == 23)) {
            if (in.p[i] != '-')
                return false;
            continue;
        }
        if (digit < 0)
            return false;
        out[digits / 2] = (uint8_t)(out[digits / 2] << 4 | digit);
        digits++;
    }
    return true;
}

static bool parse_number(struct text in, uint16_t *out)
{
    uint64_t value;

    if (!text_to_u64(text_trim(in), UINT16_MAX, &value))
        return false;
    *out = (uint16_t)value;
    return true;
}

/* "3-7" and "3<>7" exclude both ends. */
static bool parse_range(struct text in, struct dce_iface_arg *a)
{
    const char *sign = memchr(in.p, '-', in.n);
    size_t width = 1;

    if (sign == NULL) {
        sign = memmem(in.p, in.n, "<>", 2);
        width = 2;
    }
    if (sign == NULL)
        return false;
    a->compare = DCE_RANGE;
    return parse_number((struct text){ in.p, (size_t)(sign - in.p) }, &a->version) &&
           parse_number(text_from(in, (size_t)(sign - in.p) + width), &a->upper) &&
           a->version < a->upper;
}

/* Longer signs come first: "<=" before "<". */
static bool parse_version(struct text in, struct dce_iface_arg *a)
{
    static const struct { const char *sign; uint8_t compare; } signs[] = {
        { "<=", DCE_LESS_EQUAL }, { ">=", DCE_MORE_EQUAL }, { "!=", DCE_NOT }, { "!", DCE_NOT },
        { "<", DCE_LESS }, { ">", DCE_MORE }, { "=", DCE_EQUAL },
    };

    for (unsigned i = 0; i < ARRAY_LEN(signs); i++) {
        if (!text_starts(in, signs[i].sign))
            continue;
        a->compare = signs[i].compare;
        return parse_number(text_from(in, strlen(signs[i].sign)), &a->version);
    }
    if (parse_range(in, a))
        return true;
    a->compare = DCE_EQUAL;
    return parse_number(in, &a->version);
}

/* uuid[,version][,any_frag] */
int dce_iface_parse(struct text in, void *arg, struct arena *arena UNUSED, struct err *err)
{
    struct dce_iface_arg *a = arg;
    struct text rest = in, part;

    if (!text_split(&rest, ',', &part) || !parse_uuid(part, a->uuid))
        return err_set(err, "dcerpc.iface: expected a UUID first, found \"%.*s\"", TEXT(in));
    if (!text_split(&rest, ',', &part))
        return 0;
    if (!text_equal(part, "any_frag")) {
        if (!parse_version(part, a))
            return err_set(err, "dcerpc.iface: expected a version such as 1, >1, <2, !1, found "
                           "\"%.*s\"", TEXT(part));
        if (!text_split(&rest, ',', &part))
            return 0;
    }
    a->any_fragment = text_equal(part, "any_frag");
    if (!a->any_fragment || text_split(&rest, ',', &part))
        return err_set(err, "dcerpc.iface: expected uuid[,version][,any_frag], found \"%.*s\"",
                       TEXT(in));
    return 0;
}

static bool version_fits(const struct dce_iface_arg *a, uint16_t version)
{
    switch (a->compare) {
    case DCE_ANY_VERSION:
        return true;
    case DCE_EQUAL:
        return version == a->version;
    case DCE_NOT:
        return version != a->version;
    case DCE_LESS:
        return version < a->version;
    case DCE_MORE:
        return version > a->version;
    case DCE_LESS_EQUAL:
        return version <= a->version;
    case DCE_MORE_EQUAL:
        return version >= a->version;
    case DCE_RANGE:
        return version > a->version && version < a->upper;
    }
    return false;
}

/* Only interfaces that the server accepted count. */
bool dce_iface_has(const struct dce_iface_arg *a, const struct dce_interface *interface)
{
    return interface->acknowledged && interface->result == 0 &&
           memcmp(interface->uuid, a->uuid, DCE_UUID_LEN) == 0 &&
           version_fits(a, interface->version);
}

#define INTERFACES_SHOWN 4

void dce_ifaces_tell(const struct dce_interfaces *list, struct buf *out)
{
    char uuid[DCE_UUID_TEXT];
    unsigned count = 0;

    for (unsigned i = 0; i < list->count && count < INTERFACES_SHOWN; i++)
        if (list->at[i].acknowledged && list->at[i].result == 0)
            buf_printf(out, "%s%s version %u", count++ > 0 ? ", " :
                       "the interfaces accepted are ", dce_uuid_text(list->at[i].uuid, uuid),
                       list->at[i].version);
    if (count == 0)
        buf_add_string(out, "no interface was accepted");
}

/* --- dcerpc.opnum --------------------------------------------------------------------------- */

/* "5" or "5-9", both ends included. */
static bool parse_opnums(struct text in, struct dce_opnum_range *out)
{
    struct text low;
    uint64_t number;
    bool range = memchr(in.p, '-', in.n) != NULL;

    if (!text_split(&in, '-', &low) || !text_to_decimal(low, UINT32_MAX, &number))
        return false;
    out->low = out->high = (uint32_t)number;
    if (!range)
        return true;
    if (!text_to_decimal(text_trim(in), UINT32_MAX, &number) || number < out->low)
        return false;
    out->high = (uint32_t)number;
    return true;
}

/* Takes `sign` and the number after it, and nothing else. */
static bool take_signed(struct text in, const char *sign, uint32_t *number)
{
    uint64_t value;

    if (!text_starts(in, sign) ||
        !text_to_u64(text_trim(text_from(in, strlen(sign))), UINT16_MAX, &value))
        return false;
    *number = (uint32_t)value;
    return true;
}

/* "A<>B" and "A-B" without their ends. */
static bool take_between(struct text in, struct dce_opnum_range *out)
{
    struct dce_iface_arg range = { 0 };

    if (!parse_range(in, &range) || range.upper - range.version < 2)
        return false;
    *out = (struct dce_opnum_range){ range.version + 1u, range.upper - 1u };
    return true;
}

/* A comparison as in other keywords, which Suricata has here since version 9: it becomes one range
 * of numbers that fit, or with `a->negated` of those that do not. Comparisons that all numbers or
 * none pass are mistakes. */
static bool parse_comparison(struct text in, struct dce_opnum_arg *a, struct dce_opnum_range *out)
{
    uint32_t n;

    *out = (struct dce_opnum_range){ 0, UINT16_MAX };
    if (take_signed(in, ">=", &n))
        out->low = n;
    else if (take_signed(in, "<=", &n))
        out->high = n;
    else if (take_signed(in, ">", &n))
        out->low = n + 1;
    else if (take_signed(in, "<", &n) && n > 0)
        out->high = n - 1;
    else if (take_signed(in, "=", &n))
        *out = (struct dce_opnum_range){ n, n };
    else if ((a->negated = take_signed(in, "!=", &n) || take_signed(in, "!", &n)))
        *out = (struct dce_opnum_range){ n, n };
    else if (text_starts(in, "!"))
        return (a->negated = take_between(text_from(in, 1), out));
    else
        return take_between(in, out);
    return out->low <= out->high && (out->low > 0 || out->high < UINT16_MAX);
}

/* "&MASK=N" and "&MASK!=N" in the form of a comparison of masked numbers. */
static bool parse_mask(struct text in, struct dce_opnum_arg *a, struct dce_opnum_range *out)
{
    const char *equals = memchr(in.p, '=', in.n);
    struct text left = { in.p, equals != NULL ? (size_t)(equals - in.p) : 0 };
    uint32_t value;

    if (equals == NULL || !take_signed(text_from(in, left.n), "=", &value))
        return false;
    a->negated = left.n > 0 && left.p[left.n - 1] == '!';
    left.n -= a->negated;
    *out = (struct dce_opnum_range){ value, value };
    return take_signed(left, "&", &a->mask) && a->mask != 0 && (value & ~a->mask) == 0;
}

/* Lists and their ranges, whose ends are included, come first: "5-9" has a meaning already. */
static int parse_list(struct text in, struct dce_opnum_arg *a, struct dce_opnum_range *at,
                      struct err *err)
{
    struct text rest = in, part;
    unsigned most = 1;

    for (size_t i = 0; i < in.n; i++)
        most += in.p[i] == ',';
    while (text_split(&rest, ',', &part)) {
        if (!parse_opnums(part, &at[a->count]))
            return err_set(err, "dcerpc.opnum: expected numbers and ranges such as 1,5-9, or a "
                           "comparison such as >5, found \"%.*s\"", TEXT(in));
        a->count++;
    }
    return a->count == most ? 0 : err_set(err, "dcerpc.opnum: expected a number after each comma");
}

/* An empty item is an error when rules load. */
int dce_opnum_parse(struct text in, void *arg, struct arena *arena, struct err *err)
{
    struct dce_opnum_arg *a = arg;
    struct dce_opnum_range *at;
    unsigned most = 1;

    for (size_t i = 0; i < in.n; i++)
        most += in.p[i] == ',';
    a->at = at = arena_alloc(arena, most * sizeof(*at));
    a->mask = UINT16_MAX;
    if (parse_list(in, a, at, err) == 0)
        return 0;
    a->count = 1;
    return parse_comparison(text_trim(in), a, at) || parse_mask(text_trim(in), a, at) ? 0 : -1;
}

bool dce_opnum_has(const struct dce_opnum_arg *a, uint16_t opnum)
{
    uint32_t value = opnum & a->mask;

    for (unsigned i = 0; i < a->count; i++)
        if (value >= a->at[i].low && value <= a->at[i].high)
            return !a->negated;
    return a->negated;
}
