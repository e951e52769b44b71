/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the reports on rules say. */
#include "base/test.h"
#include "conf/conf.h"
#include "detect/analysis/private.h"
#include "detect/tests/rules_helper.h"

#include <string.h>

static bool has(const struct buf *out, const char *text)
{
    return memmem(out->data, out->len, text, strlen(text)) != NULL;
}

TEST(analysis_prints_a_rule_as_json)
{
    struct test_rules r;
    struct buf out = { 0 };

    CHECK(test_rules_load(&r, "alert tcp any any -> any 80 (flow:to_server; flags:S; dsize:>1; "
                              "content:\"a b|00|\"; within:9; flowbits:isset,x|y; sid:7; rev:2;)"));
    analysis_rule_json(&out, r.set->rules.at[0]);
    CHECK(has(&out, "\"id\":7,\"gid\":1,\"rev\":2"));
    CHECK(has(&out, "\"requirements\":[\"payload\",\"flow\",\"tcp_flags_init_deinit\","
                    "\"real_pkt\"]"));
    CHECK(has(&out, "\"pattern\":\"a|20|b|00|\",\"length\":4"));
    CHECK(has(&out, "\"depth\":9"));
    CHECK(has(&out, "\"dsize\":{\"gt\":1}"));
    CHECK(has(&out, "\"flowbits\":{\"cmd\":\"isset\",\"names\":[\"x\",\"y\"],"
                    "\"operator\":\"or\"}"));
    CHECK(has(&out, "was converted to 'depth'"));
    buf_fini(&out);
    test_rules_free(&r);
}

/* What Suricata changes in a rule shows in its report. */
TEST(analysis_shows_the_rule_as_changed)
{
    static const struct { const char *rule, *text; } rows[] = {
        { "alert udp any any -> any any (dsize:<64; content:\"ab\"; sid:1;)", "\"depth\":64" },
        { "alert udp any any -> any any (dsize:64; content:\"ab\"; offset:2; depth:9; sid:1;)",
          "\"depth\":11" },
        { "alert http any any -> any any (content:\"ab\"; http.request_body; "
          "content:\"longest\"; sid:1;)", "mpm in http_client_body combined" },
        { "alert udp any any -> any any (content:\"ab\"; byte_jump:1,0,from_beginning; "
          "isdataat:!2,relative; sid:1;)", "\"relative_next\":false" },
        { "alert udp any any -> any any (content:!\"ab\"; isdataat:!1,relative; sid:1;)",
          "\"ends_with\":true" },
    };

    for (unsigned i = 0; i < ARRAY_LEN(rows); i++) {
        struct test_rules r;
        struct buf out = { 0 };

        CHECK(test_rules_load(&r, rows[i].rule));
        analysis_rule_json(&out, r.set->rules.at[0]);
        CHECK(has(&out, rows[i].text));
        buf_fini(&out);
        test_rules_free(&r);
    }
}

TEST(analysis_names_the_rules_that_set_a_bit)
{
    struct test_rules r = { 0 };
    struct buf out = { 0 };

    test_rules_add(&r, "alert http any any -> any any (http.uri; content:\"a\"; "
                       "flowbits:set,seen; sid:1;)");
    test_rules_add(&r, "alert tcp any any -> any any (flowbits:isset,seen; content:\"b\"; sid:2;)");
    CHECK(test_rules_ready(&r));
    analysis_rule_json(&out, r.set->rules.at[1]);
    CHECK(has(&out, "\"id\":2"));
    CHECK(has(&out, "\"type\":\"stream\",\"dependencies\":{\"flowbits\":{\"upstream\":{"
                    "\"state_modifying_rules\":{\"sids\":[1],\"names\":[\"seen\"]}}}}"));
    CHECK(has(&out, "\"engines\":[{\"name\":\"stream\""));
    buf_fini(&out);
    test_rules_free(&r);
}

TEST(analysis_orders_steps_by_progress)
{
    struct test_rules r;
    tx_engines all = { 0 };
    const struct rule *rule;
    bool negated;

    CHECK(test_rules_load(&r, "alert http any any -> any any (http.request_body; pcre:\"/a/\"; "
                              "http.uri; pcre:\"/b/\"; http.host; content:\"longest\"; sid:1;)"));
    rule = r.set->rules.at[0];
    tx_engines_of(rule, analysis_pattern(rule, &negated), &all);
    CHECK(all.count >= 3);
    CHECK(all.at[0].pattern);
    CHECK_STRING(all.at[0].list->buffer->name, "http.host");
    CHECK(all.at[1].progress <= all.at[all.count - 1].progress);
    ARRAY_FREE(&all);
    test_rules_free(&r);
}

TEST(analysis_groups_ports)
{
    struct test_rules r = { 0 };
    struct buf out = { 0 };
    struct conf *conf = conf_new();

    test_rules_add(&r, "alert tcp any any -> any any (flow:to_server; content:\"abc\"; sid:1;)");
    test_rules_add(&r, "alert tcp any any -> any 80:81 (flow:to_server; content:\"abc\"; sid:2;)");
    test_rules_add(&r, "alert tcp any any -> any 80 (flow:to_server; content:\"abc\"; sid:3;)");
    CHECK(test_rules_ready(&r));
    analysis_groups_json(&out, r.set, conf_root(conf));
    CHECK(has(&out, "\"toserver\":[{\"port\":80,\"port2\":80,\"rulegroup\":{\"id\":0"));
    CHECK(has(&out, "{\"port\":81,\"port2\":81,\"rulegroup\":{\"id\":1"));
    CHECK(has(&out, "{\"port\":0,\"port2\":79,\"rulegroup\":{\"id\":2"));
    CHECK(has(&out, "{\"port\":82,\"port2\":65535,\"rulegroup\":{\"id\":2"));
    buf_fini(&out);
    conf_free(conf);
    test_rules_free(&r);
}
