/* SPDX-License-Identifier: GPL-2.0-or-later */
/* detect/keywords/packet/tcp_flags.h - the TCP flags that a rule names. */
#ifndef DETECT_TCP_FLAGS_H
#define DETECT_TCP_FLAGS_H

#include "detect/rule/rule.h"

/* Returns the flags in the rule's tcp.flags tests, with `positive` without negated ones; 0:
 * none. */
uint8_t rule_tcp_flags(const struct rule *rule, bool positive);

#endif
