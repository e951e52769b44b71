/* SPDX-License-Identifier: GPL-2.0-or-later */
/* flow/flow_private.h - settings of the flow table. */
#ifndef FLOW_FLOW_PRIVATE_H
#define FLOW_FLOW_PRIVATE_H

#include "flow/elephant.h"
#include "flow/flow_table.h"
#include "flow/memcap.h"
#include "flow/rate.h"

enum flow_proto { FLOW_PROTO_TCP, FLOW_PROTO_UDP, FLOW_PROTO_ICMP, FLOW_PROTO_OTHER,
                  FLOW_PROTO_COUNT };
#define FLOW_STATE_COUNT (FLOW_CAPTURE_BYPASSED + 1)

/* Microseconds. */
struct flow_timeouts {
    uint64_t after[FLOW_PROTO_COUNT][FLOW_STATE_COUNT];
};

struct flow_conf {
    struct memcap memcap;
    struct flow_timeouts normal, emergency;
    uint64_t hash_size;                 /* of all tables together */
    uint64_t prealloc;                  /* of all tables together */
    unsigned tables;
    bool keep_idle;                     /* flow_conf_keep_idle() */
    bool expects_imports;               /* they come when the threads have started */
    struct flow_imports *imports;       /* atomic; NULL: none are left */
    unsigned recovery_percent;          /* per cent of the flows that must end before an emergency
                                         * ends */
    struct flow_rate_conf rate;
    struct elephant_conf elephant;
    bool use_vlan, use_recursion, use_device;
};

static inline enum flow_proto flow_proto_of(uint8_t ip_proto)
{
    switch (ip_proto) {
    case 6:
        return FLOW_PROTO_TCP;
    case 17:
        return FLOW_PROTO_UDP;
    case 1:
    case 58:
        return FLOW_PROTO_ICMP;
    default:
        return FLOW_PROTO_OTHER;
    }
}

#endif
