/* SPDX-License-Identifier: GPL-2.0-or-later */
/* control/stats.c - the thread that writes statistics at a fixed interval, and once more
 * at the end. */
#include "control/stats.h"

#include <pthread.h>
#include <stdlib.h>
#include <time.h>

#include "base/array.h"
#include "base/system/clock.h"

/* `lock` and `wake` guard `stop` only; the counters are atomic. */
struct stats_thread {
    struct output_conf *output;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t wake;
    bool stop;
    struct timespec started;
    struct stats_hooks hooks;
};

/* Uses the monotonic clock, so a change of the time of day has no effect. */
static uint64_t uptime_s(const struct stats_thread *st)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)(now.tv_sec - st->started.tv_sec);
}

/* hooks.before updates gauges that are computed on demand. */
static void round_of(struct stats_thread *st)
{
    if (st->hooks.before != NULL)
        st->hooks.before(st->hooks.arg);
    output_stats(st->output, clock_wall_us(), uptime_s(st));
}

/* The deadline advances by the interval, so that the time of a round does not shift later
 * ones. */
static void *stats_main(void *arg)
{
    struct stats_thread *st = arg;
    unsigned interval = output_stats_interval(st->output);
    struct timespec until;

    if (st->hooks.on_start != NULL)
        st->hooks.on_start(st->hooks.arg);
    clock_gettime(CLOCK_MONOTONIC, &until);
    pthread_mutex_lock(&st->lock);
    while (!st->stop) {
        int timed_out = 0;

        until.tv_sec += interval;
        while (!st->stop && timed_out == 0)
            timed_out = pthread_cond_timedwait(&st->wake, &st->lock, &until);
        if (!st->stop)
            round_of(st);
    }
    pthread_mutex_unlock(&st->lock);
    round_of(st);
    return NULL;
}

/* NULL: the interval is 0, or the thread could not be started. The engine runs without it. */
struct stats_thread *stats_thread_start(struct output_conf *output,
                                        const struct stats_hooks *hooks)
{
    struct stats_thread *st;
    pthread_condattr_t attr;

    if (output_stats_interval(output) == 0)
        return NULL;
    st = xcalloc(1, sizeof(*st));
    st->output = output;
    st->hooks = *hooks;
    clock_gettime(CLOCK_MONOTONIC, &st->started);
    pthread_mutex_init(&st->lock, NULL);
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(&st->wake, &attr);
    pthread_condattr_destroy(&attr);
    if (pthread_create(&st->thread, NULL, stats_main, st) != 0) {
        free(st);
        return NULL;
    }
    return st;
}

/* Returns after the last record is written; the outputs must still be open. */
void stats_thread_stop(struct stats_thread *st)
{
    if (st == NULL)
        return;
    pthread_mutex_lock(&st->lock);
    st->stop = true;
    pthread_cond_signal(&st->wake);
    pthread_mutex_unlock(&st->lock);
    pthread_join(st->thread, NULL);
    pthread_cond_destroy(&st->wake);
    pthread_mutex_destroy(&st->lock);
    free(st);
}
