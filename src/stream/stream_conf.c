/* SPDX-License-Identifier: GPL-2.0-or-later */
/* stream/stream_conf.c - reads stream.* and host-os-policy, with Suricata's keys and defaults. */
#include "stream/stream_conf.h"

#include <stdlib.h>
#include <string.h>

/* stream.inline: `auto` is yes in IPS mode only. */
static bool read_inline(const struct conf_node *root, bool ips)
{
    if (strcmp(conf_string(root, "stream.inline", "auto"), "auto") == 0)
        return ips;
    return conf_bool(root, "stream.inline", ips);
}

/* Called at load and reload, while stream threads run; so the flag is atomic. */
void stream_conf_set_lookback(struct stream_conf *conf, bool required)
{
    __atomic_store_n(&conf->no_lookback, !required, __ATOMIC_RELAXED);
}

/* Comparing overlaps costs a pass over old bytes, so it runs only when a rule or the setting
 * requires it. Called at load and reload, like the function above. */
void stream_conf_set_compare(struct stream_conf *conf, bool required)
{
    __atomic_store_n(&conf->compares, required || conf->compares_always, __ATOMIC_RELAXED);
}

/* The memcaps can be changed at run time by the control socket. */
struct memcap *stream_conf_session_memcap(struct stream_conf *conf)
{
    return &conf->session_memcap;
}

struct memcap *stream_conf_data_memcap(struct stream_conf *conf)
{
    return &conf->data_memcap;
}

/* Limits against hostile senders, with Suricata's defaults. A depth of 0 is no limit; lookback is
 * what inspection keeps of a stream for matches across packets. */
static void read_limits(struct stream_conf *conf, const struct conf_node *root)
{
    conf->session_memcap.limit = conf_size(root, "stream.memcap", UINT64_C(64) << 20);
    conf->data_memcap.limit = conf_size(root, "stream.reassembly.memcap", UINT64_C(256) << 20);
    conf->prealloc_sessions =
        (uint32_t)conf_u64_range(root, "stream.prealloc-sessions", 2048, 0, UINT32_MAX);
    conf->prealloc_segments =
        (uint32_t)conf_u64_range(root, "stream.reassembly.segment-prealloc", 2048, 0, UINT32_MAX);
    conf->depth = (uint32_t)MIN(conf_size(root, "stream.reassembly.depth", 0), UINT32_MAX);
    conf->lookback[TO_SERVER] = (uint32_t)MIN(
        conf_size(root, "stream.reassembly.toserver-chunk-size", 2560), UINT16_MAX);
    conf->lookback[TO_CLIENT] = (uint32_t)MIN(
        conf_size(root, "stream.reassembly.toclient-chunk-size", 2560), UINT16_MAX);
    conf->max_syn_queued =
        (uint8_t)conf_u64_range(root, "stream.max-syn-queued", 10, 0, UINT8_MAX);
    conf->max_synack_queued =
        (uint8_t)conf_u64_range(root, "stream.max-synack-queued", 5, 0, UINT8_MAX);
}

/* Reads how TCP's urgent pointer affects the bytes before it (RFC 9293, section 3.8.5; hosts
 * differ). */
static void read_urgent(struct stream_conf *conf, const struct conf_node *root)
{
    static const char *const policies[] = { "oob", "inline", "drop", "gap", NULL };
    static const char *const limit_policies[] = { "drop", "inline", NULL };

    conf->urgent = (enum urgent_policy)conf_choice(root, "stream.reassembly.urgent.policy",
                                                   policies, URGENT_INLINE);
    conf->urgent_limit = conf_choice(root, "stream.reassembly.urgent.oob-limit-policy",
                                     limit_policies, 0) == 0 ? URGENT_DROP : URGENT_INLINE;
}

/* Reads the policies for packets that a memcap or midstream pickup refuses; drops need IPS mode. */
static void read_policies(struct stream_conf *conf, const struct conf_node *root)
{
    bool ips = conf->ips;

    conf->flow_memcap_policy =
        exception_policy_read(root, "flow.memcap-policy", false, ips, false);
    conf->session_memcap_policy =
        exception_policy_read(root, "stream.memcap-policy", true, ips, false);
    conf->data_memcap_policy =
        exception_policy_read(root, "stream.reassembly.memcap-policy", true, ips, false);
    conf->midstream_policy = exception_policy_read_midstream(root, ips, conf->midstream);
}

/* struct memcap has the alignment of a cache line, which calloc() does not guarantee. */
struct stream_conf *stream_conf_new(const struct conf_node *root, bool is_inline,
                                    struct err *err)
{
    struct stream_conf *conf = aligned_alloc(
        CACHE_LINE, (sizeof(*conf) + CACHE_LINE - 1) & ~(size_t)(CACHE_LINE - 1));

    if (conf == NULL) {
        err_set(err, "stream: out of memory");
        return NULL;
    }
    memset(conf, 0, sizeof(*conf));
    counter_register_zero("tcp.pkt_on_wrong_thread");  /* a flow has one thread, whatever happens */
    conf->ips = is_inline;
    conf->is_inline = read_inline(root, is_inline);
    conf->midstream = conf_bool(root, "stream.midstream", false);
    conf->async_oneside = conf_bool(root, "stream.async-oneside", false);
    conf->validate_checksum = conf_bool(root, "stream.checksum-validation", true);
    conf->drop_invalid = conf_bool(root, "stream.drop-invalid", true);
    conf->bypass_at_depth = conf_bool(root, "stream.bypass", false);
    conf->liberal_timestamps = conf_bool(root, "stream.liberal-timestamps", true);
    conf->compares_always =
        conf_bool(root, "stream.reassembly.check-overlap-different-data", false);
    conf->compares = conf->compares_always;
    conf->count_events = conf_bool(root, "stats.stream-events", false);
    read_limits(conf, root);
    read_urgent(conf, root);
    read_policies(conf, root);
    conf->os = os_policies_new(root, err);
    if (conf->os == NULL) {
        free(conf);
        return NULL;
    }
    return conf;
}

void stream_conf_free(struct stream_conf *conf)
{
    if (conf == NULL)
        return;
    os_policies_free(conf->os);
    free(conf);
}
