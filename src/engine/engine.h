/* SPDX-License-Identifier: GPL-2.0-or-later */
/* engine/engine.h - builds and runs what a plan describes: threads, packet pools, rings of vectors
 * between the stages.
 *
 * Call engine_new() to engine_free() on one thread; engine_stop(), engine_is_running() and
 * engine_report() on any. Modules are known by name only. A module's open, process, flush and close
 * run on the thread that owns it. Modules open one after another, the last stage first, before any
 * packet moves. */
#ifndef ENGINE_ENGINE_H
#define ENGINE_ENGINE_H

#include "base/memory/buf.h"
#include "base/err.h"
#include "engine/module.h"
#include "engine/plan.h"

struct engine;
struct clock_fast;

struct engine_conf {
    uint32_t flow_idle_s;       /* no flow is idle for longer: for schedulers that remember
                                 * flows; 0: they remember flows for ever */
    bool drop_when_full;        /* live, not inline: the first stage drops and counts what a full
                                 * ring cannot take; otherwise it waits */
    const struct clock_fast *clock; /* measured before; NULL: engine_new() takes 10 ms for it */
    /* engine_start() calls it when all modules are open and no packet has moved yet; -1 with err
     * set ends the start. May be NULL. */
    int (*when_open)(void *arg, struct err *err);
    void *arg;                      /* for when_open; borrowed */
};

/* Returns a time longer than any flow may be idle, from `flow-timeouts`. */
uint32_t engine_flow_idle_s(const struct conf_node *root);
void engine_conf_read(struct engine_conf *conf, const struct conf_node *root, bool live,
                      bool is_inline);

/* plan, modules (NULL-ended) and context are borrowed. */
struct engine *engine_new(const struct engine_conf *conf, const struct plan *plan,
                          const struct thread_module *const *modules, void *context,
                          struct err *err);
/* Returns when every module of every thread is open, or when one failed; then nothing runs. */
int engine_start(struct engine *engine, struct err *err);
/* Asks the captures to end; packets under way are finished. */
void engine_stop(struct engine *engine);
/* Asks the captures to end by themselves, as at the end of a file: what they have read is
 * finished. */
void engine_drain(struct engine *engine);
/* Asks each thread that captures to describe its sources for another process; `to` is the
 * modules'. */
int engine_hand_over(struct engine *engine, void *to, struct err *err);
bool engine_is_running(const struct engine *engine);
/* True while all threads run and none has failed. */
bool engine_is_complete(const struct engine *engine);
/* Becomes readable when all threads have ended, for poll(). The engine owns it. */
int engine_end_fd(const struct engine *engine);
/* Waits until all threads have ended. -1 when a capture failed. */
int engine_wait(struct engine *engine);
/* Call it after engine_wait(); until then the threads' counters can be read. engine may be NULL. */
void engine_free(struct engine *engine);

/* Writes "RX: 1 W: 2 TX: 0", for the start line. */
const char *engine_thread_summary(const struct plan *plan, char *buf, size_t size);

/* Pins and names the calling thread as the plan describes the management thread `name`. Does
 * nothing when the plan has no such thread. */
void engine_place_management(const struct plan *plan, const char *name);

/* account.c: writes the time each thread spent working and waiting, as a table and a summary
 * sentence. Also while the engine runs. */
void engine_report(const struct engine *engine, struct buf *out);
/* Returns the packets of the busiest thread divided by the even share, times 1000, in the stage
 * that inspects. */
uint64_t engine_imbalance(const struct engine *engine);

struct engine_load {            /* one thread, for stats */
    const char *name;
    uint64_t packets, busy_ns, wait_ns, blocked_ns, dropped;
    unsigned queued;            /* vectors in its input rings */
    unsigned share_permille;    /* of the packets assigned to its stage */
};
/* Writes load, queue, shares and imbalance into the threads' counters, as engine.*; shares are in
 * per mille. Any thread may call this after engine_start(). */
void engine_update_gauges(struct engine *engine);
unsigned engine_loads(const struct engine *engine, struct engine_load *out, unsigned max);

#endif
