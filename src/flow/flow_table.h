/* SPDX-License-Identifier: GPL-2.0-or-later */
/* flow/flow_table.h - finds the flow of a packet. One table per owning thread; no locks.
 *
 * Timeouts by a timer wheel on packet time; a flow past its timeout never answers a lookup, so
 * that results do not depend on when the wheel turned. Memcap, then emergency mode: shorter
 * timeouts until enough flows have gone.
 *
 * A flow that has ended is out of the table and waits in its list of ended ones, from which the
 * stream module takes it, sends it down with its last packet, and gives it back. */
#ifndef FLOW_FLOW_TABLE_H
#define FLOW_FLOW_TABLE_H

#include "base/report/counters.h"
#include "conf/conf.h"
#include "flow/flow.h"
#include "packet/vector.h"

/* flow.*, flow-timeouts.*, vlan, livedev: shared; only the memcap in it is ever written.
 * tables: how many will share the memcap. */
struct flow_conf;
struct flow_conf *flow_conf_new(const struct conf_node *root, unsigned tables, struct err *err);
/* Before the first table is made, when it is known only then. */
void flow_conf_set_tables(struct flow_conf *conf, unsigned tables);
void flow_conf_free(struct flow_conf *conf);
struct memcap;
struct flow_rate_conf;
struct flow_rate_conf flow_conf_rate(const struct flow_conf *conf);
struct memcap *flow_conf_memcap(struct flow_conf *conf);

struct flow_table;
struct flow_table *flow_table_new(const struct flow_conf *conf, struct counters *counters,
                                  struct err *err);
void flow_table_free(struct flow_table *table);

/* Start the loads that a lookup will wait for: first the bucket, some packets later the flow
 * that the bucket points to. */
void flow_table_prefetch(const struct flow_table *table, uint32_t hash);
struct flow *flow_table_prefetch_flow(const struct flow_table *table, uint32_t hash);

/* The packet's flow, or NULL. One found past its timeout goes to the ended ones instead. */
struct flow *flow_table_find(struct flow_table *table, const struct packet *packet);

/* By EVE's flow_id; NULL: it is not here. */
struct flow *flow_table_find_id(struct flow_table *table, uint64_t id);

/* Makes the packet's flow. NULL: none for this packet (fragment, no transport, ICMP error), or at
 * the memcap, where *memcap is set and the exception policy decides. */
struct flow *flow_table_add(struct flow_table *table, const struct packet *packet, bool *memcap);

/* The packet belongs to the flow: sets its flow, direction and FIRST_IN_DIR, ESTABLISHED; updates
 * the flow's time, TTLs and what has been seen. */
void flow_table_touch(struct flow_table *table, struct flow *flow, struct packet *packet);

/* All three: finds or makes; *made tells which. */
struct flow *flow_table_get(struct flow_table *table, struct packet *packet, bool *created,
                            bool *memcap);

/* As flow_table_find(), without a look at the time. */
struct flow *flow_table_peek(const struct flow_table *table, const struct packet *packet);

/* Called before time is held against a flow, whose state packets under way may still change. */
void flow_table_before_timeout(struct flow_table *table,
                               void (*wait_inflight)(struct flow *flow, void *arg), void *arg);

/* State changes move the flow to another timeout. */
void flow_table_set_state(struct flow_table *table, struct flow *flow, enum flow_state state);

/* It ends now: out of the table, to the ended ones. */
void flow_table_end(struct flow_table *table, struct flow *flow, enum flow_end_reason reason);

/* Moves flows whose time is up by now_us to the ended ones, at most max. */
void flow_table_expire(struct flow_table *table, uint64_t now_us, unsigned max);

/* For packets that stand in an order (sequencer.h), instead of flow_table_expire(): what ended
 * by time before `order` goes to the ended ones, in the order in which it did. All of them must
 * have been taken before. */
void flow_table_pass(struct flow_table *table, uint64_t order);
/* The packet at hand: flows that it ends go before it. */
void flow_table_at(struct flow_table *table, uint64_t order);

/* At the end of the run: ends all, with reason timeout when final_us is past a flow's timeout,
 * else shutdown; in the order in which they started. */
void flow_table_end_all(struct flow_table *table, uint64_t final_us);

/* When all have ended: time may begin anew, for another capture. */
void flow_table_restart(struct flow_table *table);

/* The ended flow that waits longest, now the caller's; NULL when none waits. */
struct flow *flow_table_take_finished(struct flow_table *table);

bool flow_table_has_finished(const struct flow_table *table);

/* The flow has been returned: memory back to the pool. */
void flow_table_release(struct flow_table *table, struct flow *flow);

unsigned flow_table_active(const struct flow_table *table);

/* Brings the gauges (memuse, spare) up to date; once a vector. */
void flow_table_gauge(struct flow_table *table);

#endif
