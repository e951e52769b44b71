/* SPDX-License-Identifier: GPL-2.0-or-later */
/* detect/keywords/packet/ip.c - single fields of the IP header: ttl, id, tos, sameip,
 * l3_proto. */
#include "detect/rule/keyword.h"

/* Packets without an IP header, such as ARP, and pseudo packets fail the test. */
static bool ttl_match(const struct match_input *in, const void *arg)
{
    const struct packet *p = in->packet;

    return p->l3 != NULL && p->src.version != 0 && int_match_has(arg, packet_hop_limit(p));
}

const struct keyword_ops keyword_ttl = {
    .name = "ttl",
    .doc = "IPv4 time to live or IPv6 hop limit",
    .syntax = "<number>",
    .features = "prefilter",
    .point = POINT_PACKET,
    .needs_packet = true,
    .arg_size = sizeof(struct int_match),
    .parse = int_parse_u8,
    .match = ttl_match,
};

/* Suricata's example of how to add a keyword. Published rules use the name. */
const struct keyword_ops keyword_template2 = {
    .name = "template2",
    .doc = "another name for ttl",
    .syntax = "<number>",
    .features = "prefilter",
    .point = POINT_PACKET,
    .needs_packet = true,
    .arg_size = sizeof(struct int_match),
    .parse = int_parse_u8,
    .match = ttl_match,
};

/* One number and no comparison, as in Suricata. */
static int id_parse(struct rule_parser *p, struct text in, void *arg)
{
    uint64_t value;

    if (!text_to_decimal(text_trim(in), UINT16_MAX, &value))
        return rule_error(p, "id: expected a number from 0 to 65535, found \"%.*s\"", TEXT(in));
    *(uint16_t *)arg = (uint16_t)value;
    return 0;
}

static bool id_match(const struct match_input *in, const void *arg)
{
    const struct packet *p = in->packet;

    return p->l3 != NULL && p->src.version == 4 && packet_ip_id(p) == *(const uint16_t *)arg;
}

const struct keyword_ops keyword_id = {
    .name = "id",
    .doc = "IPv4 identification",
    .syntax = "<0-65535>",
    .features = "prefilter",
    .point = POINT_PACKET,
    .quotes = true,
    .needs_packet = true,
    .arg_size = sizeof(uint16_t),
    .parse = id_parse,
    .match = id_match,
};

/* Decimal, or hexadecimal after an "x". "0x" is an error in Suricata too. */
static int tos_parse(struct rule_parser *p, struct text in, void *arg)
{
    struct text t = text_trim(in);
    char hex[8] = "0x";
    uint64_t value;

    if (text_starts_nocase(t, "0x"))
        t.n = 0;
    if (t.n > 1 && t.n <= 3 && (t.p[0] | 32) == 'x') {
        for (size_t i = 1; i < t.n; i++)
            hex[1 + i] = t.p[i];
        t = (struct text){ hex, t.n + 1 };
    }
    if (!text_to_u64(t, UINT8_MAX, &value))
        return rule_error(p, "tos: expected 0 to 255 or x and two hex digits, found \"%.*s\"",
                          TEXT(in));
    *(uint8_t *)arg = (uint8_t)value;
    return 0;
}

/* IPv6 has no TOS. A negated test must fail there as well, so this second test is never
 * negated. */
static bool tos_match(const struct match_input *in, const void *arg UNUSED)
{
    return in->packet->l3 != NULL && in->packet->src.version == 4;
}

static bool tos_value_match(const struct match_input *in, const void *arg)
{
    return packet_tos(in->packet) == *(const uint8_t *)arg;
}

/* Adds tos_match() next to the keyword's own test. */
static int tos_add(struct rule_parser *p, struct text in, void *arg)
{
    struct rule_test is_v4 = { .keyword = p->keyword, .match = tos_match };

    if (tos_parse(p, in, arg) < 0)
        return -1;
    rule_add_test(p, POINT_PACKET, &is_v4);
    return 0;
}

const struct keyword_ops keyword_tos = {
    .name = "tos",
    .doc = "IPv4 type of service",
    .syntax = "[!]<0-255>\n"
              "[!]x<hex digits>",
    .point = POINT_PACKET,
    .negatable = true,
    .quotes = true,
    .needs_packet = true,
    .arg_size = sizeof(uint8_t),
    .parse = tos_add,
    .match = tos_value_match,
};

/* The signature of the "land" attack: a host that answers itself. */
static bool sameip_match(const struct match_input *in, const void *arg UNUSED)
{
    return ip_equal(&in->packet->src, &in->packet->dst);
}

const struct keyword_ops keyword_sameip = {
    .name = "sameip",
    .doc = "source and destination address are the same",
    .point = POINT_PACKET,
    .argument = ARGUMENT_NONE,
    .needs_packet = true,
    .match = sameip_match,
};

/* Restricts the rule when it is loaded, so nothing is left to test per packet. */
static int l3_proto_parse(struct rule_parser *p, struct text in, void *arg UNUSED)
{
    bool v4 = text_equal_nocase(in, "ipv4") || text_equal_nocase(in, "ip4");
    bool v6 = text_equal_nocase(in, "ipv6") || text_equal_nocase(in, "ip6");

    if (!v4 && !v6)
        return rule_error(p, "l3_proto: expected ipv4, ip4, ipv6 or ip6, found \"%.*s\"", TEXT(in));
    if (p->rule->ip_version != 0 && p->rule->ip_version != (v4 ? 4 : 6))
        return rule_error(p, "l3_proto: the rule is about IPv%u already", p->rule->ip_version);
    p->rule->ip_version = v4 ? 4 : 6;
    return 0;
}

const struct keyword_ops keyword_l3_proto = {
    .name = "l3_proto",
    .doc = "IPv4 or IPv6",
    .syntax = "ipv4|ip4|ipv6|ip6",
    .point = POINT_NONE,
    .parse = l3_proto_parse,
};
