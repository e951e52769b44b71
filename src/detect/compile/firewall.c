/* SPDX-License-Identifier: GPL-2.0-or-later */
/* detect/compile/firewall.c - sorts firewall rules. They are few and their order matters, so they
 * are inspected one by one and not by pattern. */
#include "detect/compile/firewall.h"

#include "base/array.h"
#include "conf/conf.h"
#include "detect/rule/ruleset_private.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- rules -------------------------------------------------------------------------------- */

/* Rules without an early hook belong to the filter table. */
enum firewall_table firewall_table_of(const struct rule *r)
{
    return r->hook == HOOK_PRE_FLOW ? FIREWALL_PRE_FLOW
           : r->hook == HOOK_PRE_STREAM ? FIREWALL_PRE_STREAM : FIREWALL_FILTER;
}

/* A rule about a protocol goes into the lists of all protocols that it covers. */
static void place(struct firewall *fw, const struct rule *r)
{
    if (r->app_proto == APP_PROTO_UNKNOWN) {
        ARRAY_PUSH(&fw->packet[firewall_table_of(r)], r->index);
        /* The filter table inspects rules of early hooks again, in their order. */
        if (firewall_table_of(r) != FIREWALL_FILTER)
            ARRAY_PUSH(&fw->packet[FIREWALL_FILTER], r->index);
        return;
    }
    for (unsigned id = 0; id < APP_PROTO_COUNT; id++) {
        if (app_proto_by_id((enum app_proto_id)id) == NULL ||
            !app_proto_matches((enum app_proto_id)r->app_proto, (enum app_proto_id)id))
            continue;
        for (unsigned d = 0; d < 2; d++)
            if (r->flags & (d == TO_SERVER ? RULE_TO_SERVER : RULE_TO_CLIENT))
                ARRAY_PUSH(&fw->app[id][d], r->index);
    }
}

/* Within a hook the order of the file counts: the first rule that accepts or drops wins. */
static int by_hook(const void *a, const void *b, void *arg)
{
    struct rule *const *rule = arg;
    const struct rule *x = rule[*(const uint32_t *)a], *y = rule[*(const uint32_t *)b];

    if (x->hook != y->hook)
        return x->hook - y->hook;
    return x->index < y->index ? -1 : x->index > y->index;
}

static void place_all(struct firewall *fw, const struct ruleset *set)
{
    for (size_t i = 0; i < set->rules.count; i++)
        if (set->rules.at[i]->flags & RULE_FIREWALL)
            place(fw, set->rules.at[i]);
    for (unsigned id = 0; id < APP_PROTO_COUNT; id++)
        for (unsigned d = 0; d < 2; d++)
            if (fw->app[id][d].count > 1)
                qsort_r(fw->app[id][d].at, fw->app[id][d].count, sizeof(uint32_t), by_hook,
                        set->rules.at);
}

/* Returns the rank of the rule's table for a packet; other rules run after the firewall's of the
 * same kind. A policy of a hook comes before all rules of hooks, as in Suricata 8.0.6. */
unsigned firewall_order(const struct rule *r)
{
    bool app = r->type == RULE_APP_TX;

    if (!(r->flags & RULE_FIREWALL))
        return (app ? 5u : 3u) << 8;
    if (app && r->index == FIREWALL_POLICY_INDEX)
        return 4u << 8;
    return app ? 4u << 8 | r->hook : firewall_table_of(r) << 8;
}

/* --- names for records -------------------------------------------------------------------- */

/* False: the hook has no name, which a rule that was parsed cannot cause. */
bool firewall_hook_text(const struct rule *rule, char *out, size_t size)
{
    static const char *const tables[FIREWALL_TABLES] = {
        [FIREWALL_PRE_FLOW] = "pre_flow", [FIREWALL_PRE_STREAM] = "pre_stream",
        [FIREWALL_FILTER] = "filter",
    };
    const struct app_proto *proto = app_proto_by_id((enum app_proto_id)rule->app_proto);
    const struct app_name *n;
    const char *kind = "";

    if (!rule->hook_in_app || proto == NULL) {
        snprintf(out, size, "packet:%s", tables[firewall_table_of(rule)]);
        return true;
    }
    n = proto->progress_names[rule->flags & RULE_TO_SERVER ? TO_SERVER : TO_CLIENT];
    if (rule->hook_kind != 0) {
        const struct app_tx_kind *k = &proto->tx_kinds[rule->hook_kind - 1];

        kind = k->name;
        n = k->progress_names[rule->flags & RULE_TO_SERVER ? TO_SERVER : TO_CLIENT];
    }
    for (; n != NULL && n->name != NULL; n++) {
        if (n->value != rule->hook - 1)
            continue;
        /* Records name the protocol as EVE does ("http"); rules say http1. */
        snprintf(out, size, "%s:%s%s%s", proto->name, kind, *kind != '\0' ? ":" : "", n->name);
        return true;
    }
    return false;
}

void firewall_action_text(const struct rule *rule, char *out, size_t size)
{
    static const char *const actions[] = {
        [RULE_DROP] = "drop", [RULE_REJECT_SRC] = "rejectsrc", [RULE_REJECT_DST] = "rejectdst",
        [RULE_REJECT_BOTH] = "rejectboth", [RULE_ACCEPT] = "accept", [RULE_CONFIG] = "config",
    };
    static const char *const scopes[] = {
        [SCOPE_DEFAULT] = "packet", [SCOPE_PACKET] = "packet", [SCOPE_FLOW] = "flow",
        [SCOPE_HOOK] = "hook", [SCOPE_TX] = "tx",
    };

    snprintf(out, size, "%s:%s%s%s", actions[rule->action], scopes[rule->scope],
             rule->also_pass ? ",pass:flow" : "",
             rule->flags & RULE_ALERT_KEYWORD ? ",alert" : "");
}

/* --- start and end ------------------------------------------------------------------------ */

/* Early hooks exist without the firewall too: ordinary rules may have one. */
int firewall_make(struct ruleset *set, const struct conf_node *root, struct err *err)
{
    early_hooks_make(set);
    if (!conf_bool(root, "firewall.enabled", false))
        return 0;
    set->firewall = xcalloc(1, sizeof(*set->firewall));
    place_all(set->firewall, set);
    return firewall_policies_read(set, root, err);
}

void firewall_free(struct firewall *fw)
{
    if (fw == NULL)
        return;
    for (unsigned t = 0; t < FIREWALL_TABLES; t++)
        free(fw->packet[t].at);
    for (unsigned id = 0; id < APP_PROTO_COUNT; id++)
        for (unsigned d = 0; d < 2; d++)
            free(fw->app[id][d].at);
    free(fw);
}
