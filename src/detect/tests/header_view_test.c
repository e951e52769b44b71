/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the plan keeps of a header decides as the header of the rule itself. */
#include "app/proto.h"
#include "base/test.h"
#include "detect/inspect/header_view.h"
#include "detect/tests/rules_helper.h"

#define H "[10.0.0.0/8,2001:db8::/32]"

static const char *const headers[] = {
    "tcp " H " any -> any any", "tcp any any -> " H " 80", "tcp " H " [1024:,!4444] -> !" H " any",
    "udp any 53 -> any any", "udp any any -> any 53", "ip any any -> any any",
    "ip " H " any -> any any", "ip any any -> any 80", "icmp any any -> any any",
    "sctp any any -> " H " 53", "ip4 any any -> any any", "ip6 any any -> any 80",
    "udp 192.0.2.1 any -> [192.0.2.0/24,!192.0.2.1] [1:53,80,443]",
};
static const char *const addresses[] = { "", "10.1.2.3", "192.0.2.1", "192.0.2.9", "2001:db8::7",
                                         "2001:db9::7" };
static const uint16_t ports[] = { 0, 53, 80, 443, 1024, 4444, 65535 };
static const uint8_t protocols[] = { 0, 1, 6, 17, 58, 63, 64, 132, 255 };

/* One of each, by the digits of `n`. */
static struct header_view view_of(const struct ip ip[], unsigned n)
{
    struct header_view h = { .fragment = n % 2 != 0 };

    n /= 2;
    h.src = &ip[n % ARRAY_LEN(addresses)];
    n /= ARRAY_LEN(addresses);
    h.dst = &ip[n % ARRAY_LEN(addresses)];
    n /= ARRAY_LEN(addresses);
    h.src_port = ports[n % ARRAY_LEN(ports)];
    n /= ARRAY_LEN(ports);
    h.dst_port = ports[n % ARRAY_LEN(ports)];
    n /= ARRAY_LEN(ports);
    h.ip_proto = protocols[n % ARRAY_LEN(protocols)];
    return h;
}

static unsigned disagreements(const struct detect_plan *plan, const struct rule *r)
{
    const unsigned views = 2 * ARRAY_LEN(addresses) * ARRAY_LEN(addresses) * ARRAY_LEN(ports) *
                           ARRAY_LEN(ports) * ARRAY_LEN(protocols);
    struct ip ip[ARRAY_LEN(addresses)] = { { .version = 0 } };
    unsigned wrong = 0;

    for (unsigned i = 1; i < ARRAY_LEN(addresses); i++)
        wrong += !ip_parse(text_of(addresses[i]), &ip[i]);
    for (unsigned n = 0; n < views; n++) {
        struct header_view of_rule = view_of(ip, n), of_plan = of_rule;

        of_rule.cache = &of_rule.own;
        of_plan.cache = &of_plan.own;
        wrong += rule_header_test(r, &of_rule) != plan_header_test(plan, r->header_id, &of_plan);
        wrong += of_rule.own.tested != of_plan.own.tested;
        wrong += of_rule.own.matched != of_plan.own.matched;
    }
    return wrong;
}

TEST(header_view_plan_and_rule_agree)
{
    struct test_rules r = { 0 };
    unsigned numbered = 0;

    for (unsigned i = 0; i < ARRAY_LEN(headers); i++)
        test_rules_add(&r, "alert %s (content:\"header\"; sid:%u;)", headers[i], i + 1);
    CHECK(test_rules_ready(&r));
    for (size_t i = 0; r.set != NULL && i < r.set->rules.count; i++) {
        const struct rule *rule = r.set->rules.at[i];

        if (rule->header_id == HEADER_ID_NONE)
            continue;
        numbered++;
        CHECK_INT(disagreements(r.set->plan, rule), 0);
    }
    CHECK(numbered > 0);
    test_rules_free(&r);
}
