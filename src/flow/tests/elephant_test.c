/* SPDX-License-Identifier: GPL-2.0-or-later */
/* flow.elephant: when a flow reaches all limits, and which parts of a sampled flow are searched. */
#include "flow/elephant.h"

#include "base/memory/traffic_memory.h"

#include <stdlib.h>

#include "base/test.h"

#define SECOND UINT64_C(1000000)

static struct flow *flow_of(uint64_t start_s)
{
    struct flow *f = aligned_alloc(CACHE_LINE, sizeof(*f));

    memset(f, 0, sizeof(*f));
    f->start_us = start_s * SECOND;
    return f;
}

static void flow_released(struct flow *f)
{
    flow_ext_free(f);
    free(f);
}

/* A packet as the detect module counts it. */
static bool send(const struct elephant_conf *conf, struct flow *f, uint64_t time_us,
                 uint32_t bytes)
{
    f->bytes[bytes % 2] += bytes;
    return elephant_count(conf, f, time_us, bytes);
}

TEST(elephant_needs_all_limits_at_once)
{
    const struct elephant_conf conf = { .action = ELEPHANT_BYPASS, .bytes = 3000,
                                        .age_us = 2 * SECOND, .rate = 1000, .part = 1,
                                        .one_in = 1 };
    struct flow *f = flow_of(100);

    CHECK(!send(&conf, f, 100 * SECOND, 2999));             /* bytes and age are missing */
    CHECK(!send(&conf, f, 101 * SECOND, 2000));             /* age is missing */
    CHECK(f->ext == NULL);
    CHECK(!send(&conf, f, 102 * SECOND, 999));              /* rate is missing */
    CHECK(!send(&conf, f, 103 * SECOND, 999));              /* a new second begins at 0 */
    CHECK(flow_elephant(f) == NULL);
    CHECK(send(&conf, f, 103 * SECOND + 999999, 1));
    CHECK(!send(&conf, f, 104 * SECOND, 5000));             /* once per flow */
    CHECK_INT(flow_elephant(f)->action, ELEPHANT_BYPASS);
    flow_released(f);
}

TEST(elephant_counts_late_packets_for_the_newest_second)
{
    const struct elephant_conf conf = { .action = ELEPHANT_SAMPLE, .rate = 1000, .part = 1,
                                        .one_in = 1 };
    struct flow *f = flow_of(100);

    CHECK(!send(&conf, f, 105 * SECOND, 500));
    CHECK(send(&conf, f, 101 * SECOND, 500));
    flow_released(f);
}

TEST(elephant_limit_of_zero_is_none)
{
    const struct elephant_conf conf = { .action = ELEPHANT_SAMPLE, .bytes = 10, .part = 1,
                                        .one_in = 1 };
    struct flow *f = flow_of(100);

    CHECK(!send(&conf, f, 100 * SECOND, 9));
    CHECK(send(&conf, f, 100 * SECOND, 1));
    flow_released(f);
}

TEST(elephant_searches_one_part_in_n)
{
    const struct elephant_conf conf = { .action = ELEPHANT_SAMPLE, .bytes = 1000, .part = 100,
                                        .one_in = 3 };
    struct flow *f = flow_of(100);
    char found[] = "0000000000000";

    CHECK(!elephant_skips(&conf, f));
    CHECK(send(&conf, f, 100 * SECOND, 1000));
    for (unsigned i = 0; i + 1 < sizeof(found); i++) {
        found[i] = elephant_skips(&conf, f) ? '-' : '+';
        CHECK(!send(&conf, f, 100 * SECOND, 50));
    }
    CHECK_STRING(found, "++----++----+");
    flow_released(f);
}

TEST(elephant_bypassed_flow_has_no_parts)
{
    const struct elephant_conf conf = { .action = ELEPHANT_BYPASS, .bytes = 1, .part = 1,
                                        .one_in = 2 };
    struct flow *f = flow_of(100);

    CHECK(send(&conf, f, 100 * SECOND, 1));
    f->bytes[0]++;
    CHECK(!elephant_skips(&conf, f));
    flow_released(f);
}

static int read_conf(struct elephant_conf *out, const char *const *settings, struct err *err)
{
    struct conf *conf = conf_new();
    int status;

    for (; *settings != NULL; settings++)
        if (conf_set_argument(conf, *settings, err) < 0)
            abort();
    status = elephant_conf_read(out, conf_root(conf), err);
    conf_free(conf);
    return status;
}

TEST(elephant_settings)
{
    static const char *const none[] = { NULL };
    static const char *const all[] = {
        "flow.elephant.action=sample", "flow.elephant.bytes=1kb", "flow.elephant.age=1m",
        "flow.elephant.rate=2kb", "flow.elephant.sample-size=3kb",
        "flow.elephant.sample-one-in=5", NULL };
    static const char *const no_limit[] = {
        "flow.elephant.action=bypass", "flow.elephant.age=0", "flow.elephant.rate=0", NULL };
    static const char *const no_part[] = {
        "flow.elephant.action=sample", "flow.elephant.sample-size=0", NULL };
    struct elephant_conf conf;
    struct err err = { 0 };

    CHECK_INT(read_conf(&conf, none, &err), 0);
    CHECK_INT(conf.action, ELEPHANT_INSPECT);
    CHECK_INT(read_conf(&conf, all, &err), 0);
    CHECK_INT(conf.action, ELEPHANT_SAMPLE);
    CHECK_INT(conf.bytes, 1024);
    CHECK_INT(conf.age_us, 60 * SECOND);
    CHECK_INT(conf.rate, 2048);
    CHECK_INT(conf.part, 3072);
    CHECK_INT(conf.one_in, 5);
    CHECK_INT(read_conf(&conf, no_limit, &err), -1);
    CHECK(strstr(err.text, "expected a limit above 0") != NULL);
    CHECK_INT(read_conf(&conf, no_part, &err), -1);
    CHECK(strstr(err.text, "sample-size: expected a size above 0") != NULL);
}

static uint64_t memory_in_use(void)
{
    return traffic_memory_used() - traffic_memory_idle();
}

/* A sender decides how many flows reach the limits: at least 80 bytes for each are counted. */
TEST(elephant_state_counts_for_the_ceiling)
{
    const struct elephant_conf conf = { .action = ELEPHANT_SAMPLE, .rate = 1, .part = 1,
                                        .one_in = 2 };
    static struct flow *flows[20000];
    uint64_t before = memory_in_use();

    for (unsigned i = 0; i < ARRAY_LEN(flows); i++) {
        flows[i] = flow_of(100);
        CHECK(send(&conf, flows[i], 100 * SECOND, 1));
    }
    CHECK(memory_in_use() >= before + ARRAY_LEN(flows) * 80);
    for (unsigned i = 0; i < ARRAY_LEN(flows); i++)
        flow_released(flows[i]);
    CHECK(memory_in_use() < before + ARRAY_LEN(flows) * 20);
}
