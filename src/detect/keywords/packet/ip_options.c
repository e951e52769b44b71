/* SPDX-License-Identifier: GPL-2.0-or-later */
/* detect/keywords/packet/ip_options.c - ipopts, fragbits, fragoffset: options and
 * fragmentation fields of the IP header. */
#include "base/text/bytes.h"
#include "base/report/json.h"
#include "detect/rule/keyword.h"

#include <ctype.h>
#include <string.h>

static bool is_v4(const struct packet *p)
{
    return p->l3 != NULL && p->src.version == 4;
}

/* Type bytes of IPv4 options: RFC 791, RFC 1108, RFC 6814. */
static const struct { const char *name; uint8_t type; } options[] = {
    { "eol", 0 },   { "nop", 1 },     { "rr", 7 },      { "qs", 25 },  { "ts", 68 },
    { "sec", 130 }, { "lsrr", 131 },  { "esec", 133 },  { "cipso", 134 }, { "satid", 136 },
    { "ssrr", 137 }, { "rtralt", 148 },
};
#define OPTION_ANY 255 /* no option has this type */

static int ipopts_parse(struct rule_parser *p, struct text in, void *arg)
{
    uint8_t *type = arg;

    if (text_equal_nocase(in, "any")) {
        *type = OPTION_ANY;
        return 0;
    }
    for (size_t i = 0; i < ARRAY_LEN(options); i++) {
        if (text_equal_nocase(in, options[i].name)) {
            *type = options[i].type;
            return 0;
        }
    }
    return rule_error(p,
                      "ipopts: expected any, rr, lsrr, ssrr, eol, nop, ts, sec, esec, satid, qs, "
                      "cipso or rtralt, found \"%.*s\"",
                      TEXT(in));
}

/* Walks the options as RFC 791, section 3.1 defines them: type 0 ends the list, type 1 is
 * a single byte, all others have a length that includes type and length. A length below 2
 * is malformed and ends the walk. The header holds at most 40 bytes of options. */
static bool ipopts_match(const struct match_input *in, const void *arg)
{
    const uint8_t expected = *(const uint8_t *)arg;
    struct bytes rest;

    if (!is_v4(in->packet) || in->packet->l3_len <= 20)
        return false;
    if (expected == OPTION_ANY)
        return true;
    rest = bytes_of(in->packet->l3 + 20, in->packet->l3_len - 20u);
    while (bytes_have(&rest, 1)) {
        uint8_t type = take_u8(&rest), len;

        if (type == expected)
            return true;
        if (type == 0)
            return false;
        if (type == 1)
            continue;
        len = take_u8(&rest);
        take_skip(&rest, len >= 2 ? len - 2u : bytes_left(&rest));
    }
    return false;
}

static void tell_option(uint8_t type, bool first, struct buf *out)
{
    const char *name = NULL;

    for (size_t i = 0; i < ARRAY_LEN(options); i++)
        if (type == options[i].type)
            name = options[i].name;
    if (!first)
        buf_add_string(out, ", ");
    if (name != NULL)
        buf_add_string(out, name);
    else
        buf_printf(out, "type %u", type);
}

/* As ipopts_match() walks them. */
static bool ipopts_tell(const struct rule_test *test UNUSED, const struct match_input *in,
                        struct buf *out)
{
    struct bytes rest;
    bool first = true;

    if (!is_v4(in->packet) || in->packet->l3_len <= 20) {
        buf_add_string(out, "the packet has no IPv4 options");
        return true;
    }
    buf_add_string(out, "the IPv4 options are: ");
    rest = bytes_of(in->packet->l3 + 20, in->packet->l3_len - 20u);
    while (bytes_have(&rest, 1)) {
        uint8_t type = take_u8(&rest), len;

        tell_option(type, first, out);
        first = false;
        if (type == 0)
            break;
        if (type == 1)
            continue;
        len = take_u8(&rest);
        take_skip(&rest, len >= 2 ? len - 2u : bytes_left(&rest));
    }
    return true;
}

static void ipopts_describe(const struct rule_test *test, struct json *j)
{
    uint8_t type = *(const uint8_t *)test->arg;
    const char *name = "any";

    for (size_t i = 0; i < ARRAY_LEN(options); i++)
        if (type == options[i].type)
            name = options[i].name;
    json_object(j, "ipopts");
    json_string(j, "option", name);
    json_object_end(j);
}

const struct keyword_ops keyword_ipopts = {
    .name = "ipopts",
    .doc = "an IPv4 option is there",
    .syntax = "any|rr|lsrr|ssrr|eol|nop|ts|sec|esec|satid|qs|cipso|rtralt",
    .point = POINT_PACKET,
    .needs_packet = true,
    .arg_size = sizeof(uint8_t),
    .parse = ipopts_parse,
    .match = ipopts_match,
    .tell = ipopts_tell,
    .describe = ipopts_describe,
};

/* --- fragments -------------------------------------------------------------------------------- */

/* Flags and offset of the IPv4 header (RFC 791, section 3.1). */
#define FRAG_RESERVED 0x8000u
#define FRAG_DONT     0x4000u
#define FRAG_MORE     0x2000u
#define FRAG_OFFSET   0x1fffu

/* The caller has checked that it is IPv4. */
static uint16_t fragment_field(const struct packet *p)
{
    return get_be16(p->l3 + 6);
}

struct fragbits_arg {
    char modifier;              /* 0: exactly; '+', '*', '!' */
    uint16_t bits;
};

/* 0: not a letter of this keyword. Lower case is an error, as in Suricata. */
static uint16_t fragbit(char letter)
{
    switch (letter) {
    case 'M': return FRAG_MORE;
    case 'D': return FRAG_DONT;
    case 'R': return FRAG_RESERVED;
    default: return 0;
    }
}

/* Text after the letters has no effect in Suricata, and published rules have some. */
static int fragbits_parse(struct rule_parser *p, struct text in, void *arg)
{
    struct fragbits_arg *a = arg;
    struct text t = text_trim(in);
    size_t letters = 0;

    if (t.n > 0 && strchr("+*!", t.p[0]) != NULL) {
        a->modifier = t.p[0];
        t = text_trim(text_from(t, 1));
    }
    while (letters < t.n && fragbit(t.p[letters]) != 0)
        a->bits |= fragbit(t.p[letters++]);
    if (letters == 0)
        return rule_error(p,
                          "fragbits: expected letters of M, D and R, with +, * or ! before them if "
                          "need be, found \"%.*s\"",
                          TEXT(in));
    t = text_from(t, letters);
    if (t.n > 0)
        rule_warning(p, "fragbits: \"%.*s\" after the letters has no effect", TEXT(t));
    return 0;
}

/* '*' any of the bits, '+' all and perhaps more, '!' not all of them, else exactly these. */
static bool fragbits_match(const struct match_input *in, const void *arg)
{
    const struct fragbits_arg *a = arg;
    uint16_t found;

    if (!is_v4(in->packet))
        return false;
    found = fragment_field(in->packet) & (FRAG_RESERVED | FRAG_DONT | FRAG_MORE);
    switch (a->modifier) {
    case '*': return (found & a->bits) != 0;
    case '+': return (found & a->bits) == a->bits;
    case '!': return (found & a->bits) != a->bits;
    default: return found == a->bits;
    }
}

const struct keyword_ops keyword_fragbits = {
    .name = "fragbits",
    .doc = "IPv4 fragmentation bits: exactly these, + and others, * any of them, ! not all",
    .syntax = "[+|*|!]<letters of M, D, R>",
    .features = "prefilter",
    .point = POINT_PACKET,
    .needs_packet = true,
    .arg_size = sizeof(struct fragbits_arg),
    .parse = fragbits_parse,
    .match = fragbits_match,
};

/* [<|>]N; Suricata ignores what follows the number. */
static int fragoffset_parse(struct rule_parser *p, struct text in, void *arg)
{
    struct text t = text_trim(in);
    struct int_match *m = arg;
    size_t digits = 0;

    m->op = text_starts(t, "<") ? INT_LT : text_starts(t, ">") ? INT_GT : INT_EQ;
    if (m->op != INT_EQ)
        t = text_trim(text_from(t, 1));
    while (digits < t.n && isdigit((unsigned char)t.p[digits]))
        digits++;
    if (!text_to_decimal((struct text){ t.p, digits }, UINT16_MAX, &m->a))
        return rule_error(p, "fragoffset: expected N, <N or >N, up to 65535, found \"%.*s\"",
                          TEXT(in));
    return 0;
}

/* The unit differs: 8 bytes for IPv4, bytes for IPv6, as in Suricata. */
static bool fragoffset_match(const struct match_input *in, const void *arg)
{
    const struct packet *p = in->packet;

    if (is_v4(p))
        return int_match_has(arg, fragment_field(p) & FRAG_OFFSET);
    return p->src.version == 6 && p->fragment.present && int_match_has(arg, p->fragment.offset);
}

const struct keyword_ops keyword_fragoffset = {
    .name = "fragoffset",
    .doc = "offset of an IP fragment, equal, less (<) or more (>): IPv4 in units of 8 bytes, "
           "IPv6 in bytes",
    .syntax = "[<op>]<n>",
    .features = "prefilter",
    .point = POINT_PACKET,
    .needs_packet = true,
    .arg_size = sizeof(struct int_match),
    .parse = fragoffset_parse,
    .match = fragoffset_match,
};
