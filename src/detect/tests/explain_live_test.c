/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Questions to packet threads: who has a part, what comes of all parts, and that only its
 * thread touches a part. */
#include "detect/explain/live.h"

#include <pthread.h>
#include <string.h>
#include <time.h>

#include "base/memory/buf.h"
#include "base/test.h"
#include "conf/conf.h"
#include "detect/compile/tenants.h"
#include "detect/tests/rules_helper.h"

static void look_at(struct explain_part *part, struct detect_thread *dt, const char *payload,
                    uint64_t number)
{
    struct packet p = { .payload = (uint8_t *)payload, .ip_proto = 17, .src.version = 4,
                        .dst.version = 4, .payload_len = (uint16_t)strlen(payload),
                        .number = number };

    (void)explain_part_inspect(part, NULL, dt, &(struct inspection){ .packet = &p });
    packet_fini(&p);
}

static struct explain_live *live_new(const struct test_rules *r, const struct conf *conf,
                                     const char *rules, unsigned seconds, unsigned threads)
{
    const struct explain_live_request request = { .rules = rules, .seconds = seconds,
                                                  .threads = threads };
    struct err err = { 0 };

    return explain_live_new(&request, r->set, conf_root(conf), &err);
}

TEST(a_live_question_has_an_end_and_a_part_for_each_thread)
{
    struct conf *conf = conf_new();
    struct test_rules r = { 0 };
    struct explain_live *live;
    struct explain_part *one, *two;

    CHECK(test_rules_load(&r, "alert udp any any -> any any (content:\"abc\"; sid:1;)"));
    CHECK(live_new(&r, conf, "all", 60, 2) == NULL);
    CHECK(live_new(&r, conf, "one", 60, 2) == NULL);
    CHECK(live_new(&r, conf, "1,2,3,4,5,6,7,8,9,10,11", 60, 2) == NULL);
    live = live_new(&r, conf, "1", 60, 2);
    CHECK(live != NULL && !explain_live_is_used(live));
    one = explain_live_join(live);
    two = explain_live_join(live);
    CHECK(one != NULL && two != NULL && one != two && explain_live_join(live) == NULL);
    CHECK(!explain_part_is_over(one) && explain_live_seconds_left(live) > 58);
    explain_part_leave(one);
    CHECK(explain_live_is_used(live));
    CHECK(explain_live_join(live) == one && explain_live_join(live) == NULL);
    explain_part_leave(one);            /* a thread of the next capture had it */
    explain_live_stop(live);
    CHECK(explain_part_is_over(two) && explain_live_seconds_left(live) == 0);
    explain_part_leave(two);
    CHECK(!explain_live_is_used(live) && explain_live_join(live) == NULL);
    explain_live_free(live);
    test_rules_free(&r);
    conf_free(conf);
}

/* A thread runs the rules of the packet's tenant. */
TEST(a_live_question_is_for_tenants_rules_too)
{
    struct test_rules everybody = { 0 }, own = { 0 };
    struct tenant tenant = { .id = 7 };
    struct tenants tenants = { 0 };
    struct explain_live_request request = { .rules = "1,2", .seconds = 60, .threads = 2,
                                            .tenants = &tenants };
    struct conf *conf = conf_new();
    struct explain_live *live;
    struct explain_part *part, *another;    /* a slow machine spends the time of one at once */
    struct buf out = { 0 };

    CHECK(test_rules_load(&everybody, "alert udp any any -> any any (content:\"abc\"; sid:1;)"));
    CHECK(test_rules_load(&own, "alert udp any any -> any any (content:\"ABC\"; sid:2;)"));
    tenant.rules = own.set;
    ARRAY_PUSH(&tenants.list, &tenant);
    live = explain_live_new(&request, everybody.set, conf_root(conf), NULL);
    CHECK(live != NULL);
    part = explain_live_join(live);
    another = explain_live_join(live);
    look_at(part, everybody.thread, "xx abc", 1);
    look_at(another, own.thread, "xx abc", 2);
    explain_part_leave(part);
    explain_part_leave(another);
    explain_live_stop(live);
    CHECK(explain_live_write(live, false, &out));
    CHECK(buf_add_u8(&out, 0));
    CHECK(strstr((char *)out.data, "Rule 1 fired 1 time, first with packet 1") != NULL);
    CHECK(strstr((char *)out.data, "Rule 2 of tenant 7 did not fire on 1 packet: "
                                   "the payload has \"abc\" at 3") != NULL);
    CHECK(strstr((char *)out.data, "Rule 2 is not") == NULL);
    buf_fini(&out);
    explain_live_free(live);
    ARRAY_FREE(&tenants.list);
    test_rules_free(&own);
    test_rules_free(&everybody);
    conf_free(conf);
}

/* One packet thread. */
struct looker {
    const struct test_rules *rules;
    const struct conf *conf;
    struct explain_live *live;
    const char *payload;
    pthread_t thread;
};

#define PACKETS 3000

static void *look(void *arg)
{
    struct looker *l = arg;
    struct counters *counters = counters_new("looker");
    struct detect_thread *dt = detect_thread_new(l->rules->set, conf_root(l->conf), counters,
                                                 false, NULL);
    struct explain_part *part = explain_live_join(l->live);
    const struct timespec pause = { .tv_nsec = 20000 };

    for (unsigned i = 0; i < PACKETS; i++) {
        look_at(part, dt, l->payload, i + 1);
        if (i % 64 == 0)
            nanosleep(&pause, NULL);    /* time that is credit */
    }
    explain_part_leave(part);
    detect_thread_free(dt);
    counters_free(counters);
    return NULL;
}

TEST(answers_of_all_threads_are_one)
{
    static const char *const payloads[] = { "xx abc", "xx xyz", "nothing", "ab" };
    struct looker looker[ARRAY_LEN(payloads)];
    struct conf *conf = conf_new();
    struct test_rules r = { 0 };
    struct buf out = { 0 }, again = { 0 };
    uint64_t packets, asked;
    struct explain_live *live;

    CHECK(test_rules_load(&r, "alert udp any any -> any any (content:\"abc\"; offset:4; sid:1;)"));
    live = live_new(&r, conf, "1", 600, ARRAY_LEN(payloads));
    CHECK(live != NULL);
    for (unsigned i = 0; i < ARRAY_LEN(payloads); i++) {
        looker[i] = (struct looker){ &r, conf, live, payloads[i], 0 };
        CHECK(pthread_create(&looker[i].thread, NULL, look, &looker[i]) == 0);
    }
    for (unsigned i = 0; i < ARRAY_LEN(payloads); i++) {
        CHECK(explain_live_seconds_left(live) > 0);
        pthread_join(looker[i].thread, NULL);
    }
    explain_live_stop(live);
    CHECK(!explain_live_is_used(live));
    CHECK(explain_live_write(live, false, &out));
    CHECK(buf_add_u8(&out, 0));
    /* Of what all threads have seen the nearest: the right bytes at the wrong place. */
    CHECK(strstr((char *)out.data, "Rule 1 did not fire on ") == (char *)out.data);
    CHECK(strstr((char *)out.data, "the payload has \"abc\" at 3") != NULL);
    explain_live_counts(live, &packets, &asked);
    CHECK_INT(packets, ARRAY_LEN(payloads) * PACKETS);
    CHECK(asked >= ARRAY_LEN(payloads) && asked < packets);
    CHECK(explain_live_write(live, false, &again));
    CHECK(again.len == out.len - 1 && memcmp(again.data, out.data, again.len) == 0);
    buf_fini(&out);
    buf_fini(&again);
    explain_live_free(live);
    test_rules_free(&r);
    conf_free(conf);
}
