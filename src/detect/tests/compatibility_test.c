/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Rules that Suricata 8.0 and 9 take differently, and limits that only 9 has. */
#include "base/test.h"
#include "detect/tests/rules_fixture.h"

#include <stdio.h>

TEST(compatibility_of_rules)
{
    static const struct { const char *rule, *error; } rows[] = {
        { "alert pkthdr any any -> any any (decode-event:ipv4.trunc_pkt; sid:1;)", NULL },
        { "alert pkthdr any any -> any any (ttl:5; sid:1;)",
          "pkthdr: only rules about decoder events have it in Suricata 9" },
        { "alert tcp any any -> any any (flowbits:toggle,a; sid:1;)",
          "flowbits: toggle does not exist in Suricata 9" },
        { "alert tcp any any -> any any (flowbits:set,a; flowbits:set,b; flowbits:set,c; "
          "flowbits:set,d; flowbits:isset,e; flowbits:isset,f; flowbits:isset,g; flowbits:isset,h; "
          "sid:1;)", NULL },
        { "alert tcp any any -> any any (flowbits:set,a; flowbits:set,b; flowbits:set,c; "
          "flowbits:set,d; flowbits:isset,e; flowbits:isset,f; flowbits:isset,g; flowbits:isset,h; "
          "flowbits:isset,i; sid:1;)",
          "flowbits: at most 8 in one rule (detect.flowbits.max-per-signature)" },
    };
    struct rules_fixture f;

    rules_fixture_open(&f);
    CHECK(!f.set->suricata_9);
    CHECK_INT(f.set->flowbits_max, 0);
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        CHECK(rules_fixture_parse(&f, rows[i].rule) != NULL);
    f.set->suricata_9 = true;
    f.set->flowbits_max = 8;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        CHECK((rules_fixture_parse(&f, rows[i].rule) != NULL) == (rows[i].error == NULL));
        if (rows[i].error != NULL)
            CHECK_STRING(f.err.text, rows[i].error);
    }
    rules_fixture_close(&f);
}

/* Numbers that Suricata 9 takes by name, in any case, with `!` and with comparisons. */
TEST(message_types_by_name)
{
    static const struct { const char *options; bool good; } rows[] = {
        { "krb5_msg_type:10;", true }, { "krb5_msg_type:ERROR;", true },
        { "krb5_msg_type:!error;", true }, { "krb5_msg_type:as_req;", true },
        { "krb5_msg_type:>20;", true }, { "krb5_msg_type:10-13;", true },
        { "krb5_msg_type:RESERVED17;", true }, { "krb5_msg_type:AS;", false },
        { "krb5_msg_type:;", false }, { "krb5_msg_type:>ERROR;", false },
        { "dcerpc.opnum:>10;", true }, { "dcerpc.opnum:1,5-9;", true },
        { "dcerpc.opnum:>;", false },
    };
    struct rules_fixture f;

    rules_fixture_open(&f);
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        if ((rules_fixture_options(&f, rows[i].options) != NULL) != rows[i].good)
            test_fail(t, __FILE__, __LINE__, "%s %s", rows[i].options, f.err.text);
    rules_fixture_close(&f);
}

/* A step that Suricata 9 has may be a rule's hook in both; the kinds narrow it down. */
TEST(compatibility_hooks_name_steps_and_kinds)
{
    static const struct { const char *hook; uint8_t step, kind; bool to_server; } rows[] = {
        { "smtp:request_started", 0, 0, true }, { "smtp:request_data", 1, 0, true },
        { "smtp:response_data", 1, 0, false }, { "smtp:request_complete", 2, 0, true },
        { "http2:request_complete", 4, 0, true }, { "http2:stream:request_started", 0, 1, true },
        { "http2:stream:request_headers", 1, 1, true },
        { "http2:stream:response_data", 2, 1, false },
        { "http2:stream:response_closed", 3, 1, false },
        { "http2:global:response_complete", 4, 2, false },
        { "doh2:stream:request_closed", 3, 1, true }, { "doh2:global:request_started", 0, 2, true },
    };
    static const char *const wrong[] = {
        "http2:streams:request_headers", "http2:global:request_headers", "http2:request_closed",
        "smtp:stream:request_data", "http2:stream:", "http2:stream:stream:request_data",
        "dns:stream:request_started", "smtp:request_dat",
    };
    struct rules_fixture f;
    char text[120];

    rules_fixture_open(&f);
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct rule *r;

        snprintf(text, sizeof(text), "alert %s any any -> any any (sid:1;)", rows[i].hook);
        r = rules_fixture_parse(&f, text);
        CHECK(r != NULL);
        if (r == NULL)
            continue;
        CHECK_INT(r->hook, rows[i].step + 1);
        CHECK_INT(r->hook_kind, rows[i].kind);
        CHECK(((r->flags & RULE_TO_SERVER) != 0) == rows[i].to_server);
    }
    for (size_t i = 0; i < ARRAY_LEN(wrong); i++) {
        snprintf(text, sizeof(text), "alert %s any any -> any any (sid:1;)", wrong[i]);
        CHECK(rules_fixture_parse(&f, text) == NULL);
    }
    rules_fixture_close(&f);
}
