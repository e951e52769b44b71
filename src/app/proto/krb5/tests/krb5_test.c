/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/proto/krb5/tests/krb5_test.c - a logon refused and one that works, over TCP in every cut and over
 * UDP; what is no Kerberos. */
#include "app/tests/split.h"

#include <stdlib.h>
#include <string.h>

#define CASE(list) { .port = 88, .steps = list, .count = ARRAY_LEN(list) }

#define REQUEST \
    "jR0P\xa1\x03\x02\x01\x05\xa2\x03\x02\x01\x0a\xa4\x44\x30\x42\xa0\x07\x03\x05\x00" \
    "\x00\x00\x00\x00\xa1\x10\x30\x0e\xa0\x03\x02\x01\x01\xa1\x07\x30\x05\x1b\x03\x61" \
    "nn\xa2\x08\x1b\x06\x45X.ORG\xa3\x1b\x30\x19\xa0\x03\x02\x01\x01\xa1\x12\x30\x10" \
    "\x1b\x06krbtgt\x1b\x06\x45X.ORG"
#define REFUSED \
    "~P0N\xa0\x03\x02\x01\x05\xa1\x03\x02\x01\x1e\xa4\x11\x18\x0f\x32\x30\x32\x34\x30" \
    "\x31\x30\x31\x30\x30\x30\x30\x30\x30Z\xa5\x03\x02\x01\x01\xa6\x03\x02\x01\x19" \
    "\xa9\x08\x1b\x06\x45X.ORG\xaa\x1b\x30\x19\xa0\x03\x02\x01\x01\xa1\x12\x30\x10" \
    "\x1b\x06krbtgt\x1b\x06\x45X.ORG"
#define REPLY \
    "k\x81\x80\x30~\xa0\x03\x02\x01\x05\xa1\x03\x02\x01\x0b\xa3\x08\x1b\x06\x45X.ORG" \
    "\xa4\x10\x30\x0e\xa0\x03\x02\x01\x01\xa1\x07\x30\x05\x1b\x03\x61nn\xa5\x43\x61" \
    "\x41\x30\x3f\xa0\x03\x02\x01\x05\xa1\x08\x1b\x06\x45X.ORG\xa2\x1b\x30\x19\xa0" \
    "\x03\x02\x01\x01\xa1\x12\x30\x10\x1b\x06krbtgt\x1b\x06\x45X.ORG\xa3\x11\x30\x0f" \
    "\xa0\x03\x02\x01\x12\xa2\x08\x04\x06sealed\xa6\x11\x30\x0f\xa0\x03\x02\x01\x17" \
    "\xa2\x08\x04\x06sealed"

#define MARK(text) "\x00\x00\x00" text

#define RECORDS                                                                                \
    "tx 0 krb5 {\"krb5\":{\"msg_type\":\"KRB_AS_REQ\",\"cname\":\"ann\",\"realm\":\"EX.ORG\","     \
    "\"sname\":\"krbtgt/EX.ORG\",\"encryption\":\"<none>\",\"weak_encryption\":false}}\n"        \
    "tx 1 krb5 {\"krb5\":{\"msg_type\":\"KRB_ERROR\",\"failed_request\":\"KRB_AS_REQ\","         \
    "\"error_code\":\"KDC_ERR_PREAUTH_REQUIRED\",\"cname\":\"<empty>\",\"realm\":\"<empty>\","   \
    "\"sname\":\"krbtgt/EX.ORG\",\"encryption\":\"<none>\",\"weak_encryption\":false}}\n"        \
    "tx 2 krb5 {\"krb5\":{\"msg_type\":\"KRB_AS_REQ\",\"cname\":\"ann\",\"realm\":\"EX.ORG\","     \
    "\"sname\":\"krbtgt/EX.ORG\",\"encryption\":\"<none>\",\"weak_encryption\":false}}\n"        \
    "tx 3 krb5 {\"krb5\":{\"msg_type\":\"KRB_AS_REP\",\"cname\":\"ann\",\"realm\":\"EX.ORG\","     \
    "\"sname\":\"krbtgt/EX.ORG\",\"encryption\":\"rc4-hmac\",\"weak_encryption\":true,"         \
    "\"ticket_encryption\":\"aes256-cts-hmac-sha1-96\",\"ticket_weak_encryption\":false}}\n"    \
    "tx 3 event weak_encryption\n"                                                             \
    "flow krb5 krb5 krb5\n"

TEST(krb5_udp)
{
    static const struct split_step steps[] = {
        SPLIT_TS(REQUEST), SPLIT_TC(REFUSED), SPLIT_TS(REQUEST), SPLIT_TC(REPLY),
    };
    struct split_case c = CASE(steps);

    c.udp = true;
    split_expect(t, &c, RECORDS);
}

TEST(krb5_tcp)
{
    static const struct split_step steps[] = {
        SPLIT_TS(MARK("\x54") REQUEST), SPLIT_TC(MARK("\x52") REFUSED),
        SPLIT_TS(MARK("\x54") REQUEST), SPLIT_TC(MARK("\x83") REPLY),
    };
    struct split_case c = CASE(steps);

    split_expect(t, &c, RECORDS);
}

/* Of a datagram that is none nothing is kept, and the next one is read again. */
TEST(krb5_malformed)
{
    static const struct split_step steps[] = {
        SPLIT_TS(REQUEST), SPLIT_TS("\x6a\x80"), SPLIT_TC(REFUSED),
    };
    struct split_case c = CASE(steps);
    char *text;

    c.udp = true;
    text = split_replay(&c, SPLIT_NONE, 0);
    CHECK(strstr(text, "tx 1 krb5") != NULL && strstr(text, "tx 2 ") == NULL);
    free(text);
}
