/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tests of base/system/clock. */
#include "base/system/clock.h"
#include "base/test.h"

/* One clock is read inside of the other; a thread that is put aside in between makes them differ. */
static bool keeps_up(struct clock_fast *fast)
{
    struct timespec pause = { .tv_nsec = 20000000 };
    uint64_t start = clock_ns(), fast_start = clock_fast_ns(fast), past, fast_past;

    nanosleep(&pause, NULL);
    fast_past = clock_fast_ns(fast) - fast_start;
    past = clock_ns() - start;
    return past >= 20000000 && fast_past > past / 2 && fast_past < past * 2;
}

TEST(clock_fast_keeps_up_with_the_clock)
{
    struct clock_fast fast;
    bool ok = false;

    clock_fast_init(&fast);
    for (unsigned i = 0; i < 50 && !ok; i++)
        ok = keeps_up(&fast);
    CHECK(ok);
}

TEST(clock_units)
{
    CHECK(clock_wall_us() > UINT64_C(1600000000) * 1000000);
    CHECK(clock_coarse_ns() <= clock_ns());
}
