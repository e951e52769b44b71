/* SPDX-License-Identifier: GPL-2.0-or-later */
/* detect/keywords/packet/ip_proto.c - ip_proto: the number of the protocol that IP
 * carries. */
#include "detect/rule/keyword.h"

#include <ctype.h>
#include <netdb.h>
#include <string.h>

/* A rule may have several; each one removes protocols from the set of the rule's header. */
struct ip_proto_arg {
    char op;                    /* '=', '<', '>', '!' */
    uint8_t proto;
};

/* The system's list has each name in lower case and in upper case, so "tcp" and "TCP" are
 * names and "Tcp" is not. Suricata looks names up there. */
static bool is_one_case(struct text in)
{
    bool upper = false, lower = false;

    for (size_t i = 0; i < in.n; i++) {
        upper |= in.p[i] >= 'A' && in.p[i] <= 'Z';
        lower |= in.p[i] >= 'a' && in.p[i] <= 'z';
    }
    return !upper || !lower;
}

/* A number or a name. The table makes common names independent of /etc/protocols, which a
 * container may lack. */
static bool proto_number(struct text in, uint8_t *out)
{
    static const struct { const char *name; uint8_t proto; } names[] = {
        { "tcp", 6 }, { "udp", 17 }, { "icmp", 1 }, { "ipv6-icmp", 58 }, { "icmp6", 58 },
        { "sctp", 132 }, { "gre", 47 }, { "esp", 50 }, { "ah", 51 }, { "igmp", 2 },
        { "ip", 0 }, { "ipv6", 41 }, { "ospf", 89 }, { "pim", 103 }, { "ipip", 94 },
        { "egp", 8 }, { "vrrp", 112 }, { "l2tp", 115 }, { "udplite", 136 }, { "dccp", 33 },
    };
    char name[32];
    struct protoent *entry;
    uint64_t value;

    if (text_to_u64(in, UINT8_MAX, &value)) {
        *out = (uint8_t)value;
        return true;
    }
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        if (text_equal_nocase(in, names[i].name) && is_one_case(in)) {
            *out = names[i].proto;
            return true;
        }
    }
    if (in.n == 0 || in.n >= sizeof(name) || isdigit((unsigned char)in.p[0]))
        return false;
    memcpy(name, in.p, in.n);
    name[in.n] = '\0';
    entry = getprotobyname(name);       /* load time: /etc/protocols */
    if (entry == NULL)
        return false;
    *out = (uint8_t)entry->p_proto;
    return true;
}

/* True if the test matches this protocol. */
static bool keeps(const struct ip_proto_arg *a, unsigned proto)
{
    switch (a->op) {
    case '<': return proto < a->proto;
    case '>': return proto > a->proto;
    case '!': return proto != a->proto;
    default: return proto == a->proto;
    }
}

/* Removes protocols from the header's set, so that grouping by protocol works for these
 * rules as well. False: none is left. */
static bool shrink(struct rule *rule, const struct ip_proto_arg *a)
{
    bool any = false;

    for (unsigned i = 0; i < 256; i++) {
        if (!keeps(a, i))
            rule->ip_proto[i >> 3] &= (uint8_t)~(1u << (i & 7));
        any |= rule_has_ip_proto(rule, (uint8_t)i);
    }
    return any;
}

/* All bits are set: the header is "ip". */
static bool is_any(const struct rule *rule)
{
    for (unsigned i = 0; i < sizeof(rule->ip_proto); i++)
        if (rule->ip_proto[i] != 0xff)
            return false;
    return true;
}

static bool ip_proto_match(const struct match_input *in, const void *arg)
{
    const struct ip_proto_arg *a = arg;

    return in->packet->src.version != 0 && keeps(a, in->packet->ip_proto);
}

/* Whether the rule has an ip_proto with one of these operators. */
static bool has_op(struct rule_parser *p, const char *ops)
{
    const struct rule_test *t;

    for (unsigned i = 0; (t = rule_test_at(p, POINT_PACKET, i)) != NULL; i++)
        if (t->match == ip_proto_match && strchr(ops, ((const struct ip_proto_arg *)t->arg)->op))
            return true;
    return false;
}

/* As in Suricata: a plain number stands alone, and each bound is there once. */
static bool goes_with_others(struct rule_parser *p, char op)
{
    switch (op) {
    case '=': return !has_op(p, "=<>!");
    case '<': return !has_op(p, "=<");
    case '>': return !has_op(p, "=>");
    default:  return !has_op(p, "=");
    }
}

/* Only "ip" rules may have it, because "tcp" fixes the protocol. After an earlier ip_proto
 * the set is no longer full, so that one is looked for. */
static int ip_proto_parse(struct rule_parser *p, struct text in, void *arg)
{
    struct ip_proto_arg *a = arg;
    struct text t = text_trim(in);

    a->op = '=';
    if (t.n > 0 && strchr("!<>", t.p[0]) != NULL) {
        a->op = t.p[0];
        t = text_trim(text_from(t, 1));
    }
    if (!proto_number(t, &a->proto))
        return rule_error(p,
                          "ip_proto: expected a protocol's number or name, with !, < or > before "
                          "it if need be, found \"%.*s\"",
                          TEXT(in));
    if (!is_any(p->rule) && !has_op(p, "=<>!"))
        return rule_error(p, "ip_proto: needs a rule about \"ip\"; this one is about a protocol "
                          "already");
    if (!shrink(p->rule, a))
        return rule_error(p, "ip_proto: contradicts what the rule says before, nothing is left");
    if (!goes_with_others(p, a->op))
        return rule_error(p, "ip_proto: can't use \"%.*s\" beside the earlier ip_proto of the rule",
                          TEXT(in));
    return 0;
}

const struct keyword_ops keyword_ip_proto = {
    .name = "ip_proto",
    .doc = "number or name of the protocol that IP carries: ! < or > before it",
    .syntax = "[<op>]<number or name>",
    .point = POINT_PACKET,
    .quotes = true,
    .needs_packet = true,
    .arg_size = sizeof(struct ip_proto_arg),
    .parse = ip_proto_parse,
    .match = ip_proto_match,
};
