/* SPDX-License-Identifier: GPL-2.0-or-later */
/* output/output_private.h - the set of outputs, for the files of this directory. */
#ifndef OUTPUT_OUTPUT_PRIVATE_H
#define OUTPUT_OUTPUT_PRIVATE_H

#include <pthread.h>

#include "base/array.h"
#include "output/logger.h"

struct logger {
    const struct logger_ops *ops;
    void *self;
};

/* Bits that say what is logged already, as far as they have been given out: a record type of an
 * eve-log has its own, so that it does not matter what the others log. */
struct log_marks {
    unsigned tx[APP_PROTO_COUNT];           /* of output_tx.logged */
    unsigned events, files, frames;         /* places of output_tx.events_logged; bits elsewhere */
};

struct output_conf {
    struct output_request request;
    ARRAY_OF(struct logger) loggers;
    ARRAY_OF(struct sink *) sinks;          /* by sink.id */
    ARRAY_OF(char *) sink_paths;            /* beside sinks: what makes them one */
    struct merge *merge;                    /* NULL: each writer writes what it gets */
    struct output_writer *merged;           /* what merge writes with */
    bool streamers;                         /* some logger has stream */
    unsigned eve_logs;
    bool alert_contents;            /* one of them prints contents with alerts */
    struct pcap_files *pcap_files;          /* the first pcap-log's; NULL: there is none */
    uint64_t records_lost;                  /* no memory for them; atomic */
    bool packet_writers;                    /* some logger has write_packet */
    unsigned stats_interval;
    unsigned threads;                       /* that render, so far; atomic */
    struct log_marks marks;
    unsigned line_logs;                     /* http-log, tls-log */
    struct ruleset_report rules;            /* under rules_lock: reload against statistics */
    struct tenants *tenants;            /* referenced; under rules_lock; NULL: there are none */
    uint64_t rules_loaded_us;
    pthread_mutex_t rules_lock;
    struct output_tap *tap;                 /* atomic; NULL: there is none */
    struct render stats;                    /* the statistics thread's */
    struct buf stats_out;
};

/* streaming.c: HTTP's bodies are kept, for an output with `stream`; all pieces that came with this
 * packet. */
void output_require_bodies(const struct app_conf *app);
void output_stream(struct output_conf *conf, struct render *r, struct packet *p);

#endif
