/* SPDX-License-Identifier: GPL-2.0-or-later */
/* asn1 - values in BER (X.690) in the packet's payload that are known to overrun careless readers:
 * longer than a bound, bit strings that leave out more bits than they have, reals written as text
 * of more than 256 characters. */
#include "detect/rule/program.h"
#include "detect/rule/ruleset.h"

#include "base/text/bytes.h"

struct asn1 { /* one rule's options, in the ruleset's arena */
    bool bitstring_overflow, double_overflow;
    bool has_oversize, has_absolute, has_relative; /* which of the numbers below the rule gives */
    uint32_t oversize;
    uint16_t absolute;
    int32_t relative;
    uint16_t max_frames;        /* values side by side; also how deep they nest */
};

/* Universal tags: X.690, sections 8.2, 8.6, 8.8 and 8.5. */
enum { TAG_BOOLEAN = 1, TAG_BIT_STRING = 3, TAG_NULL = 5, TAG_REAL = 9 };
#define CONSTRUCTED   0x20
#define UNIVERSAL(t)  (((t) & 0xc0) == 0)
#define FRAMES_MAX    256       /* walk() calls itself: this bounds the stack it takes */
#define REAL_SAFE     256       /* the longest decimal REAL that Suricata takes as harmless */

struct header {
    uint8_t identifier;
    bool indefinite;
    uint32_t len;
};

/* --- reading ------------------------------------------------------------------------------ */

/* Identifier and length octets (X.690 8.1.2 and 8.1.3). A length of more than four octets
 * cannot be true in one packet; the value then counts as malformed. */
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

/* Detects the three attacks of the keyword. The first octet of a BIT STRING is the number of unused
 * bits (X.690 8.6.2), so it must not exceed the bits that follow. Bits 8 and 7 of a REAL are zero
 * in the decimal encoding, whose text a careless decoder copies into a fixed array. */
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

/* True if the length is valid for the type: a BOOLEAN has one octet, a NULL none, a BIT STRING at
 * least one. A decoder cannot continue after an invalid one, so the walk ends. */
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

/* Reads values up to the two zero bytes that end an indefinite length (X.690 8.1.5). Only
 * constructed values can have one (8.1.3.2). */
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

/* Reads one value with all that it contains. False: it is malformed or cut short. */
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

/* Walks the values side by side. More of them than asn1-max-frames make the packet no
 * match at all. A malformed value ends the walk; a bad value that an earlier one contained
 * still counts. */
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

/* Starts where the rule's offset points. Beyond 65,535 no packet has payload, so a
 * relative offset that leads there cannot match. */
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

struct number_option { struct text name; int64_t min, max; }; /* `min` and `max` are inclusive */

/* Takes the word after an option's name. A number outside the range is an error of the
 * rule, because a cut-off one would silently test something else. */
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

/* One option, with its number if it has one. An option that comes twice overwrites the
 * first. */
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

/* Commas or blanks separate options; a blank separates an option from its number. At least
 * one option is required: an empty list would inspect every packet and find nothing. */
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

/* Inspects single packets: a value that is malformed on purpose does not wait for the
 * stream. asn1-max-frames (default 30, as in Suricata) is read once, when the rule is
 * loaded. */
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
    .doc = "malformed ASN.1 in the payload",
    .syntax = "[bitstring_overflow][,double_overflow][,oversize_length <n>]"
              "[,absolute_offset <n>|relative_offset <n>]",
    .point = POINT_BUFFER,
    .parse = asn1_parse,
};
