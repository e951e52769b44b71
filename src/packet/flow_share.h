/* SPDX-License-Identifier: GPL-2.0-or-later */
/* packet/flow_share.h - which packets of a file one of several engines inspects, so that each has a
 * share of the flows.
 *
 * All packets between two hosts are in one share: both directions, fragments, errors that quote
 * them, and flows that other flows of the two announce. The choice depends on the two addresses
 * only, so engines agree on it without knowing each other. In a tunnel the inner packet has its own
 * hosts. Packets without addresses are in share 1. */
#ifndef PACKET_FLOW_SHARE_H
#define PACKET_FLOW_SHARE_H

#include "packet/packet.h"

#define FLOW_SHARES_MAX 4096

struct flow_share {
    uint32_t number, count;         /* 1 to count; count 0: no shares, all packets are inspected */
};

/* "2/8": the second of eight. False: it is something else. */
bool flow_share_parse(const char *text, struct flow_share *out);
/* Of a decoded packet. */
bool flow_share_has(const struct flow_share *share, const struct packet *p);

#endif
