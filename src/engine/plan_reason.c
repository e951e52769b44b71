/* SPDX-License-Identifier: GPL-2.0-or-later */
/* engine/plan_reason.c - says why a thread runs where the plan puts it: the set of CPUs, how the
 * set is used, the interface that the thread should be near to, and the line of the
 * configuration. */
#include "engine/plan_private.h"

static void add_place(struct buf *out, struct where at)
{
    if (at.file != NULL)
        buf_printf(out, " (%s:%u)", at.file, at.line);
}

/* Whether the node of the thread's interface counted, as in cpu_placement.c. With `autopin: force`
 * it is the only one, for balanced sets, too. */
static void add_node(const struct plan *plan, const struct plan_thread *t,
                     const struct affinity_set *set, struct buf *out)
{
    bool chosen = set->is_auto || (set->exclusive && plan->affinity->autopin != AUTOPIN_NO);
    int numa = chosen && plan_follows_interface(t) ? plan_source_numa(plan, t->source) : -1;

    if (t->memory_node >= 0) {
        buf_printf(out, ", only on node %d, with its memory: autopin is force", t->memory_node);
        add_place(out, plan->affinity->autopin_at);
    } else if (numa >= 0) {
        buf_printf(out, ", node %d of %s first", numa, t->source);
    }
}

static void add_set(const struct plan *plan, const struct plan_thread *t,
                    const struct affinity_set *set, struct buf *out)
{
    const char *name = cpu_role_name(t->role);

    if (cpu_set_count(&set->cpus) == 0) {
        buf_printf(out, "any CPU: %s-cpu-set has none", name);
        return;
    }
    if (set->is_auto)
        buf_printf(out, "the best free CPU of %s-cpu-set, which is auto", name);
    else if (set->exclusive)
        buf_printf(out, "the next CPU of %s-cpu-set, which is exclusive", name);
    else
        buf_printf(out, "any CPU of %s-cpu-set, which is balanced", name);
    add_place(out, set->at);
    add_node(plan, t, set, out);
}

void plan_reason(const struct plan *plan, const struct plan_thread *t, struct buf *out)
{
    const struct plan_stage *stage = t->stage >= 0 ? &plan->stages[t->stage] : NULL;

    if (stage != NULL && plan_has_own_cpus(stage)) {
        buf_printf(out, "cpu-set of its stage");
        add_place(out, stage->stage->cpu_node->at);
    } else if (!plan->affinity->enabled) {
        buf_printf(out, "any CPU: threading.set-cpu-affinity is off");
    } else {
        add_set(plan, t, affinity_get(plan->affinity, t->role,
                                      plan_follows_interface(t) ? t->source : NULL), out);
    }
}
