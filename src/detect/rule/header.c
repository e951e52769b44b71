/* SPDX-License-Identifier: GPL-2.0-or-later */
/* detect/rule/header.c - the header of a rule: action, protocol, addresses, ports and
 * direction. */
#include "detect/rule/firewall_action.h"
#include "detect/rule/parser.h"

#include <stdio.h>
#include <string.h>

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

/* --- fields of the text ----------------------------------------------------------------------- */

/* Takes the text up to the next blank outside brackets: lists of addresses and ports may
 * contain blanks. */
static struct text take_field(struct text *rest)
{
    struct text field = text_trim(*rest);
    int depth = 0;
    size_t n = 0;

    *rest = field;
    for (; n < field.n; n++) {
        if (field.p[n] == '[')
            depth++;
        else if (field.p[n] == ']')
            depth--;
        else if (is_blank(field.p[n]) && depth <= 0)
            break;
    }
    *rest = text_from(field, n);
    return (struct text){ field.p, n };
}

/* Returns the text between the outer parentheses. */
static struct text options_of(struct text rest)
{
    rest = text_trim(rest);
    while (rest.n > 0 && (rest.p[0] == '(' || is_blank(rest.p[0])))
        rest = text_from(rest, 1);
    while (rest.n > 0 && (rest.p[rest.n - 1] == ')' || is_blank(rest.p[rest.n - 1])))
        rest.n--;
    return rest;
}

/* Splits a rule into its parts without checking them. Errors name what was expected next. */
int rule_split(const struct rule_text *text, struct rule_parts *parts, struct err *err)
{
    static const char *const names[] = { "an action", "a protocol", "source addresses",
                                         "source ports", "a direction", "destination addresses",
                                         "destination ports" };
    struct text *const fields[] = { &parts->action, &parts->protocol, &parts->src,
                                    &parts->src_port, &parts->arrow, &parts->dst,
                                    &parts->dst_port };
    struct text rest = text->text;

    for (size_t i = 0; i < ARRAY_LEN(fields); i++) {
        *fields[i] = take_field(&rest);
        if (fields[i]->n == 0 || fields[i]->p[0] == '(')
            return err_at(err, rule_text_at(text, fields[i]->p),
                          "rule header: expected %s, found \"%.*s\"", names[i],
                          (int)MIN(fields[i]->n, 20), fields[i]->p);
    }
    rest = text_trim(rest);
    if (rest.n == 0 || rest.p[0] != '(')
        return err_at(err, rule_text_at(text, rest.p),
                      "rule header: expected \"(\" and the options, found \"%.*s\"",
                      (int)MIN(rest.n, 20), rest.p);
    parts->options = options_of(rest);
    if (parts->options.n == 0)
        return err_at(err, rule_text_at(text, rest.p), "the rule has no options");
    return 0;
}

/* --- action ----------------------------------------------------------------------------------- */

/* "reject" answers the sender, as "rejectsrc". */
static const struct { const char *name; enum rule_action action; } actions[] = {
    { "alert", RULE_ALERT },           { "drop", RULE_DROP },
    { "pass", RULE_PASS },             { "reject", RULE_REJECT_SRC },
    { "rejectsrc", RULE_REJECT_SRC },  { "rejectdst", RULE_REJECT_DST },
    { "rejectboth", RULE_REJECT_BOTH }, { "config", RULE_CONFIG },
    { "accept", RULE_ACCEPT },
};

/* `fmt` takes one text. The position is that of the field. */
static int header_error(struct rule_builder *b, struct text field, struct err *err,
                        const char *fmt, struct text shown)
{
    char sentence[300];

    snprintf(sentence, sizeof(sentence), fmt, TEXT(shown));
    return err_at(err, rule_text_at(b->text, field.p), "%s", sentence);
}

/* "drop:packet", "pass:flow". For config only the packet makes sense, which is its
 * default. */
static int scope_parse(struct rule_builder *b, struct text in, struct err *err)
{
    struct rule *rule = b->parser.rule;
    bool reaches = rule->action == RULE_DROP || rule->action == RULE_PASS ||
                   (rule->action >= RULE_REJECT_SRC && rule->action <= RULE_REJECT_BOTH);

    if (text_equal(in, "packet") && (reaches || rule->action == RULE_CONFIG))
        rule->scope = SCOPE_PACKET;
    else if (text_equal(in, "flow") && reaches)
        rule->scope = SCOPE_FLOW;
    else if (reaches)
        return header_error(b, in, err, "action scope: expected packet or flow, found \"%.*s\"",
                            in);
    else
        return header_error(b, in, err, "this action takes no scope \"%.*s\": only drop, pass and "
                            "reject do", in);
    return 0;
}

/* --- actions of the firewall: "accept:flow,pass:flow,alert" ----------------------------------- */

static int firewall_action_parse(struct rule_builder *b, struct text in, struct err *err)
{
    struct rule *rule = b->parser.rule;
    struct firewall_action a = { 0 };
    struct text rest = in, word, wrong;

    for (bool first = true; text_split(&rest, ',', &word); first = false) {
        const char *expected = firewall_action_add(&a, first, word, &wrong);

        if (expected != NULL)
            return err_at(err, rule_text_at(b->text, wrong.p),
                          "firewall rule: expected %s, found \"%.*s\"", expected, TEXT(wrong));
    }
    rule->action = a.action;
    rule->scope = a.scope;
    rule->also_pass = a.also_pass;
    rule->flags |= a.alert ? RULE_ALERT_KEYWORD : 0;
    return 0;
}

/* Combinations that firewall rules must not have. Data of TCP span packets, so a rule
 * about a protocol over TCP cannot accept or drop one packet. */
static int firewall_header_check(struct rule_builder *b, struct text in, struct err *err)
{
    const struct rule *rule = b->parser.rule;

    if (rule->hook == 0)
        return header_error(b, in, err, "firewall rules name their hook, as in tcp:all or "
                            "PROTOCOL:request_complete; found \"%.*s\"", in);
    if (rule->app_proto != APP_PROTO_UNKNOWN && rule->scope == SCOPE_PACKET &&
        !rule_has_ip_proto(rule, 17))
        return header_error(b, in, err, "scope packet is not for the hook \"%.*s\": its data span "
                            "packets", in);
    if (rule->hook_up_to &&
        (rule->action != RULE_ACCEPT || rule->scope == SCOPE_PACKET))
        return header_error(b, in, err, "\"%.*s\": only accept:flow, accept:tx and accept:hook "
                            "reach the hooks before", in);
    return 0;
}

/* The actions of rules outside the firewall. */
static int action_parse(struct rule_builder *b, struct text in, struct err *err)
{
    const char *colon = memchr(in.p, ':', in.n);
    struct text name = { in.p, colon != NULL ? (size_t)(colon - in.p) : in.n };

    for (size_t i = 0; i < ARRAY_LEN(actions); i++) {
        if (!text_equal_nocase(name, actions[i].name))
            continue;
        if (actions[i].action == RULE_ACCEPT)
            return header_error(b, in, err, "action \"%.*s\": accept is for firewall rules only",
                                in);
        b->parser.rule->action = (uint8_t)actions[i].action;
        return colon == NULL ? 0 : scope_parse(b, text_from(in, name.n + 1), err);
    }
    return header_error(b, in, err,
                        "unknown action \"%.*s\": expected alert, drop, reject, rejectsrc, "
                        "rejectdst, rejectboth, pass or config",
                        name);
}

/* --- protocol --------------------------------------------------------------------------------- */

#define PROTO_ANY 255           /* not a transport: all of them */
#define PROTO_NO_IP 254         /* bit 0 of the set: frames without IP have protocol 0 */
/* The protocols that a header can name besides those of applications. The tcp variants
 * choose whether packets or stream data are inspected. */
static const struct header_proto {
    const char *name;
    uint8_t proto[2];           /* 0: none */
    uint8_t ip_version;
    uint8_t link;               /* enum rule_link */
    uint32_t flags;
} header_protos[] = {
    { .name = "tcp", .proto = { 6 } },
    { .name = "tcp-pkt", .proto = { 6 }, .flags = RULE_PROTO_TCP_PKT | RULE_NEEDS_PACKET },
    { .name = "tcp-stream", .proto = { 6 }, .flags = RULE_PROTO_TCP_STREAM | RULE_NEEDS_STREAM },
    { .name = "udp", .proto = { 17 } },
    { .name = "icmpv4", .proto = { 1 } },
    { .name = "icmpv6", .proto = { 58 } },
    { .name = "icmp", .proto = { 1, 58 } },
    { .name = "igmp", .proto = { 2 } },
    { .name = "sctp", .proto = { 132 } },
    { .name = "ip", .proto = { PROTO_ANY } },
    { .name = "pkthdr", .proto = { PROTO_ANY }, .flags = RULE_PROTO_PKTHDR },
    { .name = "ether", .proto = { PROTO_ANY }, .link = RULE_LINK_ETHER },
    { .name = "arp", .proto = { PROTO_NO_IP }, .link = RULE_LINK_ARP },
    { .name = "ip4", .proto = { PROTO_ANY }, .ip_version = 4 },
    { .name = "ipv4", .proto = { PROTO_ANY }, .ip_version = 4 },
    { .name = "ip6", .proto = { PROTO_ANY }, .ip_version = 6 },
    { .name = "ipv6", .proto = { PROTO_ANY }, .ip_version = 6 },
};

const char *rule_header_proto(unsigned index)
{
    return index < ARRAY_LEN(header_protos) ? header_protos[index].name : NULL;
}

/* The header's set has one bit per IP protocol. */
static void add_ip_proto(struct rule *rule, uint8_t proto)
{
    rule->ip_proto[proto >> 3] |= (uint8_t)(1u << (proto & 7));
}

/* False: the name is none of these. */
static bool header_proto_apply(struct rule *rule, struct text name)
{
    for (size_t i = 0; i < ARRAY_LEN(header_protos); i++) {
        const struct header_proto *hp = &header_protos[i];

        if (!text_equal_nocase(name, hp->name))
            continue;
        if (hp->proto[0] == PROTO_ANY)
            memset(rule->ip_proto, 0xff, sizeof(rule->ip_proto));
        else
            for (unsigned k = 0; k < 2 && hp->proto[k] != 0; k++)
                add_ip_proto(rule, hp->proto[k] == PROTO_NO_IP ? 0 : hp->proto[k]);
        rule->ip_version = hp->ip_version;
        rule->link = hp->link;
        rule->flags |= hp->flags;
        return true;
    }
    return false;
}

/* A rule about an application protocol covers the transports that the protocol uses. */
static void add_transports(struct rule *rule, const struct app_proto *proto)
{
    if (proto->transports & APP_TCP)
        add_ip_proto(rule, 6);
    if (proto->transports & APP_UDP)
        add_ip_proto(rule, 17);
}

/* Adds every enabled protocol that the name covers. False: there is none, so the rule could not
 * match. */
static bool app_proto_apply(struct rule *rule, struct text name, const struct app_conf *conf)
{
    enum app_proto_id rule_proto;
    bool any = false;

    if (!app_proto_by_rule_name(name, &rule_proto))
        return false;
    for (unsigned id = APP_PROTO_FIRST; id < app_proto_end(); id++) {
        const struct app_proto *proto = app_proto_by_id((enum app_proto_id)id);
        bool meant = id == rule_proto || (app_proto_is_group(rule_proto) &&
                                      app_proto_matches(rule_proto, (enum app_proto_id)id));

        if (proto == NULL || !meant || (conf != NULL && !app_proto_is_detected(conf, proto->id)))
            continue;
        add_transports(rule, proto);
        any = true;
    }
    rule->app_proto = (uint8_t)rule_proto;
    return any;
}

/* --- hooks ------------------------------------------------------------------------------------ */

/* "tcp:pre_flow": when packets are inspected. */
static int packet_hook_parse(struct rule_builder *b, struct text in, struct err *err)
{
    static const char *const names[] = { [HOOK_FLOW_START] = "flow_start",
                                         [HOOK_PRE_FLOW] = "pre_flow",
                                         [HOOK_PRE_STREAM] = "pre_stream", [HOOK_ALL] = "all" };

    for (unsigned i = HOOK_FLOW_START; i < ARRAY_LEN(names); i++) {
        if (text_equal(in, names[i])) {
            b->parser.rule->hook = (uint8_t)i;
            return 0;
        }
    }
    return header_error(b, in, err,
                        "packet hook: expected flow_start, pre_flow, pre_stream or all, "
                        "found \"%.*s\"",
                        in);
}

/* -1: the protocol has no such state. */
static int64_t progress_by_name(const struct app_name *names, struct text name)
{
    for (const struct app_name *n = names; n != NULL && n->name != NULL; n++)
        if (text_equal(name, n->name))
            return n->value;
    return -1;
}

/* "stream:" of "http2:stream:request_headers", the kind of the hook's transactions. */
static int hook_kind_parse(struct rule_builder *b, const struct app_proto *proto, struct text *in,
                           struct err *err)
{
    const char *colon = memchr(in->p, ':', in->n);
    struct text kind = { in->p, colon != NULL ? (size_t)(colon - in->p) : 0 };

    if (colon == NULL)
        return 0;
    for (unsigned i = 0; proto->tx_kinds != NULL && proto->tx_kinds[i].name != NULL; i++)
        if (text_equal(kind, proto->tx_kinds[i].name)) {
            b->parser.rule->hook_kind = (uint8_t)(1 + i);
            *in = text_from(*in, kind.n + 1);
            return 0;
        }
    return header_error(b, *in, err, "hook \"%.*s\": this protocol has no such transactions", *in);
}

/* Firewall rules would pass over a step that the rules of Suricata 8 do not know. */
static bool is_of_other_version(const struct rule_builder *b, const struct app_proto *proto,
                                int64_t progress)
{
    return b->firewall && !b->parser.ruleset->suricata_9 &&
           (b->parser.rule->hook_kind != 0 || (proto->steps_of_nine >> progress & 1) != 0);
}

/* "http1:request_line": a state of progress. "<" in firewall rules covers the hooks before
 * as well. The name also decides the direction. */
static int app_hook_parse(struct rule_builder *b, struct text in, struct err *err)
{
    struct rule *rule = b->parser.rule;
    const struct app_proto *proto = app_proto_of_rule((enum app_proto_id)rule->app_proto);

    if (app_proto_is_group((enum app_proto_id)rule->app_proto))
        return header_error(b, in, err, "hook \"%.*s\": the rule's protocol means several, "
                            "of which each has hooks of its own", in);
    if (hook_kind_parse(b, proto, &in, err) < 0)
        return -1;
    if (b->firewall && in.n > 0 && in.p[0] == '<') {
        rule->hook_up_to = true;
        in = text_from(in, 1);
    }
    for (unsigned d = TO_SERVER; d <= TO_CLIENT; d++) {
        const char *started = d == TO_SERVER ? "request_started" : "response_started";
        const char *complete = d == TO_SERVER ? "request_complete" : "response_complete";
        const struct app_name *names = rule->hook_kind == 0 ? proto->progress_names[d] :
            proto->tx_kinds[rule->hook_kind - 1].progress_names[d];
        int64_t progress = progress_by_name(names, in);

        if (text_equal(in, started))
            progress = 0;
        else if (text_equal(in, complete))
            progress = proto->progress_done[d];
        if (progress < 0)
            continue;
        if (is_of_other_version(b, proto, progress))
            return header_error(b, in, err, "hook \"%.*s\": firewall rules need compatibility: "
                                "suricata-9 for it", in);
        rule->hook = (uint8_t)(1 + progress);
        rule->hook_in_app = true;
        rule->flags |= d == TO_SERVER ? RULE_TO_SERVER : RULE_TO_CLIENT;
        return 0;
    }
    return header_error(b, in, err, "this protocol has no hook \"%.*s\"", in);
}

/* PROTOCOL[:HOOK]. Transports come first, then application protocols. */
static int protocol_parse(struct rule_builder *b, struct text in, struct err *err)
{
    const char *colon = memchr(in.p, ':', in.n);
    struct text name = { in.p, colon != NULL ? (size_t)(colon - in.p) : in.n };
    struct text hook = colon != NULL ? text_from(in, name.n + 1) : (struct text){ in.p, 0 };

    if (header_proto_apply(b->parser.rule, name))
        return colon == NULL ? 0 : packet_hook_parse(b, hook, err);
    if (!app_proto_apply(b->parser.rule, name, b->parser.request->app))
        return header_error(b, in, err, "protocol \"%.*s\" cannot be used in a rule: it is not "
                            "known, or app-layer.protocols switches it off", name);
    return colon == NULL ? 0 : app_hook_parse(b, hook, err);
}

/* --- direction, addresses, ports -------------------------------------------------------------- */

/* "<>" makes two rules; "=>" makes one that covers both directions of a transaction. */
static int arrow_parse(struct rule_builder *b, struct text in, struct err *err)
{
    if (text_equal(in, "<>"))
        b->parser.rule->flags |= RULE_BIDIRECTIONAL;
    else if (text_equal(in, "=>"))
        b->parser.rule->flags |= RULE_TX_BOTH;
    else if (!text_equal(in, "->"))
        return header_error(b, in, err, "direction: expected ->, <> or =>, found \"%.*s\"", in);
    return 0;
}

/* Equal lists share one set in the ruleset, so that pointers can be compared. */
static const struct address_set *addresses_parse(struct rule_builder *b, struct text in,
                                                 struct err *err)
{
    return address_set_get(&b->parser.ruleset->addresses, in, &b->address_vars,
                           rule_text_at(b->text, in.p), err);
}

static const struct port_set *ports_parse(struct rule_builder *b, struct text in, struct err *err)
{
    return port_set_get(&b->parser.ruleset->ports, in, &b->port_vars,
                        rule_text_at(b->text, in.p), err);
}

#define SWAP(type, a, b) \
    do { type swap_ = (a); (a) = (b); (b) = swap_; } while (0)

/* `swapped`: for the second rule of "<>". The protocol comes before the hook's check,
 * because that depends on it. */
int rule_header_parse(struct rule_builder *b, const struct rule_parts *parts, bool swapped,
                      struct err *err)
{
    struct rule *rule = b->parser.rule;

    b->parser.protocol_at = rule_text_at(b->text, parts->protocol.p);
    b->parser.arrow_at = rule_text_at(b->text, parts->arrow.p);
    if ((b->firewall ? firewall_action_parse : action_parse)(b, parts->action, err) < 0 ||
        protocol_parse(b, parts->protocol, err) < 0 || arrow_parse(b, parts->arrow, err) < 0 ||
        (b->firewall && firewall_header_check(b, parts->protocol, err) < 0))
        return -1;
    if (rule->flags & RULE_NEEDS_PACKET)
        b->parser.packet_at = b->parser.protocol_at;
    rule->src = addresses_parse(b, parts->src, err);
    if (rule->src == NULL)
        return -1;
    rule->src_port = ports_parse(b, parts->src_port, err);
    if (rule->src_port == NULL)
        return -1;
    rule->dst = addresses_parse(b, parts->dst, err);
    if (rule->dst == NULL)
        return -1;
    rule->dst_port = ports_parse(b, parts->dst_port, err);
    if (rule->dst_port == NULL)
        return -1;
    if (rule->link != RULE_LINK_ANY && !(rule->src_port->any && rule->dst_port->any))
        return header_error(b, parts->protocol, err, "a rule about \"%.*s\" has no ports",
                            parts->protocol);
    if (swapped) {
        SWAP(const struct address_set *, rule->src, rule->dst);
        SWAP(const struct port_set *, rule->src_port, rule->dst_port);
    }
    rule->flags |= (rule->src->any ? RULE_SRC_ANY : 0) | (rule->dst->any ? RULE_DST_ANY : 0) |
                   (rule->src_port->any ? RULE_SPORT_ANY : 0) |
                   (rule->dst_port->any ? RULE_DPORT_ANY : 0);
    return 0;
}
