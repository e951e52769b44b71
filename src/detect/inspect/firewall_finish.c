/* SPDX-License-Identifier: GPL-2.0-or-later */
/* detect/inspect/firewall_finish.c - the end of a packet in firewall mode. A firewall drop takes
 * effect at once. Other rules may still drop what the firewall accepts; they do not see what it
 * passes. */
#include "detect/inspect/firewall_run.h"

#include "detect/rule/ruleset_private.h"
#include "detect/state/threshold.h"
#include "flow/flow.h"

#include <stdlib.h>

/* While the alerts of one packet are finished; on the stack. */
struct ending {
    struct detect_thread *dt;
    struct packet *packet;
    unsigned skip_up_to;        /* tables of the firewall that have decided */
    bool skip_firewall, skip_rules;
    bool accept_packet, accept_flow;
};

/* The firewall's tables on packets, ordinary rules on packets, the firewall's hooks of
 * transactions, ordinary rules on transactions; then as by_rule() in alert.c. */
static int by_table(const void *a, const void *b)
{
    const struct packet_alert *x = a, *y = b;
    unsigned tx = firewall_order(x->rule), ty = firewall_order(y->rule);

    if (tx != ty)
        return tx < ty ? -1 : 1;
    if (x->rule->index != y->rule->index)
        return x->rule->index < y->rule->index ? -1 : 1;
    if (x->tx_id == y->tx_id)
        return 0;
    return x->tx_id < y->tx_id ? 1 : -1;
}

/* The first decision about a flow holds. */
static void pass_flow(struct packet *p)
{
    if (p->flow != NULL && !(p->flow->action & (ACTION_DROP | ACTION_PASS)))
        p->flow->action |= ACTION_PASS;
}

/* accept:hook skips the rest of its own table only, accept:packet and more the whole
 * firewall. also_pass: the rule says accept and pass, so ordinary rules do not see the
 * packet. */
static void accepted(struct ending *e, const struct rule *r)
{
    if (r->scope == SCOPE_HOOK)
        e->skip_up_to = firewall_order(r) + 1;
    else
        e->skip_firewall = true;
    e->accept_packet = true;
    e->accept_flow |= r->scope == SCOPE_FLOW;
    if (!r->also_pass)
        return;
    e->skip_rules = true;
    if (r->scope == SCOPE_FLOW)
        pass_flow(e->packet);
}

/* Applies one match of a firewall rule, unless an earlier one has decided. Its alert is
 * optional (`alert` in the rule), its action is not. */
static void firewall_rule_finish(struct ending *e, struct packet_alert *a)
{
    const struct rule *r = a->rule;
    enum threshold_result t = THRESHOLD_ALERT;

    if (e->skip_firewall || firewall_order(r) < e->skip_up_to)
        return;
    if (r->threshold != NULL)
        t = threshold_apply(e->dt->set->threshold_state, r, e->packet,
                            e->dt->inspection->direction);
    if (t == THRESHOLD_NO_MATCH)
        return;
    a->action = r->action == RULE_ACCEPT ? ACTION_ACCEPT
                : r->action == RULE_CONFIG ? 0 : ACTION_DROP;
    if ((a->action & ACTION_ACCEPT) && (r->scope != SCOPE_HOOK || (a->flags & ALERT_TO_PACKET)))
        accepted(e, r);
    if ((r->flags & RULE_ALERT_KEYWORD) && t != THRESHOLD_SILENT)
        alert_keep(e->dt, e->packet, a);
    if ((a->action & ACTION_DROP) && detect_slot(e->packet)->dropped_by == NULL)
        detect_slot(e->packet)->dropped_by = r;
    if (a->action & ACTION_DROP)
        e->skip_firewall = e->skip_rules = true;
}

/* An ordinary rule in firewall mode. A drop also ends the firewall's part. */
static void rule_finish_one(struct ending *e, struct packet_alert *a)
{
    if (e->skip_rules)
        return;
    if (!alert_finish(e->dt, e->packet, a))
        e->skip_rules = true;
    if (e->packet->action & ACTION_DROP)
        e->skip_firewall = true;
}

/* The alert of a packet without addresses, for which no table was asked before. */
static void policy_keep(struct ending *e, const struct firewall_policy *policy)
{
    struct packet_alert a = { .rule = policy->rule, .tx_id = ALERT_NO_TX,
                              .action = policy->action == RULE_ACCEPT ? ACTION_ACCEPT : ACTION_DROP,
                              .flags = ALERT_TO_PACKET | ALERT_FIREWALLED };

    alert_keep(e->dt, e->packet, &a);
    if (a.action == ACTION_DROP)
        detect_slot(e->packet)->dropped_by = policy->rule;
}

/* A firewall is closed by default: a packet that no rule has accepted gets the table's
 * policy. Packets that the engine made itself are not on the wire, so they need none. */
static void apply_default_policy(struct ending *e)
{
    const struct firewall_policy *policy = &e->dt->set->firewall->packet_policy[e->dt->table];
    struct packet *p = e->packet;

    if (p->action & ACTION_DROP)
        return;
    if (e->accept_packet || e->dt->accepted)
        p->action |= ACTION_ACCEPT;
    if (e->accept_flow && p->flow != NULL && !(p->flow->action & ACTION_DROP))
        p->flow->action |= ACTION_ACCEPT;
    if ((p->action & ACTION_ACCEPT) || (p->flags & PACKET_PSEUDO))
        return;
    if (policy->action == RULE_ACCEPT)
        p->action |= ACTION_ACCEPT;
    else
        packet_drop(p, DROP_FW_DEFAULT_PACKET);
    if (UNLIKELY(policy->rule != NULL) && p->src.version == 0)
        policy_keep(e, policy);
}

/* The queue is empty afterwards; dt->accepted is for the next packet. */
void firewall_finish(struct detect_thread *dt, struct packet *p, uint8_t flags)
{
    struct ending e = { .dt = dt, .packet = p };

    if (dt->queue.count > 1)
        qsort(dt->queue.at, dt->queue.count, sizeof(*dt->queue.at), by_table);
    for (unsigned i = 0; i < dt->queue.count; i++) {
        struct packet_alert *a = &dt->queue.at[i];

        a->flags |= flags | ALERT_FIREWALLED;
        if (a->rule->flags & RULE_FIREWALL)
            firewall_rule_finish(&e, a);
        else
            rule_finish_one(&e, a);
    }
    dt->queue.count = 0;
    apply_default_policy(&e);
    dt->accepted = false;
}
