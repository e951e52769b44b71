/* SPDX-License-Identifier: GPL-2.0-or-later */
/* detect/keywords/flow/app_protocol.c - app-layer-protocol: the detected protocol of the
 * flow. */
#include "detect/rule/keyword.h"
#include "detect/rule/ruleset_private.h"

/* Selects the flow's protocol to compare: that of the packet's direction (the default), the current
 * one, the one before a change such as STARTTLS, or those of both directions. */
enum { MODE_DIRECTION, MODE_FINAL, MODE_ORIGINAL, MODE_EITHER, MODE_TO_SERVER, MODE_TO_CLIENT };

struct app_protocol_arg { /* `mode`: MODE_* */
    uint8_t proto, mode;
    bool negated;
};

/* "unknown" and "failed" are states, not protocols, so only equality counts. For the
 * others a more general protocol includes its parts ("http" is http1 and http2). */
static bool is_proto(const struct app_protocol_arg *a, uint16_t found)
{
    if (a->proto == APP_PROTO_UNKNOWN || a->proto == APP_PROTO_FAILED)
        return found == a->proto;
    return app_proto_matches((enum app_proto_id)a->proto, (enum app_proto_id)found);
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

/* A protocol that app-layer.protocols disables is never detected, so the rule could not
 * match. "!unknown" is an error in Suricata too. */
static int proto_parse(struct rule_parser *p, struct text in, struct app_protocol_arg *a)
{
    enum app_proto_id id;

    if (text_equal(in, "failed")) {
        a->proto = APP_PROTO_FAILED;
        return 0;
    }
    if (text_equal(in, "unknown")) {
        if (a->negated)
            return rule_error(p, "app-layer-protocol: \"unknown\" cannot be negated");
        a->proto = APP_PROTO_UNKNOWN;
        return 0;
    }
    if (!app_proto_by_rule_name(in, &id))
        return rule_error(p, "app-layer-protocol: there is no protocol \"%.*s\"", TEXT(in));
    if (p->request->app != NULL && !app_proto_any_is_detected(p->request->app, id))
        return rule_error(p, "app-layer-protocol: app-layer.protocols switches \"%.*s\" off",
                          TEXT(in));
    a->proto = (uint8_t)id;
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

/* A rule whose header or buffers name a protocol asks for it already; a second one is an
 * error. Two positive tests in the same mode contradict each other; two negated ones may
 * be combined. */
static int app_protocol_parse(struct rule_parser *p, struct text in, void *arg)
{
    struct app_protocol_arg *a = arg;
    const struct rule_test *last = rule_last_test(p, POINT_PACKET);
    struct rule_test test = { .keyword = p->keyword, .match = app_protocol_match, .arg = arg };
    struct text rest = in, proto, mode = { "direction", 9 };

    if (p->rule->app_proto != APP_PROTO_UNKNOWN)
        return rule_error(p, "app-layer-protocol: the rule is about protocol %s already",
                          app_proto_name((enum app_proto_id)p->rule->app_proto));
    a->negated = p->negated;
    text_split(&rest, ',', &proto);
    text_split(&rest, ',', &mode);
    if (proto_parse(p, proto, a) < 0 || mode_parse(p, mode, &a->mode) < 0)
        return -1;
    if (last != NULL && last->match == app_protocol_match) {
        const struct app_protocol_arg *b = last->arg;

        if (b->mode == a->mode && (!a->negated || !b->negated))
            return rule_error(p, "app-layer-protocol: contradicts the one before it");
    }
    rule_add_test(p, POINT_PACKET, &test);
    return 0;
}

const struct keyword_ops keyword_app_layer_protocol = {
    .name = "app-layer-protocol",
    .doc = "the recognised application protocol",
    .features = "supports firewall,prefilter",
    .point = POINT_NONE,
    .negatable = true,
    .quotes = true,
    .arg_size = sizeof(struct app_protocol_arg),
    .parse = app_protocol_parse,
};
