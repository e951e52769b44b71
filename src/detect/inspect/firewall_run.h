/* SPDX-License-Identifier: GPL-2.0-or-later */
/* detect/inspect/firewall_run.h - the firewall at work, for detect/inspect/. One packet at a time,
 * on the thread that owns the inspection state of the flow. */
#ifndef DETECT_FIREWALL_RUN_H
#define DETECT_FIREWALL_RUN_H

#include "detect/compile/firewall.h"
#include "detect/inspect/inspect_private.h"

enum firewall_verdict {
    FIREWALL_HOOK,      /* go on: other rules, then the firewall on transactions */
    FIREWALL_ACCEPT,    /* other rules about the packet, and nothing about transactions */
    FIREWALL_DROP,
};

/* The rules on packets. */
enum firewall_verdict firewall_packet(struct detect_thread *dt, struct packet *p,
                                      enum direction d);
/* The rules of one table, then its policy. */
enum firewall_verdict firewall_table(struct detect_thread *dt, struct packet *p,
                                     enum direction d, unsigned table);
/* One rule on a packet; its alert is queued when it matches. */
bool firewall_evaluate(struct detect_thread *dt, struct packet *p, enum direction d,
                  const struct rule *r, struct header_view *h);

/* The rules on one direction of a transaction: each step from the one that was last looked at to
 * the one it has come to. False: dropped. */
bool firewall_tx(struct tx_context *c);

/* The packet may go, unless something else stops it. Nothing without a firewall. */
static inline void firewall_accept(struct detect_thread *dt)
{
    dt->accepted = true;
}

/* Replaces the end of the alert queue: combines the decisions of the firewall and of other rules. A
 * packet that no rule has accepted gets the policy, which is drop by default. */
void firewall_finish(struct detect_thread *dt, struct packet *p, uint8_t flags);

#endif
