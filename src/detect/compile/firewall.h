/* SPDX-License-Identifier: GPL-2.0-or-later */
/* detect/compile/firewall.h - the firewall's rules, by the hook at which they are evaluated.
 *
 * Built with the ruleset and read-only after that. A rule is identified by its index in evaluation
 * order. detect/inspect/firewall_run.h applies these rules to packets. */
#ifndef DETECT_FIREWALL_H
#define DETECT_FIREWALL_H

#include "detect/rule/rule.h"

struct conf_node;
struct ruleset;

#define FIREWALL_HOOKS_MAX 48           /* of one protocol and direction */

enum firewall_table { FIREWALL_PRE_FLOW, FIREWALL_PRE_STREAM, FIREWALL_FILTER,
                      FIREWALL_TABLES };

/* Applies where no rule decides. */
struct firewall_policy {
    uint8_t action;                     /* RULE_ACCEPT, RULE_DROP or a reject */
    uint8_t scope;                      /* enum rule_scope */
    const struct rule *rule;            /* what its alerts show; NULL: it raises none */
};
/* The index of such a rule, which stands in no list. */
#define FIREWALL_POLICY_INDEX UINT32_MAX

struct firewall_list { uint32_t *at; size_t count, cap; };
/* By direction and hook. */
typedef struct firewall_policy firewall_policies[2][FIREWALL_HOOKS_MAX];

struct firewall {
    struct firewall_list packet[FIREWALL_TABLES];       /* in the order of the rule file */
    struct firewall_list app[APP_PROTO_COUNT][2];  /* by hook, then in the order of the rule file */
    struct firewall_policy packet_policy[FIREWALL_TABLES];
    firewall_policies app_policy[APP_PROTO_COUNT];
    /* By app_proto.tx_kinds, in the ruleset's arena. NULL: the protocol has none, or the rules are
     * of Suricata 8, which has no kinds. */
    firewall_policies *kind_policy[APP_PROTO_COUNT];
};

/* Sets set->hook, and set->firewall if firewall.enabled. Call it after ruleset_compile(). Returns
 * -1 with err set when a policy is wrong. */
int firewall_make(struct ruleset *set, const struct conf_node *root, struct err *err);
void firewall_free(struct firewall *fw);
/* For firewall_make(): the defaults, then firewall.policies (firewall_policies.c). */
int firewall_policies_read(struct ruleset *set, const struct conf_node *root, struct err *err);

/* Collects rules with the hooks pre_flow and pre_stream, with or without a firewall. They are
 * evaluated at the hook, and again with all packets. */
void early_hooks_make(struct ruleset *set);
enum firewall_table firewall_table_of(const struct rule *r);

/* The rank of the rule's table for one packet: firewall rules on packets, other rules on packets,
 * firewall rules on transactions, other rules on transactions. */
unsigned firewall_order(const struct rule *rule);

/* Writes the hook of a firewall rule and its action, as alert records show them:
 * "http1:request_line", "packet:filter"; "accept:hook,alert". False: the hook has no name. */
bool firewall_hook_text(const struct rule *rule, char *out, size_t size);
void firewall_action_text(const struct rule *rule, char *out, size_t size);

#endif
