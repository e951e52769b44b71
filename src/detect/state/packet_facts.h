/* SPDX-License-Identifier: GPL-2.0-or-later */
/* detect/state/packet_facts.h - what a flow remembers of its packets for rules that combine
 * conditions on packets and on transactions (detect.packet-facts).
 *
 * The compiler splits such a rule in two. One half inspects packets and sets a bit of the flow; the
 * other inspects transactions and tests the bit. A flow without a bit has no memory for them. */
#ifndef DETECT_PACKET_FACTS_H
#define DETECT_PACKET_FACTS_H

#include "detect/rule/keyword.h"

struct flow;

/* Rules of a set that can be split: a bit of a flow each. */
#define PACKET_FACTS_MAX 1024

struct packet_fact { uint32_t number; };        /* below PACKET_FACTS_MAX; argument of all tests */

/* Tests of the half on packets: the bit is not set yet (POINT_PACKET); set it (POINT_POST). */
struct rule_test packet_fact_unknown(const struct packet_fact *fact);
struct rule_test packet_fact_note(const struct packet_fact *fact);
/* The test of the half on transactions (POINT_TX): the bit is set. */
struct rule_test packet_fact_known(const struct packet_fact *fact);

void packet_facts_free(struct flow *flow);      /* when the flow ends, or the rules change */

#endif
