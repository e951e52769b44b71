/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tests of base/ip. */
#include "base/text/ip.h"
#include "base/test.h"

#include <stdio.h>
#include <string.h>

static void check_round(struct test *t, const char *text, const char *expected)
{
    char out[IP_TEXT_SIZE];
    struct ip ip;

    CHECK(ip_parse(text_of(text), &ip));
    CHECK_INT(ip_format(&ip, out), strlen(expected));
    CHECK_STRING(out, expected);
}

TEST(ip_text)
{
    struct ip ip;
    char out[IP_TEXT_SIZE];

    check_round(t, "10.0.200.99", "10.0.200.99");
    check_round(t, "fe80::1", "fe80:0000:0000:0000:0000:0000:0000:0001");
    CHECK(!ip_parse(text_of("10.0.0"), &ip));
    CHECK(!ip_parse(text_of(""), &ip));
    CHECK(!ip_parse(text_of("1234567890123456789012345678901234567890123456789"), &ip));
    ip = (struct ip){ 0 };
    CHECK_INT(ip_format(&ip, out), 0);
}

TEST(ip_text_of_each_octet)
{
    char out[IP_TEXT_SIZE], expected[IP_TEXT_SIZE];

    for (unsigned n = 0; n < 256; n++)
        for (unsigned at = 0; at < 4; at++) {
            uint8_t b[4] = { 1, 22, 133, 4 };
            struct ip ip;

            b[at] = (uint8_t)n;
            ip = ip_v4(b);
            snprintf(expected, sizeof(expected), "%u.%u.%u.%u", b[0], b[1], b[2], b[3]);
            CHECK_INT(ip_format(&ip, out), strlen(expected));
            CHECK_STRING(out, expected);
        }
}

TEST(ip_order)
{
    struct ip a, b;

    CHECK(ip_parse(text_of("10.0.0.1"), &a) && ip_parse(text_of("10.0.1.0"), &b));
    CHECK(ip_compare(&a, &b) < 0 && ip_compare(&b, &a) > 0 && ip_compare(&a, &a) == 0);
    CHECK(ip_equal(&a, &a) && !ip_equal(&a, &b));
    CHECK(ip_parse(text_of("::"), &b));
    CHECK(ip_compare(&a, &b) < 0);
}
