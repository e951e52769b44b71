/* SPDX-License-Identifier: GPL-2.0-or-later */
/* engine/liveness.c - looks at the figures that threads keep anyway.
 *
 * All time of a thread is accounted as busy, waiting or blocked, bit by bit as it goes: when
 * none of it has grown the thread has not come round. A thread that captures comes round at least
 * every 100 ms. One that is fed by others may sleep for as long as nothing is on its way to it. */
#include "engine/liveness.h"

#include "base/array.h"
#include "engine/engine_private.h"

#include <stdlib.h>

struct engine_watch {
    const struct engine *engine;
    struct seen {
        uint64_t time_ns;
        unsigned looks;                 /* at which it stood as it stands now */
    } *seen;
};

struct engine_watch *engine_watch_new(const struct engine *engine)
{
    struct engine_watch *watch = xcalloc(1, sizeof(*watch));

    watch->engine = engine;
    watch->seen = xcalloc(engine->thread_count, sizeof(watch->seen[0]));
    return watch;
}

void engine_watch_free(struct engine_watch *watch)
{
    if (watch == NULL)
        return;
    free(watch->seen);
    free(watch);
}

static uint64_t accounted_ns(const struct engine_thread *t)
{
    uint64_t sum = figure_get(&t->wait_ns) + figure_get(&t->blocked_ns);

    for (unsigned i = 0; i < t->module_count; i++)
        sum += figure_get(&t->modules[i].busy_ns);
    return sum;
}

static bool has_to_do(const struct engine_thread *t)
{
    if (figure_get(&t->start_ns) == 0 || figure_get(&t->end_ns) != 0)
        return false;
    if (t->plan->stage == 0)
        return true;
    for (unsigned i = 0; i < t->in_count; i++)
        if (figure_get(&t->in[i].sent) != figure_get(&t->in[i].done))
            return true;
    return false;
}

static bool is_stuck(const struct engine_thread *t, struct seen *seen, unsigned patience)
{
    uint64_t now = accounted_ns(t);

    if (now != seen->time_ns || !has_to_do(t)) {
        *seen = (struct seen){ .time_ns = now };
        return false;
    }
    return ++seen->looks >= patience;
}

const char *engine_watch_look(struct engine_watch *watch, unsigned patience)
{
    const struct engine *e = watch->engine;
    const char *stuck = NULL;

    for (unsigned i = e->thread_count; i-- > 0;)
        if (is_stuck(&e->threads[i], &watch->seen[i], patience))
            stuck = e->threads[i].plan->name;
    return stuck;
}
