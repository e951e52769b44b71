/* SPDX-License-Identifier: GPL-2.0-or-later */
/* engine/engine.h - builds what a plan says and runs it: threads, packet pools, rings of vectors
 * between the stages.
 *
 * engine_new() .. engine_free() on one thread; engine_stop(), engine_is_running() and
 * engine_report() on any. Modules are known by name only. A module's open, process, flush and
 * close run on the one thread it belongs to; opens happen one after another, the last stage
 * first, before any packet moves. */
#ifndef ENGINE_ENGINE_H
#define ENGINE_ENGINE_H

#include "base/memory/buf.h"
#include "base/err.h"
#include "engine/module.h"
#include "engine/plan.h"

struct engine;

struct engine_conf {
    uint32_t flow_idle_s;       /* no flow outlives this pause: for schedulers that remember flows;
                                 * 0: they remember for ever */
    bool drop_when_full;        /* live, not inline: the first stage drops, counted, what a full
                                 * ring cannot take; otherwise it waits */
};

/* Longer than any flow may be silent, from `flow-timeouts`. */
uint32_t engine_flow_idle_s(const struct conf_node *root);
void engine_conf_read(struct engine_conf *conf, const struct conf_node *root, bool live,
                      bool is_inline);

/* plan, modules (NULL-ended) and context are borrowed. */
struct engine *engine_new(const struct engine_conf *conf, const struct plan *plan,
                          const struct thread_module *const *modules, void *context,
                          struct err *err);
/* Back when every module of every thread is open, or one would not; then nothing runs. */
int engine_start(struct engine *engine, struct err *err);
/* Asks the captures to end; what is under way is finished. */
void engine_stop(struct engine *engine);
bool engine_is_running(const struct engine *engine);
/* Readable when all threads have ended, for poll(); the engine's own. */
int engine_end_fd(const struct engine *engine);
/* Until all threads have ended. -1 when a capture broke. */
int engine_wait(struct engine *engine);
/* After engine_wait(); NULL is fine. Until then the threads' counters stay to be read. */
void engine_free(struct engine *engine);

/* "RX: 1 W: 2 TX: 0", for the start line. */
const char *engine_thread_summary(const struct plan *plan, char *buf, size_t size);

/* Pins and names the calling thread as the plan says of the management thread `name`. Does
 * nothing when the plan knows no such thread. */
void engine_place_management(const struct plan *plan, const char *name);

/* account.c: where the time went, as a table that ends in a sentence. Also while it runs. */
void engine_report(const struct engine *engine, struct buf *out);
/* Largest share of packets over the even share, times 1000, of the stage that inspects. */
uint64_t engine_imbalance(const struct engine *engine);

struct engine_load {            /* one thread, for stats */
    const char *name;
    uint64_t packets, busy_ns, wait_ns, blocked_ns, dropped;
    unsigned queued;            /* vectors in its input rings */
    unsigned share_permille;    /* of the packets assigned to its stage */
};
/* Puts load, queue, shares and imbalance into the threads' counters, as engine.*, in per mille
 * where they are shares. After engine_start(), by the one thread that makes statistics. */
void engine_update_gauges(struct engine *engine);
unsigned engine_loads(const struct engine *engine, struct engine_load *out, unsigned max);

#endif
