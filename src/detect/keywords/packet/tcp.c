/* SPDX-License-Identifier: GPL-2.0-or-later */
/* detect/keywords/packet/tcp.c - single fields of the TCP header (RFC 9293, section 3.1)
 * and of its options. */
#include "base/text/bytes.h"
#include "base/report/json.h"
#include "detect/rule/keyword.h"

/* One number and no comparison: sequence numbers wrap, so "greater" has no meaning. */
static int exact_u32_parse(struct rule_parser *p, struct text in, void *arg)
{
    uint64_t value;

    if (!text_to_decimal(text_trim(in), UINT32_MAX, &value))
        return rule_error(p, "%s: expected a number from 0 to 4294967295, found \"%.*s\"",
                          p->keyword->name, TEXT(in));
    *(uint32_t *)arg = (uint32_t)value;
    return 0;
}

static bool seq_match(const struct match_input *in, const void *arg)
{
    return packet_is_tcp(in->packet) && in->packet->tcp.seq == *(const uint32_t *)arg;
}

static void seq_describe(const struct rule_test *test, struct json *j)
{
    json_object(j, "seq");
    json_u64(j, "number", *(const uint32_t *)test->arg);
    json_object_end(j);
}

const struct keyword_ops keyword_tcp_seq = {
    .name = "tcp.seq",
    .alias = "seq",
    .doc = "TCP sequence number",
    .features = "prefilter",
    .point = POINT_PACKET,
    .needs_packet = true,
    .arg_size = sizeof(uint32_t),
    .parse = exact_u32_parse,
    .match = seq_match,
    .describe = seq_describe,
};

static bool ack_match(const struct match_input *in, const void *arg)
{
    return packet_is_tcp(in->packet) && in->packet->tcp.ack == *(const uint32_t *)arg;
}

static void ack_describe(const struct rule_test *test, struct json *j)
{
    json_object(j, "ack");
    json_u64(j, "number", *(const uint32_t *)test->arg);
    json_object_end(j);
}

const struct keyword_ops keyword_tcp_ack = {
    .name = "tcp.ack",
    .alias = "ack",
    .doc = "TCP acknowledgement number",
    .features = "prefilter",
    .point = POINT_PACKET,
    .needs_packet = true,
    .arg_size = sizeof(uint32_t),
    .parse = exact_u32_parse,
    .match = ack_match,
    .describe = ack_describe,
};

/* The unscaled window of the header: only the handshake has the scale. */
struct window_arg {
    uint16_t size;
    bool negated;
};

/* N or !N, as in Suricata. */
static int window_parse(struct rule_parser *p, struct text in, void *arg)
{
    struct window_arg *a = arg;
    struct text t = text_trim(in);
    uint64_t value;

    if (t.n > 0 && t.p[0] == '!') {
        a->negated = true;
        t = text_trim(text_from(t, 1));
    }
    if (!text_to_decimal(t, UINT16_MAX, &value))
        return rule_error(p, "tcp.window: expected N or !N, up to 65535, found \"%.*s\"", TEXT(in));
    a->size = (uint16_t)value;
    return 0;
}

static bool window_match(const struct match_input *in, const void *arg)
{
    const struct window_arg *a = arg;

    return packet_is_tcp(in->packet) && (in->packet->tcp.window == a->size) != a->negated;
}

static void window_describe(const struct rule_test *test, struct json *j)
{
    const struct window_arg *a = test->arg;

    json_object(j, "window");
    json_u64(j, "size", a->size);
    json_bool(j, "negated", a->negated);
    json_object_end(j);
}

const struct keyword_ops keyword_tcp_window = {
    .name = "tcp.window",
    .alias = "window",
    .doc = "TCP window, not scaled",
    .point = POINT_PACKET,
    .needs_packet = true,
    .arg_size = sizeof(struct window_arg),
    .parse = window_parse,
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

const struct keyword_ops keyword_tcp_wscale = {
    .name = "tcp.wscale",
    .doc = "TCP option: window scale",
    .features = "supports firewall,prefilter",
    .point = POINT_PACKET,
    .needs_packet = true,
    .arg_size = sizeof(struct int_match),
    .parse = int_parse_u8,
    .match = wscale_match,
};
