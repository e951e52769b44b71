/* SPDX-License-Identifier: GPL-2.0-or-later */
/* detect/inspect/part_cost.c - laps of groups, buffers and keywords. */
#include "detect/inspect/part_cost.h"

#include "base/system/clock.h"

/* One in so many packets of the sample: a rule has many steps, and each lap reads the clock. */
#define PARTS_EVERY 4

COLD void part_lap(struct detect_thread *dt, enum cost_kind kind, const char *name)
{
    struct part_laps *laps = &dt->laps;
    uint64_t now = clock_ticks();

    if (laps->at[kind] != NULL)
        part_cost_add(laps->at[kind], now - laps->since[kind], laps->weight);
    laps->at[kind] = name != NULL ? part_cost_of(dt->set->parts, kind, name) : NULL;
    laps->since[kind] = name != NULL ? clock_ticks() : 0;
}

COLD void part_laps_end(struct detect_thread *dt)
{
    for (unsigned kind = 0; kind < COST_KINDS; kind++)
        part_lap(dt, (enum cost_kind)kind, NULL);
}

/* The keyword of an operation on a buffer. */
static const char *step_keyword(const struct step *s)
{
    static const char *const names[] = {
        [OP_CONTENT] = "content", [OP_PCRE] = "pcre", [OP_ISDATAAT] = "isdataat",
        [OP_BYTE_TEST] = "byte_test", [OP_BYTE_JUMP] = "byte_jump",
        [OP_BYTE_EXTRACT] = "byte_extract", [OP_BYTE_MATH] = "byte_math", [OP_BSIZE] = "bsize",
        [OP_URILEN] = "urilen", [OP_BASE64] = "base64_decode", [OP_ABSENT] = "absent",
    };

    if (s->kind != OP_CALL)
        return names[s->kind];
    return s->keyword != NULL ? s->keyword->name : NULL;
}

static void COLD step_begins(void *arg, const struct step *s)
{
    part_lap(arg, COST_KEYWORD, step_keyword(s));
}

/* Programs compare their steps with a limit, and a limit of 0 sends each step to step_begins(). So
 * on other packets a step costs nothing for it. */
COLD void part_laps_take(struct detect_thread *dt)
{
    struct part_laps *laps = &dt->laps;

    laps->on = false;
    dt->program.on_step = NULL;
    dt->program.step_limit = MIN(dt->program.steps_most, PROGRAM_STEPS_FREE);
    laps->weight_due += dt->sample.weight;
    if (dt->sample.weight == 0 || dt->set->parts == NULL || laps->sampled++ % PARTS_EVERY != 0)
        return;
    *laps = (struct part_laps){ .on = true, .sampled = laps->sampled, .weight = laps->weight_due };
    dt->program.on_step = step_begins;
    dt->program.on_step_arg = dt;
    dt->program.step_limit = 0;
}
