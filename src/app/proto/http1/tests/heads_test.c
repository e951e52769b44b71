/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Heads of random lines, in segments of their own and behind another message. In the former
 * plain_head.c reads them, as far as they are plain; in the latter libhtp does. Events, logs and all
 * buffers have to be the same. */
#include "app/tests/split.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char yaml[] = "app-layer: { protocols: { http: { enabled: yes, libhtp: { "
                           "default-config: { personality: IDS, request-body-limit: 100kb, "
                           "response-body-limit: 100kb } } } } }\n";

static const char *const request_lines[] = {
    "GET / HTTP/1.1", "GET /a?b=c HTTP/1.1", "HEAD /a/../b%41 HTTP/1.0", "POST /x HTTP/1.1",
    "PUT /p?q HTTP/1.1", "GET http://u@a.b:1/c HTTP/1.1", "GET /? HTTP/1.1", "GET * HTTP/1.1",
    "GET /a  HTTP/1.1", "GET /a HTTP/1.2", "OPTIONS /o HTTP/1.1", "CONNECT a:1 HTTP/1.1",
};
static const char *const status_lines[] = {
    "HTTP/1.1 200 OK", "HTTP/1.0 404 Not Found", "HTTP/1.1 304", "HTTP/1.1  200 OK",
    "HTTP/1.1 2000 OK", "HTTP/1.1 20x OK", "HTTP/1.01 200 OK", "HTTP/2.0 200 OK", "HTTP/1.1 600",
    "HTTP/1.1 100 Continue", "HTTP/1.1 020 OK", "HTTP/ 200 OK", "HTTP/1.1 204 None",
};
/* Each second one is usual. */
static const char *const lines[] = {
    "Host: a.example\r\n", "Server: s\r\r\n", "User-Agent: u v\r\n", "no colon\r\n",
    "Accept: */*\r\n", ": no name\r\n", "Content-Type: text/html; x=y\r\n", "Odd : 1\r\n",
    "Set-Cookie: 1\r\n", "set-cookie: 2\r\n", "Accept-Encoding: gzip\r\n", "a(b: 1\r\n",
    "Connection: close\r\n", "X:\r\n", "Date: now  \r\n", "\xc3\xa9: \xc3\xa9\r\n",
    "Content-Length: 3\r\n", "content-length: 3\r\n", "Cache-Control: a, b\r\n", " folded\r\n",
    "Via:  two\r\n", "T: a\tb\r\n", "ETag: \"1\"\r\n", "Transfer-Encoding: chunked\r\n",
    "Vary: *\r\n", "L: 1\n", "Age: 1\r\n", "Content-Encoding: gzip\r\n",
    "Referer: http://b/\r\n", "Content-Length: x\r\n", "Cookie: c\r\n", "HOST: b\r\n",
};

static uint32_t next(uint64_t *seed, size_t below)
{
    *seed = *seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)((*seed >> 33) % below);
}

/* `oddity`: of so many lines about one is unusual. */
static uint32_t make_head(char *out, size_t size, const char *first, unsigned oddity, uint64_t *seed)
{
    size_t n = (size_t)snprintf(out, size, "%s\r\n", first);

    for (uint32_t count = next(seed, 8); count > 0; count--) {
        uint32_t odd = next(seed, oddity) == 0, at = 2 * next(seed, ARRAY_LEN(lines) / 2) + odd;

        n += (size_t)snprintf(out + n, size - n, "%s", lines[at]);
    }
    return (uint32_t)(n + (size_t)snprintf(out + n, size - n, "\r\n"));
}

#define FIRST_REQUEST "GET /1 HTTP/1.1\r\nHost: a\r\n\r\n"
#define FIRST_RESPONSE "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n1"

/* Both texts begin with a message that is usual, of this length. */
static void compare(struct test *t, struct slice requests, struct slice responses)
{
    const uint32_t r = sizeof(FIRST_REQUEST) - 1, s = sizeof(FIRST_RESPONSE) - 1;
    const struct split_step together[] = { { TO_SERVER, requests.data, requests.len },
                                           { TO_CLIENT, responses.data, responses.len } };
    const struct split_step apart[] = { { TO_SERVER, requests.data, r },
                                        { TO_SERVER, requests.data + r, requests.len - r },
                                        { TO_CLIENT, responses.data, s },
                                        { TO_CLIENT, responses.data + s, responses.len - s } };
    struct split_case c = { .yaml = yaml, .port = 80, .show = "http", .steps = together,
                            .count = ARRAY_LEN(together) };
    char *by_libhtp = split_replay(&c, SPLIT_NONE, 0), *here;

    c.steps = apart;
    c.count = ARRAY_LEN(apart);
    here = split_replay(&c, SPLIT_NONE, 0);
    CHECK_STRING(here, by_libhtp);
    free(here);
    free(by_libhtp);
}

TEST(http1_heads_are_read_as_by_libhtp)
{
    uint64_t seed = 1;

    for (unsigned i = 0; i < 1000; i++) {
        char request[1024] = FIRST_REQUEST, response[1024] = FIRST_RESPONSE;
        uint32_t first = i % 3 == 0 ? next(&seed, ARRAY_LEN(request_lines)) : 0;
        uint32_t at[2] = { sizeof(FIRST_REQUEST) - 1, sizeof(FIRST_RESPONSE) - 1 };

        at[0] += make_head(request + at[0], sizeof(request) - at[0], request_lines[first],
                           1 + i % 7, &seed);
        first = i % 3 == 1 ? next(&seed, ARRAY_LEN(status_lines)) : 0;
        at[1] += make_head(response + at[1], sizeof(response) - 8 - at[1], status_lines[first],
                           1 + i % 9, &seed);
        memcpy(response + at[1], "abc", 3);
        compare(t, (struct slice){ (const uint8_t *)request, at[0] },
                (struct slice){ (const uint8_t *)response, at[1] + 3 });
    }
}
