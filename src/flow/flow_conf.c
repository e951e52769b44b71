/* SPDX-License-Identifier: GPL-2.0-or-later */
/* flow/flow_conf.c - reads flow.*, flow-timeouts.*, vlan.* and livedev.*. */
#include "flow/flow_counters.h"
#include "flow/flow_private.h"

#include "base/array.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SECONDS UINT64_C(1000000)

/* Default timeouts in seconds, which are Suricata's. Columns: new, established, closed, bypassed by
 * us, bypassed by the capture. States that a protocol does not have (a closed UDP flow) end at
 * once. */
static const uint16_t normal_defaults[FLOW_PROTO_COUNT][FLOW_STATE_COUNT] = {
    [FLOW_PROTO_TCP] = { 30, 300, 10, 100, 100 },
    [FLOW_PROTO_UDP] = { 30, 300, 0, 100, 100 },
    [FLOW_PROTO_ICMP] = { 30, 300, 0, 100, 100 },
    [FLOW_PROTO_OTHER] = { 30, 300, 0, 100, 100 },
};

static const uint16_t emergency_defaults[FLOW_PROTO_COUNT][FLOW_STATE_COUNT] = {
    [FLOW_PROTO_TCP] = { 10, 100, 5, 50, 50 },
    [FLOW_PROTO_UDP] = { 10, 100, 0, 50, 50 },
    [FLOW_PROTO_ICMP] = { 10, 100, 0, 50, 50 },
    [FLOW_PROTO_OTHER] = { 10, 100, 0, 50, 50 },
};

static const char *const proto_names[FLOW_PROTO_COUNT] = { "tcp", "udp", "icmp", "default" };
static const char *const state_names[FLOW_STATE_COUNT] = {
    "new", "established", "closed", "bypassed", "bypassed",
};

static uint64_t read_timeout(const struct conf_node *proto, const char *prefix, const char *state,
                             uint16_t otherwise_s)
{
    char key[40];

    snprintf(key, sizeof(key), "%s%s", prefix, state);
    return conf_u64_range(proto, key, otherwise_s, 0, UINT32_MAX) * SECONDS;
}

/* An emergency timeout longer than the normal one would have no effect, so it is corrected. */
static void read_state(struct flow_conf *conf, const struct conf_node *node, unsigned proto,
                       unsigned state)
{
    uint64_t *normal = &conf->normal.after[proto][state];
    uint64_t *emergency = &conf->emergency.after[proto][state];

    *normal = read_timeout(node, "", state_names[state], normal_defaults[proto][state]);
    *emergency = read_timeout(node, "emergency-", state_names[state],
                              emergency_defaults[proto][state]);
    if (*emergency <= *normal)
        return;
    if (node != NULL)
        conf_warning(node, "emergency-%s is above %s and taken as a tenth of it",
                     state_names[state], state_names[state]);
    *emergency = *normal / 10 / SECONDS * SECONDS;
}

static void read_timeouts(struct flow_conf *conf, const struct conf_node *root)
{
    const struct conf_node *all = conf_find(root, "flow-timeouts");

    for (unsigned proto = 0; proto < FLOW_PROTO_COUNT; proto++)
        for (unsigned state = 0; state < FLOW_STATE_COUNT; state++)
            read_state(conf, conf_find(all, proto_names[proto]), proto, state);
}

#define BUCKET_SIZE 64

/* All sizes are totals over the tables; each thread's table takes its part. */
struct flow_conf *flow_conf_new(const struct conf_node *root, unsigned tables, struct err *err)
{
    struct flow_conf *conf = aligned_alloc(CACHE_LINE, sizeof(*conf));

    if (conf == NULL) {
        err_set(err, "flow: out of memory");
        return NULL;
    }
    memset(conf, 0, sizeof(*conf));
    flow_counters_register_zero();
    conf->tables = MAX(tables, 1u);
    conf->memcap.limit = conf_size(root, "flow.memcap", UINT64_C(128) << 20);
    conf->hash_size = conf_u64_or_end(root, "flow.hash-size", 65536, 1, UINT32_MAX);
    conf->prealloc = conf_u64_range(root, "flow.prealloc", 10000, 0, UINT32_MAX);
    conf->recovery_percent =
        (unsigned)conf_u64_range(root, "flow.emergency-recovery", 30, 1, 100);
    conf->use_vlan = conf_bool(root, "vlan.use-for-tracking", true);
    conf->use_device = conf_bool(root, "livedev.use-for-tracking", true);
    conf->use_recursion = conf_bool(root, "decoder.recursion-level.use-for-tracking", true);
    read_timeouts(conf, root);
    if (conf->hash_size * BUCKET_SIZE > conf->memcap.limit) {
        err_set(err, "flow.memcap: %llu bytes cannot hold flow.hash-size: %llu buckets of %d",
                (unsigned long long)conf->memcap.limit, (unsigned long long)conf->hash_size,
                BUCKET_SIZE);
        free(conf);
        return NULL;
    }
    if (flow_rate_read(&conf->rate, root, err) < 0 ||
        elephant_conf_read(&conf->elephant, root, err) < 0) {
        free(conf);
        return NULL;
    }
    return conf;
}

void flow_conf_set_tables(struct flow_conf *conf, unsigned tables)
{
    conf->tables = MAX(tables, 1u);
}

void flow_conf_keep_idle(struct flow_conf *conf, bool keep)
{
    conf->keep_idle = keep;
}

void flow_conf_expect_imports(struct flow_conf *conf)
{
    conf->expects_imports = true;
}

/* Release: threads read the records after the pointer. */
void flow_conf_set_imports(struct flow_conf *conf, struct flow_imports *imports)
{
    __atomic_store_n(&conf->imports, imports, __ATOMIC_RELEASE);
}

void flow_conf_free(struct flow_conf *conf)
{
    free(conf);
}

struct flow_rate_conf flow_conf_rate(const struct flow_conf *conf)
{
    return conf->rate;
}

const struct elephant_conf *flow_conf_elephant(const struct flow_conf *conf)
{
    return &conf->elephant;
}

struct memcap *flow_conf_memcap(struct flow_conf *conf)
{
    return &conf->memcap;
}
