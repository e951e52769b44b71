/* SPDX-License-Identifier: GPL-2.0-or-later */
/* engine/engine_private.h - the structs of engine.h, for this directory. */
#ifndef ENGINE_ENGINE_PRIVATE_H
#define ENGINE_ENGINE_PRIVATE_H

#include "base/array.h"
#include "base/system/clock.h"
#include "base/containers/ring.h"
#include "engine/scheduler.h"
#include "engine/engine.h"

#include <pthread.h>

/* The queue from one thread to one thread of the next stage. Its vectors circulate: full ones in
 * one ring, empty ones back in the other. The full ring has space for all of them, so a push never
 * fails; a producer waits only for an empty one. */
struct handoff_queue {
    struct ring *full, *empty;
    struct packet_vector *vectors;      /* depth of them */
    unsigned depth;
    unsigned space;                      /* vectors that the rings can hold */
    struct engine_thread *to;

    CACHE_ALIGNED struct packet_vector *pending;    /* producer: being filled; or NULL */
    ARRAY_OF(struct packet_vector *) more;      /* producer: vectors in addition to `vectors`, if
                                                 * `to` merges */
    uint64_t sent;                      /* packets, by the producer */
    uint64_t queue_sum, queue_samples;  /* ring occupancy that the producer saw */
    unsigned queue_max;

    CACHE_ALIGNED uint64_t done;        /* packets, by the consumer */
    bool finished;                         /* consumer: `last` has arrived */
    struct packet_vector *head;         /* merge.c: being read, from head_at on; or NULL */
    unsigned head_at;
    struct watermark mark;             /* no packet before it follows */
    struct watermark next;             /* merge.c: of the next packet, or as mark; when looked at */
};

/* One module on one thread, and its time. */
struct module_slot {
    const struct thread_module *module;
    void *self;
    bool is_open;
    uint64_t busy_ns, vectors, packets;
};

enum wait_kind { WAIT_INPUT, WAIT_OUTPUT };

struct engine_thread {
    struct engine *engine;
    const struct plan_thread *plan;
    const struct plan_stage *stage;
    unsigned number;  /* over all stages; also its index in the return rings of foreign pools */
    pthread_t id;
    bool is_started;
    struct counters *counters;
    struct helper_thread sender;          /* name NULL: no helper thread */
    struct packet_pool *pool;           /* NULL: the thread creates no packets */
    unsigned pool_credit;               /* lower bound of free packets */
    unsigned pool_taken;                /* packet_pool_taken() as last read */
    struct module_slot modules[STAGE_MODULES_MAX];
    unsigned module_count;

    struct handoff_queue *in;  /* in_count of them; this thread owns their memory */
    unsigned in_count, in_next, in_finished;
    struct handoff_queue **out;                  /* owned by the threads of the next stage */
    unsigned out_count;
    struct scheduler *scheduler;                  /* shared; NULL with one consumer */
    bool asked;                         /* merge.c: a producer was kicked and has not answered
                                         * yet */
    bool merges;                        /* offline, with several producers: merge.c */
    struct handoff_queue **by_next;     /* merge.c: a heap of `in`, the lowest `next` first */
    struct packet_vector merged;
    struct watermark merged_end;       /* the latest position that producers have published */
    bool merged_finished;
    struct packet_vector work;          /* filled by receive and flush */
    struct packet_vector *carried;      /* the vector at module at_module */
    struct packet_vector early;         /* packets that must leave before the others */
    unsigned at_module;
    uint64_t now_us;                    /* newest time seen */
    uint64_t seqno_at, seqno_sub;       /* of the newest vector; see sequencer.h */
    uint32_t more;                      /* a bit for each module that wants to be called again */
    uint64_t slept_ns;                  /* inside a module; not its work */
    struct vector_sleeper sleeper;      /* of `work` */

    CACHE_ALIGNED struct watermark dealt;      /* all earlier packets have been counted as sent */
    uint32_t kicked;                    /* atomic: another thread waits for this one's progress */

    CACHE_ALIGNED struct eventcount eventcount;

    /* Read by others. stamp_ns: the end of the last step; wait_ns, blocked_ns: see open_time(). */
    CACHE_ALIGNED uint64_t wait_ns, blocked_ns, dropped, start_ns, end_ns, cpu_ns, stamp_ns;
    bool receive_idle;                  /* the last receive returned nothing */
};

/* cpu_load.c: how evenly the threads that inspect load their CPUs, lately. No locks: the caller has
 * one. */
/* Per mille of a CPU, from which its threads are late with what they have to do. */
#define CPU_OVERLOADED 900

struct cpu_load {
    uint64_t ns;                /* CPU time */
    int cpu;                    /* the only CPU of the thread; -1: the kernel chooses */
};

struct cpu_balance {
    unsigned imbalance;         /* busiest CPU over the even share, per mille; at least 1,000 */
    unsigned busiest;           /* load of that CPU, per mille; 0: the threads were idle */
};

struct cpu_balance_state {
    uint64_t *before_ns;        /* by thread, at the last sample; the caller's memory */
    struct cpu_load *lately;    /* scratch memory for as many */
    uint64_t at_ns;             /* of the last sample; 0: there was none */
    struct cpu_balance last;
    struct cpu_balance worst;   /* of the samples with an overloaded CPU; 0: there was none */
};

/* `cpus` is the number of CPUs that the threads may use. */
struct cpu_balance cpu_balance_of(const struct cpu_load *loads, unsigned count, unsigned cpus,
                                  uint64_t span_ns);
/* Takes the total CPU time of each thread. False: the last sample is younger than a second, and
 * nothing has changed. */
bool cpu_balance_sample(struct cpu_balance_state *state, const struct cpu_load *totals,
                        unsigned count, unsigned cpus, uint64_t now_ns);

/* Ids of the gauges in the threads' counters. */
struct engine_gauges {
    counter_id busy, wait, blocked, queued, share, imbalance, cpu_imbalance;
};

enum engine_state { ENGINE_NEW, ENGINE_OPENING, ENGINE_RUNNING, ENGINE_ABORTED };

struct engine {
    struct engine_conf conf;
    const struct plan *plan;
    const struct thread_module *const *modules;
    void *context;
    struct engine_thread *threads;
    unsigned thread_count;
    struct scheduler *scheduler[STAGES_MAX];      /* into stage i */
    struct packet_pool **pools;         /* of stage 0, by thread */
    counter_id dropped_id;
    struct engine_gauges gauges;
    struct clock_fast clock;
    bool module_missing;

    pthread_mutex_t balance_lock;       /* statistics and metrics sample the load */
    struct cpu_balance_state balance;
    struct cpu_load *loads;             /* of the threads that inspect */
    unsigned inspecting_cpus;           /* that these may use */
    uint64_t worst_balance;             /* atomic: imbalance << 32 | load of that CPU; 0: none */

    pthread_mutex_t lock;               /* start-up only */
    pthread_cond_t changed;
    enum engine_state state;
    unsigned opening;                      /* thread that may open its modules; counts down */
    struct err open_error;
    bool open_failed;

    CACHE_ALIGNED int stop;
    int failed;
    unsigned alive;
    int end_fd;

    /* The number of busy threads, and since when: ns since the start << 11 | count. */
    CACHE_ALIGNED uint64_t busy_now;
    uint64_t start_ns;
    uint64_t *busy_ns;                  /* by number of busy threads */
};

/* thread.c */
void *engine_thread_main(void *arg);

/* handoff.c */
void handoff_queues_make(struct engine_thread *t);       /* by the consumer, on its own thread */
void handoff_queues_free(struct engine_thread *t);
/* Passes the packets of v to the next stage, or returns them to their pools when there is none; v
 * is empty then. */
void hand_off(struct engine_thread *t, struct packet_vector *v);
void hand_off_tick(struct engine_thread *t);
void hand_off_pending(struct engine_thread *t);  /* partly filled vectors, before sleeping */
void hand_off_last(struct engine_thread *t);
/* The next full vector and the queue it came from; NULL when all producers have ended. With *from
 * NULL the vector is the caller's: merged from several producers', or empty as the answer to a
 * kick. */
struct packet_vector *take_in(struct engine_thread *t, struct handoff_queue **from);
void return_vector(struct engine_thread *t, struct handoff_queue *from, struct packet_vector *v);
/* Makes t publish its progress when it has no work. Any thread may call it. */
void kick(void *thread);
/* Sleeps until the pool has packets for a vector and for the pseudo packets that it may need. */
void pool_wait(struct engine_thread *t);
void pool_wait_all_returned(struct engine_thread *t);

/* merge.c: like take_in(), from several producers; the caller owns the vector. */
struct packet_vector *take_merged(struct engine_thread *t);

/* account.c */
void account_register(struct engine *engine);
void account_start(struct engine *engine);
void account_busy(struct engine *engine, int delta);
/* A call before and one after a sleep charge its time to its cause. */
void account_sleep(struct engine_thread *t, enum wait_kind kind);
void account_awake(struct engine_thread *t, enum wait_kind kind);
/* The same around a sleep inside a module, and around one inside a receive (struct
 * vector_sleeper). */
void account_module_sleeps(void *thread);
void account_module_wakes(void *thread);
void account_receive_sleeps(void *thread);
void account_receive_wakes(void *thread);
/* Time that still runs is in the same word: OPEN_TIME, and the total less the time at which it was
 * opened. So a report has the part of a sleep that has passed, and sums never go back. The reading
 * of the clock is the caller's; clocks of two CPUs may differ by a hair. */
#define OPEN_TIME (1ull << 63)
static inline uint64_t passed_time(uint64_t open, uint64_t now)
{
    uint64_t total = (open + now) & ~OPEN_TIME;

    return LIKELY(total >> 62 == 0) ? total : 0;
}
static inline void open_time(uint64_t *total, uint64_t now)
{
    __atomic_store_n(total, ((*total - now) & ~OPEN_TIME) | OPEN_TIME, __ATOMIC_RELAXED);
}
static inline void close_time(uint64_t *total, uint64_t now)
{
    __atomic_store_n(total, passed_time(*total, now), __ATOMIC_RELAXED);
}

static inline uint64_t engine_clock_ns(const struct engine *engine)
{
    return clock_fast_ns(&engine->clock);
}

/* Counts that one thread writes and others may read. */
static inline void metric_add(uint64_t *metric, uint64_t n)
{
    __atomic_store_n(metric, *metric + n, __ATOMIC_RELAXED);
}
static inline uint64_t metric_get(const uint64_t *metric)
{
    return __atomic_load_n(metric, __ATOMIC_RELAXED);
}

static inline bool engine_is_stopping(const struct engine *engine)
{
    return __atomic_load_n(&engine->stop, __ATOMIC_RELAXED) != 0;
}

#endif
