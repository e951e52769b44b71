/* SPDX-License-Identifier: GPL-2.0-or-later */
/* detect/keywords/packet/checksum.c - ipv4-csum, tcpv4-csum ...: is a checksum valid or
 * invalid? */
#include "detect/rule/keyword.h"
#include "packet/checksum.h"

struct checksum_arg { bool valid; }; /* the rule wants valid ones */

static int checksum_parse(struct rule_parser *p, struct text in, void *arg)
{
    struct checksum_arg *a = arg;

    a->valid = text_equal_nocase(in, "valid");
    if (!a->valid && !text_equal_nocase(in, "invalid"))
        return rule_error(p, "%s: expected valid or invalid, found \"%.*s\"", p->keyword->name,
                          TEXT(in));
    return 0;
}

/* All checksums count as valid where the capture does not check them: a network card may
 * fill them in only after the kernel has copied the packet. */
static bool is_expected(const struct match_input *in, const void *arg, bool right)
{
    const struct checksum_arg *a = arg;

    return (right || (in->packet->flags & PACKET_NO_CHECKSUM) != 0) == a->valid;
}

/* Pseudo packets are built from stream data and have no checksum of their own. */
static bool transport_match(const struct match_input *in, const void *arg, uint8_t proto,
                            uint8_t version)
{
    const struct packet *p = in->packet;

    if (p->l4 == NULL || p->ip_proto != proto || p->src.version != version ||
        (p->flags & PACKET_PSEUDO))
        return false;
    return is_expected(in, arg, packet_l4_checksum(p) == 0);
}

/* The sum over the header with its checksum is 0 when that is right (RFC 1071). */
static bool ipv4_match(const struct match_input *in, const void *arg)
{
    const struct packet *p = in->packet;

    if (p->l3 == NULL || p->src.version != 4 || (p->flags & PACKET_PSEUDO))
        return false;
    return is_expected(in, arg, checksum_fold(checksum_add(0, p->l3, p->l3_len)) == 0);
}

static bool tcpv4_match(const struct match_input *in, const void *arg)
{
    return transport_match(in, arg, 6, 4);
}

static bool tcpv6_match(const struct match_input *in, const void *arg)
{
    return transport_match(in, arg, 6, 6);
}

/* A UDP checksum of 0 over IPv4 means that the sender computed none (RFC 768), so the
 * packet is neither valid nor invalid. Over IPv6 the checksum is mandatory (RFC 8200,
 * section 8.1). */
static bool udpv4_match(const struct match_input *in, const void *arg)
{
    const struct packet *p = in->packet;

    if (packet_is_udp(p) && p->src.version == 4 && p->l4[6] == 0 && p->l4[7] == 0)
        return false;
    return transport_match(in, arg, 17, 4);
}

static bool udpv6_match(const struct match_input *in, const void *arg)
{
    return transport_match(in, arg, 17, 6);
}

static bool icmpv4_match(const struct match_input *in, const void *arg)
{
    return transport_match(in, arg, 1, 4);
}

static bool icmpv6_match(const struct match_input *in, const void *arg)
{
    return transport_match(in, arg, 58, 6);
}

/* The sum is over the message alone (RFC 9776 section 4.1.3). */
static bool igmp_match(const struct match_input *in, const void *arg)
{
    const struct packet *p = in->packet;

    if (p->l4 == NULL || p->ip_proto != 2)
        return false;
    return is_expected(in, arg, checksum_fold(checksum_add(0, p->l4, p->l4_len)) == 0);
}

/* The other word holds for the same packet unless it has no such checksum. */
static bool checksum_tell(const struct rule_test *test, const struct match_input *in,
                          struct buf *out)
{
    struct checksum_arg other = { .valid = !((const struct checksum_arg *)test->arg)->valid };

    if (!test->match(in, &other))
        buf_add_string(out, "the packet has no such checksum");
    else if (in->packet->flags & PACKET_NO_CHECKSUM)
        buf_add_string(out, "checksums of this capture are not checked and count as valid");
    else
        buf_printf(out, "the checksum is %s", other.valid ? "valid" : "invalid");
    return true;
}

/* Suricata takes the word with quotes and without. */
#define CHECKSUM_KEYWORD(symbol, written, what, function)   \
    const struct keyword_ops keyword_##symbol = {           \
        .name = written,                                    \
        .doc = what,                                        \
        .syntax = "valid|invalid",                          \
        .point = POINT_PACKET,                              \
        .of_packet = true,                                  \
        .quotes = true,                                     \
        .arg_size = sizeof(struct checksum_arg),            \
        .parse = checksum_parse,                            \
        .match = function,                                  \
        .tell = checksum_tell,                              \
    }

CHECKSUM_KEYWORD(ipv4_csum, "ipv4-csum", "checksum of the IPv4 header", ipv4_match);
CHECKSUM_KEYWORD(tcpv4_csum, "tcpv4-csum", "checksum of TCP over IPv4", tcpv4_match);
CHECKSUM_KEYWORD(tcpv6_csum, "tcpv6-csum", "checksum of TCP over IPv6", tcpv6_match);
CHECKSUM_KEYWORD(udpv4_csum, "udpv4-csum", "checksum of UDP over IPv4", udpv4_match);
CHECKSUM_KEYWORD(udpv6_csum, "udpv6-csum", "checksum of UDP over IPv6", udpv6_match);
CHECKSUM_KEYWORD(icmpv4_csum, "icmpv4-csum", "checksum of ICMP", icmpv4_match);
CHECKSUM_KEYWORD(icmpv6_csum, "icmpv6-csum", "checksum of ICMPv6", icmpv6_match);
CHECKSUM_KEYWORD(igmp_csum, "igmp-csum", "checksum of IGMP", igmp_match);
