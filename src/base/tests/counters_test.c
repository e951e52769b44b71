/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tests of base/counters. */
#include "base/report/counters.h"
#include "base/test.h"

#include <string.h>

TEST(counters_sum_over_threads)
{
    counter_id sum = counter_register("test.sum", COUNTER_SUM);
    counter_id max = counter_register("test.max", COUNTER_MAX);
    counter_id avg = counter_register("test.avg", COUNTER_AVG);
    counter_id gauge = counter_register("test.gauge", COUNTER_GAUGE);
    struct counters *a = counters_new("A#01"), *b = counters_new("B#01");

    counters_reset_all();
    CHECK_INT(counter_register("test.sum", COUNTER_SUM), sum);
    counter_add(a, sum, 5);
    counter_inc(b, sum);
    counter_max(a, max, 7);
    counter_max(a, max, 3);
    counter_max(b, max, 4);
    counter_sample(a, avg, 10);
    counter_sample(b, avg, 20);
    counter_add(a, gauge, 9);
    counter_sub(a, gauge, 2);
    CHECK_INT(counter_total(sum), 6);
    CHECK_INT(counter_total(max), 7);
    CHECK_INT(counter_total(avg), 15);
    CHECK_INT(counter_total(gauge), 7);
    counters_free(a);
    CHECK_INT(counter_total(sum), 6);
    CHECK_INT(counter_total(max), 7);
    CHECK_INT(counter_total(avg), 15);
    counters_free(b);
    CHECK_STRING(counter_name(max), "test.max");
    CHECK_INT(counter_kind(max), COUNTER_MAX);
    CHECK(counter_count() > avg);
    counters_reset_all();
    CHECK_INT(counter_total(sum), 0);
}

static void count_visit(const struct counters *c, void *arg)
{
    if (strncmp(c->thread_name, "visit", 5) == 0)
        ++*(unsigned *)arg;
}

TEST(counters_each_sees_live_blocks)
{
    struct counters *a = counters_new("visit1"), *b = counters_new("visit2-with-a-long-name");
    unsigned seen = 0;

    counters_each(count_visit, &seen);
    CHECK_INT(seen, 2);
    counters_free(a);
    seen = 0;
    counters_each(count_visit, &seen);
    CHECK_INT(seen, 1);
    counters_free(b);
    counters_free(NULL);
}

/* A lookup may come before the module that owns the counter. */
TEST(counters_know_which_are_own_and_which_stay_zero)
{
    counter_id looked_up = counter_register("test.own", COUNTER_SUM), plain;

    plain = counter_register("test.plain", COUNTER_SUM);
    CHECK(!counter_is_own(looked_up) && !counter_is_zero(looked_up));
    CHECK_INT(counter_register_own("test.own", COUNTER_SUM), looked_up);
    CHECK_INT(counter_register("test.own", COUNTER_SUM), looked_up);
    CHECK(counter_is_own(looked_up) && !counter_is_own(plain));
    counter_register_zero("test.zero");
    CHECK(counter_is_zero(counter_register("test.zero", COUNTER_SUM)) && !counter_is_zero(plain));
}
