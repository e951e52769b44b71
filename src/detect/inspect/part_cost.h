/* SPDX-License-Identifier: GPL-2.0-or-later */
/* detect/inspect/part_cost.h - measures groups, buffers and keywords on some packets of the sample
 * (packet_sample.h).
 *
 * Of each kind there is one part at a time: the clock is read where the next part begins, and what
 * has passed since is the cost of the part before. On other packets this is a branch that is not
 * taken; steps of programs do not even have that (part_laps_take()). */
#ifndef DETECT_PART_COST_H
#define DETECT_PART_COST_H

#include "detect/inspect/inspect_private.h"

/* Ends the part of this kind, if there is one; name NULL: none begins. */
void part_lap(struct detect_thread *dt, enum cost_kind kind, const char *name);
/* Ends the parts of all kinds. */
void part_laps_end(struct detect_thread *dt);
/* Decides whether this packet is one for parts. Call it when the sample has decided. */
void part_laps_take(struct detect_thread *dt);

static inline void part_begin(struct detect_thread *dt, enum cost_kind kind, const char *name)
{
    if (UNLIKELY(dt->laps.on))
        part_lap(dt, kind, name);
}

/* NULL: the payload. */
static inline void buffer_begin(struct detect_thread *dt, const struct buffer *b)
{
    if (UNLIKELY(dt->laps.on))
        part_lap(dt, COST_BUFFER, b != NULL ? b->name : "payload");
}

static inline void test_begin(struct detect_thread *dt, const struct rule_test *test)
{
    if (UNLIKELY(dt->laps.on))
        part_lap(dt, COST_KEYWORD, test->keyword != NULL ? test->keyword->name : NULL);
}

static inline void group_end(struct detect_thread *dt)
{
    if (UNLIKELY(dt->laps.on))
        part_laps_end(dt);
}

#endif
