/* SPDX-License-Identifier: GPL-2.0-or-later */
/* engine/module.h - a thread module: one step of the chain
 *
 * `receive -> decode -> stream -> detect -> verdict -> output`
 *
 * It knows neither the thread it runs on nor its neighbours. Each thread that runs it has one
 * instance; everything it writes belongs to the context of that instance. */
#ifndef ENGINE_MODULE_H
#define ENGINE_MODULE_H

#include "base/report/counters.h"
#include "base/err.h"
#include "base/system/helper_thread.h"
#include "packet/pool.h"
#include "sequencer/setup.h"
#include "packet/vector.h"

/* What an instance receives when it opens. Borrowed pointers live as long as the engine. */
struct module_env {
    void *context;                  /* shared by the run, read-only: struct run_context */
    struct counters *counters;      /* of this thread */
    struct packet_pool *pool;       /* of this thread; NULL in stages that make no packets */
    unsigned thread;                /* number within its stage, from 0 */
    unsigned thread_count;          /* of its stage */
    unsigned thread_index;                  /* for packet_release() */
    unsigned thread_count_all;            /* number of all threads: for packet_pool_new() */
    const char *thread_name;
    struct helper_thread *sender;     /* the helper thread that sends for it; NULL: none */
    bool same_thread_as_next;       /* the next module runs on this thread too */
    struct seq_thread seq_thread; /* for a handle of its own, see sequencer.h */
};

enum module_status {
    MODULE_OK,          /* the vector may go on (it may be empty) */
    MODULE_MORE,        /* not receive: the vector may go on, and the module must be called again
                         * with an empty one */
    MODULE_IDLE,        /* nothing to do now; the engine passes an empty vector down */
    MODULE_CUT,         /* receive only: what follows has no relation to what came before. All
                         * modules are flushed, and time may start again; in run modes of one
                         * stage */
    MODULE_END,         /* receive only: the capture has ended; the vector may hold the last
                         * packets */
    MODULE_FAILED,      /* the capture failed: like END, and the run ends with an error */
};

struct thread_module {
    const char *name;               /* "stream" */
    const char *doc;
    bool makes_packets;             /* needs a packet pool of its own thread */

    void *(*open)(const struct module_env *env, struct err *err);
    /* Receive fills an empty vector and waits at most some 100 ms; the others process a full
     * one. */
    enum module_status (*process)(void *self, struct packet_vector *v);
    /* Called after the last vector, until it returns false: appends what is still due (flow ends)
     * to an empty vector, which the following modules then process. After MODULE_CUT more vectors
     * may follow. May be NULL. */
    bool (*flush)(void *self, struct packet_vector *v);
    void (*close)(void *self);      /* after all flushing; may be NULL if open may return NULL */
    /* From another thread: makes a waiting receive return soon. May be NULL. */
    void (*interrupt)(void *self);
    /* From another thread: describes for another process what it captures from. May be NULL. */
    int (*hand_over)(void *self, void *to, struct err *err);
};

#endif
