/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What rules cost: who counts, when, and what comes of it. */
#include "detect/state/profile.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory/lib_memory.h"
#include "base/text/ip.h"
#include "base/test.h"
#include "detect/inspect/packet_sample.h"
#include "detect/state/part_costs.h"
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

struct found_part { const char *name; struct part_cost part; };

static void find_part(const struct part_cost *part, void *arg)
{
    struct found_part *f = arg;

    if (strcmp(part->name, f->name) == 0)
        f->part = *part;
}

static struct part_cost part_of(const struct test_rules *r, enum cost_kind kind, const char *name)
{
    struct found_part f = { .name = name };

    part_costs_each(ruleset_part_costs(r->set), kind, find_part, &f);
    return f.part;
}

/* A part that each packet has is checked as often as there are packets, but for those since the last
 * that was timed: at most four times 191. */
TEST(parts_of_rules_are_timed)
{
    static const struct { enum cost_kind kind; const char *name; } parts[] = {
        { COST_GROUP, "udp to_server" }, { COST_BUFFER, "payload" }, { COST_KEYWORD, "content" },
        { COST_KEYWORD, "dsize" }, { COST_KEYWORD, "byte_test" },
    };
    struct test_rules r = { 0 };

    CHECK(test_rules_load(&r, "alert udp any any -> any any (dsize:>3; content:\"abc\"; "
                              "byte_test:1,=,9,0; sid:1;)"));
    send(&r, "xxabcxx", 5000);
    for (unsigned i = 0; i < ARRAY_LEN(parts); i++) {
        struct part_cost c = part_of(&r, parts[i].kind, parts[i].name);

        CHECK(c.timed >= 5000 / (4 * 191) && c.timed <= 5000 / (4 * 64) + 8);
        CHECK(c.checks >= 5000 - 4 * 191 && c.checks <= 2 * 5000);
        CHECK(c.ticks > 0 && c.max_ticks * c.checks >= c.ticks);
    }
    CHECK_INT(part_of(&r, COST_GROUP, "udp to_server").checks,
              part_of(&r, COST_KEYWORD, "byte_test").checks);
    CHECK_INT(part_of(&r, COST_KEYWORD, "pcre").timed, 0);
    CHECK_INT(part_of(&r, COST_GROUP, "tcp to_server").timed, 0);
    ruleset_profile_clear(r.set);
    CHECK_INT(part_of(&r, COST_BUFFER, "payload").timed, 0);
    test_rules_free(&r);
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
    CHECK(c.match_ticks == c.ticks && c.max_ticks <= c.ticks);
    ruleset_profile_stop(r.set);
    detect_thread_follow_profile(r.thread);
    send(&r, "xxabcxx", 7);
    CHECK_INT(profile_of(&r, 1).checks, 3);
    ruleset_profile_start(r.set);       /* goes on from there */
    detect_thread_follow_profile(r.thread);
    send(&r, "xxabcxx", 1);
    CHECK_INT(profile_of(&r, 1).checks, 4);
    /* A slow counter of time may stand still for some checks. */
    for (unsigned i = 0; i < 100000 && profile_of(&r, 1).ticks == 0; i++)
        send(&r, "xxabcxx", 1);
    CHECK(profile_of(&r, 1).ticks > 0);
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

/* --- costs, by sample ------------------------------------------------------------------------- */

static struct rule_profile cost_of(const struct test_rules *r, uint32_t sid, double *tick_ns)
{
    struct rule_profile *all = ruleset_costs_sum(r->set, tick_ns), found = { 0 };

    for (size_t i = 0; all != NULL && i < r->set->rules.count; i++)
        if (r->set->rules.at[i]->sid == sid)
            found = all[i];
    free(all);
    return found;
}

TEST(timed_packets_stand_for_all_before_them)
{
    struct packet_sample s;
    uint64_t stands_for = 0, timed = 0, last = 0;

    packet_sample_init(&s, 7);
    for (uint64_t n = 8; n < 8 + 1000000; n++) {
        if (n >= s.next)
            packet_sample_take(&s, n);
        if (s.weight == 0)
            continue;
        timed++;
        stands_for += s.weight;
        CHECK_INT(stands_for, n - 7);
        CHECK(n == 8 || n - last > 1);
        CHECK(timed < 9 || (s.weight >= 64 && s.weight < 192));
        last = n;
    }
    CHECK(timed > 1000000 / 135 && timed < 1000000 / 121);
}

TEST(costs_are_counted_without_being_asked_for)
{
    struct test_rules r = { 0 };
    struct rule_profile c;
    double tick_ns, first_tick_ns;

    test_rules_add(&r, "alert udp any any -> any any (content:\"abc\"; sid:1;)");
    test_rules_add(&r, "alert udp any any -> any any (content:\"abc\"; content:\"x\"; sid:2;)");
    CHECK(test_rules_ready(&r));
    send(&r, "abc", 1);                 /* the first packet is timed */
    c = cost_of(&r, 2, &tick_ns);
    CHECK(c.timed == 1 && c.checks == 1 && c.matches == 0);
    CHECK(c.ticks == c.max_ticks && c.match_ticks == 0);
    CHECK(tick_ns > 0);
    first_tick_ns = tick_ns;
    send(&r, "abc", 4999);
    c = cost_of(&r, 1, &tick_ns);
    CHECK(tick_ns == first_tick_ns);    /* so that no sum of times goes back */
    CHECK_INT(c.matches, 5000);         /* of all packets */
    CHECK(c.checks > 5000 - 192 && c.checks <= 5000);
    CHECK(c.timed > 20 && c.timed < 100);
    CHECK(c.match_ticks == c.ticks && c.ticks >= c.max_ticks);
    CHECK(ruleset_profile_sum(r.set) == NULL);
    test_rules_free(&r);
}

TEST(profiling_does_not_change_the_costs)
{
    struct test_rules r = { 0 };
    struct rule_profile c;
    double tick_ns;

    CHECK(test_rules_load(&r, "alert udp any any -> any any (content:\"abc\"; sid:1;)"));
    ruleset_profile_start(r.set);
    detect_thread_follow_profile(r.thread);
    send(&r, "abc", 2000);
    CHECK_INT(profile_of(&r, 1).checks, 2000);
    c = cost_of(&r, 1, &tick_ns);
    CHECK(c.timed > 5 && c.timed < 50 && c.checks > 2000 - 192 && c.checks <= 2000);
    CHECK_INT(c.matches, 2000);
    detect_thread_free(r.thread);
    r.thread = NULL;
    CHECK_INT(cost_of(&r, 1, &tick_ns).matches, 2000);
    ruleset_profile_clear(r.set);
    CHECK_INT(cost_of(&r, 1, &tick_ns).matches, 0);
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

/* A table of names takes 240 KB. */
TEST(no_rules_have_no_costs)
{
    struct test_rules rules;

    CHECK(test_rules_load(&rules, "# no rule"));
    CHECK(ruleset_part_costs(rules.set) == NULL);
    test_rules_free(&rules);
    CHECK(test_rules_load(&rules, "alert ip any any -> any any (sid:1;)"));
    CHECK(ruleset_part_costs(rules.set) != NULL);
    test_rules_free(&rules);
}
