/* SPDX-License-Identifier: GPL-2.0-or-later */
/* detect/keywords/flow/flow.c - direction and state of the flow. */
#include "detect/rule/keyword.h"

struct flow_arg {               /* read by flow_match() for every candidate packet */
    bool direction;             /* one was named: needs a flow at all */
    int8_t established;         /* 1: must be, -1: must not, 0: either */
    int8_t fragments;           /* 1: only reassembled packets, -1: none of them */
};

/* A row: the word, the rule flag that it sets, and the flags that it contradicts.
 * from_client is to_server, because it names the sender instead of the receiver. */
static const struct flow_word {
    const char *name;
    uint32_t flag, excludes;
} words[] = {
    { "to_server", RULE_TO_SERVER, RULE_TO_CLIENT },
    { "from_client", RULE_TO_SERVER, RULE_TO_CLIENT },
    { "to_client", RULE_TO_CLIENT, RULE_TO_SERVER },
    { "from_server", RULE_TO_CLIENT, RULE_TO_SERVER },
    { "established", RULE_FLOW_ESTABLISHED, RULE_FLOW_NOT_ESTABLISHED | RULE_FLOW_STATELESS },
    { "not_established", RULE_FLOW_NOT_ESTABLISHED, RULE_FLOW_ESTABLISHED },
    { "stateless", RULE_FLOW_STATELESS, RULE_FLOW_ESTABLISHED },
    { "only_stream", RULE_ONLY_STREAM, RULE_NO_STREAM },
    { "no_stream", RULE_NO_STREAM, RULE_ONLY_STREAM },
    { "only_frag", RULE_ONLY_FRAG, RULE_NO_FRAG },
    { "no_frag", RULE_NO_FRAG, RULE_ONLY_FRAG },
};
/* Directions need no test, as rules are grouped by direction; FLOW_STATES are what
 * flow_match() tests. */
#define FLOW_DIRECTIONS (RULE_TO_SERVER | RULE_TO_CLIENT)
#define FLOW_STATES (RULE_FLOW_ESTABLISHED | RULE_FLOW_NOT_ESTABLISHED | RULE_ONLY_FRAG | \
                     RULE_NO_FRAG)

/* A word that comes twice or contradicts an earlier one is an error: the rule would never
 * match. */
static int word_parse(struct rule_parser *p, struct text in, uint32_t *flags)
{
    for (size_t i = 0; i < ARRAY_LEN(words); i++) {
        if (!text_equal_nocase(in, words[i].name))
            continue;
        if (*flags & words[i].flag)
            return rule_error(p, "flow: \"%.*s\" is said twice", TEXT(in));
        if (*flags & words[i].excludes)
            return rule_error(p, "flow: \"%.*s\" contradicts an earlier word", TEXT(in));
        *flags |= words[i].flag;
        return 0;
    }
    return rule_error(p,
                      "flow: expected to_server, to_client, from_server, from_client, established, "
                      "not_established, stateless, only_stream, no_stream, only_frag or no_frag, "
                      "found \"%.*s\"",
                      TEXT(in));
}

/* "=>" rules cover both directions of a transaction. A hook such as http:request_line has
 * its direction already, and the rule must not name the other one. */
static int direction_apply(struct rule_parser *p, uint32_t flags)
{
    struct rule *rule = p->rule;

    if ((flags & FLOW_DIRECTIONS) && (rule->flags & RULE_TX_BOTH))
        return rule_error(p, "rule %u means to use both directions, cannot specify a flow "
                          "direction", rule->sid);
    if ((flags & FLOW_DIRECTIONS) && (rule->flags & FLOW_DIRECTIONS & ~flags))
        return rule_error(p, rule->hook != 0 ? "flow: the rule's hook is in the other direction"
                                             : "flow: the rule has the other direction already");
    return 0;
}

/* `established` is a property of the packet: it holds the state of the flow at that
 * packet. The flow itself may have moved on. */
static bool flow_match(const struct match_input *in, const void *arg)
{
    const struct flow_arg *a = arg;
    const uint32_t flags = in->packet->flags;

    if (a->direction && in->flow == NULL)
        return false;
    if (a->established != 0 && ((flags & PACKET_ESTABLISHED) != 0) != (a->established > 0))
        return false;
    return a->fragments == 0 || ((flags & PACKET_REASSEMBLED) != 0) == (a->fragments > 0);
}

/* At most three words, as in Suricata: a direction, a state, and one about streams or
 * fragments. only_stream and no_stream choose whether the rule inspects packets or
 * streamed data. */
static int flow_parse(struct rule_parser *p, struct text in, void *arg)
{
    struct rule_test test = { .keyword = p->keyword, .match = flow_match, .arg = arg };
    struct flow_arg *a = arg;
    struct text rest = in, word;
    uint32_t flags = 0;
    unsigned count = 0;

    if (p->rule->flags & (FLOW_STATES | RULE_FLOW_STATELESS))
        return rule_error(p, "flow: occurs twice in the rule");
    if (in.n > 0 && in.p[in.n - 1] == ',')
        return rule_error(p, "flow: expected a word after the last comma, found \"%.*s\"",
                          TEXT(in));
    while (text_split(&rest, ',', &word)) {
        if (++count > 3)
            return rule_error(p, "flow: expected at most three words, found \"%.*s\"", TEXT(in));
        if (word_parse(p, word, &flags) < 0)
            return -1;
    }
    if (direction_apply(p, flags) < 0)
        return -1;
    p->rule->flags |= flags;
    if (flags & (FLOW_STATES | RULE_FLOW_STATELESS))
        p->rule->flags |= RULE_NEEDS_FLOW;            /* "not_established" needs a flow as well */
    if (flags & RULE_ONLY_STREAM)
        p->rule->flags |= RULE_NEEDS_STREAM;
    if (flags & RULE_NO_STREAM)
        p->rule->flags |= RULE_NEEDS_PACKET;
    a->direction = (flags & FLOW_DIRECTIONS) != 0;
    a->established = (flags & RULE_FLOW_ESTABLISHED) ? 1 :
                     (flags & RULE_FLOW_NOT_ESTABLISHED) ? -1 : 0;
    a->fragments = (flags & RULE_ONLY_FRAG) ? 1 : (flags & RULE_NO_FRAG) ? -1 : 0;
    if (flags & FLOW_STATES)
        rule_add_test(p, POINT_PACKET, &test);
    return 0;
}

const struct keyword_ops keyword_flow = {
    .name = "flow",
    .doc = "direction and state of the flow",
    .syntax = "[to_server|to_client|from_client|from_server]"
              "[,established|not_established|stateless]"
              "[,only_stream|no_stream|only_frag|no_frag]",
    .features = "supports firewall,prefilter",
    .point = POINT_NONE,
    .arg_size = sizeof(struct flow_arg),
    .parse = flow_parse,
};
