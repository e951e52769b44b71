/* SPDX-License-Identifier: GPL-2.0-or-later */
/* control/gauges.c - reads the limits on memory and their use, and stores them as
 * counters. */
#include "control/gauges.h"

#include <stdlib.h>

#include "base/array.h"
#include "base/report/counters.h"
#include "control/limits.h"

#define GAUGES_MAX 16

/* One per engine. `at` has a row for each row of shared[]. */
struct gauges {
    const struct run_context *ctx;
    struct counters *counters;
    unsigned count;
    struct gauge {
        struct memory_limit limit;
        counter_id used, most;
    } at[GAUGES_MAX];
};

/* Of a limit: what is used, and where there is a name for it, how much may be. */
static void gauge_add(struct gauges *g, const struct memory_limit *limit)
{
    struct gauge *to = &g->at[g->count++];

    to->limit = *limit;
    to->used = counter_register(limit->used_counter, COUNTER_GAUGE);
    if (limit->limit_counter != NULL)
        to->most = counter_register(limit->limit_counter, COUNTER_GAUGE);
}

struct gauges *gauges_new(const struct run_context *ctx)
{
    struct gauges *g = xcalloc(1, sizeof(*g));
    struct memory_limit limit;

    g->ctx = ctx;
    g->counters = counters_new("Global");
    /* Suricata's records have these keys even when no module counts them. */
    (void)counter_register("file_store.open_files", COUNTER_GAUGE);
    for (unsigned n = 0; g->count < GAUGES_MAX && memory_limit_at(n, &limit); n++)
        if (limit.used_counter != NULL)
            gauge_add(g, &limit);
    return g;
}

void gauges_free(struct gauges *g)
{
    if (g == NULL)
        return;
    counters_free(g->counters);
    free(g);
}

/* The statistics thread and the control thread call it; each figure is one atomic store. */
void gauges_update(struct gauges *g)
{
    for (unsigned i = 0; g != NULL && i < g->count; i++) {
        const struct gauge *at = &g->at[i];

        counter_set(g->counters, at->used, memory_limit_used(&at->limit, g->ctx));
        if (at->limit.limit_counter != NULL)
            counter_set(g->counters, at->most, memory_limit_get(&at->limit, g->ctx));
    }
}
