/* SPDX-License-Identifier: GPL-2.0-or-later */
/* detect/keywords/packet/icmp.c - fields of ICMP and ICMPv6. */
#include "base/text/bytes.h"
#include "base/report/json.h"
#include "detect/rule/keyword.h"

#define ICMP4 1 /* IANA's protocol numbers */
#define ICMP6 58

/* The same keywords serve both versions, as in Suricata; a rule's header tells them apart. */
static bool is_icmp(const struct packet *p)
{
    return p->l4 != NULL && (p->ip_proto == ICMP4 || p->ip_proto == ICMP6);
}

static bool itype_match(const struct match_input *in, const void *arg)
{
    return is_icmp(in->packet) && int_match_has(arg, in->packet->icmp.type);
}

const struct keyword_ops keyword_itype = {
    .name = "itype",
    .doc = "ICMP type",
    .syntax = "<number>",
    .features = "supports firewall,prefilter",
    .point = POINT_PACKET,
    .needs_packet = true,
    .arg_size = sizeof(struct int_match),
    .parse = int_parse_u8,
    .match = itype_match,
};

static bool icode_match(const struct match_input *in, const void *arg)
{
    return is_icmp(in->packet) && int_match_has(arg, in->packet->icmp.code);
}

static void icode_describe(const struct rule_test *test, struct json *j)
{
    int_match_describe(test->arg, "code", j);
}

const struct keyword_ops keyword_icode = {
    .name = "icode",
    .doc = "ICMP code",
    .syntax = "<number>",
    .features = "supports firewall,prefilter",
    .point = POINT_PACKET,
    .needs_packet = true,
    .arg_size = sizeof(struct int_match),
    .parse = int_parse_u8,
    .match = icode_match,
    .describe = icode_describe,
};

/* Types whose messages begin with an identifier and a sequence number: echo, timestamp,
 * information (RFC 792), address mask (RFC 950), and echo of ICMPv6 (RFC 4443). */
static bool has_id(const struct packet *p)
{
    if (!is_icmp(p) || p->l4_len < 8)
        return false;
    if (p->ip_proto == ICMP6)
        return p->icmp.type == 128 || p->icmp.type == 129;
    return p->icmp.type == 0 || p->icmp.type == 8 ||
           (p->icmp.type >= 13 && p->icmp.type <= 18);
}

static bool icmp_id_match(const struct match_input *in, const void *arg)
{
    return has_id(in->packet) && int_match_has(arg, in->packet->icmp.id);
}

static void icmp_id_describe(const struct rule_test *test, struct json *j)
{
    int_match_describe_number(test->arg, "id", j);
}

const struct keyword_ops keyword_icmp_id = {
    .name = "icmp_id",
    .doc = "identifier of an ICMP echo",
    .syntax = "<number>",
    .features = "prefilter",
    .point = POINT_PACKET,
    .quotes = true,
    .needs_packet = true,
    .arg_size = sizeof(struct int_match),
    .parse = int_parse_u16,
    .match = icmp_id_match,
    .describe = icmp_id_describe,
};

static bool icmp_seq_match(const struct match_input *in, const void *arg)
{
    return has_id(in->packet) && int_match_has(arg, in->packet->icmp.seq);
}

const struct keyword_ops keyword_icmp_seq = {
    .name = "icmp_seq",
    .doc = "sequence number of an ICMP echo",
    .syntax = "<number>",
    .features = "prefilter",
    .point = POINT_PACKET,
    .quotes = true,
    .needs_packet = true,
    .arg_size = sizeof(struct int_match),
    .parse = int_parse_u16,
    .match = icmp_seq_match,
};

/* Packet too big, RFC 4443 section 3.2: the MTU follows the checksum. */
static bool icmpv6_mtu_match(const struct match_input *in, const void *arg)
{
    const struct packet *p = in->packet;

    return p->l4 != NULL && p->ip_proto == ICMP6 && p->l4_len >= 8 && p->icmp.type == 2 &&
           int_match_has(arg, get_be32(p->l4 + 4));
}

static bool icmpv6_mtu_tell(const struct rule_test *test UNUSED, const struct match_input *in,
                            struct buf *out)
{
    const struct packet *p = in->packet;

    if (p->l4 != NULL && p->ip_proto == ICMP6 && p->l4_len >= 8 && p->icmp.type == 2)
        buf_printf(out, "the MTU is %u", get_be32(p->l4 + 4));
    else
        buf_add_string(out, "the packet does not tell of an MTU");
    return true;
}

const struct keyword_ops keyword_icmpv6_mtu = {
    .name = "icmpv6.mtu",
    .doc = "MTU that ICMPv6 \"packet too big\" tells",
    .syntax = "<number>",
    .features = "prefilter",
    .point = POINT_PACKET,
    .needs_packet = true,
    .arg_size = sizeof(struct int_match),
    .parse = int_parse_u32,
    .match = icmpv6_mtu_match,
    .tell = icmpv6_mtu_tell,
};
