/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/session.h - the interface of the framework for modules: the state of a thread, and the calls
 * for each packet: protocol detection, the parser, and cleanup. */
#ifndef APP_SESSION_H
#define APP_SESSION_H

#include "app/conf.h"
#include "app/tx.h"
#include "packet/inspection.h"

struct app_export;
struct counters;

/* Callbacks to detect and output; each may be NULL. */
struct app_hooks {
    bool (*tx_inspected)(const struct app_tx *tx);      /* rules have seen all its progress */
    void (*tx_renewed)(struct app_tx *tx);       /* another protocol takes over: inspect it again */
    void (*tx_released)(struct app_tx *tx);            /* frees detect's state of the transaction */
    void (*file_released)(struct app_file *file);       /* frees what output keeps with it */
};
struct app_thread *app_thread_new(const struct app_conf *conf, struct counters *counters,
                                  const struct app_hooks *hooks);
void app_thread_free(struct app_thread *at);            /* after all its flows */

/* Passes one packet to protocol detection and the parsers: its chunks (TCP) or payload (UDP), and
 * the end of its flow. Sets flow->app_proto and related members. Call it before any other use of
 * the packet's direction, which the inspection sets here: when detection finds that client and
 * server are exchanged, it swaps the flow, the packet and its chunks, and all later packets that
 * had left the stream module before. */
void app_packet(struct app_thread *at, struct inspection *in);
/* Whether bytes of this direction wait for more of them: the end of the flow has them parsed. */
bool app_data_waits(const struct app_flow *af, enum direction d);
/* Whether this direction has ended, but a file of it waits for a packet to be logged with. */
bool app_files_wait(const struct app_flow *af, enum direction d);
/* With this packet a parser has stopped for good, or another protocol takes over: rules and logs
 * have to process what there is before that. */
bool app_wants_detectlog_flush(const struct packet *p);
bool app_is_changing(const struct flow *flow);          /* the same, for a change of protocol */
/* Call it after rules and logs, which have logged everything that is finished. Frees complete,
 * inspected transactions without open files, and frames and file content that are no longer
 * needed. */
void app_cleanup(struct app_thread *at, const struct inspection *in);
/* Makes rules inspect each of the flow's transactions again. */
void app_tx_mark_all(struct app_flow *af);
/* Rules are about to look at this direction: transactions that waited for that are due. */
void app_txs_of_direction(struct app_flow *af, enum direction d);
/* Prefetches for a coming packet of this flow, in four steps; call each when the loads of the one
 * before have arrived. af may be NULL. */
void app_prefetch_flow(const struct app_flow *af);
void app_prefetch_tx(const struct app_flow *af);
void app_prefetch_parser(const struct app_flow *af);
void app_prefetch_files(const struct app_flow *af);
/* Frees all of the flow's application state and sets flow->app to NULL. Called by the inspecting
 * thread when the packet that ends the flow has been logged. */
void app_flow_free(struct flow *flow);
/* What another process needs to go on with the flow; *heard: bytes of messages that are unfinished,
 * valid until the next packet. On the inspecting thread, at the flow's end. */
void app_export(const struct flow *flow, struct app_export *out, struct slice *heard);
/* A rule has matched the transaction: a process that takes over must not report it again. */
void app_tx_alerted(struct app_tx *tx, uint32_t gid, uint32_t sid);
/* True if it has matched it in the process from which this one has taken over. */
bool app_tx_was_alerted(const struct app_tx *tx, uint32_t gid, uint32_t sid);
/* The number of a protocol that another process has named; 0: this process has none such. */
uint16_t app_exported_proto(const char *name);

/* --- connections that may create expectations ------------------------------------------------- */

/* When several threads inspect a file, each thread that reads it calls this for each packet before
 * it moves on, for TCP that is not decoded with the payload. True: the connection may create
 * expectations. `anywhere`: flows of one hash may be on several threads. */
struct expectation_opening {
    struct ip src, dst;
    uint32_t flow_hash;
    uint64_t seqno;
    bool anywhere;
};
void expectation_parent_packet(const struct app_conf *conf, const struct packet *p, bool anywhere);
bool expectation_parent_is_likely(const struct app_conf *conf, const uint8_t *payload,
                                  uint32_t len);
void expectation_parent_add(const struct app_conf *conf, const struct expectation_opening *opening);
/* Call it with the packet that ends the flow, on the inspecting thread, in sequence. */
void expectation_parent_remove(const struct app_conf *conf, const struct packet *p);

#endif
