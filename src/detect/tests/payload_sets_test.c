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

static uint32_t found(const struct payload_sets *sets, const struct ruleset *set, uint16_t src,
                      uint16_t dst, uint32_t offset)
{
    struct candidates c = { 0 };
    uint8_t data[600];
    uint32_t sids = 0;

    memset(data, 'x', sizeof(data));
    memcpy(data + offset, "needle", 6);
    candidates_init(&c, (unsigned)set->rules.count);
    payload_sets_scan(sets, NULL,
                      &(struct sent_payload){ { data, sizeof(data) }, src, dst }, &c);
    for (unsigned i = 0; i < c.count; i++)
        sids |= 1u << set->rules.at[c.list[i]]->sid;
    candidates_fini(&c);
    return sids;
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
    sets = &r.set->plan->group[TRANSPORT_UDP][TO_SERVER].payload;
    CHECK_INT(found(sets, r.set, 1, 80, 10), 1u << 1 | 1u << 3 | 1u << 4);
    CHECK_INT(found(sets, r.set, 1, 4444, 10) & (1u << 2 | 1u << 7), 1u << 2 | 1u << 7);
    CHECK_INT(found(sets, r.set, 1, 4444, 400) & (1u << 2 | 1u << 7), 1u << 2);
    CHECK_INT(found(sets, r.set, 5001, 81, 10) & (1u << 5), 1u << 5);
    CHECK_INT(found(sets, r.set, 5000, 81, 400) & (1u << 5 | 1u << 6), 1u << 5 | 1u << 6);
    test_rules_free(&r);
}
