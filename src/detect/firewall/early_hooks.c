/* SPDX-License-Identifier: GPL-2.0-or-later */
/* detect/firewall/early_hooks.c - rules that stand in front of the flow table and of the stream: what
 * they drop makes no flow, or is never followed. Asked one by one, on the thread that looks up
 * flows. */
#include "detect/firewall/run.h"

#include "detect/ruleset.h"
#include "detect/threshold.h"
#include "flow/flow.h"

static enum detect_gate gate_of(const struct rule *r)
{
    return r->hook == HOOK_PRE_FLOW ? GATE_PRE_FLOW
           : r->hook == HOOK_PRE_STREAM ? GATE_PRE_STREAM : GATE_COUNT;
}

static bool counts_for_all(const struct rule *r)
{
    for (const struct threshold_spec *s = r->threshold; s != NULL; s = s->next)
        if (s->type != THRESHOLD_SUPPRESS && s->track != TRACK_FLOW)
            return true;
    return false;
}

void gates_make(struct ruleset *set)
{
    bool tags_hosts = false;

    for (size_t i = 0; i < set->rules.count; i++) {
        const struct rule *r = set->rules.at[i];
        enum detect_gate gate = gate_of(r);

        set->steers_stream |= (r->flags & (RULE_BYPASS | RULE_FILESTORE)) != 0;
        tags_hosts |= r->shares && r->post_count > 0;
        if (r->app_proto != APP_PROTO_UNKNOWN || gate >= GATE_COUNT)
            continue;
        set->has_gate[gate] = true;
        set->gates_share |= r->shares || counts_for_all(r);
        if (!(r->flags & RULE_FIREWALL))
            ARRAY_PUSH(&set->gate[gate], r->index);
    }
    /* Gates, too, count what follows a tag. */
    set->gates_share |= tags_hosts && (set->has_gate[GATE_PRE_FLOW] ||
                                       set->has_gate[GATE_PRE_STREAM]);
}

bool ruleset_gates_share(const struct ruleset *set)
{
    return set->gates_share;
}

bool ruleset_has_gate(const struct ruleset *set, enum detect_gate gate)
{
    return set->has_gate[gate];
}

bool ruleset_steers_stream(const struct ruleset *set)
{
    return set->steers_stream;
}

static void rules_ask(struct detect_thread *dt, struct packet *p, enum detect_gate gate)
{
    enum direction d = packet_direction(p);
    struct header_view h;

    header_view_init(&h, p, d);
    h.memo = &h.own;                    /* the flow's is its inspecting thread's */
    for (size_t i = 0; i < dt->set->gate[gate].count; i++)
        firewall_ask(dt, p, d, dt->plan->rule[dt->set->gate[gate].at[i]], &h);
}

bool detect_gate(struct detect_thread *dt, struct packet *p, enum detect_gate gate)
{
    unsigned table = gate == GATE_PRE_FLOW ? FIREWALL_PRE_FLOW : FIREWALL_PRE_STREAM;
    unsigned before = p->alert.count;
    enum firewall_verdict verdict = FIREWALL_HOOK;

    dt->turn++;
    arena_reset(&dt->notes);
    if (dt->set->firewall != NULL)
        verdict = firewall_table(dt, p, packet_direction(p), table);
    if (verdict != FIREWALL_DROP && !(p->flags & PACKET_NO_INSPECT) && !detect_is_passed(p))
        rules_ask(dt, p, gate);
    dt->table = (uint8_t)table;
    alert_queue_finish(dt, p, 0);
    dt->table = FIREWALL_FILTER;
    /* What was noted beside lasts no longer than this. */
    for (unsigned i = before; i < p->alert.count; i++)
        p->alert.at[i].extra = NULL;
    p->vars = NULL;
    return !(p->action & ACTION_DROP);
}
