/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The cases of addresses in which a rule can match, and the lists that cases share. */
#include "app/proto.h"
#include "base/test.h"
#include "detect/compile/compile.h"
#include "detect/tests/rules_helper.h"

enum { OUT_OUT = 1u << 0, OUT_IN = 1u << 1, IN_OUT = 1u << 2, IN_IN = 1u << 3 };

/* $H is 10.0.0.0/8 and 2001:db8::/32, which most rules name. */
#define H "[10.0.0.0/8,2001:db8::/32]"

static const struct case_row { const char *src, *dst; unsigned cases; } rows[] = {
    { H, "any", IN_OUT | IN_IN },
    { "any", H, OUT_IN | IN_IN },
    { H, H, IN_IN },
    { H, "!" H, IN_OUT },
    { "!" H, H, OUT_IN },
    { "!" H, "!" H, OUT_OUT },
    { "any", "any", ADDRESS_CASES_ALL },
    { H, "10.1.0.0/16", IN_IN },
    { H, "[10.1.0.0/16,10.200.0.1]", IN_IN },
    { H, "2001:db8:1::1", IN_IN },
    { H, "2001:db9::1", IN_OUT },
    { H, "[10.1.0.0/16,11.0.0.0/8]", IN_OUT | IN_IN },
    { H, "[9.255.255.255,11.0.0.0]", IN_OUT },
    { H, "9.255.255.255-10.0.0.0", IN_OUT | IN_IN },
    { H, "10.255.255.255-11.0.0.0", IN_OUT | IN_IN },
    { H, "10.0.0.0/7", IN_OUT | IN_IN },
};

TEST(address_cases_of_rules)
{
    struct test_rules r = { 0 };

    for (unsigned i = 0; i < ARRAY_LEN(rows); i++)
        test_rules_add(&r, "alert tcp %s any -> %s any (content:\"row-%u\"; sid:%u;)", rows[i].src,
                       rows[i].dst, i, i + 1);
    CHECK(test_rules_ready(&r));
    for (size_t i = 0; r.set != NULL && i < r.set->rules.count; i++) {
        const struct rule *rule = r.set->rules.at[i];
        const struct case_row *row = &rows[rule->sid - 1];

        if (address_cases_of(&r.set->plan->cases, rule) != row->cases)
            test_fail(t, __FILE__, __LINE__, "%s -> %s: %#x", row->src, row->dst,
                      address_cases_of(&r.set->plan->cases, rule));
    }
    test_rules_free(&r);
}

/* A rule that names no addresses leaves nothing to divide. */
TEST(address_cases_without_addresses)
{
    struct test_rules r = { 0 };

    CHECK(test_rules_load(&r, "alert tcp any any -> any any (content:\"needle\"; sid:1;)"));
    if (r.set == NULL)
        return;
    CHECK(r.set->plan->cases.home == NULL);
    CHECK_INT(address_cases_of(&r.set->plan->cases, r.set->rules.at[0]), ADDRESS_CASES_ALL);
    for (unsigned i = 1; i < ADDRESS_CASES; i++)
        CHECK(r.set->plan->group[TRANSPORT_TCP][TO_SERVER].payload[i] ==
              r.set->plan->group[TRANSPORT_TCP][TO_SERVER].payload[0]);
    test_rules_free(&r);
}

TEST(address_cases_share_lists)
{
    uint8_t bits[100];
    struct case_lists lists;

    /* case 0 has none, 1 and 3 nearly the same, 2 half of them */
    for (unsigned i = 0; i < 100; i++)
        bits[i] = (uint8_t)(OUT_IN | (i < 90 ? IN_IN : 0u) | (i < 50 ? IN_OUT : 0u));
    case_lists_choose(&lists, bits, 100);
    CHECK_INT(lists.of[0], 0);
    CHECK_INT(lists.mask[0], OUT_OUT);
    CHECK_INT(lists.of[1], 1);
    CHECK_INT(lists.of[2], 2);
    CHECK_INT(lists.mask[2], IN_OUT);
    CHECK_INT(lists.of[3], 1);
    CHECK_INT(lists.mask[3], OUT_IN | IN_IN);
    CHECK_INT(lists.mask[1], OUT_IN | IN_IN);
    case_lists_choose(&lists, bits, 0);
    for (unsigned i = 0; i < ADDRESS_CASES; i++)
        CHECK_INT(lists.of[i], 0);
}

/* The buffers that a transaction is searched for, by case. */
TEST(address_cases_divide_transactions)
{
    struct test_rules r = { 0 };
    const struct app_group *g;

    test_rules_add(&r, "alert http " H " any -> any any (http.uri; content:\"/one\"; sid:1;)");
    test_rules_add(&r, "alert http " H " any -> !" H " any (http.host; content:\"two\"; sid:2;)");
    test_rules_add(&r, "alert http any any -> " H " any (http.method; content:!\"GET\"; sid:3;)");
    CHECK(test_rules_ready(&r));
    if (r.set == NULL)
        return;
    g = &r.set->plan->app[app_proto_by_name("http")->id][TO_SERVER];
    CHECK_INT(g->of[0].scan_count, 0);
    CHECK_INT(g->of[1].scan_count, 0);
    CHECK_INT(g->of[2].scan_count, 2);
    CHECK_INT(g->of[3].scan_count, 1);
    CHECK_INT(g->of[0].always_count, 0);
    CHECK_INT(g->of[1].always_count, 1);
    CHECK_INT(g->of[2].always_count, 0);
    CHECK_INT(g->of[3].always_count, 1);
    g = &r.set->plan->app[app_proto_by_name("http")->id][TO_CLIENT];
    for (unsigned i = 0; i < ADDRESS_CASES; i++)
        CHECK_INT(g->of[i].scan_count + g->of[i].always_count, 0);
    test_rules_free(&r);
}
