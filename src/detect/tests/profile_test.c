/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What rules cost: who counts, when, and what comes of it. */
#include "detect/state/profile.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory/lib_memory.h"
#include "base/text/ip.h"
#include "base/test.h"
#include "detect/tests/rules_helper.h"

static void send(struct test_rules *r, const char *payload, unsigned times)
{
    for (unsigned i = 0; i < times; i++) {
        struct packet p = { .payload = (uint8_t *)payload, .ip_proto = 17, .src.version = 4,
                            .dst.version = 4, .payload_len = (uint16_t)strlen(payload) };

        test_rules_inspect(r->thread, &p);
        packet_fini(&p);
    }
}

static struct rule_profile profile_of(const struct test_rules *r, uint32_t sid)
{
    struct rule_profile *all = ruleset_profile_sum(r->set), found = { 0 };

    for (size_t i = 0; all != NULL && i < r->set->rules.count; i++)
        if (r->set->rules.at[i]->sid == sid)
            found = all[i];
    free(all);
    return found;
}

TEST(nothing_is_counted_before_profiling_starts)
{
    struct test_rules r = { 0 };
    struct rule_profile c;

    CHECK(test_rules_load(&r, "alert udp any any -> any any (content:\"abc\"; sid:1;)"));
    send(&r, "xxabcxx", 2);
    CHECK(ruleset_profile_sum(r.set) == NULL);
    ruleset_profile_start(r.set);
    detect_thread_follow_profile(r.thread);
    CHECK(ruleset_profile_is_on(r.set));
    send(&r, "xxabcxx", 3);
    send(&r, "nothing", 5);
    c = profile_of(&r, 1);
    CHECK_INT(c.checks, 3);             /* its pattern was nowhere in the others */
    CHECK_INT(c.matches, 3);
    CHECK(c.ticks > 0 && c.match_ticks == c.ticks && c.max_ticks <= c.ticks);
    ruleset_profile_stop(r.set);
    detect_thread_follow_profile(r.thread);
    send(&r, "xxabcxx", 7);
    CHECK_INT(profile_of(&r, 1).checks, 3);
    ruleset_profile_start(r.set);       /* goes on from there */
    detect_thread_follow_profile(r.thread);
    send(&r, "xxabcxx", 1);
    CHECK_INT(profile_of(&r, 1).checks, 4);
    test_rules_free(&r);
}

TEST(a_check_without_a_match_has_ticks_too)
{
    struct test_rules r = { 0 };
    struct rule_profile c;

    test_rules_add(&r, "alert udp any any -> any any (content:\"abc\"; content:\"def\"; "
                       "sid:1;)");
    test_rules_add(&r, "alert udp any any -> any 53 (sid:2;)");
    CHECK(test_rules_ready(&r));
    ruleset_profile_start(r.set);
    detect_thread_follow_profile(r.thread);
    send(&r, "abc", 4);
    send(&r, "abcdef", 2);
    c = profile_of(&r, 1);
    CHECK_INT(c.checks, 6);
    CHECK_INT(c.matches, 2);
    CHECK(c.match_ticks < c.ticks);
    CHECK_INT(profile_of(&r, 2).matches, 0);
    test_rules_free(&r);
}

TEST(profiles_of_threads_that_left_stay)
{
    struct test_rules r = { 0 };

    CHECK(test_rules_load(&r, "alert udp any any -> any any (content:\"abc\"; sid:1;)"));
    ruleset_profile_start(r.set);
    detect_thread_follow_profile(r.thread);
    send(&r, "abc", 2);
    detect_thread_free(r.thread);
    CHECK_INT(profile_of(&r, 1).checks, 2);
    r.thread = detect_thread_new(r.set, NULL, r.counters, false, NULL);
    send(&r, "abc", 1);
    CHECK_INT(profile_of(&r, 1).checks, 3);
    ruleset_profile_clear(r.set);
    CHECK_INT(profile_of(&r, 1).checks, 1);
    test_rules_free(&r);
}

/* --- counting and asking at once ------------------------------------------------------------ */

#define ROUNDS 20000

static void *count(void *arg)
{
    struct profile *p = arg;
    struct rule_profile *profile = profile_join(p);

    for (unsigned i = 0; i < ROUNDS; i++)
        rule_profile_add(&profile[i % 2], 10, i % 4 == 0, false);
    profile_leave(p, profile);
    return NULL;
}

TEST(sums_are_right_while_threads_come_and_go)
{
    struct profile *p = profile_new(2);
    struct ruleset set = { .profile = p };
    struct rule_profile *sum;
    pthread_t thread[4];

    for (unsigned i = 0; i < 4; i++)
        CHECK(pthread_create(&thread[i], NULL, count, p) == 0);
    for (unsigned i = 0; i < 50; i++) {
        sum = ruleset_profile_sum(&set);
        CHECK(sum == NULL || sum[0].checks <= 4 * ROUNDS / 2);
        free(sum);
    }
    for (unsigned i = 0; i < 4; i++)
        pthread_join(thread[i], NULL);
    sum = ruleset_profile_sum(&set);
    CHECK(sum != NULL);
    CHECK_INT(sum[0].checks, 4 * ROUNDS / 2);
    CHECK_INT(sum[1].checks, 4 * ROUNDS / 2);
    CHECK_INT(sum[0].matches, 4 * ROUNDS / 4);
    CHECK_INT(sum[1].matches, 0);
    CHECK_INT(sum[1].ticks, 10 * 4 * ROUNDS / 2);
    CHECK_INT(sum[0].max_ticks, 10);
    free(sum);
    profile_free(p);
}
