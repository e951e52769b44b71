/* SPDX-License-Identifier: GPL-2.0-or-later */
/* detect/inspect/detect.c - the order in which the rules inspect a packet. */
#include "app/core/file.h"
#include "app/frames.h"
#include "app/session.h"
#include "detect/inspect/firewall_run.h"
#include "detect/inspect/packet_work.h"
#include "detect/inspect/part_cost.h"
#include "detect/inspect/rule_cost.h"
#include "detect/state/packet_facts.h"
#include "flow/flow.h"
#include "stream/stream.h"

static bool brought_to(const struct inspection *in, enum direction d)
{
    for (unsigned i = 0; i < in->chunk_count; i++)
        if (in->chunk[i].direction == d)
            return true;
    return false;
}

/* The packet that acknowledges data, and so brought them, goes the other way. */
static bool is_other_dir_seen(const struct inspection *in, enum direction d)
{
    const struct app_flow *af = in->flow->app;

    return af->proto != NULL && af->proto->inspect_both_dirs && af->fed[!d] && brought_to(in, !d);
}

static bool is_updated(const struct inspection *in, enum direction d)
{
    const struct flow *f = in->flow;

    return (in->packet->flags & PACKET_PSEUDO) ||
           ((f->detect_flags & DETECT_UPDATED(d)) && f->app->fed[d]) || is_other_dir_seen(in, d);
}

/* True once the connection is closed: no more data will come, which alone may complete
 * transactions. */
static bool is_over(const struct packet *p, enum direction d)
{
    return p->flags & (d == TO_SERVER ? PACKET_END_TO_SERVER : PACKET_END_TO_CLIENT);
}

static void inspect_app(struct detect_thread *dt)
{
    const struct inspection *in = dt->inspection;
    enum direction d = in->direction;
    struct packet *p = in->packet;
    struct flow *f = in->flow;
    bool updated;

    if (f == NULL || f->app == NULL || p->ip_proto != f->key.proto ||
        (p->ip_proto == 6 && !(p->flags & PACKET_STREAM_OPEN))) {
        firewall_accept(dt);
        return;
    }
    updated = p->ip_proto != 6 || is_updated(in, d);
    if (updated || is_over(p, d) || stream_is_closed(p))
        frames_inspect(dt, p, d);
    if (!updated && !is_over(p, d)) {
        firewall_accept(dt);
        return;
    }
    tx_inspect(dt, p, d, !updated);
    if (in->reason == INSPECT_DETECTLOG_FLUSH)
        return;                         /* the packet it was made for has its turn yet */
    f->app->fed[d] = false;
    f->detect_flags &= (uint8_t)~DETECT_UPDATED(d);
}

/* Payload hits of this packet have been offered to all transactions. */
static void parts_done(struct flow *f, enum direction d)
{
    if (f != NULL && f->detect != NULL && UNLIKELY(f->detect->ds[d].hits_done > 0))
        stream_payload_hits_done(&f->detect->ds[d]);
}

static void inspect_direction(struct detect_thread *dt)
{
    struct packet *p = dt->inspection->packet;
    enum direction d = dt->inspection->direction;

    addresses_inspect(dt, p, d);
    packet_inspect(dt, p, d);
    inspect_app(dt);
    parts_done(p->flow, d);
}

/* True after an earlier packet has decided for the entire flow. The stream module learns that with
 * the next vector; until then packets still arrive here. With a firewall a pass does not end
 * inspection. */
static bool inspection_done(const struct detect_thread *dt, const struct packet *p)
{
    uint8_t ends = dt->set->firewall != NULL ? ACTION_DROP : ACTION_DROP | ACTION_PASS;

    return p->flow != NULL && (p->flow->action & ends);
}

bool detect_is_passed(const struct packet *p)
{
    return p->flow != NULL && (p->flow->action & ACTION_PASS);
}

/* Transactions that no rule will look at must not wait for one. */
static void pass_by(const struct inspection *in)
{
    struct app_flow *af = in->flow != NULL ? in->flow->app : NULL;

    if (af == NULL || af->proto == NULL)
        return;
    for (struct app_tx *tx = af->due; tx != NULL; tx = tx->due_next) {
        tx->unseen = 0;
        for (unsigned d = 0; d < 2; d++)
            if (app_tx_done(tx, d, af->proto) || inspection_is_last(in))
                detect_tx(tx)->bits[d] |= TX_BITS_DONE;
    }
}

/* Flow state names rules by number, and another set assigns other numbers. Streams keep what has
 * matched, because their data may be gone. Transactions are searched again. */
static void COLD clear_old_rules(struct detect_thread *dt, struct flow *f)
{
    const uint32_t *renumbered =
        f->rules_generation == dt->generation_before ? dt->renumbered : NULL;
    struct app_flow *af = f->app;

    f->rules_generation = dt->generation;
    packet_facts_free(f);
    if (f->detect != NULL)
        stream_renumber(f->detect, renumbered);
    if (af == NULL)
        return;
    for (struct app_tx *tx = af->first; tx != NULL; tx = tx->next) {
        detect_tx(tx)->state = NULL;
        detect_tx(tx)->bits[0] &= TX_BITS_DONE;
        detect_tx(tx)->bits[1] &= TX_BITS_DONE;
        detect_tx(tx)->searched_len[0] = detect_tx(tx)->searched_len[1] = 0;
    }
    app_tx_mark_all(af);
}

/* A frame without IP that rules about the link layer are for. */
static bool is_frame(const struct detect_thread *dt, const struct packet *p)
{
    return dt->plan->any_link && p->eth != NULL && p->src.version == 0;
}

/* In firewall mode its rules come first, about the packet and then about transactions. */
static void firewall_and_rules(struct detect_thread *dt)
{
    struct packet *p = dt->inspection->packet;
    enum direction d = dt->inspection->direction;
    enum firewall_verdict verdict = firewall_packet(dt, p, d);

    if (verdict != FIREWALL_DROP && !detect_is_passed(p)) {
        if (p->event_count > 0)
            events_inspect(dt, p);
        if (p->src.version != 0)
            addresses_inspect(dt, p, d);
        if (p->src.version != 0 || is_frame(dt, p))
            packet_inspect(dt, p, d);
    }
    if (verdict == FIREWALL_HOOK && p->src.version != 0)
        inspect_app(dt);
    parts_done(p->flow, d);
}

static void inspect_firewalled(struct detect_thread *dt)
{
    const struct packet *p = dt->inspection->packet;

    if (p->src.version != 0 && p->flow != NULL)
        stream_inspect_chunks(dt);
    firewall_and_rules(dt);
}

static void inspect(struct detect_thread *dt)
{
    struct packet *p = dt->inspection->packet;

    if (p->event_count > 0)
        events_inspect(dt, p);
    if (p->src.version == 0) {
        if (is_frame(dt, p))
            packet_inspect(dt, p, TO_SERVER);
        return;
    }
    if (p->flow != NULL)
        stream_inspect_chunks(dt);
    inspect_direction(dt);
}

static void count_limits(const struct detect_thread *dt, uint8_t limits)
{
    if (limits & PROGRAM_PCRE_LIMIT)
        counter_inc(dt->counters, dt->count.pcre_limit);
    if (limits & PROGRAM_STEP_LIMIT)
        counter_inc(dt->counters, dt->count.step_limit);
}

COLD uint64_t rule_profile_started(struct detect_thread *dt)
{
    part_begin(dt, COST_BUFFER, NULL);
    return clock_ticks();
}

COLD void rule_profile_note(struct detect_thread *dt, uint32_t rule, uint64_t started,
                            bool matched)
{
    uint64_t ticks = started != 0 ? clock_ticks() - started : 0;
    uint8_t limits = dt->program.limits;

    part_begin(dt, COST_KEYWORD, NULL);
    part_begin(dt, COST_BUFFER, NULL);
    if (limits != 0) {
        count_limits(dt, limits);
        dt->limits |= limits;
        dt->program.limits = 0;
    }
    if (dt->profile != NULL)
        rule_profile_add(&dt->profile[rule], ticks, matched, limits != 0);
    if (dt->costs == NULL || dt->hits == NULL)
        return;
    if (dt->sample.weight != 0)
        rule_cost_add(&dt->costs[rule], ticks, dt->sample.weight, matched);
    if (matched || limits != 0)
        rule_hits_add(&dt->hits[rule], matched, limits != 0);
}

/* Of 128 packets two come here: the one to be timed, and the next, which is not. */
static void COLD sample_packet(struct detect_thread *dt)
{
    packet_sample_take(&dt->sample, dt->epoch);
    dt->is_timed = dt->profile != NULL || dt->sample.weight != 0;
    part_laps_take(dt);
}

/* A sender who makes rules give up should not go unseen: rules on these events run last,
 * when all limits are known. */
static void COLD limits_inspect(struct detect_thread *dt, struct packet *p)
{
    uint8_t limits = dt->limits | dt->program.limits;

    count_limits(dt, dt->program.limits);
    dt->limits = dt->program.limits = 0;
    if ((limits & PROGRAM_PCRE_LIMIT) && !packet_has_event(p, EVENT_DETECT_PCRE_LIMIT))
        packet_set_event(p, EVENT_DETECT_PCRE_LIMIT);
    if ((limits & PROGRAM_STEP_LIMIT) && !packet_has_event(p, EVENT_DETECT_INSPECTION_LIMIT))
        packet_set_event(p, EVENT_DETECT_INSPECTION_LIMIT);
    limit_events_inspect(dt, p);
}

/* Both limits are zero for nearly all packets. */
static void finish(struct detect_thread *dt, struct packet *p, uint8_t flags)
{
    if (UNLIKELY((dt->limits | dt->program.limits) != 0))
        limits_inspect(dt, p);
    if (UNLIKELY(dt->program.packet.most != 0))
        packet_work_finish(dt);
    alert_queue_finish(dt, p, flags);
}

static void inspect_side(struct detect_thread *dt, enum direction d, uint8_t flags)
{
    const struct inspection *both = dt->inspection;
    struct inspection side = *both;

    side.direction = d;
    dt->inspection = &side;
    if (UNLIKELY(dt->set->firewall != NULL))
        firewall_and_rules(dt);
    else
        inspect_direction(dt);
    finish(dt, side.packet, flags);
    dt->inspection = both;
}

/* The last packet of a flow speaks for both sides, as if there were one from each: what one side's
 * rules decide does not keep the other's from speaking. */
static void inspect_each_side(struct detect_thread *dt)
{
    const struct inspection *in = dt->inspection;
    struct packet *p = in->packet;
    uint8_t action;

    stream_inspect_chunks(dt);
    if (in->last_sides & INSPECT_OWN_SIDE)
        inspect_side(dt, in->direction, 0);
    if (!(in->last_sides & INSPECT_OTHER_SIDE))
        return;
    action = p->action;
    p->action = 0;
    inspect_side(dt, OTHER_DIRECTION(in->direction), ALERT_REVERSED);
    p->action |= action;
}

/* No rule will inspect this direction of the transaction any more. */
static bool tx_inspection_done(const struct app_tx *tx, enum direction d)
{
    return (detect_tx(tx)->bits[d] & TX_BITS_DONE) || tx->no_inspect[d] || tx->unidirectional[d];
}

/* Whether outputs still wait for a file in this direction. */
static bool has_untold_file(const struct app_tx *tx, enum direction d)
{
    for (const struct app_file *file = tx->files[d]; file != NULL; file = file->next)
        if (!file->reported)
            return true;
    return false;
}

/* A transaction that is open in one direction, or has a file, is not logged yet, so it is inspected
 * in both. */
static bool has_open_tx(const struct app_flow *af, enum direction d)
{
    for (const struct app_tx *tx = af != NULL ? af->first : NULL; tx != NULL; tx = tx->next)
        if (!tx_inspection_done(tx, d) || has_untold_file(tx, TO_SERVER) ||
            has_untold_file(tx, TO_CLIENT) ||
            (!tx_inspection_done(tx, !d) && !app_tx_done(tx, !d, af->proto)))
            return true;
    return false;
}

/* Whether the last inspection of this direction can find anything new. */
static bool has_news(const struct flow *f, enum direction d)
{
    if (f->detect != NULL && f->detect->ds[d].uninspected != 0)
        return true;
    if (f->app != NULL && (app_frames_any(f->app, d) || app_data_waits(f->app, d)))
        return true;
    return has_open_tx(f->app, d);
}

uint8_t detect_last_sides(const struct packet *p)
{
    const struct flow *f = p->flow;
    uint8_t sides = 0;

    if (p->ip_proto != 6 || (f->action & ACTION_DROP) || (flow_requests(f) & FLOW_REQ_BYPASS))
        return 0;
    if ((p->flags & PACKET_LAST_TO_SERVER) || has_news(f, TO_SERVER))
        sides |= INSPECT_OWN_SIDE;
    if ((p->flags & PACKET_LAST_TO_CLIENT) || has_news(f, TO_CLIENT))
        sides |= INSPECT_OTHER_SIDE;
    return sides;
}

void detect_inspect(struct detect_thread *dt, const struct inspection *in)
{
    struct packet *p = in->packet;

    if (p->flow != NULL && UNLIKELY(p->flow->rules_generation != dt->generation))
        clear_old_rules(dt, p->flow);
    if ((!dt->plan->any_rules && dt->set->firewall == NULL) || (p->flags & PACKET_NO_INSPECT) ||
        inspection_done(dt, p)) {
        pass_by(in);
        return;
    }
    dt->epoch++;
    if (UNLIKELY(dt->epoch >= dt->sample.next))
        sample_packet(dt);
    if (UNLIKELY(dt->alert_context.used > 0))
        arena_reset(&dt->alert_context);
    dt->inspection = in;
    if (UNLIKELY(inspection_is_last(in))) {
        inspect_each_side(dt);
        return;
    }
    if (UNLIKELY(dt->set->firewall != NULL))
        inspect_firewalled(dt);
    else
        inspect(dt);
    finish(dt, p, 0);
}
