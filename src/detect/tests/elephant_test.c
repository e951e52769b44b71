/* SPDX-License-Identifier: GPL-2.0-or-later */
/* flow.elephant: each word against each state of the flow. */
#include "base/test.h"
#include "detect/rule/keyword.h"
#include "detect/tests/rules_fixture.h"
#include "flow/rate.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool matches(const struct rule *r, struct flow *f)
{
    struct packet p = { .flow = f };
    struct match_input in = { .packet = &p, .flow = f };

    return r->test[0].match(&in, r->test[0].arg);
}

TEST(elephant_by_direction)
{
    static const uint8_t states[] = { 0, FLOW_INSPECT_ELEPHANT_TS, FLOW_INSPECT_ELEPHANT_TC,
                                      FLOW_INSPECT_ELEPHANT };
    static const struct { const char *word, *expected; } rows[] = {
        { "toserver", ".A.A" }, { "toclient", "..AA" }, { "both", "...A" }, { "either", ".AAA" },
    };
    struct rules_fixture f;
    struct flow *flow = aligned_alloc(CACHE_LINE, sizeof(*flow));

    rules_fixture_open(&f);
    memset(flow, 0, sizeof(*flow));
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        char options[64], found[5] = "";
        struct rule *r;

        snprintf(options, sizeof(options), "flow.elephant:%s;", rows[i].word);
        r = rules_fixture_options(&f, options);
        CHECK(r != NULL && (r->flags & RULE_NEEDS_PACKET));
        for (unsigned s = 0; r != NULL && s < ARRAY_LEN(states); s++) {
            flow->inspect_flags = states[s];
            found[s] = matches(r, flow) ? 'A' : '.';
        }
        CHECK_STRING(found, rows[i].expected);
        CHECK(r == NULL || !matches(r, NULL));
    }
    CHECK(rules_fixture_options(&f, "flow.elephant:nowhere;") == NULL);
    CHECK_STRING(f.err.text, "flow.elephant: expected toserver, toclient, both or either, found "
                 "\"nowhere\"");
    free(flow);
    rules_fixture_close(&f);
}
