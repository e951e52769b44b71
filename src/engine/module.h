/* SPDX-License-Identifier: GPL-2.0-or-later */
/* engine/module.h - a thread module: one module of the chain
 *
 *     receive -> decode -> stream -> detect -> verdict -> output
 *
 * It knows neither which thread it runs on nor what stands before or after it. One instance per
 * thread that runs it; everything it writes hangs off its own context. */
#ifndef ENGINE_MODULE_H
#define ENGINE_MODULE_H

#include "base/report/counters.h"
#include "base/err.h"
#include "base/system/helper_thread.h"
#include "packet/pool.h"
#include "sequencer/sequencer.h"
#include "packet/vector.h"

/* What an instance is told when it opens. Borrowed pointers live as long as the engine. */
struct module_env {
    void *context;                  /* the run's shared read-only things: struct run_context */
    struct counters *counters;      /* of this thread */
    struct packet_pool *pool;       /* of this thread; NULL in stages that make no packets */
    unsigned thread;                /* number within its stage, from 0 */
    unsigned thread_count;          /* of its stage */
    unsigned thread_index;                  /* for packet_release() */
    unsigned thread_count_all;            /* of all threads: for packet_pool_new() */
    const char *thread_name;
    struct helper_thread *sender;     /* the thread that sends for it; NULL: none */
    bool same_thread_as_next;       /* the module behind it runs on this thread too */
    struct seq_thread seq_thread; /* for a lane of its own, see sequencer.h */
};

enum module_status {
    MODULE_OK,          /* vector ready to go on (it may be empty) */
    MODULE_MORE,        /* not receive: likewise, and it wants to be called again with an empty
                         * one */
    MODULE_IDLE,        /* nothing to do now; the engine sends an empty tick down */
    MODULE_CUT,         /* receive only: what comes next has nothing to do with what was. All are
                         * flushed, and time may begin anew; in run modes of one stage */
    MODULE_END,         /* receive only: the capture is over; the vector may hold the rest */
    MODULE_FAILED,      /* the capture broke: as END, and the run ends with an error */
};

struct thread_module {
    const char *name;               /* "stream" */
    const char *doc;
    bool makes_packets;             /* wants a packet pool of its own thread */

    void *(*open)(const struct module_env *env, struct err *err);
    /* Receive fills an empty vector, waiting at most some 100 ms; the others work on a full one. */
    enum module_status (*process)(void *self, struct packet_vector *v);
    /* After the last vector, until it returns false: appends what is still due (flow ends) to an
     * empty vector, which then runs through the modules behind. After MODULE_CUT it may go on
     * with vectors. May be NULL. */
    bool (*flush)(void *self, struct packet_vector *v);
    void (*close)(void *self);      /* after all flushing; may be NULL when open gave NULL-able */
    /* From another thread: ask a waiting receive to return soon. May be NULL. */
    void (*interrupt)(void *self);
};

#endif
