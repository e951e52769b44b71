/* SPDX-License-Identifier: GPL-2.0-or-later */
/* detect/keywords/packet/igmp.c - igmp.type: the type of an IGMP message. */
#include "detect/rule/keyword.h"

#define PROTO_IGMP 2

static int igmp_type_parse(struct rule_parser *p, struct text in, void *arg)
{
    if (!rule_has_ip_proto(p->rule, PROTO_IGMP))
        return rule_error(p, "igmp.type: the rule is not about IGMP");
    return int_parse_u8(p, in, arg);
}

static bool igmp_type_match(const struct match_input *in, const void *arg)
{
    const struct packet *p = in->packet;

    return p->l4 != NULL && p->ip_proto == PROTO_IGMP && int_match_has(arg, p->l4[0]);
}

static bool igmp_type_tell(const struct rule_test *test UNUSED, const struct match_input *in,
                           struct buf *out)
{
    const struct packet *p = in->packet;

    if (p->l4 == NULL || p->ip_proto != PROTO_IGMP)
        return false;
    buf_printf(out, "the IGMP type is %u", p->l4[0]);
    return true;
}

const struct keyword_ops keyword_igmp_type = {
    .name = "igmp.type",
    .doc = "type of an IGMP message",
    .syntax = "<number>",
    .features = "prefilter",
    .point = POINT_PACKET,
    .needs_packet = true,
    .arg_size = sizeof(struct int_match),
    .parse = igmp_type_parse,
    .match = igmp_type_match,
    .tell = igmp_type_tell,
};
