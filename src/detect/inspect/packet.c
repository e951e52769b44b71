/* SPDX-License-Identifier: GPL-2.0-or-later */
/* detect/inspect/packet.c - rules on a packet, its payload and its flow's stream. */
#include "detect/inspect/address_case.h"
#include "detect/inspect/alert_once.h"
#include "detect/inspect/part_cost.h"
#include "detect/inspect/rule_cost.h"
#include "detect/inspect/search_ahead.h"
#include "flow/elephant.h"
#include "flow/flow.h"
#include "flow/vars.h"

/* Whether the rule's fast pattern is on payload. */
static bool has_payload_pattern(const struct rule *r)
{
    return r->fast_op != NULL && r->fast_list != NULL && r->fast_list->buffer == NULL;
}

/* TCP payload is matched in the stream if the data went there. It is matched in the packet if they
 * did not, or if the rule gives a position in the payload. */
static bool payload_matches(struct detect_thread *dt, const struct match_input *in,
                            const struct rule_program *program, bool stream_due, uint8_t *flags)
{
    const struct rule *r = in->rule;
    const struct packet *p = in->packet;
    bool stream = p->ip_proto == 6 && (r->flags & RULE_NEEDS_STREAM);

    if ((p->flags & PACKET_NO_PAYLOAD_INSPECT) && has_payload_pattern(r) &&
        LIKELY(!dt->inspection->unsampled))     /* matches of the part before it are due */
        return false;               /* the prefilter has not searched this payload */
    if (stream && stream_due &&
        stream_rules_has(p->flow->detect->ds[in->direction].pending_alerts, r->index)) {
        const struct stream_dir *ds = &p->flow->detect->ds[in->direction];

        if (LIKELY(!dt->plan->alert_once) || !alert_once_has(ds, r->index)) {
            *flags |= ALERT_STREAM;
            stream_captures_take(dt, ds, r->index);
            return true;
        }
        stream_due = false;             /* the packet's own bytes remain */
    }
    if (stream && !(r->flags & RULE_NEEDS_PACKET) && (p->flags & PACKET_STREAM_ADDED))
        return false;
    if ((r->flags & RULE_ONLY_STREAM) || (p->flags & PACKET_STREAM_NO_APP))
        return false;
    /* while data of the stream are due, a match that is not in the packet is a failure, not
     * unknown */
    if (!stream_due && (p->payload_len == 0 || (p->flags & PACKET_NO_PAYLOAD_INSPECT)))
        return false;
    buffer_begin(dt, NULL);
    return inspect_slice(dt, program, (struct slice){ p->payload, p->payload_len }, in);
}

/* One of several suffices. A buffer that does not exist matches only a rule with `absent`. */
static bool buffer_matches(struct detect_thread *dt, const struct match_input *in,
                           const struct rule_list *l)
{
    struct buffer_source from = { in->packet, NULL, in->direction, 0 };
    struct slice data;

    do {
        if (!inspect_buffer(dt, l->buffer, &from, &data))
            return from.index == 0 && l->program->absent;
        if (inspect_slice(dt, l->program, data, in))
            return true;
        from.index++;
    } while (l->buffer->multi);
    return false;
}

/* All conditions, in the rule's order. */
static bool lists_match(struct detect_thread *dt, const struct match_input *in, bool stream_due,
                        uint8_t *flags)
{
    for (const struct rule_list *l = in->rule->list; l != NULL; l = l->next) {
        bool ok = l->buffer == NULL ? payload_matches(dt, in, l->program, stream_due, flags)
                                    : buffer_matches(dt, in, l);

        if (!ok)
            return false;
    }
    return true;
}

/* For rules of the firewall, which need no prefilter. */
bool packet_rule_matches(struct detect_thread *dt, const struct match_input *in)
{
    uint8_t flags = 0;

    return proto_fits(in->rule->app_proto, in->packet) && rule_tests_pass(in->rule, in) &&
           lists_match(dt, in, false, &flags);
}

/* Returns the oldest transaction that is not finished in this direction. */
static struct app_tx *open_tx(const struct app_flow *af, enum direction d)
{
    struct app_tx *tx = af->first;

    while (tx != NULL && (detect_tx(tx)->bits[d] & TX_BITS_DONE))
        tx = tx->next;
    return tx;
}

/* Whether no later transaction can have a part in this direction. */
static bool is_only(const struct app_tx *tx, enum direction d)
{
    uint64_t after = tx->flow->next_tx_id - tx->id - 1;

    return after == 0 || (after == 1 && tx->next != NULL && tx->next->unidirectional[d]);
}

/* An alert on a packet shows the transaction that it most likely belongs to. For a rule on UDP that
 * names the protocol this is certain enough; for others the user must enable it (guess-tx). */
static uint64_t tx_of_packet(const struct detect_thread *dt, const struct match_input *in,
                             uint8_t *flags)
{
    const struct app_flow *af = in->flow != NULL ? in->flow->app : NULL;
    bool sure = af != NULL && in->flow->key.proto == 17 &&
                in->rule->app_proto != APP_PROTO_UNKNOWN;
    struct app_tx *tx;

    if (af == NULL || af->proto == NULL || (!sure && !dt->plan->guess_tx))
        return ALERT_NO_TX;
    tx = open_tx(af, in->direction);
    if (tx == NULL || (!sure && !is_only(tx, in->direction)) ||
        detect_tx(tx)->guessed >= dt->plan->guess_limit)
        return ALERT_NO_TX;
    detect_tx(tx)->guessed++;
    if (in->flow->key.proto != 17)
        *flags |= ALERT_TX_GUESSED;
    return tx->id;
}

/* The match is in the packet, and the stream will bring the same bytes. Inline both are one
 * inspection. Rules that drop or pass act on the flow only with the stream's match. */
static void COLD note_alert(const struct detect_thread *dt, const struct match_input *in)
{
    const struct packet *p = in->packet;
    uint32_t both = RULE_NEEDS_PACKET | RULE_NEEDS_STREAM;

    if (p->ip_proto == 6 && (in->rule->flags & both) == both && in->rule->action == RULE_ALERT &&
        p->payload_len > 0 && (p->flags & PACKET_STREAM_ADDED) && !dt->is_inline &&
        detect_flow_get(in->flow) != NULL)
        alert_once_note(&in->flow->detect->ds[in->direction], in);
}

/* One direction of a packet, as it is inspected. */
struct packet_context {
    struct detect_thread *dt;
    struct packet *packet;
    enum direction direction;
    bool stream_due;            /* data of the stream are reported with this packet */
    struct header_view header;
};

/* One candidate on one packet: cheap tests first. At the end of a flow there is no packet,
 * so rules on packets do not run. */
static bool rule_inspect(struct packet_context *c, const struct rule *r)
{
    struct detect_thread *dt = c->dt;
    struct packet *p = c->packet;
    struct match_input in;
    uint64_t tx_id;
    uint8_t flags = 0;

    if (inspection_is_last(dt->inspection) && r->type == RULE_PACKET)
        return false;
    if (!rule_header_fits(r, &c->header) || !rule_packet_fits(r, &c->header, p) ||
        !proto_fits(r->app_proto, p))
        return false;
    if (r->type == RULE_PROTO_ONLY && !(p->flags & PACKET_PROTO_DETECTED))
        return false;
    match_input_init(&in, dt, p, c->direction, r);
    in.stream_due = c->stream_due;
    if (!rule_tests_pass(r, &in) || !lists_match(dt, &in, c->stream_due, &flags))
        return false;
    if (!rule_matched(dt, &in))
        return false;
    if (UNLIKELY(dt->plan->alert_once) && !(flags & ALERT_STREAM))
        note_alert(dt, &in);
    tx_id = tx_of_packet(dt, &in, &flags);
    alert_queue_add(dt, &in, tx_id, 0, flags);
    return true;
}

/* The header of a section is tested once for all of its rules. */
static void collect_anchored(struct detect_thread *dt, const struct packet *p,
                             const struct anchored_lists *lists, struct header_view *h)
{
    for (unsigned i = 0; i < lists->count; i++) {
        const struct anchored_section *s = &lists->section[i];

        if ((p->payload_len == 0 && s->needs_bytes) ||
            !section_may_fit(dt->plan, s, h) || !proto_fits(s->app_proto, p))
            continue;
        anchored_section_collect(s, (struct slice){ p->payload, p->payload_len }, 0, &dt->found);
    }
}

/* For a TCP payload that did not go into the stream, rules on streams inspect the packet. */
static void collect_unstreamed(struct detect_thread *dt, const struct packet *p,
                               const struct transport_group *g, struct header_view *h)
{
    struct sent_payload sent = { { p->payload, p->payload_len }, p->src_port, p->dst_port };
    unsigned proto = p->flow != NULL ? p->flow->app_proto : APP_PROTO_UNKNOWN;
    const struct payload_sets *sets = g->stream[address_case(dt->plan, h)][proto];

    collect_anchored(dt, p, &g->stream_anchored, h);
    if (sets != NULL)
        payload_sets_scan(sets, dt->hs, &sent, &dt->found);
    port_lists_collect(&g->stream_non_prefilter, p->src_port, p->dst_port, sent.data, &dt->found);
}

static void scan_buffer(struct packet_context *c, const struct packet_scan *scan)
{
    struct buffer_source from = { c->packet, NULL, c->direction, 0 };
    struct slice data;

    do {
        if (!inspect_buffer(c->dt, scan->buffer, &from, &data))
            return;
        pattern_set_scan(scan->set, c->dt->hs, data.data, data.len, &c->dt->found);
        from.index++;
    } while (scan->buffer->multi);
}

/* What the packet's own bytes lead to. The helper may have searched for the patterns. */
static void collect_payload(struct packet_context *c, const struct transport_group *g)
{
    struct detect_thread *dt = c->dt;
    const struct packet *p = c->packet;
    const struct payload_sets *sets = g->payload[address_case(dt->plan, &c->header)];
    struct slice payload = { p->payload, p->payload_len };

    /* The search gives the prefetches time. */
    port_lists_fetch(&g->payload_non_prefilter, p->src_port, p->dst_port);
    port_lists_fetch(&g->non_prefilter, p->src_port, p->dst_port);
    if (LIKELY(dt->ahead == NULL) ||
        !search_ahead_take(dt->ahead, sets, payload, dt->is_inline, &dt->found))
        payload_sets_scan(sets, dt->hs,
                          &(struct sent_payload){ payload, p->src_port, p->dst_port }, &dt->found);
    port_lists_fetch_rules(&g->payload_non_prefilter, p->src_port, p->dst_port);
    port_lists_fetch_rules(&g->non_prefilter, p->src_port, p->dst_port);
    collect_anchored(dt, p, &g->payload_anchored, &c->header);
    port_lists_collect(&g->payload_non_prefilter, p->src_port, p->dst_port, payload, &dt->found);
    port_lists_collect(&g->non_prefilter, p->src_port, p->dst_port, payload, &dt->found);
}

/* Rules on the stream inspect it with this packet. without_payload: the rules of this group on
 * payload are not candidates yet. */
static void collect_due(struct packet_context *c, const struct transport_group *g,
                        bool without_payload)
{
    struct detect_thread *dt = c->dt;
    const struct packet *p = c->packet;
    struct slice payload = { p->payload, p->payload_len };

    if (without_payload) {
        collect_anchored(dt, p, &g->payload_anchored, &c->header);
        port_lists_collect(&g->payload_non_prefilter, p->src_port, p->dst_port, payload,
                           &dt->found);
    }
    collect_anchored(dt, p, &g->stream_anchored, &c->header);
    port_lists_collect(&g->stream_non_prefilter, p->src_port, p->dst_port, payload, &dt->found);
}

/* Everything that can make a rule a candidate for this packet. candidates_add() drops
 * repeats. */
static void collect(struct packet_context *c)
{
    struct detect_thread *dt = c->dt;
    struct packet *p = c->packet;
    struct header_view *h = &c->header;
    const struct transport_group *g = &dt->plan->group[packet_group(p)][c->direction];
    struct slice payload = { p->payload, p->payload_len };
    bool has_payload = p->payload_len > 0 &&
                       !(p->flags & (PACKET_NO_PAYLOAD_INSPECT | PACKET_STREAM_NO_APP));

    if (inspection_is_last(dt->inspection)) {
        port_lists_collect(&g->non_prefilter, h->src_port, h->dst_port, payload, &dt->found);
        return;
    }
    for (unsigned i = 0; i < g->packet_scan_count; i++)
        scan_buffer(c, &g->packet_scan[i]);
    if (has_payload) {
        buffer_begin(dt, NULL);
        collect_payload(c, g);
        if (UNLIKELY(g->has_stream && !(p->flags & PACKET_STREAM_ADDED)))
            collect_unstreamed(dt, p, g, h);
        part_begin(dt, COST_BUFFER, NULL);
    } else {
        port_lists_collect(&g->non_prefilter, p->src_port, p->dst_port, payload, &dt->found);
    }
    if (c->stream_due)
        collect_due(c, g, !has_payload);
}

/* Rules that matched in the stream earlier and are reported with this packet. */
static void collect_stream(struct detect_thread *dt, const struct stream_dir *ds)
{
    for (unsigned i = 0; i < stream_rules_count(ds->pending_alerts); i++)
        candidates_add(&dt->found, ds->pending_alerts->at[i]);
}

/* An earlier rule may set the bit for this one, so this is asked again before the rule is
 * evaluated. */
static bool lacks_flowbit(const struct packet_context *c, uint32_t rule)
{
    uint16_t bit = c->dt->plan->mask[rule].flowbit;

    return bit != 0 && (c->packet->flow == NULL || !flowbit_is_set(c->packet->flow, bit));
}

/* Rejects most candidates by their mask, without reading the rule itself, which is likely
 * not in the cache. */
static unsigned select_rules(struct packet_context *c)
{
    struct detect_thread *dt = c->dt;
    const struct packet *p = c->packet;
    bool has_payload = p->payload_len > 0 || c->stream_due;
    const uint8_t refused = rule_conditions(c->header.refused);
    unsigned n = 0;

    for (unsigned i = 0; i < dt->found.count; i++) {
        const struct rule_mask *b = &dt->plan->mask[dt->found.list[i]];

        if (!b->is_tx && !(b->conditions & refused) && (!b->needs_payload || has_payload) &&
            proto_fits(b->app_proto, p) &&
            (!b->is_proto || (p->flags & PACKET_PROTO_DETECTED) != 0) &&
            header_may_fit(dt->plan, b->header_id, &c->header)) {
            if (lacks_flowbit(c, dt->found.list[i]))
                dt->selected[n++] = dt->found.list[i];
            else
                select_rule(dt, &n, dt->found.list[i]);
        }
    }
    return n;
}

void packet_inspect(struct detect_thread *dt, struct packet *p, enum direction d)
{
    struct packet_context c = { .dt = dt, .packet = p, .direction = d };
    unsigned selected;

    part_begin(dt, COST_GROUP, dt->plan->group[packet_group(p)][d].name);
    c.stream_due = p->ip_proto == 6 && stream_is_due(dt, d);
    if (c.stream_due)
        stream_catch_up(dt, p, d);
    header_view_init(&c.header, p, d);
    collect(&c);
    if (c.stream_due)
        collect_stream(dt, &p->flow->detect->ds[d]);
    candidates_fetch_masks(dt);
    candidates_sort(&dt->found);
    selected = select_rules(&c);
    for (unsigned i = 0; i < selected; i++) {
        uint32_t rule = dt->selected[i];
        uint64_t started;

        if (lacks_flowbit(&c, rule))
            continue;
        started = rule_profile_begin(dt);
        rule_profile_end(dt, rule, started, rule_inspect(&c, dt->plan->rule[rule]));
    }
    candidates_clear(&dt->found);
    group_end(dt);
    if (UNLIKELY(dt->inspection->hands_over) && p->flow->detect != NULL)
        stream_keep_tail(dt, p->flow, d);
    if (c.stream_due)
        stream_mark_reported(dt, p->flow, d);
    if (p->flow != NULL && UNLIKELY(p->flow->switched_off & FLOW_NO_PAYLOAD_INSPECTION))
        stream_stop_raw(p, d, c.stream_due);
}

/* h NULL: the packet has no header that a rule could be compared with. */
static bool tests_inspect(struct detect_thread *dt, struct packet *p, enum direction d,
                          const struct rule *r, struct header_view *h)
{
    struct match_input in;

    if (h != NULL && (!rule_header_fits(r, h) || !rule_packet_fits(r, h, p)))
        return false;
    match_input_init(&in, dt, p, d, r);
    if (!rule_tests_pass(r, &in) || !rule_matched(dt, &in))
        return false;
    alert_queue_add(dt, &in, ALERT_NO_TX, 0, 0);
    return true;
}

/* Evaluates candidates whose rules have only a header and tests. */
static void run_found(struct detect_thread *dt, struct packet *p, enum direction d,
                      struct header_view *h)
{
    candidates_sort(&dt->found);
    for (unsigned i = 0; i < dt->found.count; i++) {
        uint32_t rule = dt->found.list[i];
        uint64_t started = rule_profile_begin(dt);

        rule_profile_end(dt, rule, started, tests_inspect(dt, p, d, dt->plan->rule[rule], h));
    }
    candidates_clear(&dt->found);
}

static void run_found_by_header(struct detect_thread *dt, struct packet *p, enum direction d)
{
    struct header_view h;

    header_view_init(&h, p, d);
    run_found(dt, p, d, &h);
}

static void collect_event_rules(struct detect_thread *dt, unsigned transport, enum direction d)
{
    const struct transport_group *g = &dt->plan->group[transport][d];

    for (unsigned i = 0; i < g->event_rule_count; i++)
        candidates_add(&dt->found, g->event_rule[i]);
}

/* A packet that could not be decoded has no header, so rules of all transports on events
 * may match. It has no direction either; rules without one are in both groups. */
void events_inspect(struct detect_thread *dt, struct packet *p)
{
    if (p->src.version != 0) {
        collect_event_rules(dt, transport_of(p->ip_proto), packet_direction(p));
        run_found_by_header(dt, p, packet_direction(p));
        return;
    }
    for (unsigned t = 0; t < TRANSPORT_COUNT; t++)
        collect_event_rules(dt, t, TO_SERVER);
    run_found(dt, p, TO_SERVER, NULL);
}

/* Whether the rule is on an event of detection itself. */
static bool asks_for_limits(const struct rule *r)
{
    for (unsigned i = 0; i < r->test_count; i++) {
        enum packet_event event = keyword_event(r->test[i].keyword, r->test[i].arg);

        if (event != PACKET_EVENT_NONE && packet_event_is_detect(event))
            return true;
    }
    return false;
}

void limit_events_inspect(struct detect_thread *dt, struct packet *p)
{
    const struct transport_group *g;

    if (p->src.version == 0)
        return;
    g = &dt->plan->group[transport_of(p->ip_proto)][dt->inspection->direction];
    for (unsigned i = 0; i < g->event_rule_count; i++)
        if (asks_for_limits(dt->plan->rule[g->event_rule[i]]))
            candidates_add(&dt->found, g->event_rule[i]);
    run_found_by_header(dt, p, dt->inspection->direction);
}

/* Rules on addresses alone match once for each flow and direction, as in Suricata. */
void addresses_inspect(struct detect_thread *dt, struct packet *p, enum direction d)
{
    const struct transport_group *g = &dt->plan->group[transport_of(p->ip_proto)][d];
    uint8_t flag = d == TO_SERVER ? FLOW_INSPECT_IPONLY_TS : FLOW_INSPECT_IPONLY_TC;
    struct packet_ends ends;

    /* an error message about a flow is not one of the flow's own packets */
    if (inspection_is_last(dt->inspection) ||
        (p->flow != NULL && p->ip_proto == 1 && (p->flags & PACKET_ICMP_ERROR)))
        return;
    if (p->flow != NULL) {
        if (p->flow->inspect_flags & flag)
            return;
        p->flow->inspect_flags |= flag;
    }
    ends = packet_ends(p, d);
    address_lists_collect(g->addresses, ends.src, ends.dst, &dt->found);
    run_found_by_header(dt, p, d);
}

/* --- payloads of elephant flows, searched by the helper --------------------------------------- */

/* Shorter payloads are searched in less time than a job takes. */
#define PAYLOAD_MIN_AHEAD 256

/* A prediction only: if the packet is not inspected, or in the other direction, its job is not
 * used. */
static bool may_search_ahead(const struct packet *p)
{
    const struct flow_elephant *e = p->flow != NULL ? flow_elephant(p->flow) : NULL;

    return e != NULL && e->action == ELEPHANT_SPREAD && p->payload_len >= PAYLOAD_MIN_AHEAD &&
           !(p->flags & (PACKET_PSEUDO | PACKET_NO_INSPECT | PACKET_NO_PAYLOAD_INSPECT |
                         PACKET_STREAM_NO_APP)) &&
           !(p->flow->action & (ACTION_DROP | ACTION_PASS)) && p->src.version != 0;
}

static void add_ahead(struct detect_thread *dt, const struct packet *p, unsigned at)
{
    const enum direction d = packet_direction(p);
    const struct transport_group *g = &dt->plan->group[packet_group(p)][d];
    struct sent_payload payload = { { p->payload, p->payload_len }, p->src_port, p->dst_port };
    struct header_view h;

    header_view_init(&h, p, d);
    search_ahead_add(dt->ahead, at, g->payload[address_case(dt->plan, &h)], &payload);
}

void detect_search_ahead(struct detect_thread *dt, const struct packet_vector *v)
{
    if (!dt->ahead_works)
        return;
    for (unsigned i = 0; i < v->count; i++)
        if (may_search_ahead(v->packet[i]))
            add_ahead(dt, v->packet[i], i);
    search_ahead_start(dt->ahead);
}

void detect_search_reach(struct detect_thread *dt, unsigned at)
{
    search_ahead_reach(dt->ahead, at);
}

uint64_t detect_search_end(struct detect_thread *dt)
{
    search_ahead_end(dt->ahead);
    return search_ahead_answers(dt->ahead);
}
