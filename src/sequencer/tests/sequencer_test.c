/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tests of sequencer/sequencer: threads that wait in sequence touch shared things in the order of the
 * packets; one that has nothing to do is kicked. Those named seq_stress_ are for TSan too. */
#include "sequencer/sequencer_private.h"

#include "base/system/clock.h"
#include "base/test.h"
#include "sequencer/setup.h"

#include <pthread.h>
#include <stdlib.h>

TEST(seq_watermarks_only_move_on)
{
    struct watermark m = { 0 };

    watermark_set(&m, 10, 3);
    CHECK(watermark_has_passed(watermark_get(&m), 10, 3));
    CHECK(watermark_has_passed(watermark_get(&m), 9, 99));
    CHECK(!watermark_has_passed(watermark_get(&m), 10, 4));
    watermark_set(&m, 12, 0);
    CHECK(watermark_has_passed(watermark_get(&m), 10, 4));
    CHECK(!watermark_has_passed(watermark_get(&m), 12, 1));
}

TEST(seq_order_follows_time_and_never_stands)
{
    uint64_t one = seqno_next(0, 1000), two = seqno_next(one, 1000), back = seqno_next(two, 5);

    CHECK_INT(seqno_time_us(one), 1000);
    CHECK(two > one && back > two);
    CHECK_INT(seqno_time_us(back), 1000);
    CHECK(seqno_before_us(1001) > back && (seqno_before_us(1001) & 1) == 1);
    CHECK(seqno_next(back, 1001) > seqno_before_us(1001));
    CHECK((seqno_next(back, UINT64_MAX) & SEQNO_SHUTDOWN) == 0);
}

TEST(seq_latest_time_of_a_position)
{
    uint64_t one = seqno_next(0, 1000), back = seqno_next(one, 5);

    CHECK_INT(seqno_latest_us(back), 1001);
    CHECK(seqno_latest_us(seqno_before_us(1001)) >= 1001);
    CHECK(seqno_latest_us(seqno_next(back, UINT64_MAX)) == UINT64_MAX);
    CHECK(seqno_latest_us(SEQNO_SHUTDOWN | 3) == UINT64_MAX);
}

static void on_wait(void *self);

#define THREADS 4
#define PACKETS 20000

struct player {
    pthread_t id;
    struct seq_handle *handle;
    struct play *play;
    unsigned number;
    bool idle;                  /* has no packets, and only answers */
    int kicked;
};

struct play {
    struct sequencer *seq;
    struct player player[THREADS];
    uint64_t last;              /* what all share; whose turn it is may write */
    uint64_t done, wrong;
};

static void on_kick(void *self)
{
    struct player *p = self;

    __atomic_store_n(&p->kicked, 1, __ATOMIC_RELEASE);
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
            seq_wait(me->handle, at, 0);
            play->wrong += play->last >= at;
            play->last = at;
            play->done++;
        }
        seq_passes(me->handle, at, 1);
        if (at % 256 == 0)
            seq_publish(me->handle, at, 1);
    }
    seq_publish(me->handle, SEQNO_END, SEQNO_END);
    return NULL;
}

/* Says how far "it was dealt" only when it is asked. */
static void *answer(void *arg)
{
    struct player *me = arg;

    for (uint64_t at = 0; at < 2 * PACKETS + 2;) {
        if (!__atomic_exchange_n(&me->kicked, 0, __ATOMIC_ACQUIRE)) {
            clock_pause();
            continue;
        }
        at += 500;
        seq_publish(me->handle, at, 0);
    }
    seq_publish(me->handle, SEQNO_END, SEQNO_END);
    return NULL;
}

TEST(seq_stress_threads_go_in_order)
{
    struct play it = { .seq = sequencer_new() };
    uint64_t expected = 0;

    for (uint64_t at = 2; at <= 2 * PACKETS; at += 2)
        expected += at % 6 == 0;
    for (unsigned i = 0; i < THREADS; i++) {
        struct player *p = &it.player[i];
        struct seq_thread thread = { p, on_kick, on_wait, on_wait };

        *p = (struct player){ .play = &it, .number = i, .idle = i == THREADS - 1 };
        p->handle = seq_handle_new(it.seq, &thread);
    }
    for (unsigned i = 0; i < THREADS; i++)
        pthread_create(&it.player[i].id, NULL, it.player[i].idle ? answer : play,
                       &it.player[i]);
    for (unsigned i = 0; i < THREADS - 1; i++)
        pthread_join(it.player[i].id, NULL);
    CHECK_INT(it.done, expected);
    CHECK_INT(it.wrong, 0);
    while (seq_low_watermark(it.seq).at != SEQNO_END)
        __atomic_store_n(&it.player[THREADS - 1].kicked, 1, __ATOMIC_RELEASE);
    pthread_join(it.player[THREADS - 1].id, NULL);
    sequencer_free(it.seq);
}

struct late {
    struct seq_handle *waiter, *peer;
    uint64_t sleeps;            /* of the waiter before it waits for the position */
};

static uint64_t sleeps_of(const struct late *late)
{
    return __atomic_load_n(&worker_of(late->waiter)->eventcount.sleeps, __ATOMIC_RELAXED);
}

/* Passes a position only when the waiter sleeps for it, so all its spins were in vain. */
static void *pass_late(void *arg)
{
    struct late *late = arg;

    for (uint64_t at = 2; at <= 40; at += 2) {
        while (watermark_get(&late->waiter->mark).at < at)
            clock_pause();
        while (sleeps_of(late) == late->sleeps)
            clock_pause();
        seq_publish(late->peer, at, 0);
    }
    return NULL;
}

static void wait_at(struct late *late, uint64_t at)
{
    late->sleeps = sleeps_of(late);
    seq_wait(late->waiter, at, 0);
}

TEST(seq_spins_less_when_they_are_in_vain)
{
    struct sequencer *seq = sequencer_new();
    const struct seq_thread thread = { seq, NULL, on_wait, on_wait };
    struct late late = { seq_handle_new(seq, &thread), seq_handle_new(seq, &thread), 0 };
    struct eventcount *w = &worker_of(late.waiter)->eventcount;
    unsigned most;
    pthread_t id;

    w->spins = 1000;
    pthread_create(&id, NULL, pass_late, &late);
    wait_at(&late, 2);
    most = worker_of(late.waiter)->spins;
    CHECK_INT(w->spins, most / 2);
    for (uint64_t at = 4; at <= 40; at += 2)
        wait_at(&late, at);
    CHECK_INT(w->spins, most / 16);
    pthread_join(id, NULL);
    seq_publish(late.peer, SEQNO_END, 0);
    sequencer_free(seq);
}
