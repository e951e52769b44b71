/* SPDX-License-Identifier: GPL-2.0-or-later */
/* control/gauges.c - asks the limits on memory, and keeps what they say as counters. */
#include "control/gauges.h"

#include <stdlib.h>

#include "base/array.h"
#include "base/memory/traffic_memory.h"
#include "base/report/counters.h"
#include "control/limits.h"

/* Of the limit: what is used, and where there is one name for it, how much may be. */
static const struct { const char *limit, *used, *most; } shared[] = {
    { "applayer-proto-http", "http.memuse", NULL },
    { "applayer-proto-http-byterange", "http.byterange.memuse", "http.byterange.memcap" },
    { "ippair", "ippair.memuse", "ippair.memcap" },
    { "host", "host.memuse", "host.memcap" },
    { "global", "engine.memory_used", "engine.memory_limit" },
};

struct gauges {
    const struct run_context *ctx;
    struct counters *counters;
    struct {
        const struct memory_limit *limit;
        counter_id used, most;
    } at[ARRAY_LEN(shared)];
    counter_id refused, given_back[PRESSURE_STEPS];
};

/* How often memory was refused, and how often parts gave back. */
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

    g->ctx = ctx;
    g->counters = counters_new("Global");
    /* also where nobody counts them */
    (void)counter_register("http.memcap", COUNTER_SUM);
    (void)counter_register("file_store.open_files", COUNTER_GAUGE);
    register_pressure(g);
    for (size_t i = 0; i < ARRAY_LEN(shared); i++) {
        g->at[i].limit = memory_limit_find(shared[i].limit);
        g->at[i].used = counter_register(shared[i].used, COUNTER_GAUGE);
        if (shared[i].most != NULL)
            g->at[i].most = counter_register(shared[i].most, COUNTER_GAUGE);
    }
    return g;
}

void gauges_free(struct gauges *g)
{
    if (g == NULL)
        return;
    counters_free(g->counters);
    free(g);
}

void gauges_update(struct gauges *g)
{
    for (size_t i = 0; g != NULL && i < ARRAY_LEN(shared); i++) {
        const struct memory_limit *limit = g->at[i].limit;

        counter_set(g->counters, g->at[i].used, limit->used(g->ctx));
        if (shared[i].most != NULL)
            counter_set(g->counters, g->at[i].most, limit->get(g->ctx));
    }
    if (g != NULL)
        update_pressure(g);
}
