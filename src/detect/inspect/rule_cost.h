/* SPDX-License-Identifier: GPL-2.0-or-later */
/* detect/inspect/rule_cost.h - measures the evaluation of a rule: begin, evaluate, end. All packets
 * are timed while profiling is on, else those of the sample. */
#ifndef DETECT_RULE_COST_H
#define DETECT_RULE_COST_H

#include "base/system/clock.h"
#include "detect/inspect/inspect_private.h"

/* The time; ends the parts that were searched before. */
uint64_t rule_profile_started(struct detect_thread *dt);

static inline uint64_t rule_profile_begin(struct detect_thread *dt)
{
    return UNLIKELY(dt->is_timed) ? rule_profile_started(dt) : 0;
}

/* If the packet is not timed, `started` is 0. */
void rule_profile_note(struct detect_thread *dt, uint32_t rule, uint64_t started, bool matched);

/* Matches and limits are rare, so all are counted, and not only those of the sample. */
static inline void rule_profile_end(struct detect_thread *dt, uint32_t rule, uint64_t started,
                                    bool matched)
{
    if (UNLIKELY((started | dt->program.limits | matched) != 0))
        rule_profile_note(dt, rule, started, matched);
}

#endif
