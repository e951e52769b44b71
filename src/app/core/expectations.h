/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/core/expectations.h - flows that another flow has announced, and the connections that may
 * announce some. Both tables are shared, with a lock. */
#ifndef APP_CORE_EXPECTATIONS_H
#define APP_CORE_EXPECTATIONS_H

#include "app/proto.h"

/* --- expected flows (expectations.c) --- */

struct app_expectations;
struct expectation_parents;

struct expectation_match {
    enum app_proto_id proto;
    void *data;
    void (*free_data)(void *data);
    uint64_t parent_id;
};
/* Data passed with the expectation, valid as long as the flow. */
struct expectation_data { void *data; void (*free_data)(void *data); };
struct app_expectations *app_expectations_new(struct expectation_parents *parents);
void app_expectations_free(struct app_expectations *table);
/* With this packet, which may be NULL. */
bool app_expectations_add(struct app_expectations *table, const struct flow *flow,
                          const struct app_expected *expected, const struct packet *p);
/* Removes and returns the expectation of the packet's flow. False: there is none. */
bool app_expectations_match(struct app_expectations *table, const struct packet *p,
                            enum direction direction, struct expectation_match *out);
/* The same, and updates the thread's counter; APP_PROTO_UNKNOWN: there is none. */
enum app_proto_id expectation_take(struct app_thread *at, struct packet *p,
                                     enum direction direction, struct expectation_data **owned);
void expectation_data_free(struct expectation_data **owned);
uint64_t app_expectations_count(const struct app_expectations *table);

/* --- connections that may create expectations (expectation_parents.c) --- */

struct expectation_parents *expectation_parents_new(void);
void expectation_parents_free(struct expectation_parents *parents);
/* Which of these connections between the packet's two hosts are earlier than the packet. ITSELF:
 * its flow is the only one, and all flows of its hash are on its thread. */
enum parent_kind { PARENT_NONE, PARENT_SELF, PARENT_OTHERS };
enum parent_kind expectation_parents_of(struct expectation_parents *parents,
                                        const struct packet *p);

#endif
