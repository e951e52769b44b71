/* SPDX-License-Identifier: GPL-2.0-or-later */
/* sequencer/sequencer.c - each thread's place in the order, and the wait for others to pass one.
 *
 * A wait costs the same for whoever is waited for: the eventcount marks in each worker that has not
 * passed the place from where on it must look (wake_at), and sleeps. A worker compares that word
 * with its packets, and only when it passes takes the lock, crosses itself off the eventcount's
 * list, and, as the last one on it, wakes the eventcount. */
#include "sequencer/sequencer_private.h"

#include "base/system/cpu.h"

#include <stdlib.h>

/* A kick may come while the thread's producer is still at work: then it is repeated, less and less
 * often. */
#define KICK_NS 200000
#define KICK_MOST_NS 3200000

#define NEVER UINT64_MAX

/* Where every thread has a CPU of its own, one that waits looks longer before it sleeps: to sleep
 * and to be woken takes longer than most waits. */
#define SPIN_FACTOR 8

struct turns *turns_new(void)
{
    struct turns *turns = xcalloc(1, sizeof(*turns));

    pthread_mutex_init(&turns->lock, NULL);
    return turns;
}

void turns_free(struct turns *turns)
{
    if (turns == NULL)
        return;
    for (size_t i = 0; i < turns->lanes.count; i++) {
        free(turns->lanes.at[i]->waits_for);
        free(turns->lanes.at[i]);
    }
    ARRAY_FREE(&turns->lanes);
    pthread_mutex_destroy(&turns->lock);
    free(turns);
}

struct turn_lane *turn_lane_new(struct turns *turns, const struct turn_thread *thread)
{
    struct seq_worker *w = xaligned(CACHE_LINE, sizeof(*w));

    eventcount_init(&w->eventcount);
    w->turns = turns;
    w->thread = *thread;
    w->number = (unsigned)turns->lanes.count;
    w->seen.wake_at = NEVER;
    turns->kicks |= thread->nudge != NULL;
    ARRAY_PUSH(&turns->lanes, w);
    return &w->seen;
}

static bool has_passed(const struct seq_worker *w, struct order_mark place)
{
    return order_mark_has_passed(order_mark_get(&w->seen.mark), place.at, place.sub);
}

/* --- passing a place -------------------------------------------------------------------------- */

/* Crosses the worker off the list of one that waits; the last one wakes it. */
static void cross_off(struct seq_worker *eventcount, unsigned number)
{
    eventcount->waits_for[number / 64] &= ~(UINT64_C(1) << number % 64);
    if (__atomic_sub_fetch(&eventcount->missing, 1, __ATOMIC_SEQ_CST) == 0) {
        eventcount->waits = false;
        eventcount_wake(&eventcount->eventcount);
    }
}

static bool is_waited_for(const struct seq_worker *eventcount, unsigned number)
{
    return eventcount->waits && (eventcount->waits_for[number / 64] >> number % 64 & 1) != 0;
}

/* By the worker, or by one that puts it down on a list. */
static COLD void look_at_waits(struct seq_worker *w)
{
    const struct turns *turns = w->turns;
    uint64_t wake_at = NEVER;

    for (size_t i = 0; i < turns->lanes.count; i++) {
        struct seq_worker *eventcount = turns->lanes.at[i];

        if (!is_waited_for(eventcount, w->number))
            continue;
        if (has_passed(w, eventcount->required))
            cross_off(eventcount, w->number);
        else
            wake_at = MIN(wake_at, eventcount->required.at);
    }
    __atomic_store_n(&w->seen.wake_at, wake_at, __ATOMIC_SEQ_CST);
}

/* An eventcount stores wake_at before it looks at the mark; the fence is between our mark and our
 * look at wake_at. So one of us sees the other. */
void turn_reached(struct turn_lane *lane, uint64_t order, uint64_t sub)
{
    struct seq_worker *w = worker_of(lane);

    if (!order_mark_has_passed(lane->mark, order, sub)) {
        order_mark_set(&lane->mark, order, sub);
        __atomic_thread_fence(__ATOMIC_SEQ_CST);
    }
    if (LIKELY(order < __atomic_load_n(&lane->wake_at, __ATOMIC_RELAXED)))
        return;
    pthread_mutex_lock(&w->turns->lock);
    look_at_waits(w);
    pthread_mutex_unlock(&w->turns->lock);
}

void turn_lane_leave(struct turn_lane *lane)
{
    turn_reached(lane, ORDER_END, ORDER_END);
}

/* The only step back. Nobody waits for who has left. */
void turn_lane_enter(struct turn_lane *lane, struct order_mark done)
{
    order_mark_set(&lane->mark, done.at, done.sub);
}

/* --- waiting ---------------------------------------------------------------------------------- */

static bool is_missed(void *arg)
{
    const struct seq_worker *w = arg;

    return __atomic_load_n(&w->missing, __ATOMIC_ACQUIRE) == 0;
}

/* A thread may have two workers: one in front of the stream, one that inspects. */
static unsigned count_threads(const struct turns *turns)
{
    unsigned count = 0;

    for (size_t i = 0; i < turns->lanes.count; i++) {
        size_t j = 0;

        while (turns->lanes.at[j]->thread.self != turns->lanes.at[i]->thread.self)
            j++;
        count += i == j;
    }
    return count;
}

/* By its first wait, when all workers are there. */
static COLD void begin_waiting(struct seq_worker *w)
{
    w->waits_for = xcalloc(w->turns->lanes.count / 64 + 1, sizeof(w->waits_for[0]));
    if (count_threads(w->turns) <= cpu_count())
        w->eventcount.spins *= SPIN_FACTOR;
}

/* Puts all that have not passed the place on the list. They are counted before they can cross
 * themselves off: the lock is ours. */
static void begin_wait(struct seq_worker *w, struct order_mark place)
{
    struct turns *turns = w->turns;

    if (w->waits_for == NULL)
        begin_waiting(w);
    pthread_mutex_lock(&turns->lock);
    w->required = place;
    w->waits = true;
    w->missing = 1;                     /* ourselves, until all are on the list */
    for (size_t i = 0; i < turns->lanes.count; i++) {
        struct seq_worker *other = turns->lanes.at[i];

        if (other == w || has_passed(other, place))
            continue;
        w->waits_for[i / 64] |= UINT64_C(1) << i % 64;
        __atomic_fetch_add(&w->missing, 1, __ATOMIC_RELAXED);
        if (place.at < other->seen.wake_at)
            __atomic_store_n(&other->seen.wake_at, place.at, __ATOMIC_SEQ_CST);
        __atomic_thread_fence(__ATOMIC_SEQ_CST);
        if (has_passed(other, place))
            look_at_waits(other);
    }
    if (__atomic_sub_fetch(&w->missing, 1, __ATOMIC_SEQ_CST) == 0)
        w->waits = false;
    pthread_mutex_unlock(&turns->lock);
}

/* A thread that has nothing to do does not come further by itself. */
static COLD void kick_missing(const struct seq_worker *w)
{
    const struct turns *turns = w->turns;

    for (size_t i = 0; i < turns->lanes.count; i++) {
        const struct seq_worker *other = turns->lanes.at[i];

        if (other != w && other->thread.nudge != NULL && !has_passed(other, w->required))
            other->thread.nudge(other->thread.self);
    }
}

static COLD void wait_asleep(struct seq_worker *w)
{
    uint64_t pause = w->turns->kicks ? KICK_NS : EVENTCOUNT_FOREVER;

    w->thread.sleeps(w->thread.self);
    kick_missing(w);
    while (!eventcount_wait(&w->eventcount, is_missed, w, pause)) {
        pause = MIN(2 * pause, KICK_MOST_NS);
        kick_missing(w);
    }
    w->thread.wakes(w->thread.self);
}

static void wait_for_all(struct seq_worker *w, uint64_t order, uint64_t sub)
{
    struct order_mark place = { order, sub };
    bool all = true;

    for (size_t i = 0; i < w->turns->lanes.count && all; i++)
        all = w->turns->lanes.at[i] == w || has_passed(w->turns->lanes.at[i], place);
    if (all)
        return;
    begin_wait(w, place);
    if (!is_missed(w))
        wait_asleep(w);
}

static bool has_taken(const struct order_mark *taken, uint64_t order, uint64_t sub)
{
    return taken->at == order && taken->sub == sub;
}

void turn_take(struct turn_lane *lane, uint64_t order, uint64_t sub)
{
    struct seq_worker *w = worker_of(lane);

    if (has_taken(&w->taken, order, sub))
        return;
    turn_reached(lane, order, sub);
    wait_for_all(w, order, sub);
    w->taken = (struct order_mark){ order, sub };
}

struct order_mark turns_passed(const struct turns *turns)
{
    struct order_mark least = { ORDER_END, ORDER_END };

    for (size_t i = 0; i < turns->lanes.count; i++) {
        struct order_mark m = order_mark_get(&turns->lanes.at[i]->seen.mark);

        if (order_mark_has_passed(least, m.at, m.sub))
            least = m;
    }
    return least;
}
