/* SPDX-License-Identifier: GPL-2.0-or-later */
/* capture/capture.h - the interface of a capture method: packets in, verdicts out. */
#ifndef CAPTURE_CAPTURE_H
#define CAPTURE_CAPTURE_H

#include "base/report/counters.h"
#include "base/err.h"
#include "base/system/helper_thread.h"
#include "capture/handover.h"
#include "conf/conf.h"
#include "packet/decode.h"
#include "packet/frame_ref.h"
#include "packet/pool.h"
#include "packet/vector.h"

/* CUT: the capture ends with this vector, and another begins. LATE: the frames have waited in the
 * kernel for this process, and those behind them have space there. */
enum capture_status {
    CAPTURE_OK, CAPTURE_LATE, CAPTURE_IDLE, CAPTURE_CUT, CAPTURE_END, CAPTURE_FAILED
};

/* An interface or a file, for logs and per-device counters. */
struct capture_device {
    char name[64];
    uint16_t id;
    int if_index;
    int numa_node;              /* -1: unknown */
};

/* What the method needs to return the packet. */
struct capture_slot {
    void *holder;               /* owner of its memory: a ring slot, a file, the message with its
                                 * NFQ id */
    uint64_t id;                /* of NFQ, for the verdict */
};
PACKET_SLOT_ACCESSOR(capture, PACKET_SLOT_CAPTURE)

/* The request of the command line. */
struct capture_request {
    const char *const *sources; /* files, interfaces, queue numbers; NULL-ended */
    const char *bpf_filter;     /* NULL: none */
    unsigned threads;           /* number of queues over all sources */
    const unsigned *source_threads;     /* queues of each source: the first queues are those of the
                                         * first source, then the second's; NULL: one each */
    const struct conf_node *conf;       /* root */
    unsigned packets;           /* in the pool of each queue */
    bool simulate_ips;
    bool file_per_queue;  /* pcap-file: each queue takes the next file, and returns CUT after it */
    bool is_shared;             /* pcap-file: one more queue reads for all */
    const volatile int *stop;   /* non-zero: end soon */
};

/* The destination of packets that the engine creates. */
struct capture_path {
    int if_index, peer_index;   /* the interface a packet came from, and the one it was going to; 0:
                                 * this machine's routes decide */
    uint32_t mark;              /* for packets that follow the routes; 0: none */
};

/* Progress of an offline capture; total 0: not known. */
struct capture_progress {
    uint64_t bytes, total_bytes;    /* total 0: not known, as of a pipe */
};

/* Names of sources, each allocated separately. */
struct capture_names {
    char **at;
    size_t count, cap;
};

/* Where a method that captures from interfaces has its settings; not every configuration has it. */
struct capture_section {
    const struct conf_node *root;
    const char *name;           /* "af-packet" */
};

/* The number of the queue that reads a capture which the other queues share. */
#define CAPTURE_SCAN UINT32_MAX

struct capture_ops {
    const char *name;           /* "pcap-file", "af-packet", "nfq" */
    const char *label;          /* "PCAP_FILE", as in --list-runmodes */
    const char *doc;
    const char *section;        /* where its sources are configured; NULL: as `name` */
    const char *default_run_mode;
    const char *const *run_modes;       /* NULL-ended; those suitable for it */
    bool live;                  /* packet time is wall time; a full pipeline drops instead of
                                 * waiting */
    bool has_interfaces;        /* its sources are interfaces of this machine */
    bool verdicts;              /* accepts and drops packets */
    bool asks_checksums;        /* marks packets PACKET_OPEN_CHECKSUM, so that decode checks them */
    /* The sources that the command line means: "0:3" is four queues; without any, the configured
     * ones. NULL: as given. */
    int (*sources)(const struct conf_node *root, const char *const *given, size_t count,
                   struct capture_names *out, struct err *err);
    /* Receive threads of a source whose `threads` is auto, on a machine with so many CPUs; queues:
     * the result of `queues`. NULL: one. */
    unsigned (*auto_threads)(const struct conf_node *root, const char *source, unsigned cpus,
                             unsigned queues);
    /* Receive queues of a source with one reader per queue, so that additional threads would
     * receive nothing. NULL, or 0: any number of threads can share it. */
    unsigned (*queues)(const struct conf_node *root, const char *source);
    /* The other interface of a source that stands for two, as a bridge does by the first of its
     * ports. NULL, or returns NULL: it is one. */
    const char *(*peer)(const struct conf_node *root, const char *source);
    /* Writes for --plan what serves the source: driver, queues, node. NULL: nothing to say. */
    void (*describe)(const struct conf_node *root, const char *source, char *buf, size_t size);
    /* Whether these sources, as configured, block packets. NULL: always when `verdicts`. */
    bool (*is_inline)(const struct conf_node *root, const char *const *sources, size_t count);
    /* Whether each packet must go through verdict() even when nothing is blocked, because the
     * capture forwards it only then. NULL: no. */
    bool (*forwards)(const struct conf_node *root, const char *const *sources, size_t count);

    /* Whether a thread that receives from the source and gives verdicts has a helper thread that
     * sends, with so many receiving threads on so many CPUs. NULL: no. */
    bool (*sends_apart)(const struct conf_node *root, const char *source, unsigned threads,
                        unsigned cpus);

    void *(*open)(const struct capture_request *request, struct err *err);
    /* Instead of open, for methods that share it: receives the operations that capture_register()
     * was given. */
    void *(*open_registered)(const struct capture_ops *ops, const struct capture_request *request,
                             struct err *err);
    void *(*queue_open)(void *capture, unsigned queue, struct packet_pool *pool,
                        struct counters *counters, struct err *err);
    /* Of a shared capture. scan: the next frame, from the queue CAPTURE_SCAN, by one thread at a
     * time; IDLE: none yet. take: makes a packet of it, from the queue's pool, by any queue's
     * thread. NULL: it cannot be shared. */
    enum capture_status (*scan)(void *queue, struct frame_ref *out);
    void (*take)(void *queue, const struct frame_ref *frame, struct packet *p);
    /* By the thread that scans: frames before this one need no memory any more. A packet may still
     * use one, which then costs more. NULL: that saves nothing. */
    void (*scan_release)(void *queue, const struct frame_ref *frame);
    /* Appends up to VECTOR_FILL packets; waits at most 100 ms for the first, and says so by
     * vector_sleeps() and vector_wakes(). */
    enum capture_status (*receive)(void *queue, struct packet_vector *v);
    /* A tx is one thread's way to give verdicts on a queue; NULL when there is nothing to give.
     * Without tx_open the queue itself is used. in_order: the thread also receives from the queue,
     * and gives verdicts in the order of receiving. sender: the helper thread that is to send for
     * it, which tx_open creates; NULL: there is none. */
    void *(*tx_open)(void *queue, struct counters *counters, bool in_order,
                       struct helper_thread *sender);
    /* Carries out p->action; exactly once for each packet of an inline capture. The packet is kept
     * until after tx_flush(), which is called at the end of each vector. */
    void (*verdict)(void *tx, struct packet *p);
    void (*tx_flush)(void *tx);
    void (*tx_close)(void *tx);
    /* The routes along which a packet of the queue came and would leave, to reject it. NULL:
     * none. */
    void (*reject_path)(void *queue, const struct packet *p, struct capture_path *out);
    void (*interrupt)(void *queue);             /* any thread; may be NULL */
    void (*update_stats)(void *queue);          /* kernel drops into counters; or NULL */
    void (*queue_close)(void *queue);
    /* Another process takes the capture over (handover.h). NULL: the method cannot.
     * hand_over: any thread, while the queue is open; gives copies of its sockets, and from now on
     * queue_close writes their places. adopt: after open; the queues use these sockets, and receive
     * when is_open is set. leave: before close, when the other process has the sockets. */
    int (*hand_over)(void *queue, struct capture_handover *to, unsigned number, struct err *err);
    int (*adopt)(void *capture, struct capture_handover *from, struct err *err);
    void (*leave)(void *capture);
    /* Offline, any thread; NULL: not known. */
    void (*progress)(void *capture, struct capture_progress *out);
    void (*close)(void *capture);
};

/* capture/names.c */
void capture_names_add(struct capture_names *names, const char *name);      /* adds each name
                                                                             * once */
void capture_names_free(struct capture_names *names);
/* `sources` of methods whose section lists interfaces: those given, else the configured ones. */
int capture_interfaces(struct capture_section section, const char *const *given, size_t count,
                       struct capture_names *out, struct err *err);

/* `checksum-checks` of an interface or a file: AUTO unless it is yes or no. `kernel` is AUTO too;
 * each method handles it in its own way. */
enum capture_checksums { CAPTURE_CHECKSUMS_AUTO, CAPTURE_CHECKSUMS_YES, CAPTURE_CHECKSUMS_NO };
enum capture_checksums capture_checksums_read(const struct conf_node *item);

/* capture/list.c */
extern const struct capture_ops *capture_table[];       /* NULL-ended */
/* Adds a method at the start; ops is never freed. -1: the name is taken, or there are too many. */
int capture_register(const struct capture_ops *ops, struct err *err);
const struct capture_ops *capture_find(const char *name);

#endif
