/* SPDX-License-Identifier: GPL-2.0-or-later */
/* sctp.*: forms of the arguments. qa/cases/sctp-keywords has the packets. */
#include "base/test.h"
#include "detect/rule/keyword.h"
#include "detect/tests/rules_fixture.h"

TEST(sctp_keywords_parse)
{
    static const char *const good[] = {
        "sctp.vtag:12345;", "sctp.vtag:>0;", "sctp.vtag:100-200;", "sctp.chunk_type:init_ack;",
        "sctp.chunk_type:!data;", "sctp.chunk_type:INIT;", "sctp.chunk_type:0-4;",
        "sctp.chunk_type:0xc0;", "sctp.chunk_cnt:>3;", "sctp.chunk_cnt:2-5;",
        "sctp.hdr; content:\"|01|\"; offset:8; depth:1;", "sctp.chunk_data; content:\"test\";",
    };
    static const char *const bad[] = {
        "sctp.vtag:;", "sctp.chunk_type:256;", "sctp.chunk_type:initiate;", "sctp.chunk_cnt:65536;",
        "sctp.chunk_data:1;",
    };
    struct rules_fixture f;

    rules_fixture_open(&f);
    for (size_t i = 0; i < ARRAY_LEN(good); i++)
        if (rules_fixture_options(&f, good[i]) == NULL)
            test_fail(t, __FILE__, __LINE__, "%s: %s", good[i], f.err.text);
    for (size_t i = 0; i < ARRAY_LEN(bad); i++)
        if (rules_fixture_options(&f, bad[i]) != NULL)
            test_fail(t, __FILE__, __LINE__, "%s is taken", bad[i]);
    CHECK(rules_fixture_parse(&f, "alert udp any any -> any any (sctp.chunk_data; content:\"x\"; "
                              "sid:1;)") == NULL);
    CHECK_STRING(f.err.text, "sctp.chunk_data: the rule's protocol has no such header");
    rules_fixture_close(&f);
}
