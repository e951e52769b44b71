/* SPDX-License-Identifier: GPL-2.0-or-later */
/* packet/turn.c - a place in the order for each thread, and waiting for the others' places. */
#include "packet/turn.h"

#include "base/array.h"
#include "base/containers/ring.h"

#include <stdlib.h>

/* A nudge may come while the thread's producer is still at work: then it is repeated, less and
 * less often. */
#define NUDGE_NS 200000
#define NUDGE_MOST_NS 3200000

struct turn_lane {
    CACHE_ALIGNED struct order_mark mark;
    CACHE_ALIGNED struct eventcount eventcount;
    struct turns *turns;
    struct turn_thread thread;
    struct order_mark taken, taken_hosts;       /* the places of the last turns */
    CACHE_ALIGNED struct order_mark wanted;     /* while it waits: for others to pass this */
    uint32_t waits;                     /* atomic */
};

struct turns {
    ARRAY_OF(struct turn_lane *) lanes; /* complete before packets move */
    ARRAY_OF(struct turn_ends *) ends;  /* likewise */
    uint32_t by_hosts;                  /* somebody has taken his turn by hosts; atomic */
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
    for (size_t i = 0; i < turns->ends.count; i++)
        free(turns->ends.at[i]);
    ARRAY_FREE(&turns->lanes);
    ARRAY_FREE(&turns->ends);
    free(turns);
}

struct turn_lane *turn_lane_new(struct turns *turns, const struct turn_thread *thread)
{
    struct turn_lane *lane = xaligned(CACHE_LINE, sizeof(*lane));

    eventcount_init(&lane->eventcount);
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
            eventcount_wake(&other->eventcount);
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

void turn_lane_leave(struct turn_lane *lane)
{
    turn_reached(lane, ORDER_END, ORDER_END);
}

/* The only step back. Nobody waits for who has left. */
void turn_lane_enter(struct turn_lane *lane, struct order_mark done)
{
    order_mark_set(&lane->mark, done.at, done.sub);
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
    while (!eventcount_wait(&lane->eventcount, is_past, w, pause)) {
        pause = MIN(2 * pause, NUDGE_MOST_NS);
        w->other->thread.nudge(w->other->thread.self);
    }
    __atomic_fetch_sub(&turns->waiting, 1, __ATOMIC_SEQ_CST);
    __atomic_store_n(&lane->waits, 0, __ATOMIC_RELAXED);
    lane->thread.wakes(lane->thread.self);
}

static void wait_for_all(struct turn_lane *lane, uint64_t order, uint64_t sub)
{
    const struct turns *turns = lane->turns;

    for (size_t i = 0; i < turns->lanes.count; i++) {
        struct wait_for w = { turns->lanes.at[i], { order, sub } };

        if (w.other != lane && !is_past(&w))
            wait_for_lane(lane, &w);
    }
}

static bool has_taken(const struct order_mark *taken, uint64_t order, uint64_t sub)
{
    return taken->at == order && taken->sub == sub;
}

void turn_take(struct turn_lane *lane, uint64_t order, uint64_t sub)
{
    if (has_taken(&lane->taken, order, sub))
        return;
    turn_reached(lane, order, sub);
    wait_for_all(lane, order, sub);
    lane->taken = lane->taken_hosts = (struct order_mark){ order, sub };
}

/* --- hosts ------------------------------------------------------------------------------------ */

#define HOSTS (1u << HOST_BITS)

struct host_places {
    const struct turns *turns;
    bool is_on;                         /* from the first on who asks: nobody else pays for it */
    uint64_t last[HOSTS];
};

struct turn_ends {
    void *thread;
    CACHE_ALIGNED uint64_t told;        /* atomic */
    uint64_t last[HOSTS];               /* the latest place at which a flow may end; atomic */
};

struct host_places *host_places_new(const struct turns *turns)
{
    struct host_places *hosts = xcalloc(1, sizeof(*hosts));

    hosts->turns = turns;
    return hosts;
}

void host_places_free(struct host_places *hosts)
{
    free(hosts);
}

/* What was before is not known: as if this packet were all hosts'. */
static COLD void begin(struct host_places *hosts, uint64_t order)
{
    hosts->is_on = true;
    for (unsigned i = 0; i < HOSTS; i++)
        hosts->last[i] = order;
}

static bool is_on(struct host_places *hosts, uint64_t order)
{
    if (LIKELY(hosts->is_on))
        return true;
    if (LIKELY(__atomic_load_n(&hosts->turns->by_hosts, __ATOMIC_RELAXED) == 0))
        return false;
    begin(hosts, order);
    return true;
}

void host_places_other(struct host_places *hosts, const struct ip *src, const struct ip *dst,
                       uint64_t order)
{
    if (is_on(hosts, order))
        hosts->last[host_number(src)] = hosts->last[host_number(dst)] = order;
}

uint64_t host_places_own(struct host_places *hosts, const struct ip *src, const struct ip *dst,
                         uint64_t order)
{
    return is_on(hosts, order) ? host_places_last(hosts, src, dst) : 0;
}

uint64_t host_places_last(const struct host_places *hosts, const struct ip *src,
                          const struct ip *dst)
{
    if (!hosts->is_on)
        return 0;
    return MAX(hosts->last[host_number(src)], hosts->last[host_number(dst)]) + 1;
}

struct met {
    uint64_t newest, elsewhere;         /* elsewhere: of other threads than the newest's */
    unsigned thread;
};

struct host_dealt {
    const struct turns *turns;
    bool is_on;                         /* as above */
    struct met host[HOSTS];
};

struct host_dealt *host_dealt_new(const struct turns *turns)
{
    struct host_dealt *hosts = xcalloc(1, sizeof(*hosts));

    hosts->turns = turns;
    return hosts;
}

void host_dealt_free(struct host_dealt *hosts)
{
    free(hosts);
}

/* The newest before, on another thread. */
static uint64_t meet(struct met *host, uint64_t order, unsigned thread)
{
    if (host->thread != thread) {
        host->elsewhere = host->newest;
        host->thread = thread;
    }
    host->newest = order;
    return host->elsewhere;
}

uint64_t host_dealt_to(struct host_dealt *hosts, const struct packet *p, unsigned thread)
{
    uint64_t src, dst;

    if (UNLIKELY(!hosts->is_on)) {
        if (LIKELY(__atomic_load_n(&hosts->turns->by_hosts, __ATOMIC_RELAXED) == 0))
            return 0;
        hosts->is_on = true;
        for (unsigned i = 0; i < HOSTS; i++)
            hosts->host[i] = (struct met){ p->order, p->order, thread };
    }
    src = meet(&hosts->host[host_number(&p->src)], p->order, thread);
    dst = meet(&hosts->host[host_number(&p->dst)], p->order, thread);
    return MAX(src, dst) + 1;
}

struct turn_ends *turn_ends_new(struct turns *turns, const struct turn_thread *thread)
{
    struct turn_ends *ends = xaligned(CACHE_LINE, sizeof(*ends));

    ends->thread = thread->self;
    ARRAY_PUSH(&turns->ends, ends);
    return ends;
}

/* What is asked for is only whether there may be any, up to which place: the latest is enough. */
static void end_at(uint64_t *last, uint64_t order)
{
    if (order > *last)
        __atomic_store_n(last, order, __ATOMIC_RELAXED);
}

void turn_ends_tell(struct turn_ends *ends, const struct ip *src, const struct ip *dst,
                    uint64_t order)
{
    end_at(&ends->last[host_number(src)], order);
    end_at(&ends->last[host_number(dst)], order);
}

void turn_ends_told(struct turn_ends *ends, uint64_t order)
{
    __atomic_store_n(&ends->told, order, __ATOMIC_RELEASE);
}

/* The place behind all that others may do with p's hosts before p, as far as they have told; p's
 * own when they have not told enough. */
static uint64_t behind_others(const struct turn_lane *lane, const struct packet *p)
{
    const struct turns *turns = lane->turns;
    unsigned src = host_number(&p->src), dst = host_number(&p->dst);
    uint64_t place = p->hosts_after;

    for (size_t i = 0; i < turns->ends.count; i++) {
        const struct turn_ends *ends = turns->ends.at[i];

        if (ends->thread == lane->thread.self)
            continue;
        if (__atomic_load_n(&ends->told, __ATOMIC_ACQUIRE) <= p->order)
            return p->order;
        place = MAX(place, __atomic_load_n(&ends->last[src], __ATOMIC_RELAXED) + 1);
        place = MAX(place, __atomic_load_n(&ends->last[dst], __ATOMIC_RELAXED) + 1);
    }
    return place;
}

/* The packets waited for may have made flows that end before p, or put off the end of others: so
 * it is asked again until there is nothing new. */
void turn_take_hosts(struct turn_lane *lane, const struct packet *p)
{
    uint64_t place, before = 0;

    if (has_taken(&lane->taken_hosts, p->order, p->order_sub))
        return;
    if (UNLIKELY(__atomic_load_n(&lane->turns->by_hosts, __ATOMIC_RELAXED) == 0))
        __atomic_store_n(&lane->turns->by_hosts, 1, __ATOMIC_RELAXED);
    turn_reached(lane, p->order, p->order_sub);
    while ((place = p->hosts_after) != 0 && place < p->order &&
           (place = behind_others(lane, p)) < p->order) {
        if (place == before) {
            lane->taken_hosts = (struct order_mark){ p->order, p->order_sub };
            return;
        }
        wait_for_all(lane, place, 0);
        before = place;
    }
    turn_take(lane, p->order, p->order_sub);
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
