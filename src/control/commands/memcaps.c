/* SPDX-License-Identifier: GPL-2.0-or-later */
/* control/commands/memcaps.c - limits on memory, seen and changed while packets flow. */
#include <stdio.h>
#include <string.h>

#include "base/counters.h"
#include "control/private.h"
#include "detect/host_bits.h"
#include "detect/shard_table.h"
#include "flow/memcap.h"
#include "packet/defrag.h"

/* used NULL: not known. set: false when it cannot be that; NULL: it cannot be changed. */
struct limit {
    const char *name;
    uint64_t (*get)(const struct run_context *ctx);     /* 0: none */
    uint64_t (*used)(const struct run_context *ctx);
    bool (*set)(const struct run_context *ctx, uint64_t bytes);
};

/* --- stream and flow: leased by threads ------------------------------------------------------- */

#define LEASED(name, memcap)                                                              \
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
LEASED(stream, stream_conf_session_memcap((struct stream_conf *)ctx->stream))
LEASED(reassembly, stream_conf_data_memcap((struct stream_conf *)ctx->stream))
LEASED(flow, flow_conf_memcap((struct flow_conf *)ctx->flow))

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

APP(http, app_proto_memory(ctx->app, APP_PROTO_http1))
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

/* --- the table -------------------------------------------------------------------------------- */

#define LIMIT(text, prefix) { text, prefix##_get, prefix##_used, prefix##_set }

static const struct limit limits[] = {
    LIMIT("stream", stream),
    LIMIT("stream-reassembly", reassembly),
    LIMIT("flow", flow),
    LIMIT("applayer-proto-http", http),
    LIMIT("applayer-proto-http-byterange", ranges),
    LIMIT("defrag", defrag),
    LIMIT("ippair", hosts),
    LIMIT("host", hosts),
    LIMIT("ftp", ftp),
};

static const struct limit *find_limit(const struct command *c)
{
    const char *name = request_string(c->request, "config");

    for (size_t i = 0; i < ARRAY_LEN(limits); i++)
        if (strcmp(limits[i].name, name) == 0)
            return &limits[i];
    return NULL;
}

/* "64mb": in the largest unit that it is a whole number of. */
static void write_size(char out[40], uint64_t bytes)
{
    static const char *const units[] = { "b", "kb", "mb", "gb" };
    unsigned unit = 0;

    while (unit < 3 && bytes != 0 && bytes % 1024 == 0) {
        bytes /= 1024;
        unit++;
    }
    snprintf(out, 40, "%llu%s", (unsigned long long)bytes, units[unit]);
}

static void json_limit(struct command *c, const struct limit *limit)
{
    uint64_t bytes = limit->get(c->control->conf.context);
    char text[40] = "unlimited";

    if (bytes != 0)
        write_size(text, bytes);
    json_string(c->j, "value", text);
}

static enum command_status unknown(struct command *c)
{
    return command_nok(c, "Memcap value not found. Use 'memcap-list' to show all");
}

static enum command_status list_run(struct command *c)
{
    json_array(c->j, "message");
    for (size_t i = 0; i < ARRAY_LEN(limits); i++) {
        json_object(c->j, NULL);
        json_string(c->j, "name", limits[i].name);
        json_limit(c, &limits[i]);
        json_object_end(c->j);
    }
    json_array_end(c->j);
    return COMMAND_OK;
}

const struct command_ops command_memcap_list = {
    .name = "memcap-list", .doc = "all limits on memory", .run = list_run,
};

static enum command_status show_run(struct command *c)
{
    const struct limit *limit = find_limit(c);

    if (limit == NULL)
        return unknown(c);
    json_object(c->j, "message");
    json_limit(c, limit);
    json_object_end(c->j);
    return COMMAND_OK;
}

#define NAME_ARG { "config", ARG_STRING, false }

const struct command_ops command_memcap_show = {
    .name = "memcap-show", .doc = "one limit on memory", .args = { NAME_ARG }, .run = show_run,
};

static enum command_status refused(struct command *c, const struct limit *limit, uint64_t bytes)
{
    uint64_t used = limit->used(c->control->conf.context);
    char text[40];

    if (bytes == 0)
        return command_nok(c, "Unlimited value is not allowed for '%s'", limit->name);
    write_size(text, used);
    if (bytes < used)
        return command_nok(c, "memcap value specified for '%s' is less than the memory in use: "
                           "%s", limit->name, text);
    return command_nok(c, "memcap of '%s' cannot be %llu while the engine runs", limit->name,
                       (unsigned long long)bytes);
}

static enum command_status set_run(struct command *c)
{
    const struct limit *limit = find_limit(c);
    uint64_t bytes;

    if (!text_to_size(text_of(request_string(c->request, "memcap")), &bytes))
        return command_nok(c, "error parsing memcap specified, value not changed");
    if (limit == NULL)
        return unknown(c);
    if (!limit->set(c->control->conf.context, bytes))
        return refused(c, limit, bytes);
    return command_ok(c, "memcap value for '%s' updated: %llu %s", limit->name,
                      (unsigned long long)bytes, bytes == 0 ? "(unlimited)" : "");
}

const struct command_ops command_memcap_set = {
    .name = "memcap-set", .doc = "changes a limit on memory: \"64mb\"",
    .args = { NAME_ARG, { "memcap", ARG_STRING, false } }, .run = set_run,
};
