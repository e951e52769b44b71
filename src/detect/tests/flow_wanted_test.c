/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/test.h"
#include "detect/explain/flow_wanted.h"

#include <string.h>

static bool wants(struct test *t, const char *flow, const char *src, uint16_t src_port,
                  const char *dst, uint16_t dst_port)
{
    struct packet p = { .src_port = src_port, .dst_port = dst_port };
    struct flow_wanted w = { 0 };
    struct err err = { 0 };

    CHECK(ip_parse(text_of(src), &p.src) && ip_parse(text_of(dst), &p.dst));
    CHECK(flow_wanted_read(&w, "--flow", flow, &err) == 0);
    return flow_is_wanted(&w, &p);
}

TEST(flow_wanted_in_either_direction)
{
    const char *four = "10.0.0.1:1024-10.0.0.2:80", *six = "[fe80::1]:1024 - [fe80::2]:80";

    CHECK(wants(t, four, "10.0.0.1", 1024, "10.0.0.2", 80));
    CHECK(wants(t, four, "10.0.0.2", 80, "10.0.0.1", 1024));
    CHECK(!wants(t, four, "10.0.0.1", 80, "10.0.0.2", 1024));
    CHECK(!wants(t, four, "10.0.0.1", 1024, "10.0.0.3", 80));
    CHECK(wants(t, six, "fe80::2", 80, "fe80::1", 1024));
    CHECK(wants(t, "10.0.0.1:0-10.0.0.2:0", "10.0.0.2", 0, "10.0.0.1", 0));
}

TEST(flow_wanted_refuses)
{
    static const char *const wrong[] = { "", "10.0.0.1:1", "10.0.0.1-10.0.0.2:80",
                                         "10.0.0.1:1-10.0.0.2:65536", "a:1-b:2",
                                         "10.0.0.1:1-10.0.0.2:2-10.0.0.3:3" };

    for (unsigned i = 0; i < ARRAY_LEN(wrong); i++) {
        struct flow_wanted w = { 0 };
        struct err err = { 0 };

        CHECK(flow_wanted_read(&w, "--explain-flow", wrong[i], &err) < 0);
        CHECK(strstr(err.text, "--explain-flow: expected ADDRESS:PORT") != NULL);
        CHECK(!w.given);
    }
}
