/* SPDX-License-Identifier: GPL-2.0-or-later */
/* detect/inspect/firewall_run.h - applies firewall rules to packets, for detect/inspect/. The
 * thread that owns the inspection state of the flow calls it, one packet at a time. */
#ifndef DETECT_FIREWALL_RUN_H
#define DETECT_FIREWALL_RUN_H

#include "detect/compile/firewall.h"
#include "detect/inspect/inspect_private.h"

enum firewall_verdict {
    FIREWALL_HOOK,      /* continue: other rules, then the firewall on transactions */
    FIREWALL_ACCEPT,    /* other rules on the packet still run; none on transactions */
    FIREWALL_DROP,
};

/* Runs the rules on packets. */
enum firewall_verdict firewall_packet(struct detect_thread *dt, struct packet *p,
                                      enum direction d);
/* Runs the rules of one table, then applies its policy. */
enum firewall_verdict firewall_table(struct detect_thread *dt, struct packet *p,
                                     enum direction d, unsigned table);
/* Evaluates one rule on a packet and queues its alert when it matches. */
bool firewall_evaluate(struct detect_thread *dt, struct packet *p, enum direction d,
                  const struct rule *r, struct header_view *h);

/* Runs the rules on one direction of a transaction: each step from the last one inspected to the
 * current one. False: dropped. */
bool firewall_tx(struct tx_context *c);

/* Accepts the packet, unless something else drops it. No effect without a firewall. */
static inline void firewall_accept(struct detect_thread *dt)
{
    dt->accepted = true;
}

/* Replaces the end of the alert queue: combines the decisions of the firewall and of other rules. A
 * packet that no rule has accepted gets the policy, which is drop by default. */
void firewall_finish(struct detect_thread *dt, struct packet *p, uint8_t flags);

#endif
