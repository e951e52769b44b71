/* SPDX-License-Identifier: GPL-2.0-or-later */
/* modules/context.c - hands out the rules in force; rounds of questions to the packet threads. */
#include "modules/context.h"

#include <stdlib.h>
#include <time.h>

struct ruleset *run_context_rules(struct run_context *ctx, unsigned *generation)
{
    struct ruleset *set;

    pthread_mutex_lock(&ctx->rules_lock);
    set = ruleset_ref(ctx->rules);
    *generation = __atomic_load_n(&ctx->rules_generation, __ATOMIC_RELAXED);
    pthread_mutex_unlock(&ctx->rules_lock);
    return set;
}

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

/* --- rounds ------------------------------------------------------------------------------- */

static bool round_is_over(const struct run_context *ctx)
{
    return __atomic_load_n(&ctx->round.left, __ATOMIC_ACQUIRE) == 0;
}

bool run_context_is_asking(const struct run_context *ctx)
{
    return !round_is_over(ctx);
}

/* A thread without packets looks every 100 ms. */
static bool round_wait(const struct run_context *ctx, unsigned timeout_ms)
{
    struct timespec pause = { .tv_nsec = 1000000 };

    for (unsigned i = 0; i < timeout_ms && !round_is_over(ctx); i++)
        nanosleep(&pause, NULL);
    return round_is_over(ctx);
}

static void round_begin(struct run_context *ctx,
                        void (*stream)(struct stream_thread *st, void *arg), void *arg)
{
    pthread_mutex_lock(&ctx->rules_lock);
    ctx->round.stream = stream;
    ctx->round.arg = arg;
    __atomic_store_n(&ctx->round.left, ctx->round.modules, __ATOMIC_RELAXED);
    __atomic_fetch_add(&ctx->round.number, 1, __ATOMIC_RELEASE);
    pthread_mutex_unlock(&ctx->rules_lock);
}

bool run_context_ask(struct run_context *ctx, void (*stream)(struct stream_thread *st, void *arg),
                     void *arg, unsigned timeout_ms)
{
    bool over;

    pthread_mutex_lock(&ctx->round_lock);
    over = round_is_over(ctx);
    if (over) {
        round_begin(ctx, stream, arg);
        over = round_wait(ctx, timeout_ms);
    }
    pthread_mutex_unlock(&ctx->round_lock);
    return over;
}

void run_round_join(struct run_context *ctx, unsigned *seen)
{
    pthread_mutex_lock(&ctx->rules_lock);
    ctx->round.modules++;
    *seen = ctx->round.number;
    pthread_mutex_unlock(&ctx->rules_lock);
}

void run_round_answer(struct run_context *ctx, struct stream_thread *st, unsigned *seen)
{
    *seen = __atomic_load_n(&ctx->round.number, __ATOMIC_ACQUIRE);
    if (st != NULL && ctx->round.stream != NULL)
        ctx->round.stream(st, ctx->round.arg);
    __atomic_fetch_sub(&ctx->round.left, 1, __ATOMIC_RELEASE);
}

void run_round_leave(struct run_context *ctx, const unsigned *seen)
{
    pthread_mutex_lock(&ctx->rules_lock);
    if (ctx->round.number != *seen)
        __atomic_fetch_sub(&ctx->round.left, 1, __ATOMIC_RELEASE);
    ctx->round.modules--;
    pthread_mutex_unlock(&ctx->rules_lock);
}

/* As with a reload: new rules may change sets that the old ones only read, without a lock, and a
 * packet thread should not be the one to take rules down. */
void run_context_change_tenants(struct run_context *ctx, struct tenants *tenants)
{
    struct tenants *old = run_context_tenants(ctx);

    (void)run_context_ask(ctx, NULL, NULL, 2000);
    run_context_set_tenants(ctx, tenants);
    if (ctx->output != NULL)
        output_set_tenants(ctx->output, tenants);
    (void)run_context_ask(ctx, NULL, NULL, 2000);
    tenants_unref(old);
}
