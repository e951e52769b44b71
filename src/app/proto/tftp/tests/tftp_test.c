/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "app/tests/split.h"

#define DATAGRAM(s) { TO_SERVER, (s), sizeof(s) - 1 }

static void check(struct test *t, const struct split_step *step, const char *expected)
{
    struct split_case c = { .udp = true, .port = 69, .steps = step, .count = 1 };

    split_expect(t, &c, expected);
}

TEST(tftp_requests)
{
    static const struct split_step read[] = { DATAGRAM("\0\1rfc1350.txt\0Octet\0") };
    static const struct split_step write[] = { DATAGRAM("\0\2a\0netascii") };
    static const struct split_step other[] = { DATAGRAM("\0\5a\0mail\0") };

    check(t, read, "tx 0 tftp {\"tftp\":{\"packet\":\"read\",\"file\":\"rfc1350.txt\","
                   "\"mode\":\"octet\"}}\nflow tftp tftp unknown\n");
    check(t, write, "tx 0 tftp {\"tftp\":{\"packet\":\"write\",\"file\":\"a\","
                    "\"mode\":\"netascii\"}}\nflow tftp tftp unknown\n");
    check(t, other, "tx 0 tftp {\"tftp\":{\"packet\":\"error\",\"file\":\"a\","
                    "\"mode\":\"mail\"}}\nflow tftp tftp unknown\n");
}

TEST(tftp_no_request)
{
    static const struct split_step cases[][1] = {
        { DATAGRAM("\0\1rfc1350.txtnoctet") }, { DATAGRAM("\0\6a\0octet\0") },
        { DATAGRAM("\0\1a\0cccc\0") }, { DATAGRAM("\0\1a\0") },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        check(t, cases[i], "flow tftp tftp unknown\n");
}
