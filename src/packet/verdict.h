/* SPDX-License-Identifier: GPL-2.0-or-later */
/* packet/verdict.h - the verdict on a packet, and why it is dropped. */
#ifndef PACKET_VERDICT_H
#define PACKET_VERDICT_H

#include "base/base.h"

/* The verdict. Flags are set and never cleared. */
enum packet_action {
    ACTION_DROP        = 1u << 0,
    ACTION_REJECT_SRC  = 1u << 1,
    ACTION_REJECT_DST  = 1u << 2,
    ACTION_PASS        = 1u << 3,       /* pass rule: no further alerts, the packet is accepted */
    ACTION_ALERT       = 1u << 4,
    ACTION_DROP_FLOW   = 1u << 5,       /* and all later packets of its flow */
    ACTION_ACCEPT      = 1u << 6,       /* the firewall accepts it; rules may still drop it */
};
#define ACTION_REJECT (ACTION_REJECT_SRC | ACTION_REJECT_DST)

/* E(reason, Suricata's text in EVE drop records, its key for counters). */
#define DROP_REASON_LIST(E)                                                              \
    E(DROP_DECODE_ERROR, "decode error", "decode_error")                                 \
    E(DROP_DEFRAG_ERROR, "defrag error", "defrag_error")                                 \
    E(DROP_DEFRAG_MEMCAP, "defrag memcap", "defrag_memcap")                              \
    E(DROP_FLOW_MEMCAP, "flow memcap", "flow_memcap")                                    \
    E(DROP_FLOW_DROP, "flow drop", "flow_drop")                                          \
    E(DROP_EXCEPTION_FLOW, "exception policy flow drop", "exception_policy_flow_drop")   \
    E(DROP_STREAM_ERROR, "stream error", "stream_error")                                 \
    E(DROP_STREAM_MEMCAP, "stream memcap", "stream_memcap")                              \
    E(DROP_STREAM_MIDSTREAM, "stream midstream", "stream_midstream")                     \
    E(DROP_STREAM_URGENT, "stream urgent", "stream_urgent")                              \
    E(DROP_STREAM_REASSEMBLY, "stream reassembly", "stream_reassembly")                  \
    E(DROP_APP_ERROR, "applayer error", "applayer_error")                                \
    E(DROP_APP_MEMCAP, "applayer memcap", "applayer_memcap")                             \
    E(DROP_RULES, "rules", "rules")                                                      \
    E(DROP_RULES_THRESHOLD, "threshold detection_filter", "threshold_detection_filter")  \
    E(DROP_NFQ_ERROR, "nfq error", "nfq_error")                                          \
    E(DROP_TUNNEL, "tunnel packet drop", "tunnel_packet_drop")                           \
    E(DROP_FW_RULES, "firewall rules", "rules")                                          \
    E(DROP_FW_DEFAULT_PACKET, "firewall default packet policy", "default_packet_policy") \
    E(DROP_FW_DEFAULT_APP, "firewall default app policy", "default_app_policy")          \
    E(DROP_FW_PRE_STREAM, "firewall pre stream hook", "pre_stream_hook")                 \
    E(DROP_FW_PRE_FLOW, "firewall pre flow hook", "pre_flow_hook")                       \
    E(DROP_FW_FLOW, "firewall flow drop", "flow_drop")
enum drop_reason {
    DROP_NONE,
#define E(id, text, key) id,
    DROP_REASON_LIST(E)
#undef E
    DROP_REASON_COUNT
};
const char *drop_reason_text(enum drop_reason reason);      /* as in EVE drop.reason */
const char *drop_reason_key(enum drop_reason reason);       /* as in ips.drop_reason.KEY */

#endif
