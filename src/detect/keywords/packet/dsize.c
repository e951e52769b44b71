/* SPDX-License-Identifier: GPL-2.0-or-later */
/* detect/keywords/packet/dsize.c - dsize: the length of the transport's payload in one
 * packet. */
#include "base/report/json.h"
#include "detect/rule/keyword.h"

/* A second dsize directly after the first is an error, because one range can express both. */
static int dsize_parse(struct rule_parser *p, struct text in, void *arg)
{
    const struct rule_test *last = rule_last_test(p, POINT_PACKET);

    if (last != NULL && last->keyword == p->keyword)
        return rule_error(p, "dsize: occurs twice in the rule");
    return int_match_parse(p, in, 16, NULL, arg);
}

/* A test that requires payload ("!n" does too) fails on packets without payload or without
 * payload inspection. While data of the stream are due with this packet there is payload,
 * so "dsize:0" fails. */
static bool dsize_match(const struct match_input *in, const void *arg)
{
    const struct packet *p = in->packet;
    const struct int_match *m = arg;

    if (p->flags & PACKET_PSEUDO)
        return false;
    if (!in->stream_due && (p->payload_len == 0 || (p->flags & PACKET_NO_PAYLOAD_INSPECT)) &&
        (m->op == INT_NE || !int_match_has(m, 0)))
        return false;
    if (in->stream_due && m->op == INT_EQ && m->a == 0)
        return false;
    return int_match_has(m, p->payload_len);
}

/* The longest payload for which the test can hold. A small one puts the rule's pattern
 * into the set that is searched in the front of packets only (compile/fast_pattern.c). */
static uint32_t dsize_most(const void *arg)
{
    const struct int_match *m = arg;

    switch ((enum int_op)m->op) {
    case INT_EQ:
    case INT_LT:
    case INT_LE:    return (uint32_t)m->a;
    case INT_RANGE: return (uint32_t)m->b;
    default:        return UINT32_MAX;
    }
}

static void dsize_describe(const struct rule_test *test, struct json *j)
{
    int_match_describe(test->arg, "dsize", j);
}

const struct keyword_ops keyword_dsize = {
    .name = "dsize",
    .doc = "bytes of payload in the packet",
    .syntax = "<number>",
    .features = "supports firewall,prefilter",
    .point = POINT_PACKET,
    .needs_packet = true,
    .arg_size = sizeof(struct int_match),
    .parse = dsize_parse,
    .match = dsize_match,
    .payload_most = dsize_most,
    .describe = dsize_describe,
};
