/* SPDX-License-Identifier: GPL-2.0-or-later */
/* packet/flow_hash.h - what tells flows apart, for the two that hash it: packets and peeks. */
#ifndef PACKET_FLOW_HASH_H
#define PACKET_FLOW_HASH_H

#include "base/ip.h"

struct flow_tuple {
    struct ip src, dst;
    uint16_t src_port, dst_port;
    uint8_t proto;
};

/* extra: VLANs and recursion; 0: none. Never 0, which means no flow. */
uint32_t flow_tuple_hash(const struct flow_tuple *t, uint64_t extra);

#endif
