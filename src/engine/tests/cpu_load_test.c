/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is said of loads of CPUs: of threads with a CPU each, and of those that the kernel moves. */
#include "base/array.h"
#include "base/test.h"
#include "engine/engine_private.h"

#define SECOND 1000000000u

/* Two threads with a CPU each cannot share their load. */
TEST(cpu_balance_of_threads_with_a_cpu_each)
{
    const struct cpu_load loads[] = { { 950000000, 0 }, { 50000000, 1 } };
    struct cpu_balance balance = cpu_balance_of(loads, 2, 2, SECOND);

    CHECK_INT(balance.imbalance, 1900);
    CHECK_INT(balance.busiest, 950);
}

/* Threads that are fixed to one CPU load it together. */
TEST(cpu_balance_adds_threads_of_one_cpu)
{
    const struct cpu_load loads[] = {
        { 400000000, 0 }, { 400000000, 0 }, { 100000000, 1 }, { 100000000, 1 },
    };

    CHECK_INT(cpu_balance_of(loads, 4, 2, SECOND).imbalance, 1600);
}

/* The kernel moves threads without a CPU of their own, so only one that needs more than the even
 * share alone counts. */
TEST(cpu_balance_of_threads_that_the_kernel_places)
{
    struct cpu_load loads[] = {
        { 400000000, -1 }, { 400000000, -1 }, { 100000000, -1 }, { 100000000, -1 },
    };

    CHECK_INT(cpu_balance_of(loads, 4, 2, SECOND).imbalance, 1000);
    loads[0].ns = 900000000;
    CHECK_INT(cpu_balance_of(loads, 4, 2, SECOND).imbalance, 1200);
}

TEST(cpu_balance_of_idle_threads)
{
    const struct cpu_load loads[] = { { 50000000, 0 }, { 0, 1 } };

    CHECK_INT(cpu_balance_of(loads, 2, 2, SECOND).imbalance, 1000);
    CHECK_INT(cpu_balance_of(loads, 2, 2, SECOND).busiest, 0);
    CHECK_INT(cpu_balance_of(loads, 0, 2, SECOND).imbalance, 1000);
}

/* The load moves from one thread to the other: even over the run, uneven in each second. */
TEST(cpu_balance_sees_a_load_that_moves)
{
    struct cpu_load totals[] = { { 0, 0 }, { 0, 1 } };
    uint64_t before[ARRAY_LEN(totals)] = { 0 };
    struct cpu_load lately[ARRAY_LEN(totals)];
    struct cpu_balance_state state = { .before_ns = before, .lately = lately };

    CHECK(cpu_balance_sample(&state, totals, 2, 2, 7));
    CHECK_INT(state.worst.imbalance, 0);
    CHECK(!cpu_balance_sample(&state, totals, 2, 2, 8));
    totals[0].ns = 960000000;
    CHECK(cpu_balance_sample(&state, totals, 2, 2, 7 + (uint64_t)SECOND));
    CHECK_INT(state.last.imbalance, 2000);
    totals[1].ns = 960000000;
    CHECK(cpu_balance_sample(&state, totals, 2, 2, 7 + 2 * (uint64_t)SECOND));
    CHECK_INT(state.last.imbalance, 2000);
    totals[0].ns += 500000000;
    totals[1].ns += 500000000;
    CHECK(cpu_balance_sample(&state, totals, 2, 2, 7 + 3 * (uint64_t)SECOND));
    CHECK_INT(state.last.imbalance, 1000);
    CHECK_INT(state.worst.imbalance, 2000);
    CHECK_INT(state.worst.busiest, 960);
}
