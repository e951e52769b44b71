/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app-layer-protocol: which flows match, by lists, modes and `exact`. */
#include "base/test.h"
#include "detect/rule/keyword.h"
#include "detect/tests/rules_fixture.h"
#include "flow/flow.h"

#include <stdio.h>

static bool matches(struct rules_fixture *f, const char *value, const struct flow *flow)
{
    char text[200];
    const struct rule *r;
    struct match_input in = { .flow = (struct flow *)(uintptr_t)flow };

    snprintf(text, sizeof(text), "alert ip any any -> any any (app-layer-protocol:%s; sid:1;)",
             value);
    r = rules_fixture_parse(f, text);
    return r != NULL && r->test_count == 1 && r->test[0].match(&in, r->test[0].arg);
}

TEST(app_layer_protocol_lists)
{
    static const struct { const char *value; uint8_t proto; bool expected; } rows[] = {
        { "tls,final", APP_PROTO_tls, true },
        { "ssh|tls,final", APP_PROTO_tls, true },
        { "ssh|tls,final", APP_PROTO_dns, false },
        { "unknown|tls,final", APP_PROTO_UNKNOWN, true },
        { "unknown|tls,final", APP_PROTO_FAILED, false },
        { "failed|tls,final", APP_PROTO_FAILED, true },
        { "!tls|http,final", APP_PROTO_http2, false },
        { "!tls|http,final", APP_PROTO_dns, true },
        { "!tls|http,final", APP_PROTO_UNKNOWN, false },
        { "dns,final", APP_PROTO_doh2, true },
        { "dns,final,exact", APP_PROTO_doh2, false },
        { "dns,exact,final", APP_PROTO_dns, true },
        { "dcerpc,final", APP_PROTO_smb, true },
        { "dcerpc,final,exact", APP_PROTO_smb, false },
        { "http1|http2,exact,final", APP_PROTO_http2, true },
    };
    struct rules_fixture f;

    rules_fixture_open(&f);
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct flow flow = { .app_proto = rows[i].proto };

        if (matches(&f, rows[i].value, &flow) != rows[i].expected)
            test_fail(t, __FILE__, __LINE__, "%s for %s", rows[i].value,
                      app_proto_name((enum app_proto_id)rows[i].proto));
    }
    rules_fixture_close(&f);
}

TEST(app_layer_protocol_lists_of_both_directions)
{
    struct flow one = { .app_proto_dir = { [TO_SERVER] = APP_PROTO_tls } };
    struct flow none = { .app_proto_dir = { APP_PROTO_UNKNOWN, APP_PROTO_UNKNOWN } };
    struct rules_fixture f;

    rules_fixture_open(&f);
    CHECK(matches(&f, "ssh|tls,either", &one));
    CHECK(!matches(&f, "!ssh|tls,either", &one));
    CHECK(matches(&f, "!ssh|dns,either", &one));
    CHECK(!matches(&f, "!ssh|dns,either", &none));
    CHECK(matches(&f, "unknown|dns,either", &none));
    rules_fixture_close(&f);
}
