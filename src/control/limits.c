/* SPDX-License-Identifier: GPL-2.0-or-later */
/* control/limits.c - the limits on memory that memcap-list shows: where each one is
 * stored, and how much of it is used. memcap-set may run while packets flow, so all of
 * them are atomic. */
#include "control/limits.h"

#include <string.h>

#include "app/conf.h"
#include "app/proto.h"
#include "base/memory/traffic_memory.h"
#include "base/report/counters.h"
#include "detect/state/host_bits.h"
#include "detect/state/shard_table.h"
#include "flow/memcap.h"
#include "packet/defrag.h"

/* --- stream and flow: threads reserve memory in advance --------------------------------------- */

/* Three functions for a memcap from which threads reserve. 0 is refused: unlimited would
 * need other code on the packet path. */
#define RESERVED(name, memcap)                                                              \
    static uint64_t name##_get(const struct run_context *ctx)                             \
    {                                                                                     \
        return memcap_limit(memcap);                                                      \
    }                                                                                     \
    static uint64_t name##_used(const struct run_context *ctx)                            \
    {                                                                                     \
        return memcap_used(memcap);                                                       \
    }                                                                                     \
    static bool name##_set(const struct run_context *ctx, uint64_t bytes)                 \
    {                                                                                     \
        if (bytes == 0 || bytes < memcap_used(memcap))                                    \
            return false;                                                                 \
        memcap_set_limit(memcap, bytes);                                                  \
        return true;                                                                      \
    }

/* the settings are read-only after start, except for their limits */
RESERVED(stream, stream_conf_session_memcap((struct stream_conf *)ctx->stream))
RESERVED(reassembly, stream_conf_data_memcap((struct stream_conf *)ctx->stream))
RESERVED(flow, flow_conf_memcap((struct flow_conf *)ctx->flow))

/* --- applications ----------------------------------------------------------------------------- */

/* NULL: the parser is not built in or counts no memory. */
static uint64_t app_get(const struct app_memory *m)
{
    return m != NULL ? __atomic_load_n(&m->limit, __ATOMIC_RELAXED) : 0;
}

static uint64_t app_used(const struct app_memory *m)
{
    return m != NULL ? __atomic_load_n(&m->used, __ATOMIC_RELAXED) : 0;
}

/* A parser that was started without a limit has not counted, so it cannot get one later. */
static bool app_set(struct app_memory *m, uint64_t bytes)
{
    if (m == NULL || !m->counted || (bytes != 0 && bytes < app_used(m)))
        return false;
    __atomic_store_n(&m->limit, bytes, __ATOMIC_RELAXED);
    return true;
}

/* The same three functions for the memory of parsers. */
/* --- the defragmenter ------------------------------------------------------------------------- */

static struct defrag_conf *defrag(const struct run_context *ctx)
{
    return decode_conf_defrag((struct decode_conf *)ctx->decode);
}

static uint64_t defrag_get(const struct run_context *ctx)
{
    return defrag_conf_memcap(defrag(ctx));
}

/* Each decode thread has its own fragments; their sum is only in the counter. */
static uint64_t defrag_used(const struct run_context *ctx)
{
    (void)ctx;
    return counter_total(counter_register("defrag.memuse", COUNTER_GAUGE));
}

static bool defrag_set(const struct run_context *ctx, uint64_t bytes)
{
    return bytes >= defrag_used(ctx) && defrag_conf_set_memcap(defrag(ctx), bytes);
}

/* --- hosts: bits on hosts and on pairs share a table ------------------------------------------ */

/* The table survives the ruleset: rules share it across reloads. So it may be used after
 * the unref. */
static struct shard_table *hosts(const struct run_context *ctx)
{
    unsigned generation;
    struct ruleset *rules = run_context_rules((struct run_context *)ctx, &generation);
    struct shard_table *table = host_bits_table(ruleset_host_bits(rules));

    ruleset_unref(rules);
    return table;
}

static uint64_t hosts_get(const struct run_context *ctx)
{
    return shard_table_memory(hosts(ctx));
}

static uint64_t hosts_used(const struct run_context *ctx)
{
    return shard_table_used(hosts(ctx));
}

static bool hosts_set(const struct run_context *ctx, uint64_t bytes)
{
    return bytes >= hosts_used(ctx) && shard_table_limit(hosts(ctx), bytes);
}

/* --- all of it -------------------------------------------------------------------------------- */

static uint64_t global_get(const struct run_context *ctx UNUSED)
{
    return traffic_memory_limit();
}

static uint64_t global_used(const struct run_context *ctx UNUSED)
{
    return traffic_memory_used();
}

static bool global_set(const struct run_context *ctx UNUSED, uint64_t bytes)
{
    if (bytes != 0 && bytes < traffic_memory_used())
        return false;
    traffic_memory_set_limit(bytes);
    return true;
}

/* --- the table -------------------------------------------------------------------------------- */

#define LIMIT(text, prefix, used_counter, limit_counter) \
    { text, used_counter, limit_counter, prefix##_get, prefix##_used, prefix##_set, NULL }

/* Suricata's names. "ippair" and "host" are one table here, so they show the same figures. */
static const struct memory_limit own_limits[] = {
    LIMIT("stream", stream, NULL, NULL),
    LIMIT("stream-reassembly", reassembly, NULL, NULL),
    LIMIT("flow", flow, NULL, NULL),
    LIMIT("defrag", defrag, NULL, NULL),
    LIMIT("ippair", hosts, "ippair.memuse", "ippair.memcap"),
    LIMIT("host", hosts, "host.memuse", "host.memcap"),
    LIMIT("global", global, "engine.memory_used", "engine.memory_limit"),
};

bool memory_limit_at(unsigned n, struct memory_limit *out)
{
    unsigned at = ARRAY_LEN(own_limits);

    if (n < at) {
        *out = own_limits[n];
        return true;
    }
    for (enum app_proto_id id = APP_PROTO_FIRST; id < app_proto_end(); id++) {
        const struct app_memcap *app = app_proto_by_id(id)->memcaps;

        for (; app != NULL && app->name != NULL; app++) {
            if (at++ < n)
                continue;
            *out = (struct memory_limit){ .name = app->name, .used_counter = app->used_counter,
                                          .limit_counter = app->limit_counter, .app = app };
            return true;
        }
    }
    return false;
}

bool memory_limit_find(const char *name, struct memory_limit *out)
{
    for (unsigned n = 0; memory_limit_at(n, out); n++)
        if (strcmp(out->name, name) == 0)
            return true;
    return false;
}

uint64_t memory_limit_get(const struct memory_limit *limit, const struct run_context *ctx)
{
    return limit->app != NULL ? app_get(limit->app->memory(ctx->app)) : limit->get(ctx);
}

uint64_t memory_limit_used(const struct memory_limit *limit, const struct run_context *ctx)
{
    return limit->app != NULL ? app_used(limit->app->memory(ctx->app)) : limit->used(ctx);
}

bool memory_limit_set(const struct memory_limit *limit, const struct run_context *ctx,
                      uint64_t bytes)
{
    return limit->app != NULL ? app_set(limit->app->memory(ctx->app), bytes)
                              : limit->set(ctx, bytes);
}
