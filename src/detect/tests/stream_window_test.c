/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Rules on a stream that comes in small segments: how often they are evaluated, and that the last
 * byte counts. */
#include "base/test.h"
#include "detect/inspect/inspect_private.h"
#include "detect/state/profile.h"
#include "detect/tests/rules_helper.h"
#include "stream/slot.h"

#include <stdlib.h>
#include <string.h>

#define RULE "alert tcp any any -> any any (content:\"ab\"; pcre:\"/ab.*q{3}$/s\"; sid:1;)"
#define STREAM 2000

/* One connection whose client sends `data`; only what rules on streams need. */
struct connection {
    struct test_rules rules;
    struct flow *flow;
    uint8_t data[STREAM];
    uint64_t sent;
};

static bool connection_open_with(struct connection *c, const char *rule)
{
    memset(c, 0, sizeof(*c));
    memset(c->data, 'x', sizeof(c->data));
    memcpy(c->data, "ab", 2);
    c->flow = aligned_alloc(CACHE_LINE, (sizeof(*c->flow) + CACHE_LINE - 1) &
                                            ~(size_t)(CACHE_LINE - 1));
    memset(c->flow, 0, sizeof(*c->flow));
    c->flow->key.proto = 6;
    if (!test_rules_load(&c->rules, rule))
        return false;
    ruleset_profile_start(c->rules.set);
    detect_thread_follow_profile(c->rules.thread);
    return true;
}

static bool connection_open(struct connection *c)
{
    return connection_open_with(c, RULE);
}

static void connection_close(struct connection *c)
{
    detect_flow_free(c->flow);
    flow_ext_free(c->flow);
    free(c->flow);
    test_rules_free(&c->rules);
}

static unsigned inspect(struct connection *c, struct stream_chunk *chunk, enum direction d)
{
    struct packet p = { .ip_proto = 6, .src.version = 4, .dst.version = 4, .flow = c->flow,
                        .flags = PACKET_STREAM_OPEN | (d == TO_CLIENT ? PACKET_TO_CLIENT : 0) };
    unsigned alerts;

    detect_inspect(c->rules.thread, &(struct inspection){
        .packet = &p, .flow = c->flow, .direction = d, .chunk = chunk,
        .chunk_count = chunk != NULL });
    alerts = detect_slot(&p)->alert_count;
    packet_fini(&p);
    return alerts;
}

/* The next bytes come with the packet that acknowledges them. */
static void acknowledge(struct connection *c, unsigned len)
{
    struct stream_chunk chunk = { .data = c->data + c->sent, .len = len,
                                  .lookbehind = (uint32_t)c->sent, .offset = c->sent,
                                  .direction = TO_SERVER, .kind = CHUNK_DATA };

    c->sent += len;
    (void)inspect(c, &chunk, TO_CLIENT);
}

static uint64_t checks(const struct connection *c)
{
    struct rule_profile *all = ruleset_profile_sum(c->rules.set);
    uint64_t sum = 0;

    for (size_t i = 0; all != NULL && i < c->rules.set->rules.count; i++)
        sum += all[i].checks;
    free(all);
    return sum;
}

TEST(stream_rules_do_not_run_for_each_byte)
{
    struct connection c;

    CHECK(connection_open(&c));
    acknowledge(&c, 1000);
    for (unsigned i = 0; i < 1000; i++)
        acknowledge(&c, 1);
    CHECK(checks(&c) > 0);
    CHECK(checks(&c) < 20);
    connection_close(&c);
}

TEST(stream_rules_see_the_last_byte_of_small_segments)
{
    for (unsigned last = 1; last <= 3; last++) {
        struct connection c;

        CHECK(connection_open(&c));
        memset(c.data + 1400 - last, 'q', last);
        acknowledge(&c, 1000);
        for (unsigned i = 0; i < 400; i++)
            acknowledge(&c, 1);
        CHECK_INT(inspect(&c, NULL, TO_SERVER), 0);     /* not enough for a report */
        detect_flush_stream(c.flow);
        CHECK_INT(inspect(&c, NULL, TO_SERVER), last == 3);
        connection_close(&c);
    }
}

/* A gap ends the window: what came before it is evaluated, and reported with the next packet. */
TEST(stream_rules_see_small_segments_before_a_gap)
{
    struct stream_chunk gap = { .len = 100, .offset = 1400, .direction = TO_SERVER,
                                .kind = CHUNK_GAP };
    struct connection c;

    CHECK(connection_open(&c));
    memset(c.data + 1397, 'q', 3);
    acknowledge(&c, 1000);
    for (unsigned i = 0; i < 400; i++)
        acknowledge(&c, 1);
    CHECK_INT(inspect(&c, &gap, TO_CLIENT), 0);
    CHECK_INT(inspect(&c, NULL, TO_SERVER), 1);
    connection_close(&c);
}

/* --- a reload while a match waits for its packet ---------------------------------------------- */

/* The rule gets another number: others come before it. */
static void reload_among_others(struct test *t, struct connection *c, const char *rule)
{
    struct buf text = { 0 };

    for (unsigned i = 100; i < 120; i++)
        buf_printf(&text, "alert tcp any any -> any any (content:\"zz\"; priority:1; sid:%u;)\n", i);
    buf_printf(&text, "%s\n", rule);
    buf_add(&text, "", 1);
    CHECK(test_rules_reload(&c->rules, (const char *)text.data));
    CHECK(c->rules.set->rules.at[0]->sid != 1);
    buf_fini(&text);
}

static unsigned report(struct connection *c)
{
    detect_flush_stream(c->flow);
    return inspect(c, NULL, TO_SERVER);
}

TEST(stream_matches_wait_beyond_a_reload)
{
    struct connection c;

    CHECK(connection_open(&c));
    memset(c.data + 997, 'q', 3);
    acknowledge(&c, 1000);
    reload_among_others(t, &c, RULE);
    CHECK_INT(report(&c), 1);
    CHECK_INT(report(&c), 0);
    connection_close(&c);
}

TEST(stream_matches_of_another_revision_end_with_a_reload)
{
    struct connection c;

    CHECK(connection_open(&c));
    memset(c.data + 997, 'q', 3);
    acknowledge(&c, 1000);
    reload_among_others(t, &c, "alert tcp any any -> any any (content:\"nn\"; rev:2; sid:1;)");
    CHECK_INT(report(&c), 0);
    connection_close(&c);
}

/* What the flow remembers is of the set before the last one. */
TEST(stream_matches_end_with_the_second_reload)
{
    struct connection c;

    CHECK(connection_open(&c));
    memset(c.data + 997, 'q', 3);
    acknowledge(&c, 1000);
    reload_among_others(t, &c, RULE);
    CHECK(test_rules_reload(&c.rules, "alert tcp any any -> any any (content:\"zz\"; sid:2;)\n"
                            RULE));
    CHECK_INT(report(&c), 0);
    connection_close(&c);
}

TEST(stream_windows_wait_beyond_a_reload)
{
    struct connection c;

    CHECK(connection_open(&c));
    memset(c.data + 1397, 'q', 3);
    acknowledge(&c, 1000);
    for (unsigned i = 0; i < 400; i++)
        acknowledge(&c, 1);
    reload_among_others(t, &c, RULE);
    CHECK_INT(report(&c), 1);
    connection_close(&c);
}

/* Each part of the window is searched once. After a change of protocol, the rules of the new one are
 * looked for in all of it. */
TEST(stream_rules_of_a_later_protocol_see_the_window)
{
    struct connection c;

    CHECK(connection_open_with(&c, "alert tls any any -> any any (content:\"ab\"; sid:1;)"));
    c.flow->app_proto = APP_PROTO_smtp;
    acknowledge(&c, 100);
    acknowledge(&c, 100);
    c.flow->app_proto = APP_PROTO_tls;
    acknowledge(&c, 100);
    detect_flush_stream(c.flow);
    CHECK_INT(inspect(&c, NULL, TO_SERVER), 1);
    connection_close(&c);
}

/* New rules have not searched what came before the reload. */
TEST(stream_rules_of_a_reload_see_the_window)
{
    struct connection c;

    CHECK(connection_open(&c));
    acknowledge(&c, 100);
    CHECK(test_rules_reload(&c.rules, "alert tcp any any -> any any (content:\"ab\"; sid:2;)"));
    acknowledge(&c, 100);
    CHECK_INT(report(&c), 1);
    connection_close(&c);
}
