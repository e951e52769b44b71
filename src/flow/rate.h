/* SPDX-License-Identifier: GPL-2.0-or-later */
/* flow/rate.h - elephant flows: flows of which one direction carries a given number of bytes within
 * a given time (flow.rate-tracking).
 *
 * Belongs to the inspection state of a flow, like its packet counts. */
#ifndef FLOW_RATE_H
#define FLOW_RATE_H

#include "conf/conf.h"
#include "flow/flow.h"

#define FLOW_INSPECT_ELEPHANT_TC 0x08
#define FLOW_INSPECT_ELEPHANT_TS 0x10

struct flow_rate_conf {
    uint64_t bytes;             /* bytes that make an elephant flow */
    uint32_t seconds;           /* within this many seconds; 0: not configured */
};

/* Read with the other flow settings; bytes and interval are required. */
int flow_rate_read(struct flow_rate_conf *conf, const struct conf_node *root, struct err *err);

/* Counts a packet's bytes. True when the flow has just become an elephant flow. */
bool flow_rate_add(const struct flow_rate_conf *conf, struct flow *f, enum direction d,
                   uint64_t time_us, uint32_t bytes);
void flow_rate_free(struct flow_rate *rate);        /* with the flow; NULL is fine */

#endif
