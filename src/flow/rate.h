/* SPDX-License-Identifier: GPL-2.0-or-later */
/* flow/rate.h - elephants: flows of which one direction brings so many bytes within so many
 * seconds (flow.rate-tracking).
 *
 * Belongs to the half of a flow that inspection has, as its other counts of packets do. */
#ifndef FLOW_RATE_H
#define FLOW_RATE_H

#include "conf/conf.h"
#include "flow/flow.h"

struct flow_rate_conf {
    uint64_t bytes;             /* so many make an elephant */
    uint32_t seconds;           /* within so many; 0: nobody asks */
};

/* Read with the other settings of flows; bytes and interval must be there. */
int flow_rate_read(struct flow_rate_conf *conf, const struct conf_node *root, struct err *err);

/* A packet of so many bytes: true when it has just made an elephant of its flow. */
bool flow_rate_add(const struct flow_rate_conf *conf, struct flow *f, enum direction d,
                   uint64_t time_us, uint32_t bytes);

#endif
