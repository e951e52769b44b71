/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Whom a request is for, and what is wrong with that: the verdicts of Suricata 8.0.6. */
#include "app/tests/split.h"
#include "base/test.h"

#include <stdio.h>

static const char yaml[] = "app-layer: { protocols: { http: { enabled: yes } } }";

#define IN_URI "tx 0 event request_uri_host_invalid\n"
#define IN_FIELD "tx 0 event request_header_host_invalid\n"
#define AMBIGUOUS "tx 0 event host_header_ambiguous\n"
#define THREE(x) x x x

/* `host`: as in the record of the request, with its port; "": none. */
static void expect_host(struct test *t, const char *target, const char *field, const char *host,
                        const char *events)
{
    char request[512], expected[512];
    int n = snprintf(request, sizeof(request), "%s HTTP/1.1\r\nHost: %s\r\n\r\n", target, field);
    const struct split_step steps[] = { { TO_SERVER, request, (uint32_t)n } };
    const struct split_case c = { .yaml = yaml, .port = 80, .steps = steps, .count = 1 };

    snprintf(expected, sizeof(expected), "tx 0 http {\"http\":{%s\"url\":\"%s\"}}\n%s"
             "flow http http http\n", host, target + (target[0] == 'G' ? 4 : 8), events);
    split_expect(t, &c, expected);
}

#define A "\"hostname\":\"a\","

/* A scheme without "//". */
TEST(http1_host_of_opaque_uri)
{
    expect_host(t, "GET sip:me@a", "", "\"hostname\":\"me@a\",",
                AMBIGUOUS THREE(IN_URI));
    expect_host(t, "GET x:a:80/b", "", A "\"http_port\":80,", AMBIGUOUS);
    expect_host(t, "GET x:/b", "", "", "");
    expect_host(t, "GET /x:a", "", "", "");
}

TEST(http1_host_in_field)
{
    expect_host(t, "GET /", "a:80", A "\"http_port\":80,", "");
    expect_host(t, "GET /", "a_b.", "\"hostname\":\"a_b.\",", "");
    expect_host(t, "GET /", "a:", A, IN_FIELD);
    expect_host(t, "GET /", "a:x", A, IN_FIELD);
    expect_host(t, "GET /", "a:0", A, IN_FIELD);
    expect_host(t, "GET /", "a/b", A, IN_FIELD);
    expect_host(t, "GET /", "[::1", "\"hostname\":\"[::1\",", IN_FIELD);
    expect_host(t, "GET /", "[::1]:80", "\"hostname\":\"[::1]\",\"http_port\":80,", "");
    expect_host(t, "GET /", "", "", "");
    expect_host(t, "GET /", ":80", "", "");
    expect_host(t, "GET /", "::1", "", "");
}

TEST(http1_host_in_uri)
{
    expect_host(t, "GET http://a:80/f", "a", A "\"http_port\":80,", "");
    expect_host(t, "GET http://a:/f", "a", A, "");
    expect_host(t, "GET http://a:x/f", "a", A, THREE(IN_URI));
    expect_host(t, "GET http://a,b/f", "a", "\"hostname\":\"a,b\",", AMBIGUOUS THREE(IN_URI));
    expect_host(t, "GET http://[::1/f", "[::1", "\"hostname\":\"[::1\",", IN_FIELD THREE(IN_URI));
    expect_host(t, "GET http://:80/f", "a", A, "");
}

TEST(http1_host_of_tunnel)
{
    expect_host(t, "CONNECT a:25 /", "a", A "\"http_port\":25,", "");
    expect_host(t, "CONNECT a:25 x", "a", A "\"http_port\":25,", "");
    expect_host(t, "CONNECT a:25/", "a", A "\"http_port\":25,", "");
    expect_host(t, "CONNECT a:25:26", "a", A, IN_URI IN_URI);
    expect_host(t, "CONNECT a:99999", "a", A, IN_URI IN_URI);
    expect_host(t, "CONNECT a /", "a", A, IN_URI IN_URI);
    expect_host(t, "CONNECT /", "a:25", A "\"http_port\":25,", "");
}
