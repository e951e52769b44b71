/* SPDX-License-Identifier: GPL-2.0-or-later */
/* capture/capture.h - a way for packets to come in and verdicts to go out.
 *
 * One file per method. The receive and verdict modules are the only callers. A `capture` is
 * the method with its settings, made once; a `capture_queue` is what one receive thread reads. */
#ifndef CAPTURE_CAPTURE_H
#define CAPTURE_CAPTURE_H

#include "base/counters.h"
#include "base/err.h"
#include "conf/conf.h"
#include "packet/pool.h"
#include "packet/vector.h"

enum capture_status { CAPTURE_OK, CAPTURE_IDLE, CAPTURE_END, CAPTURE_FAILED };

/* An interface or a file, for logs and per-device counters. */
struct capture_device {
    char name[64];
    uint16_t id;
    int if_index;
    int numa_node;              /* -1: unknown */
};

/* What the command line asked for. */
struct capture_request {
    const char *const *sources; /* files, interfaces, queue numbers; NULL-ended */
    const char *bpf_filter;     /* NULL: none */
    unsigned threads;           /* how many queues will be opened over all sources */
    const unsigned *source_threads;     /* queues of each source: queue 0 .. are those of the
                                         * first source, then the second's; NULL: one each */
    const struct conf_node *conf;       /* root */
    bool simulate_ips;
    const volatile int *stop;   /* non-zero: end soon */
};

/* How far an offline capture is; total 0: not known. */
struct capture_progress {
    uint64_t bytes, total_bytes, packets;
};

struct capture_ops {
    const char *name;           /* "pcap-file", "af-packet", "nfq" */
    const char *label;          /* "PCAP_FILE", as in --list-runmodes */
    const char *doc;
    const char *default_run_mode;
    const char *const *run_modes;       /* NULL-ended; those that make sense for it */
    bool live;                  /* wall time; a full pipeline drops instead of waiting */
    bool verdicts;              /* has accept/drop to give */
    /* Do these sources, as configured, block packets? NULL: always when `verdicts`. */
    bool (*is_inline)(const struct conf_node *root, const char *const *sources, size_t count);

    void *(*open)(const struct capture_request *request, struct err *err);
    /* How many receive threads it wants when nobody says otherwise. */
    unsigned (*queue_count)(void *capture);
    void *(*queue_open)(void *capture, unsigned queue, struct packet_pool *pool,
                        struct counters *counters, struct err *err);
    /* Appends up to VECTOR_FILL packets; waits at most 100 ms for the first. */
    enum capture_status (*receive)(void *queue, struct packet_vector *v);
    /* Carries out p->action; exactly once for each packet of an inline capture. May be called
     * on another thread than receive. NULL when there is nothing to do. */
    void (*verdict)(void *queue, struct packet *p);
    void (*verdict_flush)(void *queue);         /* end of vector: batched verdicts out; or NULL */
    void (*interrupt)(void *queue);             /* any thread; may be NULL */
    void (*update_stats)(void *queue);          /* kernel drops into counters; or NULL */
    void (*queue_close)(void *queue);
    /* Offline, any thread; NULL: not known. */
    void (*progress)(void *capture, struct capture_progress *out);
    void (*close)(void *capture);
};

/* capture/list.c */
extern const struct capture_ops *const capture_table[];         /* NULL-ended */
const struct capture_ops *capture_find(const char *name);

#endif
