/* SPDX-License-Identifier: GPL-2.0-or-later */
/* flow/flow_table.h - finds the flow of a packet. One table per owning thread; no locks.
 *
 * A timer wheel on packet time ends idle flows. A lookup never returns a flow past its timeout, so
 * results do not depend on when the wheel advanced. At the memcap emergency mode begins: shorter
 * timeouts until enough flows have ended.
 *
 * A flow that has ended is removed from the table and waits in the list of ended flows. The stream
 * module takes it from there, sends it down with its last packet, and returns it. */
#ifndef FLOW_FLOW_TABLE_H
#define FLOW_FLOW_TABLE_H

#include "base/report/counters.h"
#include "conf/conf.h"
#include "flow/flow.h"
#include "packet/vector.h"

/* Settings of flow.*, flow-timeouts.*, vlan and livedev. Shared by all tables; only the memcap
 * changes after creation. tables: the number that share the memcap. */
struct flow_conf;
struct flow_conf *flow_conf_new(const struct conf_node *root, unsigned tables, struct err *err);
/* Sets the number of tables, if it is known late; before the first table is created. */
void flow_conf_set_tables(struct flow_conf *conf, unsigned tables);
/* For a small capture file: idle flows stay until a packet comes for them, memory runs short, or
 * the capture ends. Before the first table is created. */
void flow_conf_keep_idle(struct flow_conf *conf, bool keep);
void flow_conf_free(struct flow_conf *conf);
/* Flows of another process, which new flows continue. Expected: before the first table is created.
 * Borrowed; NULL: no more. */
struct flow_imports;
void flow_conf_expect_imports(struct flow_conf *conf);
void flow_conf_set_imports(struct flow_conf *conf, struct flow_imports *imports);
struct memcap;
struct flow_rate_conf;
struct flow_rate_conf flow_conf_rate(const struct flow_conf *conf);
struct elephant_conf;
const struct elephant_conf *flow_conf_elephant(const struct flow_conf *conf);
struct memcap *flow_conf_memcap(struct flow_conf *conf);

struct flow_table;
struct flow_table *flow_table_new(const struct flow_conf *conf, struct counters *counters,
                                  struct err *err);
void flow_table_free(struct flow_table *table);

/* Prefetch for a lookup: first the bucket, some packets later the flow that the bucket points
 * to. */
void flow_table_prefetch(const struct flow_table *table, uint32_t hash);
struct flow *flow_table_prefetch_flow(const struct flow_table *table, uint32_t hash);

/* Returns the packet's flow, or NULL. A flow past its timeout goes to the ended flows instead. */
struct flow *flow_table_find(struct flow_table *table, const struct packet *packet);

/* Finds a flow by EVE's flow_id; NULL: not in this table. */
struct flow *flow_table_find_id(struct flow_table *table, uint64_t id);

/* Creates the packet's flow. Returns NULL when the packet can have none (fragment, no transport,
 * ICMP error), and at the memcap: *memcap is then set and the exception policy decides. */
struct flow *flow_table_add(struct flow_table *table, const struct packet *packet, bool *memcap);

/* For a flow that was just added: continues one of another process, if there is one that has not
 * timed out. *from: its record. */
struct flow_import;
bool flow_table_continue(struct flow_table *table, struct flow *flow, struct flow_import *from);

/* Adds the packet to the flow: sets its flow, direction and FIRST_IN_DIR, ESTABLISHED; updates the
 * flow's time, TTLs and what has been seen. */
void flow_table_touch(struct flow_table *table, struct flow *flow, struct packet *packet);

/* Does all three: finds or creates, then adds the packet. *created: the flow is new. */
struct flow *flow_table_get(struct flow_table *table, struct packet *packet, bool *created,
                            bool *memcap);

/* Like flow_table_find(), without a check of the timeout. */
struct flow *flow_table_peek(const struct flow_table *table, const struct packet *packet);

/* Sets a callback for flows that are about to time out, because packets in other modules may still
 * change their state. */
void flow_table_before_timeout(struct flow_table *table,
                               void (*wait_inflight)(struct flow *flow, void *arg), void *arg);

/* Changes the state, and with it the timeout. */
void flow_table_set_state(struct flow_table *table, struct flow *flow, enum flow_state state);

/* Ends the flow now: removes it from the table and adds it to the ended flows. */
void flow_table_end(struct flow_table *table, struct flow *flow, enum flow_end_reason reason);
/* The same, because p starts another flow in its place: it ends just before p. */
void flow_table_replace(struct flow_table *table, struct flow *flow, const struct packet *p,
                        enum flow_end_reason reason);

/* Moves flows that have timed out by now_us to the ended flows, at most max. */
void flow_table_expire(struct flow_table *table, uint64_t now_us, unsigned max);

/* Replaces flow_table_expire() for packets with a seqno (sequencer.h): flows that timed out before
 * `order` go to the ended flows, in the order of their timeouts. The caller must have taken all
 * earlier ended flows. */
void flow_table_pass(struct flow_table *table, uint64_t seqno);
/* Sets the position of the current packet: flows that it ends come before it. */
void flow_table_at(struct flow_table *table, uint64_t seqno);

/* At the end of the run: ends all flows, in the order in which they started, with reason timeout
 * when final_us is past a flow's timeout, unless idle flows are kept, else shutdown. */
void flow_table_end_all(struct flow_table *table, uint64_t final_us);

/* Call it when all flows have ended: time may then start again, for another capture. */
void flow_table_restart(struct flow_table *table);

/* Returns the flow that ended first, which the caller then owns; NULL when none waits. */
struct flow *flow_table_take_finished(struct flow_table *table);

bool flow_table_has_finished(const struct flow_table *table);

/* Returns the flow's memory to the pool, when the flow itself has been returned. */
void flow_table_release(struct flow_table *table, struct flow *flow);

/* Writes the next flows of the table, at most FLOW_VISIT_MAX, and returns their number. `hand`: a
 * position of the caller's, from 0, which goes round and round. */
#define FLOW_VISIT_MAX 7
unsigned flow_table_visit(const struct flow_table *table, uint64_t *hand,
                          struct flow *flows[static FLOW_VISIT_MAX]);

unsigned flow_table_active(const struct flow_table *table);

/* Updates the gauges (memuse, spare); once per vector. */
void flow_table_gauge(struct flow_table *table);

#endif
