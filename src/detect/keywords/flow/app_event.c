/* SPDX-License-Identifier: GPL-2.0-or-later */
/* detect/keywords/flow/app_event.c - app-layer-event: anomalies that protocol detection or
 * a parser found. A name without a dot is an event of protocol detection and belongs to
 * the flow. "proto.event" is an event of a parser and belongs to a transaction. */
#include "app/proto.h"
#include "base/report/log.h"
#include "detect/rule/keyword.h"

#include <netinet/in.h>

#include <string.h>

struct app_event_arg { uint32_t event; }; /* the enum's value in its table */

/* A flow without application layer, for example before its first data, has no events. */
static bool flow_event_match(const struct match_input *in, const void *arg)
{
    const struct app_event_arg *a = arg;

    return in->flow != NULL && in->flow->app != NULL &&
           app_flow_has_event(in->flow->app, a->event);
}

static bool tx_event_match(const struct match_input *in, const void *arg)
{
    const struct app_event_arg *a = arg;

    return app_tx_has_event(in->tx, a->event);
}

static void add_name(struct buf *out, const char *name, unsigned *count)
{
    buf_printf(out, "%s%s", (*count)++ > 0 ? ", " : "", name);
}

static void tell_flow_events(const struct flow *f, struct buf *out, unsigned *count)
{
    buf_add_string(out, "the events of the flow are: ");
    for (unsigned i = 1; i <= APP_LAYER_EVENT_MAX && f != NULL && f->app != NULL; i++)
        if (app_layer_event_name(i) != NULL && app_flow_has_event(f->app, i))
            add_name(out, app_layer_event_name(i), count);
}

static bool event_tell(const struct rule_test *test, const struct match_input *in, struct buf *out)
{
    const struct app_name *n;
    unsigned count = 0;

    if (test->match == flow_event_match) {
        tell_flow_events(in->flow, out, &count);
    } else if (in->tx == NULL) {
        return false;
    } else {
        buf_add_string(out, "the events of the transaction are: ");
        for (n = in->tx->flow->proto->events; n != NULL && n->name != NULL; n++)
            if (app_tx_has_event(in->tx, (unsigned)n->value))
                add_name(out, n->name, &count);
    }
    if (count == 0)
        buf_add_string(out, "none");
    return true;
}

/* Names do not depend on case. `names` ends with a NULL name; NULL: the protocol has no
 * events. */
static bool event_find(const struct app_name *names, struct text name, uint32_t *event)
{
    for (; names != NULL && names->name != NULL; names++) {
        if (text_equal_nocase(name, names->name)) {
            *event = (uint32_t)names->value;
            return true;
        }
    }
    return false;
}

static bool layer_event_find(struct text name, uint32_t *event)
{
    for (*event = 1; *event <= APP_LAYER_EVENT_MAX; ++*event) {
        const char *known = app_layer_event_name(*event);

        if (known != NULL && text_equal_nocase(name, known))
            return true;
    }
    return false;
}

/* Rules of other versions name events that this one does not have: they are left out, unless the
 * keyword is strict. */
static int unknown_event(struct rule_parser *p, struct text proto, struct text event)
{
    if (p->strict)
        return rule_error(p, "app-layer-event: protocol \"%.*s\" has no event \"%.*s\"",
                          TEXT(proto), TEXT(event));
    rule_warning(p, "app-layer-event: protocol \"%.*s\" has no event \"%.*s\": the rule is left "
                 "out", TEXT(proto), TEXT(event));
    return KEYWORD_IGNORE_RULE;
}

/* Suricata looks an event up for one transport of the rule, TCP if the rule has it. */
static bool has_transport(const struct rule *r, const struct app_proto *proto)
{
    bool tcp = rule_has_ip_proto(r, IPPROTO_TCP), udp = rule_has_ip_proto(r, IPPROTO_UDP);

    if (tcp && (proto->transports & APP_TCP))
        return true;
    return udp && (proto->transports & APP_UDP) && (!tcp || r->app_proto == APP_PROTO_UNKNOWN);
}

/* The test may become true at any time until the transaction is over (`any_time`), because
 * a parser can raise an event in either direction. The rule becomes one of the protocol
 * that declares the event. */
static int proto_event_parse(struct rule_parser *p, struct text proto, struct text event,
                             struct app_event_arg *a)
{
    struct rule_test test = { .keyword = p->keyword, .match = tx_event_match, .arg = a,
                              .any_time = true, .directions = APP_BOTH };
    const struct app_proto *ops;
    enum app_proto_id id;

    if (!app_proto_by_rule_name(proto, &id))
        return rule_error(p, "app-layer-event: there is no protocol \"%.*s\"", TEXT(proto));
    ops = app_proto_of_rule(id);
    if (!rule_has_ip_proto(p->rule, IPPROTO_TCP) && !rule_has_ip_proto(p->rule, IPPROTO_UDP))
        return rule_error(p, "app-layer-event: the rule must be about TCP or UDP");
    if (ops == NULL || !event_find(ops->events, event, &a->event) || !has_transport(p->rule, ops))
        return unknown_event(p, proto, event);
    if (rule_set_app_proto(p, ops->id) < 0)
        return -1;
    rule_add_test(p, POINT_TX, &test);
    return 0;
}

/* An unknown event of protocol detection is always an error: these names are Suricata's
 * and few. */
static int app_event_parse(struct rule_parser *p, struct text in, void *arg)
{
    struct rule_test test = { .keyword = p->keyword, .match = flow_event_match, .arg = arg };
    const char *dot = memchr(in.p, '.', in.n);
    struct app_event_arg *a = arg;

    if (dot != NULL)
        return proto_event_parse(p, (struct text){ in.p, (size_t)(dot - in.p) },
                                 text_from(in, (size_t)(dot - in.p) + 1), a);
    if (!layer_event_find(in, &a->event))
        return rule_error(p, "app-layer-event: there is no event \"%.*s\"", TEXT(in));
    rule_add_test(p, POINT_PACKET, &test);
    return 0;
}

const struct keyword_ops keyword_app_layer_event = {
    .name = "app-layer-event",
    .doc = "an anomaly that protocol detection or a parser found",
    .syntax = "<event>\n"
              "<protocol>.<event>",
    .point = POINT_NONE,
    .arg_size = sizeof(struct app_event_arg),
    .parse = app_event_parse,
    .tell = event_tell,
};
