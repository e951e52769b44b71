/* SPDX-License-Identifier: GPL-2.0-or-later */
/* detect/inspect/alert.c - from matches to alerts. Side effects of a match happen at once,
 * in evaluation order. Thresholds and actions are applied at the end of the packet, when
 * all matches are known. */
#include "base/array.h"
#include "base/memory/lib_memory.h"
#include "base/memory/traffic_memory.h"
#include "base/report/json.h"
#include "detect/inspect/firewall_run.h"
#include "detect/state/threshold.h"
#include "detect/inspect/inspect_private.h"
#include "detect/state/tag.h"
#include "flow/flow.h"
#include "flow/vars.h"

#include <stdlib.h>
#include <string.h>

/* A copy that lives until the next packet of this thread: outputs run before that. */
static struct slice context_slice(struct detect_thread *dt, struct slice s)
{
    const uint8_t *copy = s.len > 0 ? arena_copy(&dt->alert_context, s.data, s.len) : NULL;

    return (struct slice){ copy, copy != NULL ? s.len : 0 };
}

/* Newer variables come first. Outputs and alert-debug show them. */
static void packet_var_add(struct detect_thread *dt, struct packet *p, uint32_t id,
                           struct slice key, struct slice value)
{
    struct packet_var *v = arena_alloc(&dt->alert_context, sizeof(*v));
    struct detect_slot *slot = detect_slot(p);

    if (v == NULL)
        return;
    *v = (struct packet_var){ slot->vars, id, context_slice(dt, key), context_slice(dt, value) };
    slot->vars = v;
}

/* Captures of pcre, Lua and others count only if the entire rule matches, so they are stored here.
 * A flow's variable replaces its earlier value. */
static void captures_keep(struct detect_thread *dt, struct packet *p, struct flow *f)
{
    const struct program_scratch *s = &dt->program;

    for (unsigned i = 0; i < s->capture_count; i++) {
        const struct pending_capture *c = &s->capture[i];
        struct slice key = { s->text.data + c->key_at, c->key_len };
        struct slice value = { s->text.data + c->at, c->len };

        if (c->kind == VAR_FLOWVAR && f != NULL)
            flowvar_put(f, c->id, key, value);
        else if (c->kind == VAR_PKTVAR)
            packet_var_add(dt, p, c->id, key, value);
    }
}

/* `replace` changes the packet only in IPS mode. The flag tells the sender that the frame
 * has changed. */
static void replace_write(struct detect_thread *dt, struct packet *p)
{
    for (unsigned i = 0; i < dt->program.replace_count; i++)
        memcpy(dt->program.replace[i].at, dt->program.replace[i].with,
               dt->program.replace[i].len);
    p->flags |= PACKET_MODIFIED;
}

bool rule_matched(struct detect_thread *dt, struct match_input *in)
{
    const struct rule *r = in->rule;
    bool alert = true;

    if (UNLIKELY(r->late_count > 0) && !rule_late_tests_pass(r, in))
        return false;
    if (UNLIKELY(dt->program.capture_count > 0))
        captures_keep(dt, in->packet, in->flow);
    if (UNLIKELY(dt->program.replace_count > 0) && dt->is_inline)
        replace_write(dt, in->packet);
    for (unsigned i = 0; i < r->post_count; i++)
        alert &= r->post[i].match(in, r->post[i].arg);
    if ((r->flags & RULE_BYPASS) && in->flow != NULL)
        flow_request(in->flow, FLOW_REQ_BYPASS);
    return alert;
}

/* The members of alert.context, without the braces: EVE adds its own. */
static struct slice context_of(struct detect_thread *dt)
{
    const struct program_scratch *s = &dt->program;
    struct json j;

    buf_clear(&dt->context_buf);
    json_init(&j, &dt->context_buf);
    json_object(&j, NULL);
    for (unsigned i = 0; i < s->capture_count; i++) {
        const struct pending_capture *c = &s->capture[i];
        const char *name = c->kind == CAPTURE_ALERT ? var_name(VAR_PKTVAR, c->id) : NULL;
        struct slice value = { s->text.data + c->at, c->len };

        if (name != NULL)
            json_slice(&j, name, value);
        else if (c->kind == CAPTURE_JSON)
            json_raw(&j, (const char *)s->text.data + c->key_at, (const char *)value.data,
                     value.len);
    }
    return context_slice(
        dt, (struct slice){ dt->context_buf.data + 1, (uint32_t)dt->context_buf.len - 1 });
}

/* Kinds from CAPTURE_JSON on are for alerts only. */
static bool has_context(const struct program_scratch *s)
{
    for (unsigned i = 0; i < s->capture_count; i++)
        if (s->capture[i].kind >= CAPTURE_JSON)
            return true;
    return false;
}

/* True if the packet has stream data that the other side has not acknowledged yet. */
static bool brings_more(const struct inspection *in, enum direction d)
{
    const struct packet *p = in->packet;

    if (p->payload_len == 0 || !(p->flags & PACKET_STREAM_ADDED) || packet_direction(p) != d)
        return false;
    for (unsigned i = 0; i < in->chunk_count; i++)
        if (in->chunk[i].direction == d && in->chunk[i].kind == CHUNK_DATA)
            return false;
    return true;
}

/* The latest data of the stream, in the arena. After a gap also what this packet adds, up
 * to the size of the gap; otherwise only what the other side has acknowledged. So it is in
 * Suricata's EVE. */
static struct slice stream_context(struct detect_thread *dt, const struct match_input *in)
{
    const struct packet *p = in->packet;
    uint32_t gap, more = 0;
    struct slice retained = alert_payload_get(dt, in->flow, in->direction, &gap);
    uint8_t *both;

    if (retained.len > 0 && inspection_is_last(dt->inspection))
        retained.len -= MIN(retained.len, alert_payload_never_acked(dt->inspection));
    retained.len = MIN(retained.len, dt->alert_payload_size);
    if (gap > 0 && !dt->is_inline && brings_more(dt->inspection, in->direction))
        more = MIN(p->payload_len, gap);

    if (retained.len == 0 || more == 0)
        return context_slice(dt, retained);
    both = arena_alloc(&dt->alert_context, (size_t)retained.len + more);
    if (both == NULL)
        return (struct slice){ 0 };
    memcpy(both, retained.data, retained.len);
    memcpy(both + retained.len, p->payload, more);
    return (struct slice){ both, retained.len + more };
}

/* NULL for most alerts: only those on TCP's stream or state carry data, and few have a
 * context. */
static const struct alert_extra *extra_of(struct detect_thread *dt, const struct match_input *in,
                                          uint8_t flags)
{
    bool context = has_context(&dt->program);
    struct alert_extra extra = { 0 };

    if (in->packet->ip_proto == 6 && (flags & (ALERT_STREAM | ALERT_APP_STATE)))
        extra.payload = stream_context(dt, in);
    if (LIKELY(!context && extra.payload.len == 0))
        return NULL;
    if (context)
        extra.context = context_of(dt);
    return arena_copy(&dt->alert_context, &extra, sizeof(extra));
}

void alert_queue_add(struct detect_thread *dt, const struct match_input *in, uint64_t tx_id,
                     uint32_t frame, uint8_t flags)
{
    if (!ARRAY_HAS_SPACE(&dt->queue, 1)) {
        counter_inc(dt->counters, dt->count.overflow);
        return;
    }
    dt->queue.at[dt->queue.count++] = (struct packet_alert){
        .rule = in->rule, .tx_id = tx_id, .frame_id = frame, .flags = flags,
        .extra = extra_of(dt, in, flags) };
}

/* In evaluation order. Of one rule, alerts with a transaction come first, and newer
 * transactions before older ones. */
static int by_rule(const void *a, const void *b)
{
    const struct packet_alert *x = a, *y = b;

    if (x->rule->index != y->rule->index)
        return x->rule->index < y->rule->index ? -1 : 1;
    if (x->tx_id == y->tx_id)
        return 0;
    if (x->tx_id == ALERT_NO_TX || y->tx_id == ALERT_NO_TX)
        return y->tx_id == ALERT_NO_TX ? -1 : 1;
    return x->tx_id < y->tx_id ? 1 : -1;
}

/* A config rule has no action here. Drop and reject alert, too. */
static uint8_t action_of(const struct rule *r)
{
    switch ((enum rule_action)r->action) {
    case RULE_DROP:        return ACTION_ALERT | ACTION_DROP;
    case RULE_REJECT_SRC:  return ACTION_ALERT | ACTION_DROP | ACTION_REJECT_SRC;
    case RULE_REJECT_DST:  return ACTION_ALERT | ACTION_DROP | ACTION_REJECT_DST;
    case RULE_REJECT_BOTH: return ACTION_ALERT | ACTION_DROP | ACTION_REJECT;
    case RULE_PASS:        return ACTION_PASS;
    case RULE_ALERT:       return ACTION_ALERT;
    default:               return 0;
    }
}

/* True if drop or pass applies to the rest of the flow. Some rules affect the flow only if they
 * matched on its stream or state: a single packet proves nothing about the flow. */
static bool reaches_flow(const struct packet_alert *a)
{
    switch (rule_reach(a->rule)) {
    case REACH_PACKET: return false;
    case REACH_FLOW:   return true;
    default:           return a->flags & (ALERT_STREAM | ALERT_APP_STATE);
    }
}

/* With a firewall, the pass applies to ordinary rules only, so the stream module must continue. */
static void act_on_flow(const struct detect_thread *dt, struct packet *p, uint8_t action)
{
    struct flow *f = p->flow;

    if (f == NULL || (f->action & (ACTION_DROP | ACTION_PASS)))
        return;                 /* the first decision holds */
    if (action & ACTION_DROP) {
        flow_drop(f, p, DROP_FLOW_DROP);
    } else if (action & ACTION_PASS) {
        f->action |= ACTION_PASS;
        if (dt->set->firewall == NULL)
            flow_request(f, FLOW_REQ_PASS);
    }
}

/* If both pass and drop match on a packet, the one that comes first in evaluation order
 * decides. */
static void act(const struct detect_thread *dt, struct packet *p, const struct packet_alert *a)
{
    if ((p->action & ACTION_DROP) && (a->action & ACTION_PASS))
        return;
    if ((a->action & (ACTION_DROP | ACTION_PASS)) && reaches_flow(a))
        act_on_flow(dt, p, a->action);
    if (a->action & ACTION_DROP) {
        packet_drop(p, a->flags & ALERT_RATE_ACTION ? DROP_RULES_THRESHOLD : DROP_RULES);
        if (detect_slot(p)->dropped_by == NULL)
            detect_slot(p)->dropped_by = a->rule;
        p->action |= a->action & ACTION_REJECT;
    }
}

void alert_keep(struct detect_thread *dt, struct packet *p, const struct packet_alert *a)
{
    struct detect_slot *slot = detect_slot(p);

    if (slot->alert_count >= dt->alert_max) {
        counter_inc(dt->counters, a->rule->flags & RULE_FIREWALL ? dt->count.discarded
                                                               : dt->count.overflow);
        return;
    }
    if (!buf_reserve(&p->memory[PACKET_MEMORY_ALERTS], dt->alert_max * sizeof(*a))) {
        counter_inc(dt->counters, dt->count.overflow);
        return;
    }
    packet_alerts(p)[slot->alert_count++] = *a;
    counter_inc(dt->counters, dt->count.alert);
}

/* rate_filter replaces the rule's action for a while. The flag shows it as the reason for
 * a drop. */
static void action_by_rate(struct packet_alert *a, enum threshold_result t)
{
    switch (t) {
    case THRESHOLD_DROP:
        a->action |= ACTION_DROP;
        break;
    case THRESHOLD_REJECT:
        a->action |= ACTION_DROP | ACTION_REJECT_SRC;
        break;
    case THRESHOLD_PASS:
        a->action = ACTION_PASS;
        break;
    case THRESHOLD_TO_ALERT:
        a->action = ACTION_ALERT;
        break;
    default:
        return;
    }
    a->flags |= ALERT_RATE_ACTION;
}

/* A pass rule that its threshold silences still passes the flow, if it reaches that far,
 * but does not stop the packet's other rules. */
bool alert_finish(struct detect_thread *dt, struct packet *p, struct packet_alert *a)
{
    const struct rule *r = a->rule;
    enum threshold_result t = THRESHOLD_ALERT;
    bool logged, passes;

    a->action = action_of(r);
    if (r->threshold != NULL)
        t = threshold_apply(dt->set->threshold_state, r, p, dt->inspection->direction);
    if (t == THRESHOLD_NO_MATCH) {
        counter_inc(dt->counters, dt->count.suppressed);
        return true;
    }
    if (UNLIKELY(r->tags != NULL))
        tag_start(dt->set->tags, r, p, dt->inspection->direction);
    action_by_rate(a, t);
    act(dt, p, a);
    passes = (a->action & ACTION_PASS) && t != THRESHOLD_SILENT;
    logged = t != THRESHOLD_SILENT && !(r->flags & RULE_NOALERT) &&
             (a->action & ACTION_ALERT || r->flags & RULE_ALERT_KEYWORD);
    if (logged)
        alert_keep(dt, p, a);
    else if (!passes)
        counter_inc(dt->counters, dt->count.suppressed);
    if (passes)
        p->action |= ACTION_PASS;
    return !passes;
}

void alert_queue_finish(struct detect_thread *dt, struct packet *p, uint8_t flags)
{
    unsigned before = detect_slot(p)->alert_count;

    if (UNLIKELY(dt->set->firewall != NULL))
        firewall_finish(dt, p, flags);
    else if (dt->queue.count > 1)
        qsort(dt->queue.at, dt->queue.count, sizeof(*dt->queue.at), by_rule);
    for (unsigned i = 0; i < dt->queue.count; i++) {
        dt->queue.at[i].flags |= flags;
        if (!alert_finish(dt, p, &dt->queue.at[i]))
            break;
    }
    dt->queue.count = 0;
    tag_packet(dt->set->tags, p);
    if (detect_slot(p)->alert_count > before) {
        p->action |= ACTION_ALERT;
        if (p->flow != NULL)
            p->flow->inspect_flags |= FLOW_INSPECT_ALERTED;
    }
}
