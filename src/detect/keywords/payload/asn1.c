/* SPDX-License-Identifier: GPL-2.0-or-later */
/* asn1 - values in BER (X.690) in the packet's payload that are known to overrun careless readers:
 * longer than a bound, bit strings that leave out more bits than they have, reals written as text
 * of more than 256 characters. */
#include "detect/rule/program.h"
#include "detect/rule/ruleset.h"

#include "base/text/bytes.h"

struct asn1 {
    bool bitstring_overflow, double_overflow;
    bool has_oversize, has_absolute, has_relative;
    uint32_t oversize;
    uint16_t absolute;
    int32_t relative;
    uint16_t max_frames;        /* values side by side; also how deep they nest */
};

enum { TAG_BOOLEAN = 1, TAG_BIT_STRING = 3, TAG_NULL = 5, TAG_REAL = 9 };
#define CONSTRUCTED   0x20
#define UNIVERSAL(t)  (((t) & 0xc0) == 0)
#define FRAMES_MAX    256       /* of the stack's sake */
#define REAL_SAFE     256

struct header {
    uint8_t identifier;
    bool indefinite;
    uint32_t len;
};

/* --- reading ------------------------------------------------------------------------------ */

static bool take_header(struct bytes *in, struct header *out)
{
    unsigned octets;

    out->identifier = take_u8(in);
    if ((out->identifier & 0x1f) == 0x1f)               /* a tag of several bytes */
        while (take_u8(in) & 0x80)
            ;
    out->len = take_u8(in);
    out->indefinite = out->len == 0x80;
    if (out->len <= 0x80)
        return !in->failed;
    octets = out->len & 0x7f;
    out->len = 0;
    if (octets > 4)
        in->failed = true;
    while (octets-- > 0 && !in->failed)
        out->len = out->len << 8 | take_u8(in);
    return !in->failed;
}

static bool is_bad(const struct asn1 *a, const struct header *h, struct slice content)
{
    uint8_t first = content.len > 0 ? content.data[0] : 0;

    if (a->has_oversize && h->len > a->oversize)
        return true;
    if (content.len == 0)
        return false;
    if (a->bitstring_overflow && h->identifier == TAG_BIT_STRING && first > 8ull * content.len)
        return true;
    return a->double_overflow && h->identifier == TAG_REAL && (first & 0xc0) == 0 &&
           content.len > REAL_SAFE;
}

/* Contents that could not be read even by those who read carefully. */
static bool holds(const struct header *h)
{
    switch (h->identifier) {
    case TAG_BOOLEAN:
        return h->len == 1;
    case TAG_NULL:
        return h->len == 0;
    case TAG_BIT_STRING:
        return h->len > 0;
    default:
        return true;
    }
}

static bool walk(const struct asn1 *a, struct bytes *in, unsigned depth, bool *bad);

/* Until the two zero bytes that end it. */
static bool walk_indefinite(const struct asn1 *a, const struct header *h, struct bytes *in,
                            unsigned depth, bool *bad)
{
    if (!(h->identifier & CONSTRUCTED))
        return false;
    while (!bytes_have(in, 2) || in->next[0] != 0 || in->next[1] != 0)
        if (!walk(a, in, depth + 1, bad))
            return false;
    take_skip(in, 2);
    return true;
}

/* One value with all that is in it. False: malformed, or cut short. */
static bool walk(const struct asn1 *a, struct bytes *in, unsigned depth, bool *bad)
{
    struct header h;
    struct slice content;
    struct bytes inner;

    if (depth >= MIN(a->max_frames, FRAMES_MAX) || !take_header(in, &h))
        return false;
    if (h.indefinite)
        return walk_indefinite(a, &h, in, depth, bad);
    content = take_slice(in, h.len);
    if (in->failed || !holds(&h))
        return false;
    *bad |= is_bad(a, &h, content);
    inner = bytes_of_slice(content);
    while ((h.identifier & CONSTRUCTED) && bytes_left(&inner) > 0)
        if (!walk(a, &inner, depth + 1, bad))
            return false;
    return true;
}

static bool has_bad_value(const struct asn1 *a, struct bytes in)
{
    bool found = false, bad = false;

    for (unsigned frames = 0; bytes_left(&in) > 0; frames++) {
        if (frames >= a->max_frames)
            return false;
        if (!walk(a, &in, 0, &bad))
            break;
        found |= bad;
    }
    return found;
}

static enum step_result asn1_step(struct program_run *run, const void *arg)
{
    const struct asn1 *a = arg;
    int64_t from = 0;

    if (a->has_absolute)
        from = a->absolute;
    else if (a->has_relative)
        from = (int64_t)run->at + a->relative;
    if (from < 0 || from >= run->len || from > UINT16_MAX)
        return STEP_NO;
    return has_bad_value(a, bytes_of(run->data + from, run->len - (size_t)from)) ? STEP_YES
                                                                                 : STEP_NO;
}

/* --- the rule ----------------------------------------------------------------------------- */

struct number_option { struct text name; int64_t min, max; };

static int number_of(struct rule_parser *p, struct number_option option, struct text *rest,
                     int64_t *out)
{
    struct text word;

    if (!text_split(rest, ' ', &word) || !text_to_i64(word, out) || *out < option.min ||
        *out > option.max)
        return rule_error(p, "asn1: %.*s wants a number from %lld to %lld", TEXT(option.name),
                          (long long)option.min, (long long)option.max);
    return 0;
}

static int option_parse(struct rule_parser *p, struct text name, struct text *rest,
                        struct asn1 *a)
{
    int64_t number = 0;

    if (text_equal(name, "bitstring_overflow"))
        return a->bitstring_overflow = true, 0;
    if (text_equal(name, "double_overflow"))
        return a->double_overflow = true, 0;
    if (text_equal(name, "oversize_length")) {
        a->has_oversize = true;
        if (number_of(p, (struct number_option){ name, 0, UINT32_MAX }, rest, &number) < 0)
            return -1;
        a->oversize = (uint32_t)number;
        return 0;
    }
    if (text_equal(name, "absolute_offset")) {
        a->has_absolute = true;
        if (number_of(p, (struct number_option){ name, 0, UINT16_MAX }, rest, &number) < 0)
            return -1;
        a->absolute = (uint16_t)number;
        return 0;
    }
    if (!text_equal(name, "relative_offset"))
        return rule_error(p,
                          "asn1: expected bitstring_overflow, double_overflow, oversize_length N, "
                          "absolute_offset N or relative_offset N, found \"%.*s\"",
                          TEXT(name));
    a->has_relative = true;
    if (number_of(p, (struct number_option){ name, INT32_MIN, INT32_MAX }, rest, &number) < 0)
        return -1;
    a->relative = (int32_t)number;
    return 0;
}

/* Options stand behind commas or blanks, numbers behind blanks. */
static int options_parse(struct rule_parser *p, struct text in, struct asn1 *a)
{
    struct text part, name;
    bool any = false;

    while (text_split(&in, ',', &part)) {
        while (text_split(&part, ' ', &name)) {
            if (name.n == 0)
                continue;
            if (option_parse(p, name, &part, a) < 0)
                return -1;
            any = true;
        }
    }
    return any ? 0 : rule_error(p, "asn1: expected at least one option");
}

/* It looks at single packets: what is malformed on purpose does not wait for the stream. */
static int asn1_parse(struct rule_parser *p, struct text in, void *arg UNUSED)
{
    struct asn1 *a = arena_zalloc(p->arena, sizeof(*a));
    struct rule_op *op;

    if (options_parse(p, in, a) < 0)
        return -1;
    a->max_frames = (uint16_t)conf_u64_range(p->request != NULL ? p->request->conf : NULL,
                                             "asn1-max-frames", 30, 1, UINT16_MAX);
    op = op_append(p, OP_CALL, false);
    if (op == NULL)
        return -1;
    op->call = (struct call_op){ asn1_step, a };
    p->rule->flags |= RULE_NEEDS_PACKET;
    return 0;
}

const struct keyword_ops keyword_asn1 = {
    .name = "asn1",
    .doc = "malformed ASN.1: bitstring_overflow, double_overflow, oversize_length N",
    .point = POINT_BUFFER,
    .parse = asn1_parse,
};
