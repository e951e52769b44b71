/* SPDX-License-Identifier: GPL-2.0-or-later */
/* engine/plan.h - the threads of a run: the modules and CPUs of each. A plan is a pure function of
 * configuration, run mode, capture and topology. `ids --plan` prints the plan and the engine builds
 * it, so both agree. */
#ifndef ENGINE_PLAN_H
#define ENGINE_PLAN_H

#include "base/memory/buf.h"
#include "engine/affinity.h"
#include "engine/run_mode.h"
#include "engine/topology.h"

/* A source of packets: an interface, a queue, a file. */
struct plan_source {
    const char *name;
    const char *peer;               /* inline: the interface its packets leave by; NULL: it has no
                                     * second port */
    unsigned threads;               /* from the configuration; 0: auto */
    unsigned auto_threads;          /* when the configuration leaves it to the engine; 0: one */
    unsigned queues;                /* each queue has one reader; 0: no queues, or not known */
    struct where at;                /* location in the configuration, if it is there */
    struct where threads_at;        /* of its `threads`, if it has that key, else the same */
    /* What the capture says of the source and of its peer, for --plan; "": nothing. */
    char detail[400], peer_detail[400];
    bool missing;                   /* an interface that this machine lacks */
    bool only_once;                 /* a pipe: only one thread can read it */
};

/* Decides whether a thread that captures from the source and gives verdicts has a helper thread
 * that sends. threads: the number that capture; cpus: the number of threads for which there are
 * CPUs. */
typedef bool plan_sends_fn(const struct conf_node *root, const char *source, unsigned threads,
                           unsigned cpus);

/* A thread that handles no packets. */
struct plan_manager {
    const char *name;               /* of the thread; NULL ends a list */
    const char *doc;                /* "statistics": what it does; NULL: not said */
};

/* All members are borrowed until plan_new() returns; conf, mode, topology and names for the life of
 * the plan. */
struct plan_request {
    const struct conf_node *root;
    const struct run_mode *mode;
    const struct topology *topology;
    const char *method;             /* "pcap-file" */
    bool live;
    bool verdict_threads;           /* the capture needs its verdicts on separate threads */
    plan_sends_fn *sends_apart;     /* NULL: no thread has a helper that sends */
    const struct plan_source *sources;
    unsigned source_count;
    const struct plan_manager *management;  /* the other threads; NULL: none */
    const char *interfaces;         /* "eth0, lo": interfaces available for capture; NULL: not
                                     * known */
};

struct plan_thread {
    char name[16];                  /* the kernel's name of the thread */
    const char *modules;            /* "stream detect output"; "management"; "send" */
    const char *doc;                /* of a management thread: what it does; NULL: not said */
    int stage;                      /* -1: management, or a helper that sends */
    unsigned sender;                /* helper that sends the packets on which this thread gives
                                     * verdicts; 0: none */
    unsigned verdict_thread;                 /* for modules "send": the thread it sends for */
    unsigned index;                 /* within its stage, from 0 */
    enum cpu_role role;
    bool pinned;                    /* false: the kernel may place it anywhere */
    struct cpu_set cpus;            /* the CPUs on which it may run */
    int cpu;                        /* its only CPU; -1: any of cpus */
    const struct topology_cpu *cpu_info;   /* of cpu; NULL: several */
    enum prio prio;
    int nice;
    bool sets_nice;
    int memory_node;                /* NUMA node that its memory is bound to; -1: not bound */
    unsigned rings_in, rings_out;
    uint64_t memory;               /* bytes: pool, rings, its share of the flow and stream tables */
    const char *source;             /* NULL: it does not capture */
    unsigned source_number, queue;
};

struct plan_stage {
    const struct run_stage *stage;
    unsigned first, count;          /* in plan.threads */
    const char *scheduler;               /* NULL: one thread, or the capture distributes */
    bool makes_packets;
    unsigned pool_size;             /* packets of the pool of a thread that creates them */
};

struct plan {
    const struct run_mode *mode;
    const struct topology *topology;
    const char *method;
    bool live;
    struct plan_stage stages[STAGES_MAX];
    unsigned stage_count;
    struct plan_thread *threads;    /* those of the stages, then management, then helpers that
                                     * send */
    unsigned thread_count, packet_threads;
    unsigned ring_depth;            /* vectors between two threads */
    uint64_t stack_size;
    bool shares_file;               /* all threads of stage 0 read one file, and each keeps its
                                     * partition */
    bool file_per_queue;               /* each queue takes the next file: pcap-file.directory:
                                        * files */
    struct affinity *affinity;
    struct plan_source *sources;
    unsigned source_count;
    struct diagnostics diagnostics;
};

struct plan *plan_new(const struct plan_request *request, struct err *err);
void plan_free(struct plan *plan);

/* Reads thread counts of interfaces from their section (`af-packet: - interface: ..`), and
 * finds out whether a file is a pipe. */
void plan_sources_read(const struct conf_node *root, const char *section, const char *const *names,
                       struct plan_source *out, unsigned count);

/* Writes the number of threads that read each source, for capture_request.source_threads; out has
 * source_count entries. */
void plan_source_threads(const struct plan *plan, unsigned *out);

/* plan_print.c */
void plan_print(const struct plan *plan, struct buf *out);
void plan_print_json(const struct plan *plan, struct buf *out);
void plan_print_dot(const struct plan *plan, struct buf *out);
/* Explains the names of the threads. */
void plan_print_names(const struct plan *plan, struct buf *out);

/* plan_reason.c: writes why the thread runs where the plan puts it. */
void plan_reason(const struct plan *plan, const struct plan_thread *t, struct buf *out);

/* What a thread does while the engine runs. */
struct plan_thread_now {
    int cpu;                        /* where it ran last; -1: not known */
    unsigned busy, wait, blocked;   /* per mille of the last second */
    bool has_load;                  /* the three are known */
};

/* plan_svg.c: the picture of the machine with its interfaces, CPUs and threads. */
void plan_print_svg(const struct plan *plan, struct buf *out);
/* The same picture of a running engine; `now` has an entry for each thread of the plan. */
void plan_print_svg_now(const struct plan *plan, const struct plan_thread_now *now,
                        struct buf *out);

#endif
