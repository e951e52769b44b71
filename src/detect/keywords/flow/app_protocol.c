/* SPDX-License-Identifier: GPL-2.0-or-later */
/* detect/keywords/flow/app_protocol.c - app-layer-protocol: the detected protocol of the
 * flow. */
#include "detect/rule/keyword.h"
#include "detect/rule/ruleset_private.h"

/* Selects the flow's protocol to compare: that of the packet's direction (the default), the current
 * one, the one before a change such as STARTTLS, or those of both directions. */
enum { MODE_DIRECTION, MODE_FINAL, MODE_ORIGINAL, MODE_EITHER, MODE_TO_SERVER, MODE_TO_CLIENT };

#define PROTO_SET_SIZE ((APP_PROTO_COUNT + 7) / 8)

struct app_protocol_arg { /* `mode`: MODE_* */
    uint8_t mode;
    bool negated;
    uint8_t named[PROTO_SET_SIZE];      /* bit set of what the rule says */
    uint8_t has[PROTO_SET_SIZE];        /* with what these include: "http" is http1 and http2 */
};

static void set_add(uint8_t set[PROTO_SET_SIZE], unsigned proto)
{
    set[proto / 8] |= (uint8_t)(1u << proto % 8);
}

static bool is_proto(const struct app_protocol_arg *a, uint16_t found)
{
    return found < APP_PROTO_COUNT && (a->has[found / 8] & (1u << found % 8));
}

/* "!http" does not match while the protocol is still unknown: it may yet become http. */
static bool one_dir(const struct app_protocol_arg *a, uint16_t found)
{
    if (a->negated)
        return found != APP_PROTO_UNKNOWN && !is_proto(a, found);
    return is_proto(a, found);
}

/* Negated: neither direction has the protocol, and at least one is known. */
static bool either_dir(const struct app_protocol_arg *a, const uint16_t found[2])
{
    bool hit = is_proto(a, found[TO_SERVER]) || is_proto(a, found[TO_CLIENT]);

    if (a->negated && found[TO_SERVER] == APP_PROTO_UNKNOWN &&
        found[TO_CLIENT] == APP_PROTO_UNKNOWN)
        return false;
    return hit != a->negated;
}

/* Reads only the flow, so the rule can fire as soon as detection ends (rule type
 * "pd_only"). */
static bool app_protocol_match(const struct match_input *in, const void *arg)
{
    const struct app_protocol_arg *a = arg;
    const struct flow *f = in->flow;

    if (f == NULL)
        return false;
    switch (a->mode) {
    case MODE_FINAL: return one_dir(a, f->app_proto);
    case MODE_ORIGINAL: return one_dir(a, f->app_proto_orig);
    case MODE_EITHER: return either_dir(a, f->app_proto_dir);
    case MODE_TO_SERVER: return one_dir(a, f->app_proto_dir[TO_SERVER]);
    case MODE_TO_CLIENT: return one_dir(a, f->app_proto_dir[TO_CLIENT]);
    default: return one_dir(a, f->app_proto_dir[match_side(in)]);
    }
}

/* "unknown" and "failed" are states, so they include nothing but themselves. */
static void add_proto(struct app_protocol_arg *a, unsigned proto, bool exact)
{
    set_add(a->named, proto);
    set_add(a->has, proto);
    for (unsigned id = APP_PROTO_FIRST; !exact && id < APP_PROTO_COUNT; id++)
        if (proto > APP_PROTO_FAILED &&
            app_proto_matches((enum app_proto_id)proto, (enum app_proto_id)id))
            set_add(a->has, id);
}

/* A protocol that app-layer.protocols disables is never detected, so the rule could not
 * match. "!unknown" is an error in Suricata too. No flow has the protocol "http", only http1
 * or http2. */
static int proto_parse(struct rule_parser *p, struct text in, bool exact,
                       struct app_protocol_arg *a)
{
    enum app_proto_id id = APP_PROTO_FAILED;
    bool is_state = text_equal(in, "failed") || text_equal(in, "unknown");

    if (text_equal(in, "unknown")) {
        if (a->negated)
            return rule_error(p, "app-layer-protocol: \"unknown\" cannot be negated");
        id = APP_PROTO_UNKNOWN;
    }
    if (!is_state && !app_proto_by_rule_name(in, &id))
        return rule_error(p, "app-layer-protocol: there is no protocol \"%.*s\"", TEXT(in));
    if (exact && app_proto_is_group(id))
        return rule_error(p, "app-layer-protocol: no flow is exactly \"%.*s\", only one of its "
                          "versions", TEXT(in));
    if (!is_state && p->request->app != NULL && !app_proto_any_is_detected(p->request->app, id))
        return rule_error(p, "app-layer-protocol: app-layer.protocols switches \"%.*s\" off",
                          TEXT(in));
    add_proto(a, id, exact);
    return 0;
}

/* The names are indexed by MODE_*. */
static int mode_parse(struct rule_parser *p, struct text in, uint8_t *mode)
{
    static const char *const names[] = {
        [MODE_DIRECTION] = "direction", [MODE_FINAL] = "final", [MODE_ORIGINAL] = "original",
        [MODE_EITHER] = "either", [MODE_TO_SERVER] = "to_server", [MODE_TO_CLIENT] = "to_client",
    };

    for (unsigned i = 0; i < ARRAY_LEN(names); i++) {
        if (text_equal(in, names[i])) {
            *mode = (uint8_t)i;
            return 0;
        }
    }
    return rule_error(p,
                      "app-layer-protocol: expected direction, final, original, either, to_server "
                      "or to_client behind the protocol, found \"%.*s\"",
                      TEXT(in));
}

/* What follows the protocols: at most one mode, and "exact" for no relatives, in any order. */
static int options_parse(struct rule_parser *p, struct text in, struct app_protocol_arg *a,
                         bool *exact)
{
    struct text rest = in, word;
    bool has_mode = false;

    while (text_split(&rest, ',', &word)) {
        if (text_equal(word, "exact")) {
            *exact = true;
            continue;
        }
        if (has_mode)
            return rule_error(p, "app-layer-protocol: one mode is enough, found also \"%.*s\"",
                              TEXT(word));
        if (mode_parse(p, word, &a->mode) < 0)
            return -1;
        has_mode = true;
    }
    return 0;
}

static bool names_same(const struct app_protocol_arg *a, const struct app_protocol_arg *b)
{
    for (unsigned i = 0; i < PROTO_SET_SIZE; i++)
        if (a->named[i] & b->named[i])
            return true;
    return false;
}

/* In one mode, two positive tests contradict each other, and so do a positive and a negated one.
 * Negated ones may be combined if they name different protocols. */
static int check_others(struct rule_parser *p, const struct app_protocol_arg *a)
{
    const struct rule_test *test;

    for (unsigned i = 0; (test = rule_test_at(p, POINT_PACKET, i)) != NULL; i++) {
        const struct app_protocol_arg *b = test->arg;

        if (test->match == app_protocol_match && b->mode == a->mode &&
            (!a->negated || !b->negated || names_same(a, b)))
            return rule_error(p, "app-layer-protocol: contradicts the one before it");
    }
    return 0;
}

/* "tls|http,either,exact": any of the protocols. A rule whose header or buffers name a protocol
 * asks for it already; a second one is an error. */
static int app_protocol_parse(struct rule_parser *p, struct text in, void *arg)
{
    struct app_protocol_arg *a = arg;
    struct rule_test test = { .keyword = p->keyword, .match = app_protocol_match, .arg = arg };
    struct text rest = in, protos = { "", 0 }, proto;
    bool exact = false;

    if (p->rule->app_proto != APP_PROTO_UNKNOWN)
        return rule_error(p, "app-layer-protocol: the rule is about protocol %s already",
                          app_proto_name((enum app_proto_id)p->rule->app_proto));
    a->negated = p->negated;
    a->mode = MODE_DIRECTION;
    text_split(&rest, ',', &protos);
    if (options_parse(p, rest, a, &exact) < 0)
        return -1;
    if (protos.n == 0 || protos.p[protos.n - 1] == '|')
        return rule_error(p, "app-layer-protocol: expected a protocol, found \"%.*s\"", TEXT(in));
    while (text_split(&protos, '|', &proto))
        if (proto_parse(p, proto, exact, a) < 0)
            return -1;
    if (check_others(p, a) < 0)
        return -1;
    rule_add_test(p, POINT_PACKET, &test);
    return 0;
}

const struct keyword_ops keyword_app_layer_protocol = {
    .name = "app-layer-protocol",
    .doc = "the recognised application protocol",
    .syntax = "[!]<protocol>[|<protocol>]..."
              "[,direction|final|original|either|to_server|to_client][,exact]",
    .features = "supports firewall,prefilter",
    .point = POINT_NONE,
    .negatable = true,
    .quotes = true,
    .arg_size = sizeof(struct app_protocol_arg),
    .parse = app_protocol_parse,
};
