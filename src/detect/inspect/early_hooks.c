/* SPDX-License-Identifier: GPL-2.0-or-later */
/* detect/inspect/early_hooks.c - rules before the flow table and before the stream: a
 * packet that they drop creates no flow, or is not followed. They run one by one, on the
 * thread that looks up flows. */
#include "detect/inspect/firewall_run.h"
#include "detect/inspect/packet_work.h"

#include "detect/compile/compile.h"
#include "detect/rule/ruleset_private.h"
#include "flow/flow.h"

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
