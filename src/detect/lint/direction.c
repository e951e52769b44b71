/* SPDX-License-Identifier: GPL-2.0-or-later */
/* detect/lint/direction.c - rules whose header looks the wrong way, or is about another protocol
 * than their conditions. */
#include "detect/lint/private.h"

#include <string.h>

static const char *const direction_refusals[] = {
    "conflicting directions", "without a direction", "should use both directions",
    "means to use both directions", NULL,
};

const struct lint_check lint_wrong_direction = {
    .name = "wrong-direction",
    .level = LINT_ERROR,
    .refusals = direction_refusals,
    .mend = "write flow for the side that sends the buffer (to_server: requests, to_client: "
            "responses), or name the buffer of the other side",
};

#define EPHEMERAL_FIRST 49152   /* RFC 6335 section 6 */
#define EPHEMERAL_LAST 65535

/* True if the ports are those that clients take: a list from 1024 on, for example. */
static bool is_of_clients(const struct port_set *set)
{
    return port_set_has(set, EPHEMERAL_FIRST) && port_set_has(set, EPHEMERAL_LAST);
}

/* Clients take any port, so one port on their side is seldom what the author meant. */
static void port_check(struct lint *l UNUSED, const struct lint_rule *r)
{
    uint32_t flags = r->rule->flags, both = RULE_TO_SERVER | RULE_TO_CLIENT;
    bool to_server = (flags & both) == RULE_TO_SERVER, to_client = (flags & both) == RULE_TO_CLIENT;
    const struct text *port = to_server ? &r->parts.src_port : &r->parts.dst_port;

    if ((flags & RULE_BIDIRECTIONAL) ||
        is_of_clients(to_server ? r->rule->src_port : r->rule->dst_port))
        return;
    if (!(to_server && (flags & RULE_DPORT_ANY) && !(flags & RULE_SPORT_ANY)) &&
        !(to_client && (flags & RULE_SPORT_ANY) && !(flags & RULE_DPORT_ANY)))
        return;
    lint_find(r, port->p, to_server ?
              "move the port behind the arrow, or write flow:to_client" :
              "move the port before the arrow, or write flow:to_server",
              "the rule is about what the %s sends, and %.*s is a port of the client",
              to_server ? "client" : "server", TEXT(*port));
}

const struct lint_check lint_client_port = {
    .name = "client-port", .level = LINT_WARNING, .rule = port_check,
};

/* --- protocols ---------------------------------------------------------------------------- */

#define PROTO_ICMP 1
#define PROTO_TCP 6
#define PROTO_UDP 17
#define PROTO_ICMPV6 58

/* Tests of fields that only these IP protocols have. */
static const struct { const char *keyword; uint8_t proto[2]; } fields[] = {
    { "tcp.flags", { PROTO_TCP, PROTO_TCP } },      { "tcp.seq", { PROTO_TCP, PROTO_TCP } },
    { "tcp.ack", { PROTO_TCP, PROTO_TCP } },        { "tcp.window", { PROTO_TCP, PROTO_TCP } },
    { "tcp.mss", { PROTO_TCP, PROTO_TCP } },        { "tcp.wscale", { PROTO_TCP, PROTO_TCP } },
    { "stream_size", { PROTO_TCP, PROTO_TCP } },    { "itype", { PROTO_ICMP, PROTO_ICMPV6 } },
    { "icode", { PROTO_ICMP, PROTO_ICMPV6 } },      { "icmp_id", { PROTO_ICMP, PROTO_ICMPV6 } },
    { "icmp_seq", { PROTO_ICMP, PROTO_ICMPV6 } },
};

static bool has_field(const struct rule *rule, const struct keyword_ops *k)
{
    for (unsigned i = 0; i < ARRAY_LEN(fields); i++)
        if (strcmp(k->name, fields[i].keyword) == 0)
            return rule_has_ip_proto(rule, fields[i].proto[0]) ||
                   rule_has_ip_proto(rule, fields[i].proto[1]);
    return true;
}

/* A group (all versions of a protocol) has the transports of its members. */
static uint8_t transports_of(enum app_proto_id proto)
{
    uint8_t found = 0;

    for (enum app_proto_id id = APP_PROTO_FIRST; id < app_proto_end(); id++)
        if (app_proto_by_id(id) != NULL && app_proto_matches(proto, id))
            found |= app_proto_by_id(id)->transports;
    return found;
}

static bool can_carry(const struct rule *rule)
{
    uint8_t transports = transports_of((enum app_proto_id)rule->app_proto);

    return transports == 0 || ((transports & APP_TCP) && rule_has_ip_proto(rule, PROTO_TCP)) ||
           ((transports & APP_UDP) && rule_has_ip_proto(rule, PROTO_UDP));
}

/* The name of a group of protocols ends in "_any", which rules do not write. */
static void protocol_check(struct lint *l UNUSED, const struct lint_rule *r)
{
    const struct rule *rule = r->rule;
    const char *name;

    for (unsigned i = 0; i < rule->test_count; i++) {
        const struct keyword_ops *k = rule->test[i].keyword;

        if (has_field(rule, k))
            continue;
        lint_find(r, lint_place(lint_option_nth(r, k, 0)),
                  "name the protocol of the field in the header",
                  "the rule never matches: packets of %.*s have no %s", TEXT(r->parts.protocol),
                  k->name);
        return;
    }
    if (rule->app_proto == APP_PROTO_UNKNOWN || can_carry(rule))
        return;
    name = app_proto_name((enum app_proto_id)rule->app_proto);
    lint_find(r, r->parts.protocol.p, "name the protocol itself in the header",
              "the rule never matches: its conditions are about %.*s, which %.*s does not carry",
              (int)strcspn(name, "_"), name, TEXT(r->parts.protocol));
}

static const char *const protocol_refusals[] = {
    "cannot be used with protocol", "conflicting alprotos", "but the rule is about",
    "has no such header", NULL,
};

const struct lint_check lint_wrong_protocol = {
    .name = "wrong-protocol",
    .level = LINT_ERROR,
    .rule = protocol_check,
    .refusals = protocol_refusals,
    .mend = "name the protocol that has the buffer in the header, or another buffer",
};
