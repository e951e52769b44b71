/* SPDX-License-Identifier: GPL-2.0-or-later */
/* detect/keywords/packet/window_above.c - a TCP window larger than a number. */
#include "detect/rule/keyword.h"

static int window_above_parse(struct rule_parser *p, struct text in, void *arg)
{
    uint64_t value;

    if (!text_to_u64(in, UINT16_MAX, &value))
        return rule_error(p, "tcp.window_above: expected a number up to 65535, found \"%.*s\"",
                          TEXT(in));
    *(uint16_t *)arg = (uint16_t)value;
    return 0;
}

static bool window_above_match(const struct match_input *in, const void *arg)
{
    return packet_is_tcp(in->packet) && in->packet->tcp.window > *(const uint16_t *)arg;
}

const struct keyword_ops keyword_window_above = {
    .name = "tcp.window_above",
    .doc = "TCP window larger than a number",
    .syntax = "<0-65535>",
    .point = POINT_PACKET,
    .needs_packet = true,
    .arg_size = sizeof(uint16_t),
    .parse = window_above_parse,
    .match = window_above_match,
};
