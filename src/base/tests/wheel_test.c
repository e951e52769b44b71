/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tests of base/wheel; a plain array of expiry times says what is right. */
#include "base/containers/wheel.h"

#include "base/array.h"
#include "base/test.h"

#include <stdlib.h>

struct fired {
    struct wheel *wheel;
    struct wheel_timer *last;
    uint64_t last_expires;
    unsigned count, early, unordered, again;
};

static void on_fire(struct wheel_timer *timer, void *arg)
{
    struct fired *f = arg;

    f->early += timer->expires > f->wheel->now;
    f->unordered += timer->expires < f->last_expires;
    f->last_expires = timer->expires;
    f->last = timer;
    f->count++;
    if (f->again > 0) {
        f->again--;
        wheel_add(f->wheel, timer, f->wheel->now);
    }
}

static struct wheel *new_wheel(uint64_t now)
{
    struct wheel *w = xmalloc(sizeof(*w));

    wheel_init(w, now);
    return w;
}

TEST(wheel_fires_when_due)
{
    static const uint64_t delays[] = { 1, 2, 63, 64, 65, 4095, 4096, 4097, 1u << 20,
                                       UINT64_C(1) << 40 };
    struct wheel *w = new_wheel(1000);
    struct fired f = { .wheel = w };

    for (size_t i = 0; i < ARRAY_LEN(delays); i++) {
        struct wheel_timer timer = { 0 };
        uint64_t at = w->now + delays[i];

        f.count = 0;
        f.last_expires = 0;
        wheel_add(w, &timer, at);
        CHECK(wheel_is_queued(&timer));
        CHECK(wheel_next(w) <= at);
        CHECK(wheel_advance(w, at - 1, on_fire, &f, 0));
        CHECK_INT(f.count, 0);
        CHECK(wheel_advance(w, at, on_fire, &f, 0));
        CHECK_INT(f.count, 1);
        CHECK(f.last == &timer && !wheel_is_queued(&timer));
    }
    CHECK(wheel_next(w) == UINT64_MAX);
    free(w);
}

TEST(wheel_past_timer_fires_at_once)
{
    struct wheel *w = new_wheel(500);
    struct wheel_timer timer = { 0 };
    struct fired f = { .wheel = w };

    wheel_add(w, &timer, 3);
    CHECK_INT(wheel_next(w), 500);
    wheel_advance(w, 500, on_fire, &f, 0);
    CHECK_INT(f.count, 1);
    free(w);
}

TEST(wheel_deleted_timer_is_silent)
{
    struct wheel *w = new_wheel(0);
    struct wheel_timer a = { 0 }, b = { 0 };
    struct fired f = { .wheel = w };

    wheel_add(w, &a, 100);
    wheel_add(w, &b, 100);
    wheel_del(&a);
    wheel_del(&a);
    wheel_add(w, &b, 5000);
    wheel_advance(w, 4999, on_fire, &f, 0);
    CHECK_INT(f.count, 0);
    wheel_advance(w, 10000, on_fire, &f, 0);
    CHECK_INT(f.count, 1);
    CHECK(f.last == &b);
    free(w);
}

TEST(wheel_work_is_bounded_per_call)
{
    struct wheel *w = new_wheel(0);
    struct wheel_timer timer[100] = { 0 };
    struct fired f = { .wheel = w };
    unsigned calls = 1;

    for (unsigned i = 0; i < 100; i++)
        wheel_add(w, &timer[i], 70 + i % 3);
    while (!wheel_advance(w, 1000, on_fire, &f, 7))
        calls++;
    CHECK_INT(f.count, 100);
    CHECK_INT(f.unordered, 0);
    CHECK(calls >= 100 / 7);
    CHECK_INT(w->now, 1000);
    free(w);
}

TEST(wheel_callback_may_add_again)
{
    struct wheel *w = new_wheel(0);
    struct wheel_timer timer = { 0 };
    struct fired f = { .wheel = w, .again = 4 };

    wheel_add(w, &timer, 10);
    wheel_advance(w, 20, on_fire, &f, 0);
    CHECK_INT(f.count, 5);
    free(w);
}

/* Random timers, deletions, moves and steps against the plain list. */
TEST(wheel_agrees_with_a_list)
{
    enum { TIMERS = 400, STEPS = 3000 };
    struct wheel *w = new_wheel(12345);
    struct wheel_timer *timer = xcalloc(TIMERS, sizeof(*timer));
    unsigned seed = 3;

    for (unsigned step = 0; step < STEPS; step++) {
        struct fired f = { .wheel = w };
        unsigned due = 0, late = 0;
        uint64_t now;

        for (unsigned i = 0; i < 20; i++) {
            struct wheel_timer *one = &timer[(unsigned)rand_r(&seed) % TIMERS];

            if (rand_r(&seed) % 4 == 0)
                wheel_del(one);
            else
                wheel_add(w, one, w->now + ((unsigned)rand_r(&seed) >> rand_r(&seed) % 31));
        }
        now = w->now + ((unsigned)rand_r(&seed) >> rand_r(&seed) % 31);
        for (unsigned i = 0; i < TIMERS; i++)
            due += wheel_is_queued(&timer[i]) && timer[i].expires <= now;
        wheel_advance(w, now, on_fire, &f, 0);
        CHECK_INT(f.count, due);
        CHECK_INT(f.early, 0);
        for (unsigned i = 0; i < TIMERS; i++)
            late += wheel_is_queued(&timer[i]) && timer[i].expires <= now;
        CHECK_INT(late, 0);
    }
    free(timer);
    free(w);
}

static void add_twice_as_far(struct wheel_timer *timer, void *arg)
{
    struct fired *f = arg;

    f->last_expires = MAX(f->last_expires, timer->expires);
    f->count++;
    wheel_add(f->wheel, timer, 2 * timer->expires);
}

TEST(wheel_gives_all_timers_another_time)
{
    static struct wheel_timer timer[300];
    struct wheel *w = new_wheel(0);
    struct fired f = { .wheel = w };

    for (unsigned i = 0; i < ARRAY_LEN(timer); i++)
        wheel_add(w, &timer[i], i * 37 % 300 * 11);
    wheel_restart(w, add_twice_as_far, &f);
    CHECK(f.count == ARRAY_LEN(timer) && f.last_expires == 299 * 11);
    f = (struct fired){ .wheel = w };
    for (uint64_t at = 0; at <= 2 * 299 * 11; at += 22) {
        CHECK(wheel_advance(w, at, on_fire, &f, 0));
        CHECK_INT(f.count, at / 22 + 1);
    }
    CHECK(f.early == 0 && f.unordered == 0);
    free(w);
}
