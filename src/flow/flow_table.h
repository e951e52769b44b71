/* SPDX-License-Identifier: GPL-2.0-or-later */
/* flow/flow_table.h - finds the flow of a packet. One table per owning thread; no locks.
 *
 * Timeouts by a timer wheel on packet time; a flow past its timeout never answers a lookup, so
 * that results do not depend on when the wheel turned. Memcap, then emergency mode. */
#ifndef FLOW_FLOW_TABLE_H
#define FLOW_FLOW_TABLE_H

#include "base/counters.h"
#include "conf/conf.h"
#include "flow/flow.h"
#include "packet/vector.h"

/* flow.*, flow-timeouts.*, vlan, livedev, community id: read-only, shared. */
struct flow_conf;
struct flow_conf *flow_conf_new(const struct conf_node *root, unsigned tables, struct err *err);
void flow_conf_free(struct flow_conf *conf);

struct flow_table;
struct flow_table *flow_table_new(const struct flow_conf *conf, struct counters *counters,
                                  struct err *err);
void flow_table_free(struct flow_table *table);

/* Finds or makes; *made tells which. NULL: no flow for this packet (fragment, no transport), or
 * at the memcap, where *memcap is set and the exception policy decides. Sets direction and
 * FLOW_START / FIRST_IN_DIR in the packet's flags. A flow found past its timeout is handed to
 * `ended` first and a new one made. */
struct flow *flow_table_get(struct flow_table *table, struct packet *packet, bool *made,
                            bool *memcap);

/* State changes move the flow to another timeout. */
void flow_table_set_state(struct flow_table *table, struct flow *flow, enum flow_state state);

/* Takes the flow out of the table (it stays valid) because it ended now. */
void flow_table_remove(struct flow_table *table, struct flow *flow, enum flow_end_reason reason);

/* Flows whose time is up by now_us, at most max per call; each is removed from the table. */
unsigned flow_table_expire(struct flow_table *table, uint64_t now_us, unsigned max,
                           void (*ended)(struct flow *flow, void *arg), void *arg);
/* At the end of the run: any flow left, with reason timeout when final_us is past its timeout,
 * else shutdown; order: as started. False when none is left. */
struct flow *flow_table_drain(struct flow_table *table, uint64_t final_us);

/* The flow has come home: memory back to the pool. */
void flow_table_give_back(struct flow_table *table, struct flow *flow);

unsigned flow_table_active(const struct flow_table *table);

#endif
