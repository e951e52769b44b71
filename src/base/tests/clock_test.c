/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tests of base/clock and base/cpu. */
#include "base/clock.h"
#include "base/cpu.h"
#include "base/test.h"

TEST(clock_fast_keeps_up_with_the_clock)
{
    struct timespec pause = { .tv_nsec = 20000000 };
    struct clock_fast fast;
    uint64_t start, fast_start, past, fast_past;

    clock_fast_init(&fast);
    start = clock_ns();
    fast_start = clock_fast_ns(&fast);
    nanosleep(&pause, NULL);
    fast_past = clock_fast_ns(&fast) - fast_start;
    past = clock_ns() - start;
    CHECK(past >= 20000000);
    CHECK(fast_past > past / 2 && fast_past < past * 2);
}

TEST(clock_units)
{
    CHECK(clock_wall_us() > UINT64_C(1600000000) * 1000000);
    CHECK(clock_coarse_ns() <= clock_ns());
}

TEST(cpu_count_is_positive)
{
    struct cpu_features f = cpu_features();

    CHECK(cpu_count() >= 1);
    CHECK(!f.avx512bw || f.avx2);
}
