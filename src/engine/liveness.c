/* SPDX-License-Identifier: GPL-2.0-or-later */
/* engine/liveness.c - reads the metrics that threads keep anyway.
 *
 * A thread charges all its time as busy, waiting or blocked, in steps, and notes when the last one
 * ended. If that has not moved between two checks, the thread has not finished a step. A thread
 * that captures finishes one at least every 100 ms, packets or not. One that is fed by others may
 * sleep while nothing is on its way to it. */
#include "engine/liveness.h"

#include "base/array.h"
#include "engine/engine_private.h"

#include <stdlib.h>

/* Belongs to the one thread that checks. `seen` has one entry for each packet thread. */
struct liveness {
    const struct engine *engine;
    struct seen {
        uint64_t stamp_ns;              /* end of its last step, at the last check */
        unsigned missed;                /* checks without progress */
    } *seen;
};

struct liveness *liveness_new(const struct engine *engine)
{
    struct liveness *liveness = xcalloc(1, sizeof(*liveness));

    liveness->engine = engine;
    liveness->seen = xcalloc(engine->thread_count, sizeof(liveness->seen[0]));
    return liveness;
}

void liveness_free(struct liveness *liveness)
{
    if (liveness == NULL)
        return;
    free(liveness->seen);
    free(liveness);
}

/* Whether lack of progress is a fault. A consumer with no packets in flight may sleep for ever. */
static bool has_to_do(const struct engine_thread *t)
{
    if (metric_get(&t->start_ns) == 0 || metric_get(&t->end_ns) != 0)
        return false;
    if (t->plan->stage == 0)
        return true;
    for (unsigned i = 0; i < t->in_count; i++)
        if (metric_get(&t->in[i].sent) != metric_get(&t->in[i].done))
            return true;
    return false;
}

/* One miss may be chance, as after SIGSTOP and SIGCONT; only max_missed in a row count. */
static bool is_stuck(const struct engine_thread *t, struct seen *seen, unsigned max_missed)
{
    uint64_t now = metric_get(&t->stamp_ns);

    if (now != seen->stamp_ns || !has_to_do(t)) {
        *seen = (struct seen){ .stamp_ns = now };
        return false;
    }
    return ++seen->missed >= max_missed;
}

static bool is_blocked(const struct engine_thread *t)
{
    return (metric_get(&t->blocked_ns) & OPEN_TIME) != 0;
}

/* From the last thread to the first, so that the one nearest to the capture wins. A thread that is
 * stuck blocks others: one of those is named only if all are blocked. */
const char *liveness_check(struct liveness *liveness, unsigned max_missed)
{
    const struct engine *e = liveness->engine;
    const char *stuck = NULL, *blocked = NULL;

    for (unsigned i = e->thread_count; i-- > 0;) {
        const struct engine_thread *t = &e->threads[i];

        if (!is_stuck(t, &liveness->seen[i], max_missed))
            continue;
        if (is_blocked(t))
            blocked = t->plan->name;
        else
            stuck = t->plan->name;
    }
    return stuck != NULL ? stuck : blocked;
}
