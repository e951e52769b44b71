/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/proto/http2/tests/doh2_test.c - DNS over HTTP/2, in a body and in a path. */
#include "app/tests/split.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PREFACE "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" "\0\0\0\4\0\0\0\0\0"
#define QUESTION "\1" "a" "\2" "bc" "\0\0\1\0\1"
#define QUERY "\0\7\1\0\0\1\0\0\0\0\0\0" QUESTION
#define ANSWER "\0\7\x81\x80\0\1\0\1\0\0\0\0" QUESTION "\xc0\x0c\0\1\0\1\0\0\0\x3c\0\4\1\2\3\4"
#define CONTENT_TYPE "\0\x0c" "content-type" "\x17" "application/dns-message"
#define ACCEPT "\0\6" "accept" "\x17" "application/dns-message"
#define POST                                                                                   \
    "\0\0\x3a\1\4\0\0\0\1" "\x83\x87" "\0\5:path" "\x0a" "/dns-query" CONTENT_TYPE             \
    "\0\0\x16\0\1\0\0\0\1" QUERY
#define GET                                                                                    \
    "\0\0\x57\1\5\0\0\0\1" "\x82\x87" "\0\5:path" "\x2d"                                       \
    "/dns-query?dns=AAcBAAABAAAAAAAAAWECYmMAAAEAAQ" ACCEPT
#define RESPONSE "\0\0\x27\1\4\0\0\0\1" "\x88" CONTENT_TYPE "\0\0\x26\0\1\0\0\0\1" ANSWER
#define CASE(list) { .port = 80, .steps = list, .count = sizeof(list) / sizeof(list[0]) }

#define LOGGED                                                                                 \
    "\"dns\":{\"version\":3,\"type\":\"response\",\"tx_id\":0,\"id\":7,\"flags\":\"8180\""

static void check_has(struct test *t, const struct split_case *c, const char *const *expected)
{
    char *text = split_replay(c, SPLIT_NONE, 0);

    for (; *expected != NULL; expected++) {
        CHECK(strstr(text, *expected) != NULL);
        if (strstr(text, *expected) == NULL)
            printf("# no %s in\n%s", *expected, text);
    }
    free(text);
    split_check(t, c);
}

TEST(doh2_body)
{
    static const struct split_step steps[] = { SPLIT_TS(PREFACE POST), SPLIT_TC(RESPONSE) };
    static const char *const expected[] = {
        " dns {\"http\":{\"version\":\"2\"", "\"url\":\"/dns-query\"", LOGGED,
        "\"rrname\":\"a.bc\"", "\"rdata\":\"1.2.3.4\"", "flow doh2 doh2 doh2\n", NULL,
    };
    struct split_case c = CASE(steps);

    check_has(t, &c, expected);
}

TEST(doh2_path)
{
    static const struct split_step steps[] = { SPLIT_TS(PREFACE GET), SPLIT_TC(RESPONSE) };
    static const char *const expected[] = { LOGGED, "flow doh2 doh2 doh2\n", NULL };
    struct split_case c = CASE(steps);

    check_has(t, &c, expected);
}

/* A flow keeps its protocol when its messages are malformed, or when no rule or log needs them. */
TEST(doh2_not)
{
    static const struct split_step good[] = { SPLIT_TS(PREFACE GET), SPLIT_TC(RESPONSE) };
    static const struct split_step bad[] = {
        SPLIT_TS(PREFACE), SPLIT_TC("\0\0\x27\1\4\0\0\0\1" "\x88" CONTENT_TYPE
                                    "\0\0\5\0\1\0\0\0\1" "\xff\xff\xff\xff\xff"),
    };
    static const char *const expected[] = { "flow http2 http2 ", NULL };
    struct split_case c = CASE(good), d = CASE(bad);

    c.yaml = "app-layer: {protocols: {doh2: {enabled: no}}}";
    check_has(t, &c, expected);
    check_has(t, &d, expected);
}
