/* SPDX-License-Identifier: GPL-2.0-or-later */
/* detect/inspect/early_hooks.c - rules before the flow table and before the stream: a
 * packet that they drop creates no flow, or is not followed. They run one by one, on the
 * thread that looks up flows. */
#include "detect/inspect/firewall_run.h"
#include "detect/inspect/packet_work.h"

#include "detect/compile/compile.h"
#include "detect/rule/ruleset_private.h"
#include "detect/state/threshold.h"
#include "flow/flow.h"

/* EARLY_HOOK_COUNT: the rule has another hook or none, or it asks for bytes of the payload: as in
 * Suricata 8.0.6 such a rule is evaluated once, when the packet is inspected. The firewall's are
 * evaluated in their table. */
static enum detect_early_hook early_hook_of(const struct rule *r)
{
    if (!(r->flags & RULE_FIREWALL) && rule_payload(r) != NULL)
        return EARLY_HOOK_COUNT;
    return r->hook == HOOK_PRE_FLOW ? EARLY_HOOK_PRE_FLOW
           : r->hook == HOOK_PRE_STREAM ? EARLY_HOOK_PRE_STREAM : EARLY_HOOK_COUNT;
}

/* Whether the rule's threshold counts in tables that all threads share, and not in the
 * flow. */
static bool counts_for_all(const struct rule *r)
{
    for (const struct threshold_spec *s = r->threshold; s != NULL; s = s->next)
        if (s->type != THRESHOLD_SUPPRESS && s->track != TRACK_FLOW)
            return true;
    return false;
}

/* At load time. If early rules share state, threads must process packets in the order of the
 * capture to give equal results in each run. This finds such rules. */
void early_hooks_make(struct ruleset *set)
{
    bool tags_hosts = false;

    for (size_t i = 0; i < set->rules.count; i++) {
        const struct rule *r = set->rules.at[i];
        enum detect_early_hook hook = early_hook_of(r);

        set->affects_stream |= (r->flags & (RULE_BYPASS | RULE_FILESTORE)) != 0;
        tags_hosts |= r->uses_shared_state && r->post_count > 0;
        if (r->app_proto != APP_PROTO_UNKNOWN || hook >= EARLY_HOOK_COUNT)
            continue;
        set->has_early_hook[hook] = true;
        set->early_hooks_share_state |= r->uses_shared_state || counts_for_all(r);
        if (!(r->flags & RULE_FIREWALL))
            ARRAY_PUSH(&set->hook[hook], r->index);
    }
    /* Rules at these hooks also count packets that a tag follows. */
    set->early_hooks_share_state |= tags_hosts && (set->has_early_hook[EARLY_HOOK_PRE_FLOW] ||
                                       set->has_early_hook[EARLY_HOOK_PRE_STREAM]);
}

bool ruleset_early_hooks_share_state(const struct ruleset *set)
{
    return set->early_hooks_share_state;
}

bool ruleset_has_early_hook(const struct ruleset *set, enum detect_early_hook hook)
{
    return set->has_early_hook[hook];
}

bool ruleset_affects_stream(const struct ruleset *set)
{
    return set->affects_stream;
}

/* There are few such rules, so there is no prefilter. */
static void rules_evaluate(struct detect_thread *dt, struct packet *p, enum detect_early_hook hook)
{
    enum direction d = packet_direction(p);
    struct header_view h;

    header_view_init(&h, p, d);
    h.cache = &h.own;                    /* the flow's belongs to its inspecting thread */
    for (size_t i = 0; i < dt->set->hook[hook].count; i++)
        firewall_evaluate(dt, p, d, dt->plan->rule[dt->set->hook[hook].at[i]], &h);
}

/* False: the packet is dropped. Its alerts stay with it; later inspection adds to them. */
bool detect_early_hook(struct detect_thread *dt, struct packet *p, enum detect_early_hook hook)
{
    unsigned table = hook == EARLY_HOOK_PRE_FLOW ? FIREWALL_PRE_FLOW : FIREWALL_PRE_STREAM;
    unsigned before = detect_slot(p)->alert_count;
    enum firewall_verdict verdict = FIREWALL_HOOK;
    struct inspection in = { .packet = p, .flow = p->flow, .direction = packet_direction(p) };

    dt->inspection = &in;
    packet_work_at_early_hook(dt, true);
    dt->epoch++;
    arena_reset(&dt->alert_context);
    if (dt->set->firewall != NULL)
        verdict = firewall_table(dt, p, packet_direction(p), table);
    if (verdict != FIREWALL_DROP && !(p->flags & PACKET_NO_INSPECT) && !detect_is_passed(p))
        rules_evaluate(dt, p, hook);
    dt->table = (uint8_t)table;
    alert_queue_finish(dt, p, 0);
    packet_work_at_early_hook(dt, false);
    dt->inspection = NULL;
    dt->table = FIREWALL_FILTER;
    /* data of alerts are only valid until here */
    for (unsigned i = before; i < detect_slot(p)->alert_count; i++)
        packet_alerts(p)[i].extra = NULL;
    detect_slot(p)->vars = NULL;
    return !(p->action & ACTION_DROP);
}
