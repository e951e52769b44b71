/* SPDX-License-Identifier: GPL-2.0-or-later */
/* modules/context.c - the rules in force, and quiescent rounds of the packet threads. */
#include "modules/context.h"

#include <stdlib.h>
#include <time.h>

/* The caller gets a reference. The generation is read under the same lock, so the two belong
 * together. */
struct ruleset *run_context_rules(struct run_context *ctx, unsigned *generation)
{
    struct ruleset *set;

    pthread_mutex_lock(&ctx->rules_lock);
    set = ruleset_ref(ctx->rules);
    *generation = __atomic_load_n(&ctx->rules_generation, __ATOMIC_RELAXED);
    pthread_mutex_unlock(&ctx->rules_lock);
    return set;
}

/* Release pairs with the acquire of the packet threads, which compare the generation once per
 * vector. */
void run_context_set_rules(struct run_context *ctx, struct ruleset *set)
{
    struct ruleset *old;

    pthread_mutex_lock(&ctx->rules_lock);
    old = ctx->rules;
    ctx->rules = set;
    __atomic_fetch_add(&ctx->rules_generation, 1, __ATOMIC_RELEASE);
    pthread_mutex_unlock(&ctx->rules_lock);
    if (old != NULL)
        ruleset_unref(old);
}

struct tenants *run_context_tenants(struct run_context *ctx)
{
    struct tenants *tenants;

    pthread_mutex_lock(&ctx->rules_lock);
    tenants = tenants_ref(ctx->tenants);
    pthread_mutex_unlock(&ctx->rules_lock);
    return tenants;
}

void run_context_set_tenants(struct run_context *ctx, struct tenants *tenants)
{
    struct tenants *old;

    pthread_mutex_lock(&ctx->rules_lock);
    old = ctx->tenants;
    ctx->tenants = tenants;
    __atomic_fetch_add(&ctx->rules_generation, 1, __ATOMIC_RELEASE);
    pthread_mutex_unlock(&ctx->rules_lock);
    tenants_unref(old);
}

/* At open, one thread after another. */
struct eventcount *run_stream_join(struct run_context *ctx, struct err *err)
{
    struct eventcount *eventcount;

    if (ctx->stream_count == RUN_STREAMS_MAX) {
        err_set(err, "at most %d threads can follow streams", RUN_STREAMS_MAX);
        return NULL;
    }
    eventcount = xaligned(CACHE_LINE, sizeof(*eventcount));
    eventcount_init(eventcount);
    ctx->stream_eventcount[ctx->stream_count++] = eventcount;
    return eventcount;
}

void run_context_end_run(struct run_context *ctx)
{
    while (ctx->stream_count > 0)
        free(ctx->stream_eventcount[--ctx->stream_count]);
    ctx->queue_count = 0;
    ctx->last_frame_us = 0;
}

void run_context_rules_loaded(struct run_context *ctx, const struct ruleset_report *report,
                              uint64_t wall_us)
{
    pthread_mutex_lock(&ctx->rules_lock);
    ctx->rules_report = *report;
    ctx->rules_loaded_us = wall_us;
    pthread_mutex_unlock(&ctx->rules_lock);
}

void run_context_rules_report(struct run_context *ctx, struct ruleset_report *report,
                              uint64_t *wall_us)
{
    pthread_mutex_lock(&ctx->rules_lock);
    *report = ctx->rules_report;
    *wall_us = ctx->rules_loaded_us;
    pthread_mutex_unlock(&ctx->rules_lock);
}

/* --- quiescent rounds (QSBR, as DPDK's rte_rcu_qsbr) --- */

static bool quiescent_round_is_over(const struct run_context *ctx)
{
    return __atomic_load_n(&ctx->qsbr.left, __ATOMIC_ACQUIRE) == 0;
}

bool qsbr_is_synchronizing(const struct run_context *ctx)
{
    return !quiescent_round_is_over(ctx);
}

/* A thread without packets takes part every 100 ms, when its capture or ring wait ends. */
static bool quiescent_round_wait(const struct run_context *ctx, unsigned timeout_ms)
{
    struct timespec pause = { .tv_nsec = 1000000 };

    for (unsigned i = 0; i < timeout_ms && !quiescent_round_is_over(ctx); i++)
        nanosleep(&pause, NULL);
    return quiescent_round_is_over(ctx);
}

/* Under the lock that joins and leaves take, so that `left` counts exactly the modules of this
 * round. */
static void quiescent_round_begin(struct run_context *ctx,
                        void (*stream)(struct stream_thread *st, void *arg), void *arg)
{
    pthread_mutex_lock(&ctx->rules_lock);
    ctx->qsbr.stream = stream;
    ctx->qsbr.arg = arg;
    __atomic_store_n(&ctx->qsbr.left, ctx->qsbr.modules, __ATOMIC_RELAXED);
    __atomic_fetch_add(&ctx->qsbr.number, 1, __ATOMIC_RELEASE);
    pthread_mutex_unlock(&ctx->rules_lock);
}

/* True when every packet thread has passed a quiescent state: between two vectors, without
 * references to rules. `stream`, if any, runs on each stream thread then. False after the timeout,
 * or if an earlier round is not over. */
bool qsbr_synchronize(struct run_context *ctx, void (*stream)(struct stream_thread *st, void *arg),
                     void *arg, unsigned timeout_ms)
{
    bool over;

    pthread_mutex_lock(&ctx->qsbr_lock);
    over = quiescent_round_is_over(ctx);
    if (over) {
        quiescent_round_begin(ctx, stream, arg);
        over = quiescent_round_wait(ctx, timeout_ms);
    }
    pthread_mutex_unlock(&ctx->qsbr_lock);
    return over;
}

void qsbr_join(struct run_context *ctx, unsigned *seen)
{
    pthread_mutex_lock(&ctx->rules_lock);
    ctx->qsbr.modules++;
    *seen = ctx->qsbr.number;
    pthread_mutex_unlock(&ctx->rules_lock);
}

/* Acquire pairs with the round's begin, release with its end. */
void qsbr_report_quiescent(struct run_context *ctx, struct stream_thread *st, unsigned *seen)
{
    *seen = __atomic_load_n(&ctx->qsbr.number, __ATOMIC_ACQUIRE);
    if (st != NULL && ctx->qsbr.stream != NULL)
        ctx->qsbr.stream(st, ctx->qsbr.arg);
    __atomic_fetch_sub(&ctx->qsbr.left, 1, __ATOMIC_RELEASE);
}

/* A module that leaves during a round counts as quiescent. */
void qsbr_leave(struct run_context *ctx, const unsigned *seen)
{
    pthread_mutex_lock(&ctx->rules_lock);
    if (ctx->qsbr.number != *seen)
        __atomic_fetch_sub(&ctx->qsbr.left, 1, __ATOMIC_RELEASE);
    ctx->qsbr.modules--;
    pthread_mutex_unlock(&ctx->rules_lock);
}

/* All threads change first, as in a reload: new rules may write sets that the old ones read
 * without a lock. A packet thread should not drop the last reference, because freeing rules
 * takes long. */
void run_context_change_tenants(struct run_context *ctx, struct tenants *tenants)
{
    struct tenants *old = run_context_tenants(ctx);

    (void)qsbr_synchronize(ctx, NULL, NULL, 2000);
    run_context_set_tenants(ctx, tenants);
    if (ctx->output != NULL)
        output_set_tenants(ctx->output, tenants);
    (void)qsbr_synchronize(ctx, NULL, NULL, 2000);
    tenants_unref(old);
}
