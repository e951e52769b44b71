/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tcp.session: words and mistakes; qa/cases/tcp-session has the packets of a session. */
#include "base/test.h"
#include "detect/rule/keyword.h"
#include "detect/tests/rules_fixture.h"

#include <string.h>

TEST(tcp_session_words)
{
    static const char *const good[] = {
        "tcp.session:setup;", "tcp.session:established;", "tcp.session:closing;",
        "tcp.session:closing,setup;", "tcp.session:setup,established,closing;",
    };
    static const struct { const char *options, *error; } bad[] = {
        { "tcp.session:setup,setup;", "tcp.session: \"setup\" is said twice" },
        { "tcp.session:setup,;", "tcp.session: expected setup, established or closing, found \"\"" },
        { "tcp.session:,setup;",
          "tcp.session: expected setup, established or closing, found \"\"" },
        { "tcp.session:setup, closing;",
          "tcp.session: expected setup, established or closing, found \" closing\"" },
        { "tcp.session:SETUP;",
          "tcp.session: expected setup, established or closing, found \"SETUP\"" },
    };
    struct rules_fixture f;

    rules_fixture_open(&f);
    for (size_t i = 0; i < ARRAY_LEN(good); i++)
        CHECK(rules_fixture_options(&f, good[i]) != NULL);
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        CHECK(rules_fixture_options(&f, bad[i].options) == NULL);
        CHECK_STRING(f.err.text, bad[i].error);
    }
    CHECK(rules_fixture_parse(&f, "alert udp any any -> any any (tcp.session:setup; sid:1;)") ==
          NULL);
    CHECK_STRING(f.err.text, "tcp.session: the rule is not about TCP");
    rules_fixture_close(&f);
}
