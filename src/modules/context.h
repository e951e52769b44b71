/* SPDX-License-Identifier: GPL-2.0-or-later */
/* modules/context.h - what all thread modules of one run share: settings, rules, outputs.
 *
 * main/ creates it before threads start. After that it is read-only, except `rules`, which control/
 * replaces as a unit: a detect module that sees another `rules_generation` takes the new set
 * between two vectors. */
#ifndef MODULES_CONTEXT_H
#define MODULES_CONTEXT_H

#include <pthread.h>

#include "capture/capture.h"
#include "detect/detect.h"
#include "detect/compile/tenants.h"
#include "engine/module.h"
#include "output/output.h"
#include "packet/decode.h"
#include "packet/flow_share.h"
#include "stream/stream.h"

/* The queue and pool of one receive thread. Verdicts find the queue by the pool of their
 * packets. */
struct run_queue {
    const struct packet_pool *pool;
    void *queue;                            /* the capture's */
};
#define RUN_QUEUES_MAX 1024

/* A request of control/ to the packet threads. Each module that runs stream or detect answers
 * once, between two vectors, and then also checks whether rule costs are counted. */
struct qsbr {
    unsigned number;                        /* atomic; number of the newest request */
    unsigned left;                          /* atomic; number of modules that have not answered
                                             * it */
    unsigned modules;                       /* under the lock: number of modules that answer
                                             * requests */
    void (*stream)(struct stream_thread *st, void *arg);    /* NULL: threads only answer */
    void *arg;
};

/* Stream modules that wait until detection has finished a flow's packets. */
#define RUN_STREAMS_MAX 1024

struct explain;
struct explain_live;
struct gauges;
struct life;

/* Flows for the process that takes over. Threads add theirs as they end. */
struct run_exports {
    pthread_mutex_t lock;
    struct buf records;
    unsigned count, lost;                   /* lost: there was no memory */
};

struct run_context {
    const struct conf_node *conf;           /* root */
    bool is_inline;                         /* verdicts take effect: IPS, or --simulate-ips */
    bool gives_verdict;                            /* each frame is forwarded only by a verdict */
    bool rejects_by_route;                  /* reject: by this machine's routes, not as frames */
    int reject_if_index;                    /* --reject-dev; 0: none */
    bool offline;                           /* files: packet time, nothing is dropped */
    struct sequencer *seq;                    /* several threads inspect one file; else NULL */
    bool shares_file;                       /* workers on a file: each keeps its flow partition */

    const struct capture_ops *capture;
    void *capture_handle;
    struct run_queue queues[RUN_QUEUES_MAX];    /* receive modules add theirs when they open */
    unsigned queue_count;
    struct eventcount *stream_eventcount[RUN_STREAMS_MAX];     /* run_stream_join() */
    unsigned stream_count;
    unsigned streams_asleep;                /* atomic */
    struct flow_share share;                /* of the flows of a file; count 0: all */
    uint64_t last_frame_us;                 /* atomic; of a file: the time of the last packet read;
                                             * 0: several files at once */
    struct flow_partition *partition;       /* of shares_file; the first receive module creates
                                             * it */
    const struct decode_conf *decode;
    const struct flow_conf *flow;
    const struct stream_conf *stream;
    const struct app_conf *app;
    struct output_conf *output;
    struct gauges *gauges;                  /* control/metrics.h; while threads run */
    struct explain *explain;                /* detect/explain/explain.h; NULL: no explanation is
                                             * requested */
    struct explain_live *explain_live;      /* detect/explain/live.h; atomic; packet threads read it
                                             * in a round; NULL: none */
    unsigned inspecting;                    /* atomic; how many modules run rules */
    struct life *life;                      /* detect/explain/life.h; NULL: the same */
    struct capture_handover *handover;      /* the capture's sockets; NULL: no process has asked */
    struct run_exports *exports;            /* atomic; NULL: the flows end here */

    pthread_mutex_t rules_lock;             /* taken at reload, and where rounds begin and end */
    struct qsbr qsbr;
    pthread_mutex_t qsbr_lock;             /* one request at a time */
    struct ruleset *rules;
    struct tenants *tenants;                /* NULL: no tenants */
    unsigned rules_generation;              /* atomic; changes with `rules` and `tenants` */
    struct ruleset_report rules_report;     /* under the lock: about `rules` */
    uint64_t rules_loaded_us;
};

/* The active rules, referenced for the caller. */
struct ruleset *run_context_rules(struct run_context *ctx, unsigned *generation);
/* Activates other rules (takes over the caller's reference); the old ones are freed when the last
 * thread has switched. */
void run_context_set_rules(struct run_context *ctx, struct ruleset *set);

/* The active tenants, referenced for the caller; NULL: no tenants are configured. */
struct tenants *run_context_tenants(struct run_context *ctx);
void run_context_set_tenants(struct run_context *ctx, struct tenants *tenants);
/* Replaces the tenants while packets flow. Frees the old table when no thread uses it any more.
 * Packet threads must not call this. */
void run_context_change_tenants(struct run_context *ctx, struct tenants *tenants);

/* Starts a quiescent round; each thread that has flows runs `stream`, which may be NULL. True:
 * all have answered, so none uses the former state. False: the time is over; until all have
 * answered no other round can start, and arg must stay valid. Packet threads must not call this. */
bool qsbr_synchronize(struct run_context *ctx, void (*stream)(struct stream_thread *st, void *arg),
                     void *arg, unsigned timeout_ms);
bool qsbr_is_synchronizing(const struct run_context *ctx);
/* Packet threads call these when they open and close a module; `seen` receives the number of the
 * newest round. */
void qsbr_join(struct run_context *ctx, unsigned *seen);
void qsbr_leave(struct run_context *ctx, const unsigned *seen);
void qsbr_report_quiescent(struct run_context *ctx, struct stream_thread *st, unsigned *seen);

static inline bool qsbr_has_new_round(const struct run_context *ctx, unsigned seen)
{
    return UNLIKELY(__atomic_load_n(&ctx->qsbr.number, __ATOMIC_ACQUIRE) != seen);
}

/* Returns the eventcount of a stream module that opens; NULL: there are too many. It outlives
 * the module, because detection on another thread may wake it at any time before the run ends. */
struct eventcount *run_stream_join(struct run_context *ctx, struct err *err);
/* Called when no thread of the run is left: makes its queues and streams free for the next run. */
void run_context_end_run(struct run_context *ctx);

/* The result of loading the rules, for statistics. */
void run_context_rules_loaded(struct run_context *ctx, const struct ruleset_report *report,
                              uint64_t wall_us);
void run_context_rules_report(struct run_context *ctx, struct ruleset_report *report,
                              uint64_t *wall_us);

extern const struct thread_module *const module_table[];    /* NULL-ended; modules/list.c */

#endif
