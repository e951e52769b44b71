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

/* A bind with the authentication choice 10, as Windows sends it for NTLM, then the second step. */
#define NTLM(id, choice) "\x30\x13\2\1" id "\x60\x0e\2\1\3\4\0" choice "\7NTLMSSP"
#define CHALLENGE(id) "\x30\x0e\2\1" id "\x61\x09\x0a\1\x0e\4\2\xff\xfe\4\0"

TEST(ldap_odd_bind_is_told_once_and_followed)
{
    static const struct split_step steps[] = {
        SPLIT_TS(BIND), SPLIT_TC(BOUND), SPLIT_TS(NTLM("\2", "\x8a")), SPLIT_TC(CHALLENGE("\2")),
        SPLIT_TS(NTLM("\3", "\x8b")),
    };
    const struct split_case c = { .port = 389, .steps = steps, .count = 5 };
    char *text = split_replay(&c, SPLIT_NONE, 0), *first = strstr(text, " event invalid_data\n");

    CHECK(strstr(text, "tx 1 event invalid_data\n") != NULL);
    CHECK(first != NULL && strstr(first + 1, " event invalid_data\n") == NULL);
    CHECK(strstr(text, "tx 2 ldap {\"ldap\":{\"request\":{\"message_id\":3,") != NULL);
    free(text);
    split_check(t, &c);
}

/* A DN is UTF-8 (RFC 4511 section 4.1.3). */
TEST(ldap_dn_of_bytes)
{
    static const struct split_step steps[] = { SPLIT_TS(BIND), SPLIT_TC(CHALLENGE("\1")) };
    const struct split_case c = { .port = 389, .steps = steps, .count = 2 };
    char *text = split_replay(&c, SPLIT_NONE, 0);

    CHECK(strstr(text, "tx 0 event invalid_data\n") != NULL);
    CHECK(strstr(text, "bind_response") != NULL);
    free(text);
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
