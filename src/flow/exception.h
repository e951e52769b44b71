/* SPDX-License-Identifier: GPL-2.0-or-later */
/* flow/exception.h - exception policies: what happens to traffic when a limit is reached. */
#ifndef FLOW_EXCEPTION_H
#define FLOW_EXCEPTION_H

#include "base/report/counters.h"
#include "conf/conf.h"
#include "flow/flow.h"

/* E(policy, as EVE and counters name it, as the configuration does). */
#define EXCEPTION_POLICY_LIST(E)                           \
    E(EXCEPTION_IGNORE, "ignore", "ignore")                \
    E(EXCEPTION_AUTO, "auto", "auto")                      \
    E(EXCEPTION_PASS_PACKET, "pass_packet", "pass-packet") \
    E(EXCEPTION_PASS_FLOW, "pass_flow", "pass-flow")       \
    E(EXCEPTION_BYPASS, "bypass", "bypass")                \
    E(EXCEPTION_DROP_PACKET, "drop_packet", "drop-packet") \
    E(EXCEPTION_DROP_FLOW, "drop_flow", "drop-flow")       \
    E(EXCEPTION_REJECT, "reject", "reject")                \
    E(EXCEPTION_REJECT_BOTH, "reject_both", "rejectboth")
enum exception_policy {
#define E(id, name, word) id,
    EXCEPTION_POLICY_LIST(E)
#undef E
    EXCEPTION_POLICY_COUNT
};
const char *exception_policy_name(enum exception_policy policy);    /* as in EVE: "drop_flow" */

/* Limits that a flow has reached, as bits in flow.exception_target. */
#define EXCEPTION_TARGET_DEFRAG_MEMCAP      0x01
#define EXCEPTION_TARGET_STREAM_MEMCAP      0x02
#define EXCEPTION_TARGET_REASSEMBLY_MEMCAP  0x04
#define EXCEPTION_TARGET_FLOW_MEMCAP        0x08
#define EXCEPTION_TARGET_MIDSTREAM          0x10
#define EXCEPTION_TARGET_APP_ERROR          0x20
const char *exception_target_name(uint8_t target);      /* EVE flow.exception_policy.target */

/* Returns the policy that was applied to the flow at that limit. */
enum exception_policy exception_policy_of_flow(const struct flow *flow, uint8_t target);

/* Reads `path` ("stream.memcap-policy"), with the master `exception-policy` as default, and
 * resolves `auto` by whether the run is inline. flow_too: whether *-flow values are valid here. An
 * invalid value ends the start. */
enum exception_policy exception_policy_read(const struct conf_node *root, const char *path,
                                            bool flow_too, bool is_inline, bool midstream);
void exception_policy_announce(const struct conf_node *root);      /* logs the master policy */
/* The same for stream.midstream-policy, which has its own rules. */
enum exception_policy exception_policy_read_midstream(const struct conf_node *root,
                                                      bool is_inline, bool midstream);

/* Applies the policy to the packet, and through requests to its flow if it has one. Any thread that
 * holds the packet may call it. */
void exception_policy_apply(enum exception_policy policy, struct packet *p,
                            enum drop_reason reason, bool is_inline);

/* Registers "exception_policy.tcp.midstream." + each valid value; none unless a policy is set. */
struct exception_counters {
    counter_id id[EXCEPTION_POLICY_COUNT];
    uint16_t registered;                /* one bit per value */
};
#define EXCEPTION_BIT(policy) (1u << (policy))
void exception_counters_register(struct exception_counters *c, const char *prefix,
                                 enum exception_policy configured, unsigned valid_policies);
static inline void exception_counters_inc(const struct exception_counters *c,
                                          struct counters *counters,
                                          enum exception_policy policy)
{
    if (c->registered & EXCEPTION_BIT(policy))
        counter_inc(counters, c->id[policy]);
}

#endif
