/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is looked for depends on ports and offset, never less than what can match. */
#include "base/test.h"
#include "detect/compile/compile.h"
#include "detect/tests/rules_helper.h"

#include <stdlib.h>
#include <string.h>

static const char *const rules[] = {
    "alert udp any any -> any any (content:\"needle\"; sid:1;)",
    "alert udp any any -> any 4444 (content:\"needle\"; sid:2;)",
    "alert udp any any -> any 80 (content:\"needle\"; sid:3;)",
    "alert udp any any -> any 1024: (content:\"needle\"; sid:4;)",
    "alert udp any [5000,5001] -> any any (content:\"needle\"; sid:5;)",
    "alert udp any 5000 -> any !4444 (content:\"needle\"; sid:6;)",
    "alert udp any any -> any 4444 (content:\"needle\"; depth:200; sid:7;)",
};

static uint32_t found_in(const struct payload_sets *sets, const struct ruleset *set,
                         struct sent_payload payload, uint32_t offset)
{
    struct candidates c = { 0 };
    uint8_t data[600];
    uint32_t sids = 0;

    memset(data, 'x', sizeof(data));
    memcpy(data + offset, "needle", 6);
    candidates_init(&c, (unsigned)set->rules.count);
    payload.data.data = data;
    payload_sets_scan(sets, NULL, &payload, &c);
    for (unsigned i = 0; i < c.count; i++)
        sids |= 1u << set->rules.at[c.list[i]]->sid;
    candidates_fini(&c);
    return sids;
}

static uint32_t found(const struct payload_sets *sets, const struct ruleset *set, uint16_t src,
                      uint16_t dst, uint32_t offset)
{
    return found_in(sets, set, (struct sent_payload){ { NULL, 600 }, src, dst }, offset);
}

TEST(payload_sets_go_by_port_and_position)
{
    struct test_rules r = { 0 };
    const struct payload_sets *sets;

    for (size_t i = 0; i < ARRAY_LEN(rules); i++)
        test_rules_add(&r, "%s", rules[i]);
    CHECK(test_rules_ready(&r));
    if (r.set == NULL)
        return;
    sets = r.set->plan->group[TRANSPORT_UDP][TO_SERVER].payload[0];
    CHECK_INT(found(sets, r.set, 1, 80, 10), 1u << 1 | 1u << 3 | 1u << 4);
    CHECK_INT(found(sets, r.set, 1, 4444, 10) & (1u << 2 | 1u << 7), 1u << 2 | 1u << 7);
    CHECK_INT(found(sets, r.set, 1, 4444, 400) & (1u << 2 | 1u << 7), 1u << 2);
    CHECK_INT(found(sets, r.set, 5001, 81, 10) & (1u << 5), 1u << 5);
    CHECK_INT(found(sets, r.set, 5000, 81, 400) & (1u << 5 | 1u << 6), 1u << 5 | 1u << 6);
    test_rules_free(&r);
}

static const char *const of_both_positions[] = {
    "alert udp any any -> any any (content:\"needle\"; sid:1;)",
    "alert udp any any -> any any (content:\"needle\"; depth:200; sid:2;)",
    "alert udp any any -> any 4444 (content:\"needle\"; sid:3;)",
    "alert udp any any -> any 4444 (content:\"needle\"; depth:200; sid:4;)",
};

/* One search of a short payload finds what two find in a longer one. */
TEST(payload_sets_join_positions_in_short_payloads)
{
    struct test_rules r = { 0 };
    const struct payload_sets *sets;

    for (size_t i = 0; i < ARRAY_LEN(of_both_positions); i++)
        test_rules_add(&r, "%s", of_both_positions[i]);
    CHECK(test_rules_ready(&r));
    if (r.set == NULL)
        return;
    sets = r.set->plan->group[TRANSPORT_UDP][TO_SERVER].payload[0];
    CHECK(sets->any_port_joined != NULL && sets->few_ports_joined != NULL);
    for (uint32_t len = PAYLOAD_FRONT - 1; len <= PAYLOAD_FRONT + 1; len++) {
        struct sent_payload payload = { { NULL, len }, 1, 80 };

        CHECK_INT(found_in(sets, r.set, payload, 10), 1u << 1 | 1u << 2);
        CHECK_INT(found_in(sets, r.set, payload, len), 0);
        payload.dst_port = 4444;
        CHECK_INT(found_in(sets, r.set, payload, 10), 1u << 1 | 1u << 2 | 1u << 3 | 1u << 4);
    }
    test_rules_free(&r);
}

/* ---- conditions ---------------------------------------------------------------------------- */

/* The first rule has no condition, the sixth one is on a rare port, which has a set of its own. The
 * others have one place, a range, an offset, a condition that another rule has, too, and a port
 * with much traffic. */
static const char *const conditional[] = {
    "alert udp any any -> any any (content:\"needle\"; sid:1;)",
    "alert udp any any -> any any (content:\"AB\"; depth:2; content:\"needle\"; sid:2;)",
    "alert udp any any -> any any (content:\"cdE\"; nocase; depth:300; content:\"noodle\"; sid:3;)",
    "alert udp any any -> any any (content:\"F\"; offset:40; depth:1; content:\"nettle\"; sid:4;)",
    "alert udp any any -> any any (content:\"nickel\"; content:\"AB\"; startswith; sid:5;)",
    "alert udp any any -> any 4444 (content:\"AB\"; depth:2; content:\"needle\"; sid:6;)",
    "alert udp any any -> any [53,445] (content:\"nutmeg\"; sid:7;)",
};

/* What is sent: `put` at `at`, and the patterns of all rules near the end. */
struct sent_front { const char *put; uint32_t at; uint32_t len; uint16_t port; };

static uint32_t found_behind(const struct ruleset *set, struct sent_front f)
{
    static const char patterns[] = "needle noodle nettle nickel nutmeg";
    const struct payload_sets *sets = set->plan->group[TRANSPORT_UDP][TO_SERVER].payload[0];
    struct sent_payload sent = { .src_port = 1, .dst_port = f.port };
    struct candidates c = { 0 };
    uint8_t data[1400];
    uint32_t sids = 0;

    memset(data, 'x', sizeof(data));
    memcpy(data + f.at, f.put, strlen(f.put));
    memcpy(data + f.len - sizeof(patterns), patterns, sizeof(patterns) - 1);
    sent.data = (struct slice){ data, f.len };
    candidates_init(&c, (unsigned)set->rules.count);
    payload_sets_scan(sets, NULL, &sent, &c);
    for (unsigned i = 0; i < c.count; i++)
        sids |= 1u << set->rules.at[c.list[i]]->sid;
    candidates_fini(&c);
    return sids;
}

TEST(payload_sets_test_conditions_first)
{
    const uint32_t all = 0xfe, closed = 1u << 1 | 1u << 6;
    struct test_rules r = { 0 };

    for (size_t i = 0; i < ARRAY_LEN(conditional); i++)
        test_rules_add(&r, "%s", conditional[i]);
    CHECK(test_rules_ready(&r));
    if (r.set == NULL)
        return;
    CHECK(r.set->plan->group[TRANSPORT_UDP][TO_SERVER].payload[0]->has_conditions);
    CHECK_INT(r.set->plan->group[TRANSPORT_UDP][TO_SERVER].payload[0]->condition_count, 3);
    CHECK_INT(found_behind(r.set, (struct sent_front){ "x", 0, 1400, 4444 }), closed);
    CHECK_INT(found_behind(r.set, (struct sent_front){ "x", 0, 1400, 80 }), 1u << 1);
    CHECK_INT(found_behind(r.set, (struct sent_front){ "x", 0, 1400, 445 }), all & ~(1u << 6));
    CHECK_INT(found_behind(r.set, (struct sent_front){ "AB", 0, 1400, 4444 }), all);
    CHECK_INT(found_behind(r.set, (struct sent_front){ "AB", 1, 1400, 4444 }), closed);
    CHECK_INT(found_behind(r.set, (struct sent_front){ "CDe", 297, 1400, 4444 }), all);
    CHECK_INT(found_behind(r.set, (struct sent_front){ "CDe", 298, 1400, 4444 }), closed);
    CHECK_INT(found_behind(r.set, (struct sent_front){ "F", 40, 1400, 4444 }), all);
    CHECK_INT(found_behind(r.set, (struct sent_front){ "F", 41, 1400, 4444 }), closed);
    CHECK_INT(found_behind(r.set, (struct sent_front){ "F", 41, CONDITION_WORTH - 1, 4444 }), all);
    CHECK_INT(found_behind(r.set, (struct sent_front){ "F", 41, CONDITION_WORTH, 4444 }), closed);
    test_rules_free(&r);
}

/* Five patterns without a condition need a search for many, so conditions would save nothing. A
 * rule on port 80 has none by its port. */
TEST(payload_sets_need_mostly_conditions)
{
    struct test_rules r = { 0 };

    for (size_t i = 0; i < ARRAY_LEN(conditional); i++)
        test_rules_add(&r, "%s", conditional[i]);
    for (unsigned i = 0; i < 3; i++)
        test_rules_add(&r, "alert udp any any -> any any (content:\"walnut%u\"; sid:%u;)", i,
                       9 + i);
    test_rules_add(&r, "alert udp any any -> any 80 (content:\"almond\"; sid:20;)");
    CHECK(test_rules_ready(&r));
    if (r.set == NULL)
        return;
    CHECK(!r.set->plan->group[TRANSPORT_UDP][TO_SERVER].payload[0]->has_conditions);
    CHECK_INT(found_behind(r.set, (struct sent_front){ "x", 0, 1400, 80 }), 0xbe);
    test_rules_free(&r);
}

/* Many different ranges would cost more than the search that they save. */
TEST(payload_sets_limit_conditions)
{
    struct test_rules r = { 0 };

    test_rules_add(&r, "%s", conditional[0]);
    for (unsigned i = 0; i < 60; i++)
        test_rules_add(&r, "alert udp any any -> any any (content:\"A%02u\"; depth:%u; "
                       "content:\"needle%u\"; sid:%u;)", i, 300 + i, i, 100 + i);
    CHECK(test_rules_ready(&r));
    if (r.set == NULL)
        return;
    CHECK(!r.set->plan->group[TRANSPORT_UDP][TO_SERVER].payload[0]->has_conditions);
    test_rules_free(&r);
}
