/* SPDX-License-Identifier: GPL-2.0-or-later */
/* output/output_private.h - the set of outputs, for the files of this directory. */
#ifndef OUTPUT_OUTPUT_PRIVATE_H
#define OUTPUT_OUTPUT_PRIVATE_H

#include <pthread.h>

#include "base/array.h"
#include "output/log_limit.h"
#include "output/logger.h"

struct logger {
    const struct logger_ops *ops;
    void *self;
};

/* Allocates the bits that mark what is logged: each record type of an eve-log has its own bit, so
 * it does not depend on other logs. */
struct log_marks {
    unsigned tx[APP_PROTO_COUNT];           /* of output_tx.logged */
    unsigned events, files, frames;     /* indices of output_tx.events_logged; bits of the others */
};

struct output_conf {
    struct output_request request;
    ARRAY_OF(struct logger) loggers;
    ARRAY_OF(struct sink *) sinks;          /* by sink.id */
    ARRAY_OF(char *) sink_paths;            /* parallel to sinks: sinks with equal paths are one */
    struct merge *merge;                    /* NULL: each writer writes its own records */
    struct output_writer *merged;           /* the writer that merge uses */
    bool streamers;                         /* a logger has `stream` */
    enum packets_wanted packets_wanted;     /* by all loggers together */
    unsigned eve_logs;
    struct log_limit log_limit;
    bool alert_contents;            /* an output prints contents with alerts */
    struct pcap_files *pcap_files;          /* of the first pcap-log; NULL: none */
    uint64_t records_lost;                  /* for lack of memory; atomic */
    bool packet_writers;                    /* a logger has `write_packet` */
    unsigned stats_interval;
    unsigned threads;                       /* rendering threads so far; atomic */
    struct log_marks marks;
    unsigned line_logs;                     /* http-log, tls-log */
    struct ruleset_report rules;          /* under rules_lock, which orders reload and statistics */
    struct tenants *tenants;            /* referenced; under rules_lock; NULL: none */
    uint64_t rules_loaded_us;
    pthread_mutex_t rules_lock;
    struct output_tap *tap;                 /* atomic; NULL: none */
    struct render stats;                    /* of the statistics thread */
    struct buf stats_out;
};

/* streaming.c: requires bodies of HTTP for an output with `stream`. */
void output_require_bodies(const struct app_conf *app);
/* Passes all data that came with this packet to these outputs. */
void output_stream(struct output_conf *conf, struct render *r, struct packet *p);

#endif
