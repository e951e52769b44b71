/* SPDX-License-Identifier: GPL-2.0-or-later */
/* igmp.hdr, igmp.type and igmp-csum: which rules may have them, and which messages they match. */
#include "base/test.h"
#include "detect/rule/keyword.h"
#include "detect/tests/rules_fixture.h"

#include <stdio.h>

TEST(igmp_keywords_parse)
{
    static const struct { const char *rule, *error; } bad[] = {
        { "alert udp any any -> any any (igmp.type:1; sid:1;)",
          "igmp.type: the rule is not about IGMP" },
        { "alert tcp any any -> any any (igmp.hdr; content:\"x\"; sid:1;)",
          "igmp.hdr: the rule's protocol has no such header" },
        { "alert igmp any any -> any any (igmp-csum:right; sid:1;)",
          "igmp-csum: expected valid or invalid, found \"right\"" },
    };
    struct rules_fixture f;

    rules_fixture_open(&f);
    CHECK(rules_fixture_parse(&f, "alert igmp any any -> any any (igmp.type:0x11; sid:1;)"));
    CHECK(rules_fixture_parse(&f, "alert ip any any -> any any (igmp.type:>3; sid:1;)"));
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        CHECK(rules_fixture_parse(&f, bad[i].rule) == NULL);
        CHECK_STRING(f.err.text, bad[i].error);
    }
    CHECK(rules_fixture_parse(&f, "alert igmp any any -> any any (igmp.type:256; sid:1;)") == NULL);
    rules_fixture_close(&f);
}

TEST(igmp_keywords_match)
{
    /* 0x16 and a sum that is right: the complement of 0x1600 + 0xefff + 0xffff is 0xf9ff. */
    uint8_t message[] = { 0x16, 0, 0xf9, 0xff, 0xef, 0xff, 0xff, 0xff };
    static const struct { const char *options; bool holds; } rows[] = {
        { "igmp.type:0x16;", true }, { "igmp.type:!22;", false }, { "igmp.type:<23;", true },
        { "igmp-csum:valid;", true }, { "igmp-csum:invalid;", false },
    };
    struct packet p = { .ip_proto = 2, .l4 = message, .l4_len = sizeof(message) };
    struct match_input in = { .packet = &p };
    struct rules_fixture f;

    rules_fixture_open(&f);
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct rule *r = rules_fixture_options(&f, rows[i].options);

        CHECK(r != NULL && r->test[0].match(&in, r->test[0].arg) == rows[i].holds);
        p.ip_proto = 17;
        CHECK(r != NULL && !r->test[0].match(&in, r->test[0].arg));
        p.ip_proto = 2;
    }
    rules_fixture_close(&f);
}
