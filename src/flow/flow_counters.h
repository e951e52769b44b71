/* SPDX-License-Identifier: GPL-2.0-or-later */
/* flow/flow_counters.h - counters of a flow table. */
#ifndef FLOW_FLOW_COUNTERS_H
#define FLOW_FLOW_COUNTERS_H

#include "flow/flow_private.h"

struct flow_counters {
    counter_id total, active, tcp, udp, icmpv4, icmpv6, memcap, memuse, spare;
    counter_id get_used, get_used_eval, get_used_eval_reject, get_used_failed;
    counter_id emergency_entered, emergency_over;
    counter_id end_state[FLOW_STATE_COUNT];
    counter_id checked, not_timed_out, timed_out, evicted, recycled, continued;
};

/* continues: flows of another process are expected. */
void flow_counters_register(struct flow_counters *id, bool continues);

/* Registers the counters of Suricata's flow threads; called once, with the settings. */
void flow_counters_register_zero(void);

/* Counts a new flow; proto: protocol of the IP header. */
void flow_counters_new(const struct flow_counters *id, struct counters *counters, uint8_t proto);

#endif
