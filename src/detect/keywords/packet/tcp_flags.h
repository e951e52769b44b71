/* SPDX-License-Identifier: GPL-2.0-or-later */
/* detect/keywords/packet/tcp_flags.h - which TCP flags a rule waits for. */
#ifndef DETECT_TCP_FLAGS_H
#define DETECT_TCP_FLAGS_H

#include "detect/rule/rule.h"

/* Those named by its tcp.flags tests, negated ones left out with `positive`; 0: none. */
uint8_t rule_tcp_flags(const struct rule *rule, bool positive);

#endif
