/* SPDX-License-Identifier: GPL-2.0-or-later */
/* detect/tests/window_above_test.c - tcp.window_above: what it matches, and a mistake. */
#include "base/test.h"
#include "detect/rule/program.h"
#include "detect/tests/rules_fixture.h"

#include <string.h>

static bool window_matches(struct rules_fixture *f, const char *options, uint16_t window)
{
    const struct rule *r = rules_fixture_options(f, options);
    struct packet p = { .ip_proto = 6, .tcp.window = window };
    struct match_input in = { .packet = &p, .rule = r };

    p.l4 = (uint8_t *)&p;               /* there is a header */
    return r != NULL && r->test_count == 1 && r->test[0].match(&in, r->test[0].arg);
}

TEST(window_above_matches)
{
    struct rules_fixture f;

    rules_fixture_open(&f);
    CHECK(window_matches(&f, "tcp.window_above:500;", 501));
    CHECK(!window_matches(&f, "tcp.window_above:500;", 500));
    CHECK(rules_fixture_options(&f, "tcp.window_above:65536;") == NULL);
    CHECK(strstr(f.err.text, "expected a number up to 65535") != NULL);
    rules_fixture_close(&f);
}
