/* SPDX-License-Identifier: GPL-2.0-or-later */
/* stream/stream_conf.h - the settings `stream:`. Read once, shared by all threads; only what is
 * marked atomic changes while packets flow. */
#ifndef STREAM_STREAM_CONF_H
#define STREAM_STREAM_CONF_H

#include "flow/exception.h"
#include "flow/memcap.h"
#include "stream/os_policy.h"
#include "stream/stream.h"

enum urgent_policy { URGENT_OOB, URGENT_INLINE, URGENT_DROP, URGENT_GAP };

struct stream_conf {
    struct memcap session_memcap, data_memcap;
    uint32_t prealloc_sessions, prealloc_segments;
    uint32_t depth;                     /* bytes; 0: no limit */
    uint32_t lookback[2];               /* earlier bytes kept before the next chunk, by direction */
    bool no_lookback;                   /* no consumer reads them; atomic */
    bool compares;                      /* overlapping data are compared; atomic */
    uint8_t max_syn_queued, max_synack_queued;
    bool ips;                           /* the run can drop packets */
    bool is_inline;                     /* data are handed off on arrival, not on acknowledgment */
    bool midstream, async_oneside, validate_checksum, drop_invalid, bypass_at_depth;
    bool liberal_timestamps, compares_always, count_events;
    uint16_t snapshots;                 /* enum stream_pkt_flag: packets that carry a snapshot */
    enum urgent_policy urgent, urgent_limit;
    enum exception_policy flow_memcap_policy, session_memcap_policy, data_memcap_policy,
        midstream_policy;
    struct os_policies *os;
};

static inline uint32_t stream_lookback(const struct stream_conf *conf, enum direction dir)
{
    return __atomic_load_n(&conf->no_lookback, __ATOMIC_RELAXED) ? 0 : conf->lookback[dir];
}

/* Retransmitted data are compared with the earlier copy. Inline they always are. */
static inline bool stream_compares(const struct stream_conf *conf)
{
    return __atomic_load_n(&conf->compares, __ATOMIC_RELAXED);
}

#endif
