/* SPDX-License-Identifier: GPL-2.0-or-later */
/* detect/inspect/inspect.h - one thread's inspection of packets with the rules of a set.
 *
 * A struct detect_thread belongs to one packet thread, which alone calls the functions here. State
 * of rules between packets is in the flow and its transactions, not in the thread. */
#ifndef DETECT_INSPECT_H
#define DETECT_INSPECT_H

#include "detect/rule/alert.h"
#include "detect/rule/ruleset.h"
#include "packet/inspection.h"
#include "packet/vector.h"

struct app_tx;
struct conf_node;
struct counters;
struct detect_thread;
struct flow;
struct lua_caller;

/* --- the thread ----------------------------------------------------------------------------- */

struct detect_thread *detect_thread_new(struct ruleset *set, const struct conf_node *conf,
                                        struct counters *counters, bool is_inline,
                                        struct err *err);
void detect_thread_free(struct detect_thread *dt);
/* For scripts that run on this thread, without their side. */
struct lua_caller detect_thread_lua(struct detect_thread *dt);
/* Makes alerts carry up to `bytes` of the latest stream data. Call it before the first packet. */
void detect_thread_keep_alert_payload(struct detect_thread *dt, uint32_t bytes);
/* Changes to another ruleset after a reload, between two vectors. */
void detect_thread_set_rules(struct detect_thread *dt, struct ruleset *set);
/* Follows the start or stop of rule profiling (detect/state/profile.h). */
void detect_thread_follow_profile(struct detect_thread *dt);
/* Sets the generation of rules. Threads that share flows get equal generations; each new ruleset or
 * set of flows gets a new one. A flow's rule state of another generation is cleared. */
void detect_thread_set_generation(struct detect_thread *dt, uint8_t generation);

/* --- packets -------------------------------------------------------------------------------- */

/* Starts the thread's helper, which searches payloads of elephant flows ahead. False: it could not
 * be started. */
bool detect_thread_start_helper(struct detect_thread *dt);
/* Before the first packet of a vector, when it comes to each packet, and after the last one. */
void detect_search_ahead(struct detect_thread *dt, const struct packet_vector *v);
void detect_search_reach(struct detect_thread *dt, unsigned at);
/* Returns how many packets the helper has searched so far. */
uint64_t detect_search_end(struct detect_thread *dt);

/* Runs the rules on the packet, its stream chunks and its transactions. Call it after app_packet().
 * Fills detect_slot.alert, sets packet->action and flow->action, runs the side effects of matches,
 * marks transactions as inspected. */
void detect_inspect(struct detect_thread *dt, const struct inspection *in);

/* Runs the rules of an early hook. The thread that looks up flows calls it with its own
 * detect_thread. False: the packet is dropped. Its alerts are in detect_slot(p)->alert. */
bool detect_early_hook(struct detect_thread *dt, struct packet *p, enum detect_early_hook hook);

/* --- flows and transactions ----------------------------------------------------------------- */

/* enum inspect_side: which sides of a flow that ends need a last inspection, those with TCP data,
 * bytes that a parser waits with, transactions or matches that no alert has reported yet. Call it
 * before app_packet(). */
uint8_t detect_last_sides(const struct packet *p);
/* Makes the next packet, of either direction, inspect the stream data that have arrived. */
void detect_flush_stream(struct flow *flow);
/* True if the thread stores stream data for alerts. */
bool detect_keeps_alert_payload(const struct detect_thread *dt);
/* Frees stream data that alerts no longer show. Call it after the outputs. */
void detect_clear_alert_payload(struct detect_thread *dt, struct packet *p);

/* True when both directions of the transaction are inspected up to its progress. */
bool detect_tx_inspected(const struct app_tx *tx);
/* Marks the transaction as not inspected. */
void detect_tx_renew(struct app_tx *tx);
/* Free the rules' state of a transaction and of a flow. */
void detect_tx_free(struct app_tx *tx);
void detect_flow_free(struct flow *flow);
/* Bytes at the end of a direction that rules of another process must see, too. When the flow has
 * ended here. */
uint32_t detect_tail(const struct flow *flow, enum direction d);

/* Prefetch the state of a flow whose packet comes soon. Call them in this order, some time apart:
 * each reads what the one before it has fetched (the flow's state, its lists, the state of its
 * newest transaction, the rules in it). */
void detect_prefetch_flow(const struct flow *flow);
void detect_prefetch_lists(const struct flow *flow);
void detect_prefetch_tx(const struct app_tx *tx);
void detect_prefetch_tx_rules(const struct app_tx *tx);
/* The tables that search the chunks of the next packet. */
void detect_prefetch_chunks(struct detect_thread *dt, const struct packet *p);

#endif
