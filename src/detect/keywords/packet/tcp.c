/* SPDX-License-Identifier: GPL-2.0-or-later */
/* detect/keywords/packet/tcp.c - single fields of the TCP header (RFC 9293, section 3.1)
 * and of its options. */
#include "base/text/bytes.h"
#include "base/report/json.h"
#include "detect/rule/keyword.h"

static bool seq_match(const struct match_input *in, const void *arg)
{
    return packet_is_tcp(in->packet) && int_match_has(arg, in->packet->tcp.seq);
}

static void seq_describe(const struct rule_test *test, struct json *j)
{
    int_match_describe_number(test->arg, "seq", j);
}

const struct keyword_ops keyword_tcp_seq = {
    .name = "tcp.seq",
    .alias = "seq",
    .doc = "TCP sequence number",
    .syntax = "<number>",
    .features = "prefilter",
    .point = POINT_PACKET,
    .needs_packet = true,
    .arg_size = sizeof(struct int_match),
    .parse = int_parse_u32,
    .match = seq_match,
    .describe = seq_describe,
};

static bool ack_match(const struct match_input *in, const void *arg)
{
    return packet_is_tcp(in->packet) && int_match_has(arg, in->packet->tcp.ack);
}

static void ack_describe(const struct rule_test *test, struct json *j)
{
    int_match_describe_number(test->arg, "ack", j);
}

const struct keyword_ops keyword_tcp_ack = {
    .name = "tcp.ack",
    .alias = "ack",
    .doc = "TCP acknowledgement number",
    .syntax = "<number>",
    .features = "prefilter",
    .point = POINT_PACKET,
    .needs_packet = true,
    .arg_size = sizeof(struct int_match),
    .parse = int_parse_u32,
    .match = ack_match,
    .describe = ack_describe,
};

/* The unscaled window of the header: only the handshake has the scale. */
static bool window_match(const struct match_input *in, const void *arg)
{
    return packet_is_tcp(in->packet) && int_match_has(arg, in->packet->tcp.window);
}

/* Other comparisons than N and !N came with Suricata 9, and in its form. */
static void window_describe(const struct rule_test *test, struct json *j)
{
    const struct int_match *m = test->arg;

    if (m->op != INT_EQ && m->op != INT_NE) {
        int_match_describe(m, "window", j);
        return;
    }
    json_object(j, "window");
    json_u64(j, "size", m->a);
    json_bool(j, "negated", m->op == INT_NE);
    json_object_end(j);
}

const struct keyword_ops keyword_tcp_window = {
    .name = "tcp.window",
    .alias = "window",
    .doc = "TCP window, not scaled",
    .syntax = "<number>",
    .point = POINT_PACKET,
    .needs_packet = true,
    .arg_size = sizeof(struct int_match),
    .parse = int_parse_u16,
    .match = window_match,
    .describe = window_describe,
};

/* A segment without the option fails the test, whatever the comparison. */
static bool mss_match(const struct match_input *in, const void *arg)
{
    const struct packet *p = in->packet;

    return packet_is_tcp(p) && (p->tcp_options.has & TCP_HAS_MSS) &&
           int_match_has(arg, p->tcp_options.mss);
}

static void mss_describe(const struct rule_test *test, struct json *j)
{
    int_match_describe(test->arg, "tcp_mss", j);
}

const struct keyword_ops keyword_tcp_mss = {
    .name = "tcp.mss",
    .doc = "TCP option: maximum segment size",
    .syntax = "<number>",
    .features = "prefilter",
    .point = POINT_PACKET,
    .needs_packet = true,
    .arg_size = sizeof(struct int_match),
    .parse = int_parse_u16,
    .match = mss_match,
    .describe = mss_describe,
};

/* Window scale is on SYN segments only (RFC 7323, section 2.2). */
static bool wscale_match(const struct match_input *in, const void *arg)
{
    const struct packet *p = in->packet;

    return packet_is_tcp(p) && (p->tcp_options.has & TCP_HAS_WSCALE) &&
           int_match_has(arg, p->tcp_options.window_scale);
}

/* Suricata has it for hooks of packets only. */
static int wscale_parse(struct rule_parser *p, struct text in, void *arg)
{
    if (p->rule->hook_in_app)
        return rule_error(p, "tcp.wscale: cannot be used at a hook of a protocol");
    return int_parse_u8(p, in, arg);
}

const struct keyword_ops keyword_tcp_wscale = {
    .name = "tcp.wscale",
    .doc = "TCP option: window scale",
    .syntax = "<number>",
    .features = "supports firewall,prefilter",
    .point = POINT_PACKET,
    .needs_packet = true,
    .arg_size = sizeof(struct int_match),
    .parse = wscale_parse,
    .match = wscale_match,
};
