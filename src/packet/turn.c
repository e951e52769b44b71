/* SPDX-License-Identifier: GPL-2.0-or-later */
/* packet/turn.c - a place in the order for each thread, and waiting for the others' places.
 *
 * Nobody waits for ever: of all threads the one with the earliest packet has no one to wait for,
 * a thread without packets answers a nudge, and one that has ended stands at the end. */
#include "packet/turn.h"

#include "base/array.h"
#include "base/ring.h"

#include <stdlib.h>

/* A nudge may come while the thread's producer is still at work: then it is repeated, less and
 * less often. */
#define NUDGE_NS 200000
#define NUDGE_MOST_NS 3200000

struct turn_lane {
    CACHE_ALIGNED struct order_mark mark;
    CACHE_ALIGNED struct ring_waiter waiter;
    struct turns *turns;
    struct turn_thread thread;
    struct order_mark taken;            /* the place of the last turn */
    CACHE_ALIGNED struct order_mark wanted;     /* while it waits: for others to pass this */
    uint32_t waits;                     /* atomic */
};

struct turns {
    ARRAY_OF(struct turn_lane *) lanes; /* complete before packets move */
    CACHE_ALIGNED uint32_t waiting;     /* threads that wait for others; atomic */
};

struct turns *turns_new(void)
{
    return xaligned(CACHE_LINE, sizeof(struct turns));
}

void turns_free(struct turns *turns)
{
    if (turns == NULL)
        return;
    for (size_t i = 0; i < turns->lanes.count; i++)
        free(turns->lanes.at[i]);
    ARRAY_FREE(&turns->lanes);
    free(turns);
}

struct turn_lane *turn_lane_new(struct turns *turns, const struct turn_thread *thread)
{
    struct turn_lane *lane = xaligned(CACHE_LINE, sizeof(*lane));

    waiter_init(&lane->waiter);
    lane->turns = turns;
    lane->thread = *thread;
    ARRAY_PUSH(&turns->lanes, lane);
    return lane;
}

/* Those who wait for what we have now passed: one who waits for the end of the file must not be
 * woken at every packet. A place that is being written may read as an earlier one, which only
 * wakes too early. */
static COLD void wake_others(const struct turn_lane *lane, uint64_t order, uint64_t sub)
{
    const struct turns *turns = lane->turns;
    struct order_mark here = { order, sub };

    for (size_t i = 0; i < turns->lanes.count; i++) {
        struct turn_lane *other = turns->lanes.at[i];
        struct order_mark wanted = order_mark_get(&other->wanted);

        if (other != lane && __atomic_load_n(&other->waits, __ATOMIC_ACQUIRE) != 0 &&
            order_mark_has_passed(here, wanted.at, wanted.sub))
            waiter_wake(&other->waiter);
    }
}

/* Who waits has said for what and counted himself before he looks at the marks; the fence is
 * between our mark and our look at the count. So one of us sees the other. */
void turn_reached(struct turn_lane *lane, uint64_t order, uint64_t sub)
{
    if (order_mark_has_passed(lane->mark, order, sub))
        return;
    order_mark_set(&lane->mark, order, sub);
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    if (UNLIKELY(turn_is_awaited(lane)))
        wake_others(lane, order, sub);
}

bool turn_is_awaited(const struct turn_lane *lane)
{
    return __atomic_load_n(&lane->turns->waiting, __ATOMIC_RELAXED) > 0;
}

bool turns_wait_for(const struct turns *turns, uint64_t order)
{
    if (LIKELY(__atomic_load_n(&turns->waiting, __ATOMIC_RELAXED) == 0))
        return false;
    for (size_t i = 0; i < turns->lanes.count; i++) {
        struct turn_lane *lane = turns->lanes.at[i];

        if (__atomic_load_n(&lane->waits, __ATOMIC_ACQUIRE) != 0 &&
            order_mark_get(&lane->wanted).at <= order)
            return true;
    }
    return false;
}

struct wait_for {
    const struct turn_lane *other;
    struct order_mark place;
};

static bool is_past(void *arg)
{
    const struct wait_for *w = arg;

    return order_mark_has_passed(order_mark_get(&w->other->mark), w->place.at, w->place.sub);
}

static COLD void wait_for_lane(struct turn_lane *lane, struct wait_for *w)
{
    struct turns *turns = lane->turns;
    uint64_t pause = NUDGE_NS;

    lane->thread.sleeps(lane->thread.self);
    order_mark_set(&lane->wanted, w->place.at, w->place.sub);
    __atomic_store_n(&lane->waits, 1, __ATOMIC_SEQ_CST);
    __atomic_fetch_add(&turns->waiting, 1, __ATOMIC_SEQ_CST);
    w->other->thread.nudge(w->other->thread.self);
    while (!waiter_wait(&lane->waiter, is_past, w, pause)) {
        pause = MIN(2 * pause, NUDGE_MOST_NS);
        w->other->thread.nudge(w->other->thread.self);
    }
    __atomic_fetch_sub(&turns->waiting, 1, __ATOMIC_SEQ_CST);
    __atomic_store_n(&lane->waits, 0, __ATOMIC_RELAXED);
    lane->thread.wakes(lane->thread.self);
}

void turn_take(struct turn_lane *lane, uint64_t order, uint64_t sub)
{
    const struct turns *turns = lane->turns;

    if (lane->taken.at == order && lane->taken.sub == sub)
        return;
    turn_reached(lane, order, sub);
    for (size_t i = 0; i < turns->lanes.count; i++) {
        struct wait_for w = { turns->lanes.at[i], { order, sub } };

        if (w.other != lane && !is_past(&w))
            wait_for_lane(lane, &w);
    }
    lane->taken = (struct order_mark){ order, sub };
}

struct order_mark turns_passed(const struct turns *turns)
{
    struct order_mark least = { ORDER_END, ORDER_END };

    for (size_t i = 0; i < turns->lanes.count; i++) {
        struct order_mark m = order_mark_get(&turns->lanes.at[i]->mark);

        if (order_mark_has_passed(least, m.at, m.sub))
            least = m;
    }
    return least;
}

unsigned turns_count(const struct turns *turns)
{
    return (unsigned)turns->lanes.count;
}
