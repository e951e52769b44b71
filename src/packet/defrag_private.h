/* SPDX-License-Identifier: GPL-2.0-or-later */
/* packet/defrag_private.h - the settings that all defragmenters share, and their counters. */
#ifndef PACKET_DEFRAG_PRIVATE_H
#define PACKET_DEFRAG_PRIVATE_H

#include "packet/defrag.h"

#define DEFRAG_ROW_SIZE sizeof(void *)          /* bytes of a row of the table of trackers */

enum memcap_policy { MEMCAP_IGNORE, MEMCAP_DROP, MEMCAP_PASS, MEMCAP_REJECT, MEMCAP_REJECT_BOTH,
                     MEMCAP_POLICY_COUNT };

/* X(name, counter, kind) */
#define DEFRAG_COUNTER_LIST(X)                                              \
    X(ipv4_fragments, "defrag.ipv4.fragments", SUM)                         \
    X(ipv4_reassembled, "defrag.ipv4.reassembled", SUM)                     \
    X(ipv6_fragments, "defrag.ipv6.fragments", SUM)                         \
    X(ipv6_reassembled, "defrag.ipv6.reassembled", SUM)                     \
    X(max_trackers, "defrag.max_trackers_reached", SUM)                     \
    X(max_frags, "defrag.max_frags_reached", SUM)                           \
    X(soft_reuse, "defrag.tracker_soft_reuse", SUM)                         \
    X(hard_reuse, "defrag.tracker_hard_reuse", SUM)                         \
    X(lookup_timeout, "defrag.wrk.tracker_timeout", SUM)                    \
    X(sweep_timeout, "defrag.mgr.tracker_timeout", SUM)                     \
    X(memuse, "defrag.memuse", GAUGE)

struct defrag_conf {
    uint64_t memcap, memcap_each;           /* relaxed atomics: commands change them */
    unsigned sharers;
    uint32_t hash_size, frag_limit, timeout_s;
    struct ip_settings *policies, *timeouts;
    const struct conf_node *root;           /* borrowed until defrag_conf_set_run() returns */
    enum memcap_policy memcap_policy;
    uint64_t simulate_memcap;
#define X(name, counter, kind) counter_id name;
    DEFRAG_COUNTER_LIST(X)
#undef X
    counter_id applied[MEMCAP_POLICY_COUNT];
};

#endif
