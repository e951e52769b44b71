/* SPDX-License-Identifier: GPL-2.0-or-later */
/* flow/flow_counters.c - names of the flow counters, as in Suricata's stats. */
#include "flow/flow_counters.h"

/* The flow manager and the recycler of Suricata are threads that walk one table for all and pass
 * flows and spare ones to the workers. Here each thread has a table, a timer wheel and a pool. No
 * capture tells which flows it bypasses. */
void flow_counters_register_zero(void)
{
    static const char *const names[] = {
        "flow.get_used_eval_busy", "flow.mgr.flows_evicted_needs_work", "flow.mgr.rows_maxlen",
        "flow.mgr.full_hash_pass", "flow.mgr.rows_per_sec", "flow.wrk.spare_sync",
        "flow.wrk.spare_sync_empty", "flow.wrk.spare_sync_incomplete", "flow.wrk.spare_sync_avg",
        "flow.wrk.flows_injected", "flow.wrk.flows_injected_max", "flow.recycler.queue_avg",
        "flow.recycler.queue_max", "flow_bypassed.local_capture_pkts",
        "flow_bypassed.local_capture_bytes", "flow_bypassed.closed",
        "flow.end.state.capture_bypassed",
    };

    for (unsigned i = 0; i < ARRAY_LEN(names); i++)
        counter_register_zero(names[i]);
}

void flow_counters_register(struct flow_counters *id, bool continues)
{
    static const char *const end_state[FLOW_STATE_COUNT] = {
        "flow.end.state.new", "flow.end.state.established", "flow.end.state.closed",
        "flow.end.state.local_bypassed", "flow.end.state.capture_bypassed",
    };

    id->total = counter_register("flow.total", COUNTER_SUM);
    id->active = counter_register("flow.active", COUNTER_GAUGE);
    id->tcp = counter_register("flow.tcp", COUNTER_SUM);
    id->udp = counter_register("flow.udp", COUNTER_SUM);
    id->icmpv4 = counter_register("flow.icmpv4", COUNTER_SUM);
    id->icmpv6 = counter_register("flow.icmpv6", COUNTER_SUM);
    id->memcap = counter_register("flow.memcap", COUNTER_SUM);
    id->memuse = counter_register("flow.memuse", COUNTER_GAUGE);
    id->spare = counter_register("flow.spare", COUNTER_GAUGE);
    id->get_used = counter_register("flow.get_used", COUNTER_SUM);
    id->get_used_eval = counter_register("flow.get_used_eval", COUNTER_SUM);
    id->get_used_eval_reject = counter_register("flow.get_used_eval_reject", COUNTER_SUM);
    id->get_used_failed = counter_register("flow.get_used_failed", COUNTER_SUM);
    id->emergency_entered = counter_register("flow.emerg_mode_entered", COUNTER_SUM);
    id->emergency_over = counter_register("flow.emerg_mode_over", COUNTER_SUM);
    id->checked = counter_register("flow.mgr.flows_checked", COUNTER_SUM);
    id->not_timed_out = counter_register("flow.mgr.flows_notimeout", COUNTER_SUM);
    id->timed_out = counter_register("flow.mgr.flows_timeout", COUNTER_SUM);
    id->evicted = counter_register("flow.mgr.flows_evicted", COUNTER_SUM);
    id->recycled = counter_register("flow.recycler.recycled", COUNTER_SUM);
    if (continues)
        id->continued = counter_register_own("flow.continued", COUNTER_SUM);
    for (unsigned i = 0; i < FLOW_STATE_COUNT; i++)
        id->end_state[i] = counter_register(end_state[i], COUNTER_SUM);
    /* AF_PACKET counts them where it has a filter in the kernel; the names are always there. */
    (void)counter_register("flow_bypassed.pkts", COUNTER_SUM);
    (void)counter_register("flow_bypassed.bytes", COUNTER_SUM);
}

void flow_counters_new(const struct flow_counters *id, struct counters *counters, uint8_t proto)
{
    counter_inc(counters, id->total);
    counter_inc(counters, id->active);
    switch (proto) {
    case 6:
        counter_inc(counters, id->tcp);
        break;
    case 17:
        counter_inc(counters, id->udp);
        break;
    case 1:
        counter_inc(counters, id->icmpv4);
        break;
    case 58:
        counter_inc(counters, id->icmpv6);
        break;
    }
}
