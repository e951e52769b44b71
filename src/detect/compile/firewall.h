/* SPDX-License-Identifier: GPL-2.0-or-later */
/* detect/compile/firewall.h - the firewall's rules by the place where they are asked.
 *
 * Made with the ruleset and read-only after that; rules are named by their place in evaluation
 * order. What happens to packets is in detect/inspect/firewall_run.h. */
#ifndef DETECT_FIREWALL_H
#define DETECT_FIREWALL_H

#include "detect/rule/rule.h"

struct conf_node;
struct ruleset;

#define FIREWALL_HOOKS_MAX 48           /* of one protocol and direction */

enum firewall_table { FIREWALL_PRE_FLOW, FIREWALL_PRE_STREAM, FIREWALL_FILTER,
                      FIREWALL_TABLES };

/* What happens where no rule decides. */
struct firewall_policy {
    uint8_t action;                     /* RULE_ACCEPT, RULE_DROP or a reject */
    uint8_t scope;                      /* enum rule_scope */
};

struct firewall_list { uint32_t *at; size_t count, cap; };

struct firewall {
    struct firewall_list packet[FIREWALL_TABLES];       /* as written */
    struct firewall_list app[APP_PROTO_COUNT][2];       /* by hook, then as written */
    struct firewall_policy packet_policy[FIREWALL_TABLES];
    struct firewall_policy app_policy[APP_PROTO_COUNT][2][FIREWALL_HOOKS_MAX];
};

/* set->hook, and set->firewall when firewall.enabled; after ruleset_compile(). -1: a policy is
 * wrong. */
int firewall_make(struct ruleset *set, const struct conf_node *root, struct err *err);
void firewall_free(struct firewall *fw);

/* Rules with the hooks pre_flow and pre_stream, with or without a firewall. They are asked there,
 * and once more where all packets are. */
void early_hooks_make(struct ruleset *set);
enum firewall_table firewall_table_of(const struct rule *r);

/* The order in which tables have their say about one packet: the firewall about packets, rules
 * about packets, the firewall about transactions, rules about transactions. */
unsigned firewall_order(const struct rule *rule);

/* Where a rule of the firewall is asked, "http1:request_line", "packet:filter", and what it does,
 * "accept:hook,alert": as records of alerts have it. False: its hook has no name. */
bool firewall_hook_text(const struct rule *rule, char *out, size_t size);
void firewall_action_text(const struct rule *rule, char *out, size_t size);

#endif
