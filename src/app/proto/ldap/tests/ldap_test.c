/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "app/tests/split.h"

#include <stdlib.h>
#include <string.h>

#define BIND "\x30\x0e\2\1\1\x60\x09\2\1\3\4\2me\x80\0"
#define BOUND "\x30\x0c\2\1\1\x61\7\x0a\1\0\4\0\4\0"
#define UNBIND "\x30\5\2\1\2\x42\0"

TEST(ldap_bind_in_any_segmentation)
{
    static const struct split_step steps[] = { SPLIT_TS(BIND), SPLIT_TC(BOUND),
                                               SPLIT_TS(UNBIND) };
    const struct split_case c = { .port = 389, .steps = steps, .count = 3, .frames = true };
    char *text = split_replay(&c, SPLIT_NONE, 0);

    CHECK(strstr(text, "tx 0 ldap {\"ldap\":{\"request\":{\"message_id\":1,\"operation\":"
                       "\"bind_request\",\"bind_request\":{\"version\":3,\"name\":\"me\"}},"
                       "\"responses\":[{\"operation\":\"bind_response\",\"bind_response\":{"
                       "\"result_code\":\"success\",\"matched_dn\":\"\",\"message\":\"\"}}]}}\n")
          != NULL);
    CHECK(strstr(text, "\"operation\":\"unbind_request\"}}}\n") != NULL);
    free(text);
    split_check(t, &c);
}

TEST(ldap_response_to_nothing)
{
    static const struct split_step steps[] = { SPLIT_TS(UNBIND), SPLIT_TC(BOUND) };
    const struct split_case c = { .port = 389, .steps = steps, .count = 2 };
    char *text = split_replay(&c, SPLIT_NONE, 0);

    CHECK(strstr(text, "tx 1 event request_not_found\n") != NULL);
    free(text);
    split_check(t, &c);
}
