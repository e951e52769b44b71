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

enum drop_reason {
    DROP_NONE, DROP_DECODE_ERROR, DROP_DEFRAG_ERROR, DROP_DEFRAG_MEMCAP, DROP_FLOW_MEMCAP,
    DROP_FLOW_DROP, DROP_EXCEPTION_FLOW, DROP_STREAM_ERROR, DROP_STREAM_MEMCAP,
    DROP_STREAM_MIDSTREAM, DROP_STREAM_URGENT, DROP_STREAM_REASSEMBLY, DROP_APP_ERROR,
    DROP_APP_MEMCAP, DROP_RULES, DROP_RULES_THRESHOLD, DROP_NFQ_ERROR, DROP_TUNNEL,
    DROP_FW_RULES, DROP_FW_DEFAULT_PACKET, DROP_FW_DEFAULT_APP, DROP_FW_PRE_STREAM,
    DROP_FW_PRE_FLOW, DROP_FW_FLOW, DROP_REASON_COUNT
};
const char *drop_reason_text(enum drop_reason reason);      /* as in EVE drop.reason */
const char *drop_reason_key(enum drop_reason reason);       /* as in ips.drop_reason.KEY */

#endif
