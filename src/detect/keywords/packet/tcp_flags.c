/* SPDX-License-Identifier: GPL-2.0-or-later */
/* detect/keywords/packet/tcp_flags.c - tcp.flags: flag bits of TCP (RFC 9293; ECE and CWR:
 * RFC 3168). */
#include "detect/keywords/packet/tcp_flags.h"
#include "detect/rule/keyword.h"

#include <string.h>

struct tcp_flags_arg {          /* looked_at: without the flags to ignore */
    char modifier;              /* 0: exactly; '+', '*', '!' */
    uint8_t flags, looked_at;
};

/* "1" and "2" are Snort's letters for CWR and ECE, when these bits were reserved. -1: no
 * flag. */
static int flag_bit(char c)
{
    switch (c | 32) {
    case 'f': return TCP_FIN;
    case 's': return TCP_SYN;
    case 'r': return TCP_RST;
    case 'p': return TCP_PSH;
    case 'a': return TCP_ACK;
    case 'u': return TCP_URG;
    case 'e': return TCP_ECE;
    case 'c': return TCP_CWR;
    default: return c == '1' ? TCP_CWR : c == '2' ? TCP_ECE : -1;
    }
}

/* Letters with at most one modifier among them; 0 stands for no flags at all. */
static bool parse_flags(struct text in, struct tcp_flags_arg *a)
{
    unsigned found = 0;

    for (size_t i = 0; i < in.n; i++) {
        char c = in.p[i];

        if (c == ' ')
            continue;
        if (c != '\0' && strchr("+*!", c) != NULL) {
            if (a->modifier != 0)
                return false;
            a->modifier = c;
        } else if (c == '0') {
            a->flags = 0;
            found++;
        } else if (flag_bit(c) >= 0) {
            a->flags |= (uint8_t)flag_bit(c);
            found++;
        } else {
            return false;
        }
    }
    return found > 0;
}

/* The list after the comma: flags that may be set or not. */
static bool parse_ignored(struct text in, struct tcp_flags_arg *a)
{
    for (size_t i = 0; i < in.n; i++) {
        if (flag_bit(in.p[i]) < 0)
            return false;
        a->looked_at &= (uint8_t)~flag_bit(in.p[i]);
    }
    return in.n > 0;
}

/* A comma without a list is an error, as in Suricata. */
static int tcp_flags_parse(struct rule_parser *p, struct text in, void *arg)
{
    struct tcp_flags_arg *a = arg;
    struct text rest = in, flags;
    bool ok = text_split(&rest, ',', &flags) && parse_flags(flags, a);

    a->looked_at = 0xff;
    rest = text_trim(rest);
    if (!ok || (rest.p > flags.p + flags.n && rest.n > 0 && !parse_ignored(rest, a)) ||
        in.p[in.n - 1] == ',')
        return rule_error(p,
                          "tcp.flags: expected letters of FSRPAUEC or 0, one of +, * or ! if need "
                          "be, and \",\" with flags to ignore, found \"%.*s\"",
                          TEXT(in));
    return 0;
}

/* Flags of segments that open or close a connection, and those that ordinary traffic
 * rarely sets. */
#define OPEN_OR_CLOSE (TCP_SYN | TCP_RST | TCP_FIN)
#define UNUSUAL (TCP_URG | TCP_ECE | TCP_CWR)

/* A rule that names a flag of one of these kinds applies to segments that have a flag of
 * that kind. That is true also for flags that must not be set: "!S" is about segments with
 * RST or FIN. */
static bool is_of_kind(uint8_t named, uint8_t flags)
{
    return (!(named & OPEN_OR_CLOSE) || (flags & OPEN_OR_CLOSE)) &&
           (!(named & UNUSUAL) || (flags & UNUSUAL));
}

/* '*' any of the flags, '+' all and perhaps more, '!' not all of them, else exactly these. */
static bool tcp_flags_match(const struct match_input *in, const void *arg)
{
    const struct tcp_flags_arg *a = arg;
    uint8_t flags;

    if (!packet_is_tcp(in->packet))
        return false;
    flags = in->packet->tcp.flags;
    if (!is_of_kind(a->flags, flags))
        return false;
    if (a->flags == 0 && flags != 0)
        return a->modifier == '!';
    flags &= a->looked_at;
    switch (a->modifier) {
    case '*': return (flags & a->flags) != 0;
    case '+': return (flags & a->flags) == a->flags;
    case '!': return (flags & a->flags) != a->flags;
    default: return flags == a->flags;
    }
}

const struct keyword_ops keyword_tcp_flags = {
    .name = "tcp.flags",
    .alias = "flags",
    .doc = "TCP flags: exactly these, + and others, * any of them, ! not all",
    .syntax = "[+|*|!]<letters of F, S, R, P, A, U, E, C, or 0>[,<flags to ignore>]",
    .features = "supports firewall,prefilter",
    .point = POINT_PACKET,
    .needs_packet = true,
    .arg_size = sizeof(struct tcp_flags_arg),
    .parse = tcp_flags_parse,
    .match = tcp_flags_match,
};

/* All flags that the rule names; `positive`: without those of tests with '!'. For reports
 * about rules (analysis/). */
uint8_t rule_tcp_flags(const struct rule *rule, bool positive)
{
    uint8_t flags = 0;

    for (unsigned i = 0; i < rule->test_count; i++) {
        const struct tcp_flags_arg *a = rule->test[i].arg;

        if (rule->test[i].keyword == &keyword_tcp_flags && !(positive && a->modifier == '!'))
            flags |= a->flags;
    }
    return flags;
}
