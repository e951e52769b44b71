/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Rounds of jobs between a packet thread and its helper: the candidates are those
 * of a search on the packet thread. */
#include "detect/inspect/search_ahead.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/system/clock.h"
#include "base/test.h"

#define PAYLOADS 60
#define PAYLOAD_LEN 600
#define RULES 64

struct fixture {
    struct pattern_pool *pool;
    struct payload_sets sets;
    struct search_ahead *ahead;
    struct candidates found;
    uint8_t payload[PAYLOADS][PAYLOAD_LEN];
};

/* Rule n has the pattern "needle", 'A' + n / 8, 'a' + n % 8. */
static void pattern_of(unsigned rule, char *out)
{
    snprintf(out, 16, "needle%c%c", 'A' + (int)rule / 8, 'a' + (int)rule % 8);
}

static void build_sets(struct fixture *f)
{
    struct pattern_set_builder *builder = pattern_set_builder_new();
    struct err err = { 0 };
    char text[RULES][16];

    for (unsigned i = 0; i < RULES; i++) {
        pattern_of(i, text[i]);
        pattern_set_add(builder, (const uint8_t *)text[i], 8, false, i);
    }
    f->pool = pattern_pool_new(false, NULL);
    if (pattern_set_build(builder, f->pool, &f->sets.any_port[POSITION_ANYWHERE], &err) < 0)
        abort();
    f->sets.longest = 8;
}

/* Payload i has i % 4 patterns; the last one has more than a job can hold. */
static void fill_payloads(struct fixture *f)
{
    char text[16];

    for (unsigned i = 0; i < PAYLOADS; i++) {
        unsigned patterns = i == PAYLOADS - 1 ? 40 : i % 4;

        memset(f->payload[i], 'x', PAYLOAD_LEN);
        for (unsigned k = 0; k < patterns; k++) {
            pattern_of((i + k) % RULES, text);
            memcpy(f->payload[i] + 10 * k, text, 8);
        }
    }
}

static struct fixture *fixture_new(void)
{
    struct fixture *f = calloc(1, sizeof(*f));

    build_sets(f);
    fill_payloads(f);
    candidates_init(&f->found, RULES);
    f->ahead = search_ahead_new();
    search_ahead_set_rules(f->ahead, RULES, NULL, NULL);
    return f;
}

static void fixture_free(struct fixture *f)
{
    search_ahead_free(f->ahead);
    candidates_fini(&f->found);
    pattern_pool_free(f->pool);
    free(f);
}

static void post(struct fixture *f, unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        search_ahead_add(f->ahead, i, &f->sets,
                         &(struct sent_payload){ .data = { f->payload[i], PAYLOAD_LEN } });
    search_ahead_start(f->ahead);
}

static unsigned expected_count(unsigned at)
{
    return at == PAYLOADS - 1 ? 40 : at % 4;
}

/* The candidates of one packet, as the packet thread finds them. */
static bool has_expected(struct fixture *f, unsigned at)
{
    struct slice data = { f->payload[at], PAYLOAD_LEN };
    bool right;

    search_ahead_reach(f->ahead, at);
    if (!search_ahead_take(f->ahead, &f->sets, data, false, &f->found))
        payload_sets_scan(&f->sets, NULL, &(struct sent_payload){ .data = data }, &f->found);
    right = f->found.count == expected_count(at);
    for (unsigned k = 0; k < f->found.count; k++)
        right = right && candidates_has(&f->found, (at + k) % RULES);
    candidates_clear(&f->found);
    return right;
}

TEST(search_ahead_finds_what_the_packet_thread_finds)
{
    struct fixture *f = fixture_new();
    unsigned wrong = 0;

    for (unsigned round = 0; round < 500; round++) {
        post(f, PAYLOADS);
        for (unsigned i = 0; i < PAYLOADS; i++)
            wrong += !has_expected(f, i);
        search_ahead_end(f->ahead);
    }
    CHECK_INT(wrong, 0);
    fixture_free(f);
}

/* The helper works on its own: rounds are repeated until it has answered. */
TEST(search_ahead_helper_answers)
{
    struct fixture *f = fixture_new();

    while (search_ahead_answers(f->ahead) == 0) {
        post(f, PAYLOADS - 1);
        sched_yield();
        for (unsigned i = 0; i < PAYLOADS - 1; i++)
            CHECK(has_expected(f, i));
        search_ahead_end(f->ahead);
    }
    fixture_free(f);
}

/* Lets the helper get to different positions of a round. */
static void clock_wait(unsigned us)
{
    uint64_t end = clock_ns() + 1000 * us;

    while (clock_ns() < end)
        clock_pause();
}

/* After the packet thread has passed a packet its bytes may be another packet's. The thread
 * sanitizer sees a helper that still reads them. */
TEST(search_ahead_leaves_packets_that_were_passed)
{
    struct fixture *f = fixture_new();
    unsigned wrong = 0;

    for (unsigned round = 0; round < 2000; round++) {
        post(f, PAYLOADS - 1);
        clock_wait(round % 8);
        search_ahead_reach(f->ahead, round % 40);
        memset(f->payload, 'y', round % 40 * PAYLOAD_LEN);
        for (unsigned i = round % 40; i < PAYLOADS - 1; i += 3) {
            wrong += !has_expected(f, i);
            if (i > round % 40)
                memset(f->payload[i - 1], 'y', PAYLOAD_LEN);
        }
        search_ahead_end(f->ahead);
        memset(f->payload, 'z', sizeof(f->payload));
        fill_payloads(f);
    }
    CHECK_INT(wrong, 0);
    fixture_free(f);
}

TEST(search_ahead_answers_only_for_the_same_bytes_and_sets)
{
    struct fixture *f = fixture_new();
    struct payload_sets other = f->sets;

    post(f, PAYLOADS);
    search_ahead_reach(f->ahead, 1);
    CHECK(!search_ahead_take(f->ahead, &other, (struct slice){ f->payload[1], PAYLOAD_LEN }, false,
                             &f->found));
    CHECK(!search_ahead_take(f->ahead, &f->sets, (struct slice){ f->payload[1], 599 }, false,
                             &f->found));
    CHECK(!search_ahead_take(f->ahead, &f->sets, (struct slice){ f->payload[2], PAYLOAD_LEN },
                             false, &f->found));
    CHECK_INT(f->found.count, 0);
    search_ahead_end(f->ahead);
    fixture_free(f);
}

/* More jobs than fit, rounds that are too small, and rules that change between rounds. */
TEST(search_ahead_limits)
{
    struct fixture *f = fixture_new();

    post(f, 2);
    CHECK(has_expected(f, 0) && has_expected(f, 1));
    search_ahead_end(f->ahead);
    for (unsigned i = 0; i < 1000; i++)
        search_ahead_add(f->ahead, i, &f->sets,
                         &(struct sent_payload){ .data = { f->payload[3], PAYLOAD_LEN } });
    search_ahead_start(f->ahead);
    search_ahead_reach(f->ahead, 999);
    CHECK(!search_ahead_take(f->ahead, &f->sets, (struct slice){ f->payload[3], PAYLOAD_LEN },
                             false, &f->found));
    search_ahead_end(f->ahead);
    search_ahead_set_rules(f->ahead, 2 * RULES, NULL, NULL);
    post(f, PAYLOADS);
    for (unsigned i = 0; i < PAYLOADS; i++)
        CHECK(has_expected(f, i));
    search_ahead_end(f->ahead);
    fixture_free(f);
}
