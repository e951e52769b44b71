/* SPDX-License-Identifier: GPL-2.0-or-later */
/* detect/inspect/firewall_run.c - evaluates the firewall's rules, hook by hook. The first
 * rule that matches decides about a hook; without a match the hook's policy does. */
#include "detect/inspect/firewall_run.h"
#include "detect/inspect/rule_cost.h"

#include "detect/rule/ruleset_private.h"
#include "flow/flow.h"

/* --- decisions without evaluation ---------------------------------------------------------- */

/* True if an earlier packet matched a rule with accept:flow. */
static bool flow_is_accepted(const struct packet *p)
{
    return p->flow != NULL && (p->flow->action & ACTION_ACCEPT);
}

/* Drops the packet now. With scope flow all later packets, too. */
static void drop(struct packet *p, uint8_t action, uint8_t scope, enum drop_reason reason)
{
    packet_drop(p, reason);
    if (action == RULE_REJECT_SRC || action == RULE_REJECT_BOTH)
        p->action |= ACTION_REJECT_SRC;
    if (action == RULE_REJECT_DST || action == RULE_REJECT_BOTH)
        p->action |= ACTION_REJECT_DST;
    if (scope == SCOPE_FLOW && p->flow != NULL)
        flow_drop(p->flow, p, DROP_FW_FLOW);
}

/* --- packets ------------------------------------------------------------------------------ */

/* For the counters and EVE's drop records. */
static enum drop_reason table_reason(unsigned table)
{
    static const uint8_t reasons[FIREWALL_TABLES] = {
        [FIREWALL_PRE_FLOW] = DROP_FW_PRE_FLOW, [FIREWALL_PRE_STREAM] = DROP_FW_PRE_STREAM,
        [FIREWALL_FILTER] = DROP_FW_RULES,
    };

    return reasons[table];
}

/* Evaluates one rule on a packet and queues its alert. An ordinary rule whose side effects cancel
 * the alert has matched too. */
static bool packet_rule_fits(struct detect_thread *dt, struct packet *p, enum direction d,
                             const struct rule *r, struct header_view *h)
{
    struct match_input in;

    if (!(r->flags & (d == TO_SERVER ? RULE_TO_SERVER : RULE_TO_CLIENT)) ||
        !rule_header_fits(r, h) || !rule_packet_fits(r, h, p))
        return false;
    match_input_init(&in, dt, p, d, r);
    if (!packet_rule_matches(dt, &in))
        return false;
    if (rule_matched(dt, &in) || (r->flags & RULE_FIREWALL))
        alert_queue_add(dt, &in, ALERT_NO_TX, 0, 0);
    return true;
}

/* Evaluates with profiling. */
bool firewall_evaluate(struct detect_thread *dt, struct packet *p, enum direction d,
                  const struct rule *r, struct header_view *h)
{
    uint64_t started = rule_profile_begin(dt);
    bool fits = packet_rule_fits(dt, p, d, r, h);

    rule_profile_end(dt, r->index, started, fits);
    return fits;
}

/* Queues the alert of a policy that has one. */
static void policy_report(struct detect_thread *dt, enum direction d,
                          const struct firewall_policy *policy, uint64_t tx_id, uint8_t flags)
{
    struct match_input in;

    if (LIKELY(policy->rule == NULL))
        return;
    match_input_init(&in, dt, dt->inspection->packet, d, policy->rule);
    alert_queue_add(dt, &in, tx_id, 0, flags);
}

/* Applies the decision to the packet: dropped, accepted by the entire firewall, or accepted by this
 * hook only. */
static enum firewall_verdict packet_decide(struct packet *p, uint8_t action, uint8_t scope,
                                           enum drop_reason reason)
{
    if (action != RULE_ACCEPT) {
        drop(p, action, scope, reason);
        return FIREWALL_DROP;
    }
    if (scope == SCOPE_FLOW && p->flow != NULL)
        p->flow->action |= ACTION_ACCEPT;
    return scope == SCOPE_PACKET || scope == SCOPE_FLOW ? FIREWALL_ACCEPT : FIREWALL_HOOK;
}

/* The rules of one table in the order in which the user wrote them. A config rule decides nothing,
 * but has its effect: it may take the packet out of flow tracking. */
enum firewall_verdict firewall_table(struct detect_thread *dt, struct packet *p,
                                     enum direction d, unsigned table)
{
    const struct firewall *fw = dt->set->firewall;
    const struct firewall_list *list = &fw->packet[table];
    const struct firewall_policy *policy = &fw->packet_policy[table];
    struct header_view h;

    header_view_init(&h, p, d);
    if (table != FIREWALL_FILTER)
        h.cache = &h.own;                /* the flow's belongs to its inspecting thread */
    for (size_t i = 0; i < list->count; i++) {
        const struct rule *r = dt->plan->rule[list->at[i]];

        if (inspection_is_last(dt->inspection) && r->type == RULE_PACKET)
            continue;
        if (firewall_evaluate(dt, p, d, r, &h) && r->action != RULE_CONFIG)
            return packet_decide(p, r->action, r->scope, table_reason(firewall_table_of(r)));
    }
    if (policy->action == RULE_ACCEPT && policy->scope != SCOPE_HOOK)
        firewall_accept(dt);
    policy_report(dt, d, policy, ALERT_NO_TX, ALERT_TO_PACKET);
    return packet_decide(p, policy->action, policy->scope, DROP_FW_DEFAULT_PACKET);
}

/* The filter table. A packet without addresses has no rules; the policy decides at its
 * end. */
enum firewall_verdict firewall_packet(struct detect_thread *dt, struct packet *p,
                                      enum direction d)
{
    dt->accepted = false;
    if (flow_is_accepted(p) || p->src.version == 0)
        return FIREWALL_HOOK;
    return firewall_table(dt, p, d, FIREWALL_FILTER);
}

/* --- transactions ------------------------------------------------------------------------- */

enum hook_end {
    HOOK_PASSED,        /* the next hook has its turn */
    HOOK_JUMPED,        /* all hooks up to a later one are passed */
    HOOK_ENDS,          /* the firewall inspects this transaction no further with this packet */
    HOOK_DROPPED,
};

/* While the hooks of one transaction are evaluated, in one direction; on the stack. */
struct tx_hooks {
    struct tx_context *c;
    unsigned hook;              /* now */
    unsigned last;              /* the step that the transaction has come to */
    bool last_tx;               /* the newest: a decision about it decides about the packet */
};

/* Applies to both directions, because accept:tx is about the entire transaction. */
static void tx_accept(struct tx_context *c)
{
    detect_tx(c->tx)->bits[TO_SERVER] |= TX_BITS_ACCEPTED;
    detect_tx(c->tx)->bits[TO_CLIENT] |= TX_BITS_ACCEPTED;
}

/* Whether accepting with this scope lets the packet go. accept:hook does if it was the
 * last hook that the newest transaction has reached. */
static bool decides_packet(const struct tx_hooks *t, uint8_t scope, unsigned hook)
{
    switch ((enum rule_scope)scope) {
    case SCOPE_HOOK: return t->last_tx && hook >= t->last;
    case SCOPE_TX:   return t->last_tx;
    default:         return true;
    }
}

/* Applies an action to the hook. A rule for a later hook (`<hook`) may accept several at
 * once. */
static enum hook_end tx_decide(struct tx_hooks *t, uint8_t action, uint8_t scope, unsigned hook,
                               enum drop_reason reason)
{
    if (action != RULE_ACCEPT) {
        drop(t->c->packet, action, scope, reason);
        return HOOK_DROPPED;
    }
    if (decides_packet(t, scope, hook))
        firewall_accept(t->c->dt);
    if (scope == SCOPE_TX)
        tx_accept(t->c);
    if (scope != SCOPE_HOOK)
        return HOOK_ENDS;
    if (hook == t->hook)
        return HOOK_PASSED;
    t->hook = hook;
    return HOOK_JUMPED;
}

/* Queues the alert. A flow is accepted only if ordinary rules have not dropped it, so that
 * happens at the end of the packet (firewall_finish.c). */
static void tx_report(struct tx_hooks *t, struct match_input *in, const struct rule *r,
                      unsigned hook)
{
    bool decides = r->action != RULE_ACCEPT || decides_packet(t, r->scope, hook);

    (void)rule_matched(t->c->dt, in);
    alert_queue_add(t->c->dt, in, t->c->tx->id, 0,
                    (uint8_t)(ALERT_APP_STATE | (decides ? ALERT_TO_PACKET : 0)));
}

/* Whether the rule decides about the hook. A rule for `<hook` also covers the hooks before
 * its own: as long as it may still match, it accepts them. */
static bool rule_decides_hook(struct tx_hooks *t, const struct rule *r, enum hook_end *end)
{
    unsigned hook = r->hook - 1u;
    uint64_t started = rule_profile_begin(t->c->dt);
    struct match_input in;
    bool before;
    enum inspect_result result = tx_rule_evaluate(t->c, r, &in, &before);

    rule_profile_end(t->c->dt, r->index, started, result == INSPECT_MATCH && !before);
    switch (result) {
    case INSPECT_MATCH:
        if (!before)
            tx_report(t, &in, r, hook);
        if (r->action == RULE_CONFIG)
            return false;
        *end = tx_decide(t, r->action, r->scope, hook, DROP_FW_RULES);
        return true;
    case INSPECT_PENDING:
        if (!r->hook_up_to || r->action == RULE_CONFIG)
            return false;
        if (t->last_tx)
            firewall_accept(t->c->dt);
        *end = HOOK_ENDS;
        return true;
    case INSPECT_CANT_MATCH:
        break;
    }
    return false;
}

static const firewall_policies *policies_of(const struct firewall *fw, const struct tx_context *c)
{
    if (fw->kind_policy[c->proto->id] != NULL)
        return &fw->kind_policy[c->proto->id][c->proto->tx_kind(c->tx)];
    return &fw->app_policy[c->proto->id];
}

/* All rules for one hook, in the user's order; then the policy. */
static enum hook_end hook_inspect(struct tx_hooks *t)
{
    const struct firewall *fw = t->c->dt->set->firewall;
    const struct firewall_list *list = &fw->app[t->c->proto->id][t->c->direction];
    const struct firewall_policy *policy;
    uint8_t flags = ALERT_APP_STATE;
    enum hook_end end;

    for (size_t i = 0; i < list->count; i++) {
        const struct rule *r = t->c->dt->plan->rule[list->at[i]];
        unsigned hook = r->hook - 1u;

        if (hook < t->hook || (hook > t->hook && !r->hook_up_to))
            continue;
        if (rule_decides_hook(t, r, &end))
            return end;
    }
    policy = &(*policies_of(fw, t->c))[t->c->direction][MIN(t->hook, FIREWALL_HOOKS_MAX - 1)];
    if (policy->action != RULE_ACCEPT || decides_packet(t, policy->scope, t->hook))
        flags |= ALERT_TO_PACKET;
    policy_report(t->c->dt, t->c->direction, policy, t->c->tx->id, flags);
    return tx_decide(t, policy->action, policy->scope, t->hook, DROP_FW_DEFAULT_APP);
}

/* Rules of Suricata 8 know no step of 9, in which a kind of transactions has its own steps. */
static bool has_step(const struct tx_context *c, unsigned step)
{
    const struct app_name *n;

    if (!c->dt->set->suricata_9)
        return (c->proto->steps_of_nine >> step & 1) == 0;
    if (c->proto->tx_kinds == NULL)
        return true;
    n = c->proto->tx_kinds[c->proto->tx_kind(c->tx)].progress_names[c->direction];
    while (n->name != NULL && n->value != step)
        n++;
    return n->name != NULL;
}

/* Goes through every hook from the last inspected one to the present one. False: dropped. */
bool firewall_tx(struct tx_context *c)
{
    struct tx_hooks t = { .c = c, .hook = detect_tx(c->tx)->bits[c->direction] & TX_BITS_STEP,
                         .last = tx_step(c), .last_tx = c->tx->next == NULL };
    enum hook_end end = HOOK_PASSED;

    if (flow_is_accepted(c->packet) || c->tx->unidirectional[c->direction]) {
        firewall_accept(c->dt);
        return true;
    }
    if (detect_tx(c->tx)->bits[c->direction] & TX_BITS_ACCEPTED) {
        if (t.last_tx)
            firewall_accept(c->dt);
        return true;
    }
    for (; t.hook <= t.last && end < HOOK_ENDS; t.hook++)
        if (has_step(c, t.hook))
            end = hook_inspect(&t);
    return end != HOOK_DROPPED;
}
