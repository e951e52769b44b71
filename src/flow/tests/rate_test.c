/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "flow/rate.h"

#include <stdlib.h>

#include "base/array.h"
#include "base/test.h"

#define SECOND UINT64_C(1000000)

static const struct flow_rate_conf conf = { .bytes = 1000, .seconds = 10 };

static struct flow *flow_of(void)
{
    struct flow *f = aligned_alloc(CACHE_LINE, sizeof(*f));

    memset(f, 0, sizeof(*f));
    return f;
}

static void flow_released(struct flow *f)
{
    flow_ext_free(f);
    free(f);
}

TEST(rate_of_one_direction_makes_an_elephant_once)
{
    struct flow *f = flow_of();

    CHECK(!flow_rate_add(&conf, f, TO_SERVER, 100 * SECOND, 600));
    CHECK(!flow_rate_add(&conf, f, TO_CLIENT, 100 * SECOND, 600));
    CHECK(!flow_rate_add(&conf, f, TO_SERVER, 109 * SECOND, 399));
    CHECK(flow_rate_add(&conf, f, TO_SERVER, 109 * SECOND, 1));
    CHECK(f->inspect_flags & FLOW_INSPECT_ELEPHANT);
    CHECK(!flow_rate_add(&conf, f, TO_CLIENT, 109 * SECOND, 600));
    flow_released(f);
}

TEST(rate_finds_the_other_direction_later)
{
    struct flow *f = flow_of();

    CHECK(flow_rate_add(&conf, f, TO_SERVER, 100 * SECOND, 1000));
    CHECK_INT(f->inspect_flags & FLOW_INSPECT_ELEPHANT, FLOW_INSPECT_ELEPHANT_TS);
    CHECK(!flow_rate_add(&conf, f, TO_CLIENT, 101 * SECOND, 999));
    CHECK_INT(f->inspect_flags & FLOW_INSPECT_ELEPHANT, FLOW_INSPECT_ELEPHANT_TS);
    CHECK(f->ext->rate != NULL);
    CHECK(!flow_rate_add(&conf, f, TO_CLIENT, 101 * SECOND, 1));       /* counted already */
    CHECK_INT(f->inspect_flags & FLOW_INSPECT_ELEPHANT, FLOW_INSPECT_ELEPHANT);
    CHECK(f->ext->rate == NULL);
    flow_released(f);
}

TEST(rate_evicts_what_is_older_than_the_interval)
{
    struct flow *f = flow_of();

    CHECK(!flow_rate_add(&conf, f, TO_SERVER, 100 * SECOND, 600));
    CHECK(!flow_rate_add(&conf, f, TO_SERVER, 105 * SECOND, 300));
    CHECK(!flow_rate_add(&conf, f, TO_SERVER, 110 * SECOND, 600));     /* 600 of 100 are gone */
    CHECK(!flow_rate_add(&conf, f, TO_SERVER, 500 * SECOND, 999));     /* all are */
    CHECK(flow_rate_add(&conf, f, TO_SERVER, 499 * SECOND, 1));        /* late: as of now */
    flow_released(f);
}

/* The sum over the seconds that end with this one. */
static uint64_t sum_of(const uint32_t *by_second, uint64_t second, uint32_t seconds)
{
    uint64_t sum = 0;

    for (uint32_t i = 0; i < seconds && i <= second; i++)
        sum += by_second[second - i];
    return sum;
}

TEST(rate_is_that_of_the_interval_whatever_the_pauses)
{
    const struct flow_rate_conf wide = { .bytes = 900, .seconds = 50 };
    static uint32_t by_second[9000];
    struct flow *f = flow_of();
    uint64_t second = 0;
    uint32_t random = 1;

    memset(by_second, 0, sizeof(by_second));
    while (true) {
        random = random * 1664525 + 1013904223;
        second += random >> 30 == 0 ? (random >> 20) % 60 : (random >> 20) % 3;
        if (second >= ARRAY_LEN(by_second))
            break;
        by_second[second] += random >> 26;
        if (sum_of(by_second, second, wide.seconds) >= wide.bytes)
            break;
        CHECK(!flow_rate_add(&wide, f, TO_CLIENT, (second + 7) * SECOND, random >> 26));
    }
    CHECK(second < ARRAY_LEN(by_second));
    CHECK(flow_rate_add(&wide, f, TO_CLIENT, (second + 7) * SECOND, random >> 26));
    flow_released(f);
}
