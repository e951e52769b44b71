/* SPDX-License-Identifier: GPL-2.0-or-later */
/* control/gauges.c - reads the limits on memory and their use, and stores them as
 * counters. */
#include "control/gauges.h"

#include <stdlib.h>

#include "base/array.h"
#include "base/memory/traffic_memory.h"
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
    counter_id refused, given_back[PRESSURE_STEPS];
};

/* Registers gauges of a limit: the memory in use and, if it has a name, the limit. */
static void gauge_add(struct gauges *g, const struct memory_limit *limit)
{
    struct gauge *to = &g->at[g->count++];

    to->limit = *limit;
    to->used = counter_register(limit->used_counter, COUNTER_GAUGE);
    if (limit->limit_counter != NULL)
        to->most = counter_register(limit->limit_counter, COUNTER_GAUGE);
}

/* Registers how often memory was refused, and how often parts freed memory under pressure. */
static void register_pressure(struct gauges *g)
{
    g->refused = counter_register("engine.memory_refused", COUNTER_GAUGE);
    g->given_back[PRESSURE_IDLE] = counter_register("engine.memory_idle_flows", COUNTER_GAUGE);
    g->given_back[PRESSURE_BODIES] = counter_register("engine.memory_bodies", COUNTER_GAUGE);
    g->given_back[PRESSURE_LARGEST] =
        counter_register("engine.memory_largest_flows", COUNTER_GAUGE);
}

static void update_pressure(const struct gauges *g)
{
    counter_set(g->counters, g->refused, traffic_memory_refused());
    for (unsigned step = PRESSURE_IDLE; step < PRESSURE_STEPS; step++)
        counter_set(g->counters, g->given_back[step],
                    traffic_memory_given_back((enum memory_pressure)step));
}

struct gauges *gauges_new(const struct run_context *ctx)
{
    struct gauges *g = xcalloc(1, sizeof(*g));
    struct memory_limit limit;

    g->ctx = ctx;
    g->counters = counters_new("Global");
    /* Suricata's records have these keys even when no module counts them. */
    (void)counter_register("file_store.open_files", COUNTER_GAUGE);
    register_pressure(g);
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
    if (g != NULL)
        update_pressure(g);
}
