/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tests of sequencer/sequencer: threads that take their turns touch shared things in the order of the
 * packets; one that has nothing to do is nudged. Those named turn_stress_ are for TSan too. */
#include "sequencer/sequencer.h"

#include "base/system/clock.h"
#include "base/test.h"

#include <pthread.h>
#include <stdlib.h>

TEST(turn_marks_only_move_on)
{
    struct order_mark m = { 0 };

    order_mark_set(&m, 10, 3);
    CHECK(order_mark_has_passed(order_mark_get(&m), 10, 3));
    CHECK(order_mark_has_passed(order_mark_get(&m), 9, 99));
    CHECK(!order_mark_has_passed(order_mark_get(&m), 10, 4));
    order_mark_set(&m, 12, 0);
    CHECK(order_mark_has_passed(order_mark_get(&m), 10, 4));
    CHECK(!order_mark_has_passed(order_mark_get(&m), 12, 1));
}

TEST(turn_order_follows_time_and_never_stands)
{
    uint64_t one = order_next(0, 1000), two = order_next(one, 1000), back = order_next(two, 5);

    CHECK_INT(order_time_us(one), 1000);
    CHECK(two > one && back > two);
    CHECK_INT(order_time_us(back), 1000);
    CHECK(order_before_us(1001) > back && (order_before_us(1001) & 1) == 1);
    CHECK(order_next(back, 1001) > order_before_us(1001));
    CHECK((order_next(back, UINT64_MAX) & ORDER_SHUTDOWN) == 0);
}

TEST(turn_latest_time_of_a_place)
{
    uint64_t one = order_next(0, 1000), back = order_next(one, 5);

    CHECK_INT(order_latest_us(back), 1001);
    CHECK(order_latest_us(order_before_us(1001)) >= 1001);
    CHECK(order_latest_us(order_next(back, UINT64_MAX)) == UINT64_MAX);
    CHECK(order_latest_us(ORDER_SHUTDOWN | 3) == UINT64_MAX);
}

static void on_wait(void *self);

#define THREADS 4
#define PACKETS 20000

struct player {
    pthread_t id;
    struct turn_lane *lane;
    struct play *play;
    unsigned number;
    bool idle;                  /* has no packets, and only answers */
    int nudged;
};

struct play {
    struct turns *turns;
    struct player player[THREADS];
    uint64_t last;              /* what all share; whose turn it is may write */
    uint64_t done, wrong;
};

static void on_nudge(void *self)
{
    struct player *p = self;

    __atomic_store_n(&p->nudged, 1, __ATOMIC_RELEASE);
}

static void on_wait(void *self)
{
    (void)self;
}

static uint64_t owner_of(uint64_t place)
{
    return (place * UINT64_C(0x9e3779b97f4a7c15) >> 40) % (THREADS - 1);
}

static void *play(void *arg)
{
    struct player *me = arg;
    struct play *play = me->play;

    for (uint64_t at = 2; at <= 2 * PACKETS; at += 2) {
        if (owner_of(at) != me->number)
            continue;
        if (at % 6 == 0) {
            turn_take(me->lane, at, 0);
            play->wrong += play->last >= at;
            play->last = at;
            play->done++;
        }
        turn_passes(me->lane, at, 1);
        if (at % 256 == 0)
            turn_reached(me->lane, at, 1);
    }
    turn_reached(me->lane, ORDER_END, ORDER_END);
    return NULL;
}

/* Says how far "it was dealt" only when it is asked. */
static void *answer(void *arg)
{
    struct player *me = arg;

    for (uint64_t at = 0; at < 2 * PACKETS + 2;) {
        if (!__atomic_exchange_n(&me->nudged, 0, __ATOMIC_ACQUIRE)) {
            clock_pause();
            continue;
        }
        at += 500;
        turn_reached(me->lane, at, 0);
    }
    turn_reached(me->lane, ORDER_END, ORDER_END);
    return NULL;
}

TEST(turn_stress_threads_go_in_order)
{
    struct play it = { .turns = turns_new() };
    uint64_t expected = 0;

    for (uint64_t at = 2; at <= 2 * PACKETS; at += 2)
        expected += at % 6 == 0;
    for (unsigned i = 0; i < THREADS; i++) {
        struct player *p = &it.player[i];
        struct turn_thread thread = { p, on_nudge, on_wait, on_wait };

        *p = (struct player){ .play = &it, .number = i, .idle = i == THREADS - 1 };
        p->lane = turn_lane_new(it.turns, &thread);
    }
    for (unsigned i = 0; i < THREADS; i++)
        pthread_create(&it.player[i].id, NULL, it.player[i].idle ? answer : play,
                       &it.player[i]);
    for (unsigned i = 0; i < THREADS - 1; i++)
        pthread_join(it.player[i].id, NULL);
    CHECK_INT(it.done, expected);
    CHECK_INT(it.wrong, 0);
    while (turns_passed(it.turns).at != ORDER_END)
        __atomic_store_n(&it.player[THREADS - 1].nudged, 1, __ATOMIC_RELEASE);
    pthread_join(it.player[THREADS - 1].id, NULL);
    turns_free(it.turns);
}

/* --- hosts ------------------------------------------------------------------------------------ */

#define HOSTS 40
#define FLOW_LIFE 301           /* odd: flows end between packets */
#define ENDS_MAX 256

struct visitor {
    pthread_t id;
    struct turn_lane *lane;
    struct turn_ends *ends;
    struct visit *visit;
    unsigned number;
    uint64_t end[ENDS_MAX];     /* of this thread's flows, by time; a ring */
    unsigned first_end, end_count;
    int nudged;
};

struct visit {
    struct turns *turns;
    struct visitor visitor[THREADS];
    uint64_t last[HOSTS];       /* whose turn it is by this host may write */
    uint64_t wrong;             /* atomic */
};

static struct ip host_of(uint64_t place)
{
    uint64_t h = place * UINT64_C(0x9e3779b97f4a7c15) >> 20;

    return (struct ip){ .w = { (uint32_t)(h % HOSTS) + 1 }, .version = 4 };
}

static void touch(struct visit *visit, const struct ip *ip, uint64_t place)
{
    uint64_t *last = &visit->last[ip->w[0] - 1];

    if (*last >= place)
        __atomic_fetch_add(&visit->wrong, 1, __ATOMIC_RELAXED);
    *last = place;
}

/* A flow ends: as any packet that we make, in its place. */
static void end_flows(struct visitor *me, uint64_t before)
{
    while (me->end_count > 0 && me->end[me->first_end % ENDS_MAX] < before) {
        uint64_t at = me->end[me->first_end++ % ENDS_MAX];
        struct ip ip = host_of(at - FLOW_LIFE);
        struct packet p = { .order = at, .lane = me->lane, .src = ip, .dst = ip };

        me->end_count--;
        packet_take_host_turn(&p);
        touch(me->visit, &ip, at);
    }
}

static void start_flow(struct visitor *me, const struct ip *ip, uint64_t at)
{
    me->end[(me->first_end + me->end_count++) % ENDS_MAX] = at + FLOW_LIFE;
    turn_ends_tell(me->ends, ip, ip, at + FLOW_LIFE);
}

static void *visit_hosts(void *arg)
{
    struct visitor *me = arg;
    struct visit *visit = me->visit;
    struct host_dealt *hosts = host_dealt_new(visit->turns);

    /* each thread deals all packets, for itself */
    for (uint64_t at = 2; at <= 2 * PACKETS; at += 2) {
        struct ip ip = host_of(at);
        struct packet p = { .order = at, .lane = me->lane, .src = ip, .dst = ip };

        p.hosts_after = host_dealt_to(hosts, &ip, &ip, at, (unsigned)(at / 64 % THREADS));
        if (at / 64 % THREADS != me->number)
            continue;
        end_flows(me, at);
        turn_ends_told(me->ends, at + FLOW_LIFE);
        if (at % 10 == 0)
            start_flow(me, &ip, at);
        if (at % 6 == 0) {
            packet_take_host_turn(&p);
            touch(visit, &ip, at);
        }
        turn_reached(me->lane, at, 1);
    }
    end_flows(me, UINT64_MAX);
    turn_reached(me->lane, ORDER_END, ORDER_END);
    host_dealt_free(hosts);
    return NULL;
}

TEST(turn_stress_hosts_go_in_order)
{
    struct visit it = { .turns = turns_new() };

    for (unsigned i = 0; i < THREADS; i++) {
        struct visitor *v = &it.visitor[i];
        struct turn_thread thread = { v, on_wait, on_wait, on_wait };

        *v = (struct visitor){ .visit = &it, .number = i };
        v->lane = turn_lane_new(it.turns, &thread);
        v->ends = turn_ends_new(it.turns, &thread);
    }
    for (unsigned i = 0; i < THREADS; i++)
        pthread_create(&it.visitor[i].id, NULL, visit_hosts, &it.visitor[i]);
    for (unsigned i = 0; i < THREADS; i++)
        pthread_join(it.visitor[i].id, NULL);
    CHECK_INT(it.wrong, 0);
    CHECK(it.last[0] > 0);
    turns_free(it.turns);
}

/* The other thread: comes to one place after the other, each time it is nudged. */
struct other {
    struct turn_lane *lane;
    struct turn_ends *ends;
    struct ip host;
    unsigned nudges;
};

static void makes_a_flow(void *self)
{
    struct other *o = self;

    if (o->nudges++ == 0) {
        turn_ends_tell(o->ends, &o->host, &o->host, 61);
        turn_reached(o->lane, 50, 0);
    } else {
        turn_reached(o->lane, 62, 0);
    }
}

TEST(turn_hosts_wait_only_for_their_own)
{
    struct turns *turns = turns_new();
    struct other o = { .host = { .w = { 1 }, .version = 4 } };
    struct turn_thread here = { turns, on_wait, on_wait, on_wait };
    struct turn_thread there = { &o, makes_a_flow, on_wait, on_wait };
    struct turn_lane *lane = turn_lane_new(turns, &here);
    struct host_dealt *hosts = host_dealt_new(turns);
    struct ip a = o.host, b = { .w = { 2 }, .version = 4 };
    struct packet p = { .order = 20, .lane = lane, .src = a, .dst = a };

    o.lane = turn_lane_new(turns, &there);
    o.ends = turn_ends_new(turns, &there);
    turn_reached(o.lane, 30, 0);
    turn_ends_told(o.ends, 1000);
    CHECK_INT(host_dealt_to(hosts, &a, &a, 10, 0), 0);
    packet_take_host_turn(&p);          /* from now on hosts are looked after */
    host_dealt_to(hosts, &a, &a, 22, 1);
    host_dealt_to(hosts, &b, &b, 34, 1);
    turn_ends_tell(o.ends, &a, &a, 27);
    turn_ends_tell(o.ends, &b, &b, 50);
    p.order = 36;
    p.hosts_after = host_dealt_to(hosts, &a, &a, 36, 0);
    CHECK_INT(p.hosts_after, 23);
    packet_take_host_turn(&p);
    CHECK_INT(o.nudges, 0);
    /* what is waited for makes a flow that ends before p */
    host_dealt_to(hosts, &a, &a, 40, 1);
    p.order = 102;
    p.hosts_after = host_dealt_to(hosts, &a, &a, 102, 0);
    packet_take_host_turn(&p);
    CHECK_INT(o.nudges, 2);
    host_dealt_free(hosts);
    turns_free(turns);
}
