/* SPDX-License-Identifier: GPL-2.0-or-later */
/* flow/exception.c - reads exception policies and applies them, with Suricata's words. */
#include "flow/exception.h"

#include "base/report/log.h"
#include <stdio.h>
#include <string.h>

#define NAME(id, name, word) [id] = name,
static const char *const policy_names[] = { EXCEPTION_POLICY_LIST(NAME) };
#undef NAME
#define WORD(id, name, word) [id] = word,
static const char *const policy_words[] = { EXCEPTION_POLICY_LIST(WORD) };
#undef WORD

const char *exception_policy_name(enum exception_policy policy)
{
    return (unsigned)policy < EXCEPTION_POLICY_COUNT ? policy_names[policy] : "ignore";
}

/* Suricata's names of the limits or errors that a policy was applied for, in EVE flow records. */
const char *exception_target_name(uint8_t target)
{
    switch (target) {
    case EXCEPTION_TARGET_DEFRAG_MEMCAP:
        return "defrag_memcap";
    case EXCEPTION_TARGET_STREAM_MEMCAP:
        return "stream_memcap";
    case EXCEPTION_TARGET_REASSEMBLY_MEMCAP:
        return "stream_reassembly_memcap";
    case EXCEPTION_TARGET_FLOW_MEMCAP:
        return "flow_memcap";
    case EXCEPTION_TARGET_MIDSTREAM:
        return "stream_midstream";
    case EXCEPTION_TARGET_APP_ERROR:
        return "app_layer_error";
    default:
        return "none";
    }
}

/* ---- reading ---- */

/* A wrong word is fatal: silently ignoring it would change what is blocked. */
static enum exception_policy read_word(const struct conf_node *node)
{
    for (unsigned i = 0; i < ARRAY_LEN(policy_words); i++)
        if (strcmp(node->value, policy_words[i]) == 0)
            return (enum exception_policy)i;
    conf_fatal(node,
               "\"%s\" is no exception policy: expected drop-flow, pass-flow, bypass, reject, "
               "rejectboth, drop-packet, pass-packet, ignore or auto",
               node->value);
    return EXCEPTION_IGNORE;
}

/* `auto` fails closed in IPS mode and is off in IDS mode. Midstream pick-up needs the packets that
 * it would drop. */
static enum exception_policy resolve_auto(bool flow_too, bool is_inline, bool midstream)
{
    if (!is_inline || midstream)
        return EXCEPTION_IGNORE;
    return flow_too ? EXCEPTION_DROP_FLOW : EXCEPTION_DROP_PACKET;
}

/* Without a flow, an action for flows applies to the packet. */
static enum exception_policy packet_only(enum exception_policy policy)
{
    switch (policy) {
    case EXCEPTION_DROP_FLOW:
        return EXCEPTION_DROP_PACKET;
    case EXCEPTION_PASS_FLOW:
        return EXCEPTION_PASS_PACKET;
    case EXCEPTION_BYPASS:
        return EXCEPTION_IGNORE;
    default:
        return policy;
    }
}

/* The general `exception-policy`. A drop has no meaning in IDS mode. */
static enum exception_policy read_master(const struct conf_node *node, bool flow_too,
                                         bool is_inline, bool midstream)
{
    enum exception_policy policy = read_word(node);

    if (!is_inline && (policy == EXCEPTION_DROP_PACKET || policy == EXCEPTION_DROP_FLOW))
        policy = EXCEPTION_IGNORE;
    if (policy == EXCEPTION_AUTO)
        policy = resolve_auto(flow_too, is_inline, midstream);
    return policy;
}

void exception_policy_announce(const struct conf_node *root)
{
    const struct conf_node *master = conf_find(root, "exception-policy");

    if (master != NULL && master->kind == CONF_SCALAR)
        log_info("exception-policy", "master exception-policy set to: %s",
                 policy_words[read_word(master)]);
}

/* Without any setting ids fails closed in IPS mode, as Suricata does. */
static enum exception_policy read_default(const struct conf_node *root, bool flow_too,
                                          bool is_inline, bool midstream)
{
    const struct conf_node *master = conf_find(root, "exception-policy");
    enum exception_policy policy;

    if (master == NULL || master->kind != CONF_SCALAR)
        return is_inline && !midstream ? EXCEPTION_DROP_FLOW : EXCEPTION_IGNORE;
    policy = read_master(master, flow_too, is_inline, midstream);
    return flow_too ? policy : packet_only(policy);
}

/* `flow_too`: the policy may act on flows; defrag, for instance, has none. */
enum exception_policy exception_policy_read(const struct conf_node *root, const char *path,
                                            bool flow_too, bool is_inline, bool midstream)
{
    const struct conf_node *node = conf_find(root, path);
    enum exception_policy policy;

    if (node == NULL || node->kind != CONF_SCALAR)
        return read_default(root, flow_too, is_inline, midstream);
    policy = read_word(node);
    if (policy == EXCEPTION_AUTO)
        policy = resolve_auto(flow_too, is_inline, midstream);
    if (!flow_too && packet_only(policy) != policy) {
        conf_warning(node, "%s: flow actions do not apply here, taken as \"%s\"", path,
                     policy_words[packet_only(policy)]);
        policy = packet_only(policy);
    }
    return policy;
}

/* With midstream pick-up nothing is refused, and a single packet shows too little for a decision.
 * An impossible policy is an error of the configuration, but it is applied if the engine starts
 * anyway. */
static bool midstream_allows(enum exception_policy policy, bool is_inline, bool midstream,
                             bool was_auto)
{
    if (policy == EXCEPTION_PASS_PACKET || policy == EXCEPTION_DROP_PACKET)
        return false;
    if (policy == EXCEPTION_DROP_FLOW && !is_inline)
        return false;
    return !midstream || was_auto || policy == EXCEPTION_IGNORE || policy == EXCEPTION_PASS_FLOW;
}

enum exception_policy exception_policy_read_midstream(const struct conf_node *root,
                                                      bool is_inline, bool midstream)
{
    const struct conf_node *node = conf_find(root, "stream.midstream-policy");
    enum exception_policy policy;
    bool was_auto;

    if (node == NULL || node->kind != CONF_SCALAR) {
        node = conf_find(root, "exception-policy");
        policy = read_default(root, true, is_inline, midstream);
        was_auto = true;
    } else {
        policy = read_word(node);
        was_auto = policy == EXCEPTION_AUTO;
        if (was_auto)
            policy = resolve_auto(true, is_inline, midstream);
    }
    if (!midstream_allows(policy, is_inline, midstream, was_auto))
        conf_error(node, "\"%s\" makes no sense as stream.midstream-policy%s",
                   policy_words[policy], midstream ? " with stream.midstream on" :
                   is_inline ? "" : " unless inline");
    return policy;
}

/* ---- carrying out ---- */

/* 0 for reasons that are no exception. */
static uint8_t target_of(enum drop_reason reason)
{
    switch (reason) {
    case DROP_DEFRAG_MEMCAP:
        return EXCEPTION_TARGET_DEFRAG_MEMCAP;
    case DROP_STREAM_MEMCAP:
        return EXCEPTION_TARGET_STREAM_MEMCAP;
    case DROP_STREAM_REASSEMBLY:
        return EXCEPTION_TARGET_REASSEMBLY_MEMCAP;
    case DROP_FLOW_MEMCAP:
        return EXCEPTION_TARGET_FLOW_MEMCAP;
    case DROP_STREAM_MIDSTREAM:
        return EXCEPTION_TARGET_MIDSTREAM;
    case DROP_APP_ERROR:
        return EXCEPTION_TARGET_APP_ERROR;
    default:
        return 0;
    }
}

/* Targets are bits; each has four bits of `exception_policies`. */
static unsigned policy_shift(uint8_t target) { return 4 * (unsigned)__builtin_ctz(target); }

enum exception_policy exception_policy_of_flow(const struct flow *flow, uint8_t target)
{
    return (enum exception_policy)(flow->exception_policies >> policy_shift(target) & 0xf);
}

/* Atomic: the stream thread and the inspecting thread may both set bits. */
static void note_in_flow(struct flow *flow, uint8_t target, enum exception_policy policy)
{
    if (target == 0)
        return;
    __atomic_fetch_or(&flow->exception_target, target, __ATOMIC_RELAXED);
    __atomic_fetch_or(&flow->exception_policies, (uint32_t)policy << policy_shift(target),
                      __ATOMIC_RELAXED);
}

/* Takes effect from the flow's next packet on. */
static void request(struct packet *p, uint32_t requests)
{
    if (p->flow != NULL)
        flow_request(p->flow, requests);
}

static void reject(struct packet *p, enum drop_reason reason, uint8_t action)
{
    p->action |= action;
    packet_drop(p, reason);
}

/* The inspecting thread finds application errors; the stream module finds all others. */
static void drop_flow(struct packet *p, enum drop_reason reason)
{
    if (reason == DROP_APP_ERROR && p->flow != NULL)
        flow_drop(p->flow, p, DROP_EXCEPTION_FLOW);
    if (p->flow != NULL)
        p->action |= ACTION_DROP_FLOW;
    request(p, FLOW_REQ_DROP | FLOW_REQ_DROP_EXCEPTION | FLOW_REQ_NO_PAYLOAD |
                FLOW_REQ_NO_STREAM_TS | FLOW_REQ_NO_STREAM_TC);
}

#define PACKET_NOTHING (PACKET_NO_INSPECT | PACKET_NO_PAYLOAD_INSPECT)

/* Runs on the thread that found the error. In IDS mode reject still sends its packets, but nothing
 * is dropped. */
void exception_policy_apply(enum exception_policy policy, struct packet *p,
                            enum drop_reason reason, bool is_inline)
{
    if (p->flow != NULL)
        note_in_flow(p->flow, target_of(reason), policy);
    switch (policy) {
    case EXCEPTION_REJECT:
    case EXCEPTION_REJECT_BOTH:
        reject(p, reason, policy == EXCEPTION_REJECT ? ACTION_REJECT_SRC : ACTION_REJECT);
        if (!is_inline)
            break;
        drop_flow(p, reason);
        p->flags |= PACKET_NOTHING;
        break;
    case EXCEPTION_DROP_FLOW:
        drop_flow(p, reason);
        /* fall through */
    case EXCEPTION_DROP_PACKET:
        p->flags |= PACKET_NOTHING;
        packet_drop(p, reason);
        break;
    case EXCEPTION_BYPASS:
        request(p, FLOW_REQ_BYPASS | FLOW_REQ_PASS);
        p->flags |= PACKET_NOTHING;
        break;
    case EXCEPTION_PASS_FLOW:
        request(p, FLOW_REQ_PASS);
        p->flags |= PACKET_NOTHING;
        break;
    case EXCEPTION_PASS_PACKET:
        p->flags |= PACKET_NOTHING;
        break;
    case EXCEPTION_IGNORE:
    case EXCEPTION_AUTO:
    case EXCEPTION_POLICY_COUNT:
        break;
    }
}

/* Only policies that are configured, and valid for the target, have counters. */
void exception_counters_register(struct exception_counters *c, const char *prefix,
                                 enum exception_policy configured, unsigned valid_policies)
{
    *c = (struct exception_counters){ 0 };
    if (configured == EXCEPTION_IGNORE)
        return;
    for (unsigned i = EXCEPTION_AUTO; i < EXCEPTION_POLICY_COUNT; i++) {
        char name[96];

        if (!(valid_policies & EXCEPTION_BIT(i)))
            continue;
        snprintf(name, sizeof(name), "%s%s", prefix, policy_names[i]);
        c->id[i] = counter_register(name, COUNTER_SUM);
        c->registered |= (uint16_t)EXCEPTION_BIT(i);
    }
}
