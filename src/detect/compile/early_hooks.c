/* SPDX-License-Identifier: GPL-2.0-or-later */
/* detect/compile/early_hooks.c - finds the rules that run before the flow table and before the
 * stream, and whether threads share their state. inspect/early_hooks.c evaluates them. */
#include "detect/compile/compile.h"
#include "detect/compile/firewall.h"
#include "detect/rule/ruleset_private.h"
#include "detect/state/threshold.h"

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
