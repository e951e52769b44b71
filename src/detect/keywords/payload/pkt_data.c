/* SPDX-License-Identifier: GPL-2.0-or-later */
/* pkt_data - ends a sticky buffer: the tests after it apply to the payload. */
#include "detect/rule/program.h"

static int pkt_data_parse(struct rule_parser *p, struct text in UNUSED, void *arg UNUSED)
{
    return rule_leave_buffer(p);
}

const struct keyword_ops keyword_pkt_data = {
    .name = "pkt_data",
    .doc = "reset detection buffer to packet payload, away from a sticky buffer",
    .features = "No option",
    .point = POINT_NONE,
    .argument = ARGUMENT_NONE,
    .parse = pkt_data_parse,
};
