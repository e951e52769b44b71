/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tests of control/web/address: what may be listened on, and which names a browser may use. */
#include "control/web/address.h"

#include <string.h>

#include "base/test.h"

static bool reads(const char *text, bool *is_loopback)
{
    struct web_address a;
    struct err err = { 0 };
    bool good = web_address_read(text, &a, &err) == 0;

    *is_loopback = good && a.is_loopback;
    return good;
}

TEST(web_address_read)
{
    static const struct { const char *text; bool good, loopback; } cases[] = {
        { "127.0.0.1:9917", true, true },
        { "127.8.8.8:1", true, true },
        { "[::1]:9917", true, true },
        { "[::ffff:127.0.0.1]:9917", true, true },
        { "0.0.0.0:9917", true, false },
        { "[::]:9917", true, false },
        { "192.0.2.1:9917", true, false },
        { "unix:/run/ids/metrics.socket", true, true },
        { "unix:relative", false, false },
        { "localhost:9917", false, false },
        { "127.0.0.1", false, false },
        { "127.0.0.1:", false, false },
        { "127.0.0.1:65536", false, false },
        { "127.0.0.1:-1", false, false },
        { "", false, false },
    };

    for (unsigned i = 0; i < ARRAY_LEN(cases); i++) {
        bool loopback;

        CHECK(reads(cases[i].text, &loopback) == cases[i].good);
        CHECK(loopback == cases[i].loopback);
    }
}

TEST(web_host_is_local)
{
    CHECK(web_host_is_local(NULL));
    CHECK(web_host_is_local("localhost"));
    CHECK(web_host_is_local("LOCALHOST:9917"));
    CHECK(web_host_is_local("127.0.0.1:9917"));
    CHECK(web_host_is_local("[::1]:9917"));
    CHECK(!web_host_is_local("localhost.evil.example"));
    CHECK(!web_host_is_local("127.0.0.1.evil.example:9917"));
    CHECK(!web_host_is_local("evil.example"));
    CHECK(!web_host_is_local(""));
}
