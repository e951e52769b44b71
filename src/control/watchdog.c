/* SPDX-License-Identifier: GPL-2.0-or-later */
/* control/watchdog.c - a thread that checks whether packet threads and the main thread
 * make progress. It looks four times in the interval that the service manager allows
 * between two signs of life, otherwise every two seconds. */
#include "control/watchdog.h"

#include <pthread.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/system/clock.h"
#include "base/report/log.h"
#include "control/systemd.h"
#include "engine/liveness.h"

#define CHECK_MS 2000
#define MAX_MISSED 4                  /* checks in a row without progress */

/* Owned by the main thread; members without a comment are read by the watchdog's thread
 * only. */
struct watchdog {
    struct liveness *liveness;
    bool notifies_manager;                     /* the service manager */
    unsigned check_ms;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t wake;
    bool stop;                      /* under the lock */
    uint64_t turns;                 /* atomic; rounds of the main loop */
    bool busy;                      /* atomic; the main thread does something long */
    uint64_t turns_seen;
    unsigned main_looks;
    const char *stuck;              /* the thread found stuck by the last check, or NULL */
};

/* A reload may take longer than MAX_MISSED checks, so a busy main thread never counts as
 * stuck. */
static bool main_is_stuck(struct watchdog *w)
{
    uint64_t turns = __atomic_load_n(&w->turns, __ATOMIC_RELAXED);

    if (turns != w->turns_seen || __atomic_load_n(&w->busy, __ATOMIC_RELAXED)) {
        w->turns_seen = turns;
        w->main_looks = 0;
        return false;
    }
    return ++w->main_looks >= MAX_MISSED;
}

/* Logs the begin and the end of a stall, not each check. A stuck thread withholds the sign
 * of life, and the service manager then restarts the engine. */
static void look(struct watchdog *w)
{
    const char *stuck = liveness_check(w->liveness, MAX_MISSED);

    if (main_is_stuck(w) && stuck == NULL)
        stuck = "main";
    if (stuck != NULL && w->stuck == NULL)
        log_error("watchdog", "thread %s has made no progress for %u s", stuck,
                  MAX_MISSED * w->check_ms / 1000);
    if (stuck == NULL && w->stuck != NULL)
        log_notice("watchdog", "thread %s goes on", w->stuck);
    w->stuck = stuck;
    if (stuck == NULL && w->notifies_manager)
        systemd_alive();
}

static void add_ms(struct timespec *at, unsigned ms)
{
    at->tv_nsec += (long)(ms % 1000) * 1000000;
    at->tv_sec += (time_t)(ms / 1000) + at->tv_nsec / 1000000000;
    at->tv_nsec %= 1000000000;
}

static void *watchdog_main(void *arg)
{
    struct watchdog *w = arg;
    struct timespec until;

    pthread_setname_np(pthread_self(), "WD");
    pthread_mutex_lock(&w->lock);
    while (!w->stop) {
        clock_gettime(CLOCK_MONOTONIC, &until);
        add_ms(&until, w->check_ms);
        (void)pthread_cond_timedwait(&w->wake, &w->lock, &until);
        if (!w->stop)
            look(w);
    }
    pthread_mutex_unlock(&w->lock);
    return NULL;
}

/* NULL: the thread could not be started; the engine runs without a watchdog. */
struct watchdog *watchdog_start(const struct engine *engine)
{
    struct watchdog *w = xcalloc(1, sizeof(*w));
    unsigned manager_ms = systemd_watchdog_ms();
    pthread_condattr_t attr;

    w->liveness = liveness_new(engine);
    w->notifies_manager = manager_ms > 0;
    w->check_ms = w->notifies_manager ? MAX(manager_ms / 2, 1u) : CHECK_MS;
    pthread_mutex_init(&w->lock, NULL);
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(&w->wake, &attr);
    pthread_condattr_destroy(&attr);
    if (pthread_create(&w->thread, NULL, watchdog_main, w) != 0) {
        liveness_free(w->liveness);
        free(w);
        return NULL;
    }
    return w;
}

/* The main loop must wake up at least this often, or the watchdog takes it for stuck. */
int watchdog_round_ms(const struct watchdog *w)
{
    return w != NULL ? (int)w->check_ms : 10000;
}

/* The main loop calls it once a round, and before and after long work. */
void watchdog_here(struct watchdog *w, bool busy)
{
    if (w == NULL)
        return;
    __atomic_store_n(&w->busy, busy, __ATOMIC_RELAXED);
    __atomic_fetch_add(&w->turns, 1, __ATOMIC_RELAXED);
}

void watchdog_stop(struct watchdog *w)
{
    if (w == NULL)
        return;
    pthread_mutex_lock(&w->lock);
    w->stop = true;
    pthread_cond_signal(&w->wake);
    pthread_mutex_unlock(&w->lock);
    pthread_join(w->thread, NULL);
    pthread_cond_destroy(&w->wake);
    pthread_mutex_destroy(&w->lock);
    liveness_free(w->liveness);
    free(w);
}
