/* SPDX-License-Identifier: GPL-2.0-or-later */
/* detect/compile/classify.c - derives the type of a rule from what it uses. The type decides when
 * the rule is evaluated and whether its action applies to the flow. */
#include "detect/compile/compile.h"
#include "detect/rule/flowbits.h"
#include "detect/rule/program.h"
#include "match/address.h"

#include <string.h>

#define PROTO_TCP 6 /* IANA's number */

/* `names` ends with NULL. */
static bool is_one_of(const struct rule_test *test, const char *const *names)
{
    for (; *names != NULL; names++)
        if (strcmp(test->keyword->name, *names) == 0)
            return true;
    return false;
}

/* A rule that only sets a bit keeps its type. A rule that reads or clears bits depends on
 * the packets before it, so it must run on each packet. */
static bool only_sets_bits(const struct rule *r)
{
    struct flowbits_use use;

    for (unsigned i = 0; i < r->post_count; i++)
        if (flowbits_use_of(&r->post[i], &use) && strcmp(use.command, "set") != 0)
            return false;
    return r->flowbits_read == 0;
}

/* True also when the rule has no tests: then nothing ties it to a packet. */
static bool all_tests(const struct rule *r, const char *const *names)
{
    for (unsigned i = 0; i < r->test_count; i++)
        if (!is_one_of(&r->test[i], names))
            return false;
    for (unsigned i = 0; i < r->post_count; i++)
        if (!is_one_of(&r->post[i], names))
            return false;
    return only_sets_bits(r);
}

static bool any_test(const struct rule *r, const char *const *names)
{
    for (unsigned i = 0; i < r->test_count; i++)
        if (is_one_of(&r->test[i], names))
            return true;
    return false;
}

/* Keywords with which a rule may still be "ip_only": they depend on addresses, or on state
 * that does not need a look at the packet. The lists are Suricata's. */
static const char *const address_compatible[] = {
    "ip_proto", "flowbits", "xbits", "hostbits", "iprep", "tag", "threshold", "detection_filter",
    NULL
};
static const char *const event_compatible[] = { "decode-event", "engine-event", "stream-event",
                                                NULL };
static const char *const proto_words[] = { "app-layer-protocol", NULL };
static const char *const size_words[] = { "stream_size", NULL };

static bool has_buffers(const struct rule *r)
{
    return r->list != NULL || r->tx_test_count > 0;
}

/* The payload has one list at most; NULL: the rule does not inspect payload. */
static const struct rule_list *payload_list(const struct rule *r)
{
    const struct rule_list *l = r->list;

    while (l != NULL && l->buffer != NULL)
        l = l->next;
    return l;
}

/* Exactly one direction; both flags together mean either. */
static bool has_direction(const struct rule *r)
{
    uint32_t both = RULE_TO_SERVER | RULE_TO_CLIENT;

    return (r->flags & both) != 0 && (r->flags & both) != both;
}

/* "pd_only": inspected once, when the protocol is known. A state of the flow would need
 * each packet. */
static bool is_proto_only(const struct rule *r)
{
    static const char *const compatible[] = { "app-layer-protocol", "flowbits", "xbits",
                                              "hostbits", "iprep", "tag", "threshold",
                                              "detection_filter", "flow", NULL };
    uint32_t states = RULE_FLOW_ESTABLISHED | RULE_FLOW_NOT_ESTABLISHED | RULE_FLOW_STATELESS |
                      RULE_ONLY_STREAM | RULE_NO_STREAM;

    return r->hook == 0 && r->app_proto == APP_PROTO_UNKNOWN && !has_buffers(r) &&
           !(r->flags & states) && any_test(r, proto_words) && all_tests(r, compatible);
}

/* "ip_only": the same for each packet of a flow, so it is inspected once in each
 * direction. */
static bool is_address_only(const struct rule *r)
{
    return r->hook == 0 && r->app_proto == APP_PROTO_UNKNOWN && !has_buffers(r) &&
           !has_direction(r) && !(r->flags & (RULE_FLOW_ESTABLISHED | RULE_FLOW_NOT_ESTABLISHED |
                                              RULE_FLOW_STATELESS | RULE_NO_FRAG |
                                              RULE_ONLY_FRAG)) &&
           all_tests(r, address_compatible);
}

/* "de_only": inspected for packets that have an event, which most do not. */
bool rule_is_event_only(const struct rule *r)
{
    return r->hook == 0 && r->app_proto == APP_PROTO_UNKNOWN && !has_buffers(r) &&
           any_test(r, event_compatible) && all_tests(r, event_compatible);
}

/* Depth and offset count from the start of a packet as well as from the start of the
 * stream. */
static bool has_place(const struct rule_list *payload)
{
    for (const struct rule_op *op = payload->first; op != NULL; op = op->next)
        if (op->kind == OP_CONTENT && (op->flags & (OP_DEPTH | OP_OFFSET)))
            return true;
    return false;
}

/* TCP payload is searched in the stream. When a position matters it is searched in the
 * packet too, because rule writers mean the start of a segment as often as that of the
 * stream. */
static void derive_stream(struct rule *r)
{
    const struct rule_list *payload = payload_list(r);

    if (payload == NULL)
        return;
    r->flags |= RULE_NEEDS_PAYLOAD;
    if (!rule_has_ip_proto(r, PROTO_TCP) ||
        (r->flags & (RULE_NEEDS_PACKET | RULE_NEEDS_STREAM)))
        return;
    r->flags |= RULE_NEEDS_STREAM;
    if (has_place(payload) || any_test(r, size_words))
        r->flags |= RULE_NEEDS_PACKET;
}

static enum rule_type payload_type(const struct rule *r)
{
    switch (r->flags & (RULE_NEEDS_PACKET | RULE_NEEDS_STREAM)) {
    case RULE_NEEDS_PACKET: return RULE_PACKET;
    case RULE_NEEDS_STREAM: return RULE_STREAM;
    default:                return RULE_PACKET_STREAM;
    }
}

/* Two kinds, because most callers ask for two. */
static bool has_kind(const struct rule *r, enum buffer_kind a, enum buffer_kind b)
{
    for (const struct rule_list *l = r->list; l != NULL; l = l->next)
        if (l->buffer != NULL && (l->buffer->kind == a || l->buffer->kind == b))
            return true;
    return false;
}

static bool negates(const struct address_set *set)
{
    return set != NULL && set->negates;
}

/* The order of the tests is Suricata's: a rule that fits several types gets the first. */
static enum rule_type type_of(const struct rule *r)
{
    if (r->tx_test_count > 0 || has_kind(r, BUFFER_TX, BUFFER_FRAME))
        return RULE_APP_TX;
    if (r->hook_in_app)
        return RULE_APP_TX;
    if (r->link != RULE_LINK_ANY)
        return RULE_PACKET;
    if (is_proto_only(r))
        return RULE_PROTO_ONLY;
    if (rule_is_event_only(r))
        return RULE_DECODER_EVENT;
    if (is_address_only(r))
        return negates(r->src) || negates(r->dst) ? RULE_LIKE_IP_ONLY : RULE_IP_ONLY;
    if (has_kind(r, BUFFER_PACKET, BUFFER_PACKET))
        return RULE_PACKET;
    if (payload_list(r) != NULL)
        return payload_type(r);
    if (r->test_count > 0 || (r->flags & RULE_FLOW_STATELESS))
        return RULE_PACKET;
    return r->app_proto != APP_PROTO_UNKNOWN ? RULE_APP_LAYER : RULE_PACKET;
}

/* Runs once the rule is complete and before its fast pattern is chosen, which depends on
 * the type. A rule without a direction gets both. */
void rule_classify(struct rule *r)
{
    if (r->flags & RULE_ONLY_STREAM)
        r->flags |= RULE_NEEDS_STREAM;
    if (r->flags & (RULE_NO_STREAM | RULE_PROTO_TCP_PKT))
        r->flags |= RULE_NEEDS_PACKET;
    if (r->flags & RULE_PROTO_TCP_STREAM)
        r->flags |= RULE_NEEDS_STREAM;
    derive_stream(r);
    r->upstream = NULL;
    r->type = (uint8_t)type_of(r);
    if (!(r->flags & (RULE_TO_SERVER | RULE_TO_CLIENT)))
        r->flags |= RULE_TO_SERVER | RULE_TO_CLIENT;
    if (r->app_proto != APP_PROTO_UNKNOWN)
        r->flags |= RULE_NEEDS_FLOW;
}

enum rule_type rule_written_type(const struct rule *r)
{
    return r->upstream != NULL ? payload_type(r) : (enum rule_type)r->type;
}

/* Decides whether drop and pass apply to the packet, or to the rest of the flow. A scope in the
 * rule wins ("drop:packet"); otherwise the type decides, as in Suricata. */
enum action_reach rule_reach(const struct rule *r)
{
    if (r->scope == SCOPE_PACKET)
        return REACH_PACKET;
    if (r->scope == SCOPE_FLOW)
        return REACH_FLOW;
    if (has_kind(r, BUFFER_PACKET, BUFFER_PACKET) && !r->hook_in_app)
        return REACH_PACKET;    /* whatever other tests on transactions it has */
    switch (rule_written_type(r)) {
    case RULE_DECODER_EVENT:
    case RULE_PACKET:
        return REACH_PACKET;
    case RULE_PACKET_STREAM:
    case RULE_STREAM:
        return REACH_FLOW_IF_STATEFUL;
    default:
        return REACH_FLOW;
    }
}
