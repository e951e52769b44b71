/* SPDX-License-Identifier: GPL-2.0-or-later */
/* packet/icmp_pair.h - requests and replies of ICMP, whose messages form one flow. */
#ifndef PACKET_ICMP_PAIR_H
#define PACKET_ICMP_PAIR_H

#include "base/base.h"

#define ICMP_NO_COUNTERPART -1

/* proto: 1 or 58. */
int icmp_counterpart(uint8_t proto, uint8_t type);

#endif
