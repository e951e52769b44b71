/* SPDX-License-Identifier: GPL-2.0-or-later */
/* control/gauges.c - reads the limits on memory and their use, and stores them as
 * counters. */
#include "control/gauges.h"

#include <stdlib.h>

#include "base/array.h"
#include "base/report/counters.h"
#include "control/limits.h"

/* A row: the limit (limits.c), the counter of its use, and the counter of the limit
 * itself; NULL: Suricata has none. The names are Suricata's. */
static const struct { const char *limit, *used, *most; } shared[] = {
    { "applayer-proto-http", "http.memuse", NULL },
    { "applayer-proto-http-byterange", "http.byterange.memuse", "http.byterange.memcap" },
    { "ippair", "ippair.memuse", "ippair.memcap" },
    { "host", "host.memuse", "host.memcap" },
};

/* One per engine. `at` has a row for each row of shared[]. */
struct gauges {
    const struct run_context *ctx;
    struct counters *counters;
    struct {
        const struct memory_limit *limit;
        counter_id used, most;
    } at[ARRAY_LEN(shared)];
};

struct gauges *gauges_new(const struct run_context *ctx)
{
    struct gauges *g = xcalloc(1, sizeof(*g));

    g->ctx = ctx;
    g->counters = counters_new("Global");
    /* Suricata's records have these keys even when no module counts them. */
    (void)counter_register("http.memcap", COUNTER_SUM);
    (void)counter_register("file_store.open_files", COUNTER_GAUGE);
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

/* The statistics thread and the control thread call it; each figure is one atomic store. */
void gauges_update(struct gauges *g)
{
    for (size_t i = 0; g != NULL && i < ARRAY_LEN(shared); i++) {
        const struct memory_limit *limit = g->at[i].limit;

        counter_set(g->counters, g->at[i].used, limit->used(g->ctx));
        if (shared[i].most != NULL)
            counter_set(g->counters, g->at[i].most, limit->get(g->ctx));
    }
}
