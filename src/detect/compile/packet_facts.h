/* SPDX-License-Identifier: GPL-2.0-or-later */
/* detect/compile/packet_facts.h - splits rules that combine conditions on packets and on
 * transactions; for rule_finish(). */
#ifndef DETECT_COMPILE_PACKET_FACTS_H
#define DETECT_COMPILE_PACKET_FACTS_H

#include "detect/rule/keyword.h"

/* Moves what a packet decides to rule->facts, if the ruleset has detect.packet-facts. A rule that
 * cannot be split stays as it is. */
int packet_facts_split(struct rule_parser *p);
/* Completes that half once the rule's direction is known. */
int packet_facts_finish(struct rule_parser *p);

#endif
