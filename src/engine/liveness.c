/* SPDX-License-Identifier: GPL-2.0-or-later */
/* engine/liveness.c - reads the metrics that threads keep anyway.
 *
 * A thread charges all its time as busy, waiting or blocked, in steps. If none of these has grown
 * between two checks, the thread has not finished a step. A thread that captures finishes one at
 * least every 100 ms. One that is fed by others may sleep while nothing is on its way to it. */
#include "engine/liveness.h"

#include "base/array.h"
#include "engine/engine_private.h"

#include <stdlib.h>

/* Belongs to the one thread that checks. `seen` has one entry for each packet thread. */
struct liveness {
    const struct engine *engine;
    struct seen {
        uint64_t time_ns; /* accounted at the last check */
        unsigned missed;                 /* checks without progress */
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

static uint64_t accounted_ns(const struct engine_thread *t)
{
    uint64_t sum = metric_get(&t->wait_ns) + metric_get(&t->blocked_ns);

    for (unsigned i = 0; i < t->module_count; i++)
        sum += metric_get(&t->modules[i].busy_ns);
    return sum;
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
    uint64_t now = accounted_ns(t);

    if (now != seen->time_ns || !has_to_do(t)) {
        *seen = (struct seen){ .time_ns = now };
        return false;
    }
    return ++seen->missed >= max_missed;
}

/* From the last thread to the first, so that the one nearest to the capture wins: a thread that is
 * stuck at the end blocks those before it, but these then count as blocked, not as stuck. */
const char *liveness_check(struct liveness *liveness, unsigned max_missed)
{
    const struct engine *e = liveness->engine;
    const char *stuck = NULL;

    for (unsigned i = e->thread_count; i-- > 0;)
        if (is_stuck(&e->threads[i], &liveness->seen[i], max_missed))
            stuck = e->threads[i].plan->name;
    return stuck;
}
