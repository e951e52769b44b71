/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/session.h - the framework as the modules drive it: a thread's state, and each packet's way
 * through detection of the protocol, its parser and what is freed after. */
#ifndef APP_SESSION_H
#define APP_SESSION_H

#include "app/conf.h"
#include "app/tx.h"
#include "packet/inspection.h"

struct counters;

/* What detect and output do for the framework; all may be NULL. */
struct app_hooks {
    bool (*tx_inspected)(const struct app_tx *tx);      /* as far as its progress goes */
    void (*tx_renewed)(struct app_tx *tx);              /* another protocol: inspect it anew */
    void (*tx_released)(struct app_tx *tx);                 /* free what detect hung on it */
    void (*file_released)(struct app_file *file);           /* its file->store is not NULL */
};
struct app_thread *app_thread_new(const struct app_conf *conf, struct counters *counters,
                                  const struct app_hooks *hooks);
void app_thread_free(struct app_thread *at);            /* after all its flows */

/* One packet: its chunks (TCP) or payload (UDP), and the end of its flow, to detection and
 * parsers. Sets flow->app_proto and friends. Call it before anything else looks at the packet's
 * direction, which the inspection gets here: when detection finds client and server exchanged it
 * turns the flow, the packet and its chunks, and all later packets that the stream module had
 * judged before it knew. */
void app_packet(struct app_thread *at, struct inspection *in);
/* With this packet a parser has stopped for good, or another protocol takes over: what there is
 * so far is to be inspected and logged first. */
bool app_wants_detectlog_flush(const struct packet *p);
bool app_is_changing(const struct flow *flow);          /* ... for that reason */
/* After rules and logs, which are taken to have logged by now what is done: transactions that
 * are complete, inspected and without open files die; frames and file content that nobody needs
 * any more go. */
void app_cleanup(struct app_thread *at, const struct inspection *in);
/* Rules look at each of the flow's transactions again. */
void app_tx_mark_all(struct app_flow *af);
/* A packet of this flow comes soon: four steps, each once what the one before called for has
 * come. af may be NULL. */
void app_prefetch_flow(const struct app_flow *af);
void app_prefetch_tx(const struct app_flow *af);
void app_prefetch_parser(const struct app_flow *af);
void app_prefetch_files(const struct app_flow *af);
/* All of the flow's application state, with flow->app set to NULL. By the inspecting thread,
 * once the packet that ends the flow is logged. */
void app_flow_free(struct flow *flow);

/* --- connections that may announce others ----------------------------------------------------- */

/* By every thread that reads a file which several inspect, for each packet before it moves on; for
 * TCP that is not decoded, its payload: true when the opening is worth noting. `anywhere`: flows of
 * one hash may be on several threads. */
struct expectation_opening {
    struct ip src, dst;
    uint32_t flow_hash;
    uint64_t order;
    bool anywhere;
};
void expectation_parent_packet(const struct app_conf *conf, const struct packet *p, bool anywhere);
bool expectation_parent_is_likely(const struct app_conf *conf, const uint8_t *payload,
                                  uint32_t len);
void expectation_parent_add(const struct app_conf *conf, const struct expectation_opening *opening);
/* With the packet that ends its flow, by the thread that inspects it, in its turn. */
void expectation_parent_remove(const struct app_conf *conf, const struct packet *p);

#endif
