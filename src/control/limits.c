/* SPDX-License-Identifier: GPL-2.0-or-later */
/* control/limits.c - where each limit on memory lies, and what is used of it. */
#include "control/limits.h"

#include <string.h>

#include "app/conf.h"
#include "base/memory/traffic_memory.h"
#include "base/report/counters.h"
#include "detect/state/host_bits.h"
#include "detect/state/shard_table.h"
#include "flow/memcap.h"
#include "packet/defrag.h"

/* --- stream and flow: reserved by threads
 * ------------------------------------------------------- */

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

/* The settings are read-only but for these. */
RESERVED(stream, stream_conf_session_memcap((struct stream_conf *)ctx->stream))
RESERVED(reassembly, stream_conf_data_memcap((struct stream_conf *)ctx->stream))
RESERVED(flow, flow_conf_memcap((struct flow_conf *)ctx->flow))

/* --- applications ----------------------------------------------------------------------------- */

static uint64_t app_get(const struct app_memory *m)
{
    return m != NULL ? __atomic_load_n(&m->limit, __ATOMIC_RELAXED) : 0;
}

static uint64_t app_used(const struct app_memory *m)
{
    return m != NULL ? __atomic_load_n(&m->used, __ATOMIC_RELAXED) : 0;
}

static bool app_set(struct app_memory *m, uint64_t bytes)
{
    if (m == NULL || !m->counted || (bytes != 0 && bytes < app_used(m)))
        return false;
    __atomic_store_n(&m->limit, bytes, __ATOMIC_RELAXED);
    return true;
}

#define APP(name, memory)                                                                 \
    static uint64_t name##_get(const struct run_context *ctx)                             \
    {                                                                                     \
        return app_get(memory);                                                           \
    }                                                                                     \
    static uint64_t name##_used(const struct run_context *ctx)                            \
    {                                                                                     \
        return app_used(memory);                                                          \
    }                                                                                     \
    static bool name##_set(const struct run_context *ctx, uint64_t bytes)                 \
    {                                                                                     \
        return app_set(memory, bytes);                                                    \
    }

APP(http, app_decoders_limit(ctx->app))
APP(ranges, app_ranges_limit(ctx->app))
APP(ftp, app_proto_memory(ctx->app, APP_PROTO_ftp))

/* --- the defragmenter ------------------------------------------------------------------------- */

static struct defrag_conf *defrag(const struct run_context *ctx)
{
    return decode_conf_defrag((struct decode_conf *)ctx->decode);
}

static uint64_t defrag_get(const struct run_context *ctx)
{
    return defrag_conf_memcap(defrag(ctx));
}

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

/* What rules remember stays when they go. */
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

#define LIMIT(text, prefix) { text, prefix##_get, prefix##_used, prefix##_set }

const struct memory_limit memory_limits[] = {
    LIMIT("stream", stream),
    LIMIT("stream-reassembly", reassembly),
    LIMIT("flow", flow),
    LIMIT("applayer-proto-http", http),
    LIMIT("applayer-proto-http-byterange", ranges),
    LIMIT("defrag", defrag),
    LIMIT("ippair", hosts),
    LIMIT("host", hosts),
    LIMIT("ftp", ftp),
    LIMIT("global", global),
    { NULL, NULL, NULL, NULL },
};

const struct memory_limit *memory_limit_find(const char *name)
{
    for (const struct memory_limit *limit = memory_limits; limit->name != NULL; limit++)
        if (strcmp(limit->name, name) == 0)
            return limit;
    return NULL;
}
