/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tests of base/ring. Those named ring_stress_ run threads against each other; scripts/check runs
 * them under ThreadSanitizer too. */
#include "base/containers/ring.h"

#include "base/array.h"
#include "base/system/clock.h"
#include "base/test.h"

#include <pthread.h>
#include <stdlib.h>

#define ITEM(n) ((void *)(uintptr_t)(n))
#define NUMBER(item) ((uintptr_t)(item))

TEST(ring_is_bounded_and_ordered)
{
    struct ring *ring = ring_new(5, NULL, NULL);
    void *in[12], *out[12];

    for (unsigned i = 0; i < 12; i++)
        in[i] = ITEM(i + 1);
    CHECK_INT(ring_size(ring), 8);
    CHECK_INT(ring_pop(ring, out, 4), 0);
    CHECK_INT(ring_push(ring, in, 6), 6);
    CHECK_INT(ring_push(ring, in + 6, 6), 2);
    CHECK_INT(ring_push(ring, in, 1), 0);
    CHECK_INT(ring_space(ring), 0);
    CHECK_INT(ring_pop(ring, out, 5), 5);
    CHECK_INT(ring_push(ring, in + 8, 4), 4);
    CHECK_INT(ring_count(ring), 7);
    CHECK_INT(ring_pop(ring, out + 5, 12), 7);
    for (unsigned i = 0; i < 12; i++)
        CHECK(out[i] == in[i]);
    ring_free(ring);
}

TEST(ring_indices_wrap)
{
    struct ring *ring = ring_new(4, NULL, NULL);
    void *out[4];

    ring->head = ring->tail = ring->head_seen = ring->tail_seen = UINT32_MAX - 5;
    for (unsigned i = 0; i < 20; i++) {
        void *in[3] = { ITEM(i), ITEM(i + 100), ITEM(i + 200) };

        CHECK_INT(ring_push(ring, in, 3), 3);
        CHECK_INT(ring_count(ring), 3);
        CHECK_INT(ring_pop(ring, out, 4), 3);
        CHECK(out[0] == in[0] && out[1] == in[1] && out[2] == in[2]);
    }
    ring_free(ring);
}

TEST(ring_close_after_the_last_item)
{
    struct ring *ring = ring_new(1, NULL, NULL);
    void *item = ITEM(1);

    CHECK_INT(ring_size(ring), 1);
    CHECK(!ring_is_closed(ring));
    ring_push(ring, &item, 1);
    ring_close(ring);
    CHECK(ring_is_closed(ring) && !ring_is_done(ring));
    CHECK_INT(ring_pop(ring, &item, 1), 1);
    CHECK(ring_is_done(ring));
    ring_free(ring);
}

TEST(eventcount_times_out)
{
    struct eventcount w;
    uint64_t start = clock_ns(), past;

    eventcount_init(&w);
    eventcount_sleep(&w, eventcount_prepare(&w), 20000000);
    past = clock_ns() - start;
    CHECK(past >= 15000000);
    CHECK_INT(w.sleeping, 0);
}

TEST(eventcount_sees_a_wake_before_sleep)
{
    struct eventcount w;
    uint32_t key;

    eventcount_init(&w);
    key = eventcount_prepare(&w);
    eventcount_wake(&w);
    eventcount_sleep(&w, key, EVENTCOUNT_FOREVER);     /* returns at once, or the test hangs */
    CHECK_INT(w.sleeping, 0);
}

/* --- several producers, one consumer on one eventcount; a sum and the order of each are checked --- */

#define LANES 3

struct lane {
    struct ring *ring;
    struct eventcount producer;
    unsigned seed, items;
};

static bool has_space(void *arg)
{
    return ring_space(arg) > 0;
}

static void *produce(void *arg)
{
    struct lane *lane = arg;
    unsigned sent = 0;

    while (sent < lane->items) {
        void *batch[16];
        unsigned n = 1 + (unsigned)rand_r(&lane->seed) % 16, done = 0;

        n = MIN(n, lane->items - sent);
        for (unsigned i = 0; i < n; i++)
            batch[i] = ITEM(sent + i + 1);
        while (done < n) {
            done += ring_push(lane->ring, batch + done, n - done);
            if (done < n)
                eventcount_wait(&lane->producer, has_space, lane->ring, EVENTCOUNT_FOREVER);
        }
        sent += n;
        if (rand_r(&lane->seed) % 64 == 0)
            nanosleep(&(struct timespec){ .tv_nsec = 50000 }, NULL);
    }
    ring_close(lane->ring);
    return NULL;
}

struct lanes {
    struct lane *lane;
    unsigned open;
};

static bool has_work(void *arg)
{
    struct lanes *all = arg;

    for (unsigned i = 0; i < LANES; i++) {
        struct ring *ring = all->lane[i].ring;

        if (ring != NULL && (ring_count(ring) > 0 || ring_is_closed(ring)))
            return true;
    }
    return false;
}

/* Takes one batch from a lane; counts what is out of order. */
static unsigned consume(struct lane *lane, uintptr_t *last, unsigned size)
{
    void *batch[16];
    unsigned n = ring_pop(lane->ring, batch, size), wrong = 0;

    for (unsigned i = 0; i < n; i++)
        wrong += NUMBER(batch[i]) != ++*last;
    return wrong;
}

static void run_lanes(struct test *t, uint32_t ring_size_expected, unsigned items, unsigned spins)
{
    struct lane *lane = xaligned(CACHE_LINE, LANES * sizeof(*lane));
    struct eventcount consumer;
    uintptr_t last[LANES] = { 0 };
    pthread_t thread[LANES];
    struct lanes all = { .lane = lane, .open = LANES };
    struct ring *rings[LANES];
    unsigned seed = 7, wrong = 0;

    eventcount_init(&consumer);
    consumer.spins = spins;
    for (unsigned i = 0; i < LANES; i++) {
        eventcount_init(&lane[i].producer);
        lane[i].producer.spins = spins;
        lane[i].seed = i;
        lane[i].items = items;
        lane[i].ring = rings[i] = ring_new(ring_size_expected, &consumer, &lane[i].producer);
    }
    for (unsigned i = 0; i < LANES; i++)
        pthread_create(&thread[i], NULL, produce, &lane[i]);
    while (all.open > 0) {
        eventcount_wait(&consumer, has_work, &all, EVENTCOUNT_FOREVER);
        for (unsigned i = 0; i < LANES; i++) {
            if (lane[i].ring == NULL)
                continue;
            wrong += consume(&lane[i], &last[i], 1 + (unsigned)rand_r(&seed) % 16);
            if (!ring_is_done(lane[i].ring))
                continue;
            pthread_join(thread[i], NULL);
            lane[i].ring = NULL;
            all.open--;
        }
    }
    CHECK_INT(wrong, 0);
    for (unsigned i = 0; i < LANES; i++) {
        CHECK_INT(last[i], items);
        ring_free(rings[i]);
    }
    free(lane);
}

TEST(ring_stress_small_ring_always_full_or_empty)
{
    run_lanes(t, 1, 3000, 0);
}

TEST(ring_stress_sleeping_at_once)
{
    run_lanes(t, 16, 20000, 0);
}

TEST(ring_stress_spinning_first)
{
    run_lanes(t, 64, 50000, 100);
}

/* --- one item there and back, both sides asleep in between: a lost wake-up hangs --- */

struct pair {
    struct ring *there, *back;
    struct eventcount left, right;
};

static bool has_items(void *arg)
{
    return ring_count(arg) > 0 || ring_is_closed(arg);
}

static void *echo(void *arg)
{
    struct pair *pair = arg;
    void *item;

    while (!ring_is_done(pair->there)) {
        eventcount_wait(&pair->right, has_items, pair->there, EVENTCOUNT_FOREVER);
        if (ring_pop(pair->there, &item, 1) > 0)
            ring_push(pair->back, &item, 1);
    }
    return NULL;
}

TEST(ring_stress_ping_pong)
{
    struct pair pair = { 0 };
    pthread_t thread;
    unsigned wrong = 0;

    eventcount_init(&pair.left);
    eventcount_init(&pair.right);
    pair.left.spins = pair.right.spins = 0;
    pair.there = ring_new(2, &pair.right, NULL);
    pair.back = ring_new(2, &pair.left, NULL);
    pthread_create(&thread, NULL, echo, &pair);
    for (unsigned i = 1; i <= 5000; i++) {
        void *item = ITEM(i);

        ring_push(pair.there, &item, 1);
        item = NULL;
        eventcount_wait(&pair.left, has_items, pair.back, EVENTCOUNT_FOREVER);
        ring_pop(pair.back, &item, 1);
        wrong += NUMBER(item) != i;
    }
    ring_close(pair.there);
    pthread_join(thread, NULL);
    CHECK_INT(wrong, 0);
    ring_free(pair.there);
    ring_free(pair.back);
}
