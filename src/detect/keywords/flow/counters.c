/* SPDX-License-Identifier: GPL-2.0-or-later */
/* detect/keywords/flow/counters.c - flow.age, flow.pkts and flow.bytes: age, packets and
 * bytes of the flow so far, the current packet included. */
#include "base/report/json.h"
#include "detect/rule/keyword.h"
#include "flow/flow.h"

/* Seconds of packet time, never of the clock, so a capture file gives the same result each time. A
 * packet with an older timestamp than the flow's start leaves the age at 0. */
static bool age_match(const struct match_input *in, const void *arg)
{
    const struct flow *f = in->flow;

    return f != NULL &&
           int_match_has(arg, MAX(f->inspect_last_us, f->start_us) / 1000000 -
                                  f->start_us / 1000000);
}

static void age_describe(const struct rule_test *test, struct json *j)
{
    int_match_describe(test->arg, "flow_age", j);
}

const struct keyword_ops keyword_flow_age = {
    .name = "flow.age",
    .doc = "seconds since the flow began",
    .syntax = "<number>",
    .features = "prefilter",
    .point = POINT_PACKET,
    .needs_packet = true,
    .of_flow = true,
    .arg_size = sizeof(struct int_match),
    .parse = int_parse_u32,
    .match = age_match,
    .describe = age_describe,
};

/* --- packets and bytes ------------------------------------------------------------------------ */

/* SIDE_BOTH: each direction by itself; SIDE_EITHER: at least one. Neither is the sum. */
enum { SIDE_TO_SERVER = TO_SERVER, SIDE_TO_CLIENT = TO_CLIENT, SIDE_BOTH, SIDE_EITHER };

struct side_arg { /* `side`: SIDE_* */
    uint8_t side;
    struct int_match value;
};

/* `count` is indexed by direction. */
static bool sides_have(const struct side_arg *a, const uint64_t count[2])
{
    bool ts = int_match_has(&a->value, count[TO_SERVER]);
    bool tc = int_match_has(&a->value, count[TO_CLIENT]);

    switch (a->side) {
    case SIDE_TO_SERVER: return ts;
    case SIDE_TO_CLIENT: return tc;
    case SIDE_BOTH: return ts && tc;
    default: return ts || tc;
    }
}

static bool packets_match(const struct match_input *in, const void *arg)
{
    return in->flow != NULL && sides_have(arg, in->flow->packets);
}

static bool bytes_match(const struct match_input *in, const void *arg)
{
    return in->flow != NULL && sides_have(arg, in->flow->bytes);
}

/* "toserver,>100"; the side is required here, because a default would be a guess. */
static int sides_parse(struct rule_parser *p, struct text in, unsigned bits, struct side_arg *a)
{
    static const char *const names[] = { [SIDE_TO_SERVER] = "toserver",
                                         [SIDE_TO_CLIENT] = "toclient", [SIDE_BOTH] = "both",
                                         [SIDE_EITHER] = "either" };
    struct text rest = in, side = { "", 0 };

    text_split(&rest, ',', &side);
    for (unsigned i = 0; i < ARRAY_LEN(names); i++) {
        if (text_equal(side, names[i])) {
            a->side = (uint8_t)i;
            return int_match_parse(p, text_trim(rest), bits, NULL, &a->value);
        }
    }
    return rule_error(p, "%s: expected toserver, toclient, both or either and a number, found "
                      "\"%.*s\"", p->keyword->name, TEXT(in));
}

static int packets_parse(struct rule_parser *p, struct text in, void *arg)
{
    return sides_parse(p, in, 32, arg);
}

static int bytes_parse(struct rule_parser *p, struct text in, void *arg)
{
    return sides_parse(p, in, 64, arg);
}

/* For keywords whose name contains the direction, such as flow.bytes_toserver. */
static int one_side_parse(struct rule_parser *p, struct text in, unsigned bits, uint8_t side,
                          struct side_arg *a)
{
    a->side = side;
    return int_match_parse(p, in, bits, NULL, &a->value);
}

static int packets_to_server_parse(struct rule_parser *p, struct text in, void *arg)
{
    return one_side_parse(p, in, 32, SIDE_TO_SERVER, arg);
}

static int packets_to_client_parse(struct rule_parser *p, struct text in, void *arg)
{
    return one_side_parse(p, in, 32, SIDE_TO_CLIENT, arg);
}

static int bytes_to_server_parse(struct rule_parser *p, struct text in, void *arg)
{
    return one_side_parse(p, in, 64, SIDE_TO_SERVER, arg);
}

static int bytes_to_client_parse(struct rule_parser *p, struct text in, void *arg)
{
    return one_side_parse(p, in, 64, SIDE_TO_CLIENT, arg);
}

#define SIDES_SYNTAX "toserver|toclient|both|either,<number>"

/* 32 bits for packets and 64 for bytes are Suricata's ranges. Each packet changes these
 * numbers, so the rule must look at single packets. */
#define SIDE_KEYWORD(symbol, written, what, form, parser, function, listed) \
    const struct keyword_ops keyword_##symbol = {               \
        .name = written,                                        \
        .doc = what,                                            \
        .syntax = form,                                         \
        .features = listed,                                     \
        .point = POINT_PACKET,                                  \
        .needs_packet = true,                                   \
        .of_flow = true,                                        \
        .arg_size = sizeof(struct side_arg),                    \
        .parse = parser,                                        \
        .match = function,                                      \
    }

SIDE_KEYWORD(flow_pkts, "flow.pkts", "packets of the flow", SIDES_SYNTAX, packets_parse,
             packets_match, "prefilter");
SIDE_KEYWORD(flow_pkts_toserver, "flow.pkts_toserver", "packets to the server", "<number>",
             packets_to_server_parse, packets_match, "prefilter");
SIDE_KEYWORD(flow_pkts_toclient, "flow.pkts_toclient", "packets to the client", "<number>",
             packets_to_client_parse, packets_match, "prefilter");
SIDE_KEYWORD(flow_bytes, "flow.bytes", "bytes of the flow", SIDES_SYNTAX, bytes_parse,
             bytes_match, NULL);
SIDE_KEYWORD(flow_bytes_toserver, "flow.bytes_toserver", "bytes to the server", "<number>",
             bytes_to_server_parse, bytes_match, NULL);
SIDE_KEYWORD(flow_bytes_toclient, "flow.bytes_toclient", "bytes to the client", "<number>",
             bytes_to_client_parse, bytes_match, NULL);
