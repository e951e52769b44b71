/* SPDX-License-Identifier: GPL-2.0-or-later */
/* detect/inspect/thread.c - the memory that one thread needs to run rules, and the change to
 * another ruleset. */
#include "base/array.h"
#include "detect/compile/firewall.h"
#include "detect/compile/renumber.h"
#include "detect/inspect/packet_work.h"
#include "detect/inspect/search_ahead.h"
#include "detect/lua/script.h"
#include "detect/state/profile.h"
#include "flow/flow.h"

#include <stdlib.h>

/* The thread itself calls this between packets, so no other thread touches its profile. */
void detect_thread_follow_profile(struct detect_thread *dt)
{
    if (!ruleset_profile_is_on(dt->set)) {
        profile_leave(dt->set->profile, dt->profile);
        dt->profile = NULL;
    } else if (dt->profile == NULL) {
        dt->profile = profile_join(dt->set->profile);
    }
    dt->is_timed = dt->profile != NULL || dt->sample.weight != 0;
}

/* Takes a reference to the set. All memory depends on its size, so that nothing is
 * allocated for a packet later. -1: libhs has no memory for scratch. */
static int rules_attach(struct detect_thread *dt, struct ruleset *set, struct err *err)
{
    const struct detect_plan *plan = set->plan;

    dt->hs = pattern_pool_scratch(plan->patterns, err);
    if (dt->hs == NULL && err != NULL && err->text[0] != '\0')
        return -1;
    dt->set = ruleset_ref(set);
    dt->plan = plan;
    dt->costs = costs_shared(set->costs);
    dt->hits = costs_join(set->costs);
    packet_sample_init(&dt->sample, dt->epoch);
    detect_thread_follow_profile(dt);
    candidates_init(&dt->found, plan->rule_count);
    candidates_init(&dt->decided, plan->rule_count);
    candidates_init(&dt->payload_parts, plan->payload_part_count);
    dt->selected = xmalloc((plan->rule_count + (size_t)1) * sizeof(*dt->selected));
    dt->slot = xcalloc(plan->buffer_count + 1, sizeof(*dt->slot));
    program_scratch_set_steps(&dt->program, plan->step_limit);
    packet_work_attach(dt);
    dt->program.on_step = NULL;
    dt->laps = (struct part_laps){ 0 };
    dt->lua = lua_thread_new(set, dt->counters);
    return 0;
}

/* Drops the reference: the last thread to do so frees the old set. */
static void rules_detach(struct detect_thread *dt)
{
    if (dt->set == NULL)
        return;
    profile_leave(dt->set->profile, dt->profile);
    costs_leave(dt->set->costs, dt->hits);
    dt->profile = dt->costs = NULL;
    dt->hits = NULL;
    for (unsigned i = 0; i < dt->plan->buffer_count; i++)
        buf_fini(&dt->slot[i].transformed);
    free(dt->slot);
    candidates_fini(&dt->found);
    candidates_fini(&dt->decided);
    candidates_fini(&dt->payload_parts);
    free(dt->selected);
    lua_thread_free(dt->lua);
    hs_scratch_free(dt->hs);
    ruleset_unref(dt->set);
    dt->set = NULL;
}

/* The helper's memory depends on the rules as the thread's does. Without scratch for libhs it has
 * no use, but the thread goes on alone. */
static void helper_follow_rules(struct detect_thread *dt)
{
    struct err err = { 0 };
    struct hs_scratch *scratch = pattern_pool_scratch(dt->plan->patterns, &err);

    search_ahead_set_rules(dt->ahead, dt->plan->rule_count, dt->hs, scratch);
    dt->ahead_works = err.text[0] == '\0';
}

bool detect_thread_start_helper(struct detect_thread *dt)
{
    dt->ahead = search_ahead_new();
    if (dt->ahead != NULL)
        helper_follow_rules(dt);
    return dt->ahead != NULL;
}

/* packet-alert-max: 15 is Suricata's default, and a value that does not fit a byte counts
 * as the default. Called before packets flow, so counters can be registered. */
struct detect_thread *detect_thread_new(struct ruleset *set, const struct conf_node *conf,
                                        struct counters *counters, bool is_inline, struct err *err)
{
    struct detect_thread *dt = xcalloc(1, sizeof(*dt));
    struct err mine = { 0 };

    dt->counters = counters;
    dt->count.pcre_limit = counter_register_own("detect.pcre_limit", COUNTER_SUM);
    dt->count.step_limit = counter_register_own("detect.inspection_limit", COUNTER_SUM);
    dt->conf = conf;
    dt->is_inline = is_inline;
    dt->table = FIREWALL_FILTER;
    dt->alert_max = (unsigned)conf_u64(conf, "packet-alert-max", 15);
    if (dt->alert_max == 0 || dt->alert_max > 255)
        dt->alert_max = 15;
    dt->count.alert = counter_register("detect.alert", COUNTER_SUM);
    dt->count.overflow = counter_register("detect.alert_queue_overflow", COUNTER_SUM);
    dt->count.suppressed = counter_register("detect.alerts_suppressed", COUNTER_SUM);
    if (conf_bool(conf, "firewall.enabled", false))
        dt->count.discarded = counter_register("firewall.discarded_alerts", COUNTER_SUM);
    program_scratch_init(&dt->program, 0);
    arena_init(&dt->alert_context, 4096, 0);
    if (rules_attach(dt, set, &mine) < 0) {
        if (err != NULL)
            *err = mine;
        detect_thread_free(dt);
        return NULL;
    }
    return dt;
}

struct lua_caller detect_thread_lua(struct detect_thread *dt)
{
    return (struct lua_caller){ .lua = dt->lua, .epoch = dt->epoch,
                                .work = &dt->program.packet };
}

void detect_thread_keep_alert_payload(struct detect_thread *dt, uint32_t bytes)
{
    dt->alert_payload_size = bytes;
}

bool detect_keeps_alert_payload(const struct detect_thread *dt)
{
    return dt->alert_payload_size > 0;
}

/* Accepts a thread that was only half made. */
void detect_thread_free(struct detect_thread *dt)
{
    if (dt == NULL)
        return;
    search_ahead_free(dt->ahead);
    rules_detach(dt);
    program_scratch_fini(&dt->program);
    buf_fini(&dt->spare);
    buf_fini(&dt->context_buf);
    arena_fini(&dt->alert_context);
    free(dt->queue.at);
    free(dt);
}

enum direction match_side(const struct match_input *in)
{
    return in->thread != NULL ? in->thread->inspection->direction : packet_direction(in->packet);
}

/* Flows and transactions name rules by number, and another set assigns other numbers.
 * detect_inspect() clears such state when it finds it. */
void detect_thread_set_rules(struct detect_thread *dt, struct ruleset *set)
{
    struct err err = { 0 };

    if (set == dt->set)
        return;
    dt->renumbered = renumbered_since(set, dt->set);
    dt->generation_before = dt->generation;
    rules_detach(dt);
    dt->generation++;
    while (rules_attach(dt, set, &err) < 0) {
        out_of_memory(0);
        err = (struct err){ 0 };
    }
    if (dt->ahead != NULL)
        helper_follow_rules(dt);
}

/* With tenants, a flow may come to the rules of others, when its tenant is removed: its numbers are
 * not those of this thread's set before. */
void detect_thread_set_generation(struct detect_thread *dt, uint8_t generation)
{
    dt->generation = generation;
    dt->renumbered = NULL;
}
