/* SPDX-License-Identifier: GPL-2.0-or-later */
/* HTTP/1 conversations, whole and in any cut; header values. */
#include "app/core/file.h"
#include "app/core/thread.h"
#include "app/lib/mime/parameter.h"
#include "app/proto/http1/body.h"
#include "app/proto/http1/http1.h"
#include "app/proto/http1/settings.h"
#include "app/proto/http1/state.h"
#include "app/proto/http1/tx.h"
#include "app/tests/replay.h"
#include "app/tests/split.h"
#include "base/memory/traffic_memory.h"
#include "base/memory/traffic_memory.h"
#include "base/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char extended[] = "app-layer: { protocols: { http: { enabled: yes, libhtp: { "
                               "default-config: { personality: IDS, request-body-limit: 100kb, "
                               "response-body-limit: 100kb } } } } }\n";

static void expect(struct test *t, const struct split_step *steps, unsigned count,
                   const char *expected)
{
    const struct split_case c = { .yaml = extended, .port = 80, .steps = steps, .count = count };

    split_expect(t, &c, expected);
}

TEST(http1_get)
{
    static const struct split_step steps[] = {
        SPLIT_TS("GET /a/./b%20c?x=%41#f HTTP/1.1\r\nHost: Example.COM:8080\r\n"
                 "User-Agent: test\r\nCookie: k=v\r\n\r\n"),
        SPLIT_TC("HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=x\r\n"
                 "Content-Length: 5\r\n\r\nhello"),
    };

    expect(t, steps, ARRAY_LEN(steps),
           "tx 0 http {\"http\":{\"hostname\":\"example.com\",\"http_port\":8080,"
           "\"url\":\"/a/./b%20c?x=%41#f\",\"http_user_agent\":\"test\","
           "\"http_content_type\":\"text/html\"}}\n"
           "tx 0 file /a/b c closed 5 -\n"
           "flow http http http\n");
}

TEST(http1_pipeline)
{
    static const struct split_step steps[] = {
        SPLIT_TS("GET /1 HTTP/1.1\r\nHost: a\r\n\r\nGET /2 HTTP/1.1\r\nHost: a\r\n\r\n"),
        SPLIT_TC("HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n1"
                 "HTTP/1.1 404 Not Found\r\nTransfer-Encoding: chunked\r\n\r\n"
                 "3\r\nabc\r\n2\r\nde\r\n0\r\nX-Trailer: y\r\n\r\n"),
    };

    expect(t, steps, ARRAY_LEN(steps),
           "tx 0 http {\"http\":{\"hostname\":\"a\",\"url\":\"/1\"}}\n"
           "tx 0 file /1 closed 1 -\n"
           "tx 1 http {\"http\":{\"hostname\":\"a\",\"url\":\"/2\"}}\n"
           "tx 1 file /2 closed 5 -\n"
           "flow http http http\n");
}

#define REQUEST(n) "GET /" #n " HTTP/1.1\r\nHost: a\r\n\r\n"

TEST(http1_too_many_open_requests_stop_the_parser)
{
    static const struct split_step steps[] = {
        SPLIT_TS(REQUEST(1) REQUEST(2) REQUEST(3) REQUEST(4)),
        SPLIT_TC("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"),
    };
    const struct split_case c = {
        .yaml = "app-layer: { protocols: { http: { enabled: yes, libhtp: { default-config: { "
                "personality: IDS, max-tx: 2 } } } } }\n",
        .port = 80, .steps = steps, .count = ARRAY_LEN(steps),
    };

    split_expect(t, &c, "tx 0 http {\"http\":{\"hostname\":\"a\",\"url\":\"/1\"}}\n"
                        "tx 1 http {\"http\":{\"hostname\":\"a\",\"url\":\"/2\"}}\n"
                        "flow http http unknown\n");
}

/* As when thousands of connections wait: the parser goes after each packet where it may. */
static void suspend_always(struct app_fixture *fixture)
{
    struct http_thread *ht = fixture->thread->proto[APP_PROTO_http1].data;

    ht->active_max = 0;
}

/* Parsers that come and go give what others give, in so many segmentations. `text`: stands in it;
 * NULL: anything. */
static void check_suspended(struct test *t, struct split_case *c, unsigned times, const char *text)
{
    for (unsigned i = 0; i < times; i++) {
        enum split_segmentation cut = i == 0 ? SPLIT_NONE : i == 1 ? SPLIT_BYTES : SPLIT_RANDOM;
        char *active, *suspended;

        c->prepare = NULL;
        active = split_replay(c, cut, i);
        c->prepare = suspend_always;
        suspended = split_replay(c, cut, i);
        CHECK_STRING(suspended, active);
        CHECK(text == NULL || strstr(suspended, text) != NULL);
        free(active);
        free(suspended);
    }
}

TEST(http1_suspend)
{
    static const struct split_step steps[] = {
        SPLIT_TS("GET /a%20/../b HTTP/1.1\r\nHost: EXAMPLE.com:8080\r\nUser-Agent: t\r\n"
                 "Authorization: Bearer x\r\nA: 1\r\nA: 2\r\n\r\n"),
        SPLIT_TC("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nab"),
        SPLIT_TS("POST /up HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\n123456789"),
        SPLIT_TC("HTTP/1.1 204 None\r\n\r\n"),
        SPLIT_TS("GET /1 HTTP/1.1\r\nHost: [\r\n\r\nGET /2 HTTP/1.1\r\nHost: a\r\n\r\n"),
        SPLIT_TC("HTTP/1.1 404 No\r\nContent-Length: 0\r\n\r\n"
                 "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nz\r\n0\r\n\r\n"),
        SPLIT_TS("GET /never HTTP/1.1\r\nHost: a\r\n\r\n"),
    };
    struct split_case c = { .yaml = extended, .port = 80, .steps = steps,
                            .count = ARRAY_LEN(steps), .frames = true };

    check_suspended(t, &c, 20, "/never");
}

#define BODY "0123456789abcdefghijABCDEFGHIJ0123456789"

/* The parser goes within bodies, too, and comes back for their last bytes, for a rule or a log. */
TEST(http1_suspend_within_a_body)
{
    static const struct split_step steps[] = {
        SPLIT_TS("GET /a HTTP/1.1\r\nHost: a\r\n\r\n"),
        SPLIT_TC("HTTP/1.1 200 OK\r\nContent-Type: text/plain; x=y\r\nServer: s\r\n"
                 "Content-Length: 40\r\n\r\n" BODY),
        SPLIT_TS("GET /b HTTP/1.0\r\nHost: a\r\n\r\n"),
        SPLIT_TC("HTTP/1.0 404 No\r\nContent-Length: 45\r\nA: 1\r\nA: 2\r\n\r\n" BODY "xyz"),
        SPLIT_TC("zz"),
        SPLIT_TS("GET /c HTTP/1.1\r\nHost: a\r\n\r\nGET /d HTTP/1.1\r\nHost: a\r\n\r\n"),
        SPLIT_TC("HTTP/1.1 200 OK\r\nContent-Length: 40\r\n folded\r\n\r\n" BODY),
        SPLIT_TC("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n" BODY),
    };
    struct split_case c = { .yaml = extended, .port = 80, .steps = steps,
                            .count = ARRAY_LEN(steps), .frames = true };

    check_suspended(t, &c, 60, NULL);
}

/* Chunks, trailers, headers that end in the middle, uploads that go on during the answer, requests
 * in a row; and what makes hooks change libhtp's transaction, so that the parser stays. */
TEST(http1_suspend_anywhere)
{
    static const struct split_step steps[] = {
        SPLIT_TS("GET /a HTTP/1.1\r\nHost: a\r\n\r\n"),
        SPLIT_TC("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nServer: s\r\n\r\n"
                 "5\r\nabcde\r\n0a;x=y\r\n0123456789\r\n0\r\nX-Trailer: z\r\n\r\n"),
        SPLIT_TS("GET /b HTTP/1.1\r\nHost: a\r\n\r\nGET /c HTTP/1.1\r\nHost: b\r\n\r\n"),
        SPLIT_TC("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 404 No\r\nContent-Length: 40\r\n\r\n" BODY
                 "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n"),
        SPLIT_TS("POST /d HTTP/1.1\r\nHost: a\r\nContent-Length: 40\r\n\r\n0123456789"),
        SPLIT_TC("\r\nabcHTTP/1.1 200 OK\r\nContent-Length: 40\r\n\r\n0123456789"),
        SPLIT_TS("abcdefghijABCDEFGHIJ0123456789"),
        SPLIT_TC("abcdefghijABCDEFGHIJ0123456789"),
        SPLIT_TS("PUT /e HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nwxyz\r\n"),
        SPLIT_TC("HTTP/1.1 200 OK\r\nno colon\r\nContent-Length: 4\r\n folded\r\n\r\n1234"),
        SPLIT_TS("3\r\nabc\r\n0\r\n\r\nGET /f HTTP/1.1\r\nHost: a\r\n\r\n"
                 "GET /g HTTP/1.1\r\nHost: a\r\n\r\n"),
        SPLIT_TC("HTTP/1.1 200 OK\r\n\r\n" BODY BODY),
    };
    struct split_case c = { .yaml = extended, .port = 80, .steps = steps,
                            .count = ARRAY_LEN(steps), .frames = true };

    check_suspended(t, &c, 100, "/g");
}

/* Its bytes still come to rules. The client's next request needs the parser. */
TEST(http1_suspended_within_a_body_is_counted)
{
    static const char request[] = "GET /a HTTP/1.1\r\nHost: a\r\n\r\n",
                      response[] = "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n" BODY;
    struct app_fixture fixture;
    struct http_thread *ht;
    struct replay replay;

    CHECK_INT(app_fixture_open(&fixture, NULL, NULL), 0);
    if (fixture.thread == NULL)
        return;
    suspend_always(&fixture);
    ht = fixture.thread->proto[APP_PROTO_http1].data;
    replay_begin(&replay, &fixture, false, 80);
    replay_data(&replay, TO_SERVER, request, sizeof(request) - 1);
    replay_data(&replay, TO_CLIENT, response, sizeof(response) - 1);
    CHECK_INT(ht->active, 0);
    replay_data(&replay, TO_CLIENT, BODY, sizeof(BODY) - 1);
    CHECK_INT(ht->active, 0);
    replay_data(&replay, TO_SERVER, request, sizeof(request) - 1);
    CHECK_INT(ht->active, 1);
    replay_data(&replay, TO_CLIENT, BODY, 20);
    replay_end(&replay);
    CHECK_INT(ht->active, 0);
    replay_free(&replay);
    app_fixture_close(&fixture);
}

/* Also of a flow that goes over to a protocol whose thread has data of its own. */
TEST(http1_parsers_are_counted)
{
    static const char request[] = "CONNECT a:443 HTTP/1.1\r\nHost: a\r\n\r\n",
                      response[] = "HTTP/1.1 200 OK\r\n\r\n", hello[] = "SSH-2.0-x\r\n";
    struct app_fixture fixture;
    struct http_thread *ht;
    struct replay replay;

    CHECK_INT(app_fixture_open(&fixture, NULL, NULL), 0);
    if (fixture.thread == NULL)
        return;
    ht = fixture.thread->proto[APP_PROTO_http1].data;
    replay_begin(&replay, &fixture, false, 80);
    replay_data(&replay, TO_SERVER, request, sizeof(request) - 1);
    CHECK_INT(ht->active, 1);
    replay_data(&replay, TO_CLIENT, response, sizeof(response) - 1);
    replay_data(&replay, TO_SERVER, hello, sizeof(hello) - 1);
    replay_data(&replay, TO_CLIENT, hello, sizeof(hello) - 1);
    CHECK_INT(ht->active, 0);
    replay_end(&replay);
    CHECK_INT(ht->active, 0);
    replay_free(&replay);
    app_fixture_close(&fixture);
}

/* A parser that cannot be made again is lost with its connection, and nothing else. */
TEST(http1_suspended_without_memory)
{
    static const char request[] = "GET /a HTTP/1.1\r\nHost: a\r\n\r\n",
                      response[] = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n";
    struct app_fixture fixture;
    struct http_thread *ht;
    struct replay replay;

    CHECK_INT(app_fixture_open(&fixture, NULL, NULL), 0);
    if (fixture.thread == NULL)
        return;
    suspend_always(&fixture);
    ht = fixture.thread->proto[APP_PROTO_http1].data;
    replay_begin(&replay, &fixture, false, 80);
    replay_data(&replay, TO_SERVER, request, sizeof(request) - 1);
    CHECK_INT(ht->active, 0);
    alloc_failures_set((struct alloc_failures){ .every = 1 });
    replay_data(&replay, TO_CLIENT, response, sizeof(response) - 1);
    alloc_failures_set((struct alloc_failures){ 0 });
    replay_data(&replay, TO_SERVER, request, sizeof(request) - 1);
    replay_end(&replay);
    CHECK_INT(ht->active, 0);
    replay_free(&replay);
    app_fixture_close(&fixture);
}

TEST(http1_multipart)
{
    static const struct split_step steps[] = {
        SPLIT_TS("POST /up HTTP/1.1\r\nHost: a\r\nContent-Length: 181\r\n"
                 "Content-Type: multipart/form-data; boundary=xyz\r\n\r\n"
                 "--xyz\r\nContent-Disposition: form-data; name=\"n\"\r\n\r\nvalue\r\n"
                 "--xyz\r\nContent-Disposition: form-data; name=\"f\"; filename=\"a b.txt\"\r\n"
                 "\r\nfile\r\ncontent\r\n--xyz--\r\n\r\n\r\n\r\n\r\n\r\n\r\n\r\n"),
        SPLIT_TC("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"),
    };

    expect(t, steps, ARRAY_LEN(steps),
           "tx 0 http {\"http\":{\"hostname\":\"a\",\"url\":\"/up\"}}\n"
           "tx 0 file a b.txt closed 13 -\n"
           "flow http http http\n");
}

TEST(http1_response_alone)
{
    static const struct split_step steps[] = {
        SPLIT_TC("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"),
    };

    expect(t, steps, ARRAY_LEN(steps),
           "tx 0 http {\"http\":{\"url\":\"/libhtp::request_uri_not_seen\"}}\n"
           "tx 0 event unable_to_match_response_to_request\n"
           "tx 0 file /libhtp::request_uri_not_seen closed 2 -\n"
           "flow http http http\n");
}

TEST(http1_range)
{
    static const struct { const char *text; bool good; struct http_range range; } cases[] = {
        { "bytes 0-99/1000", true, { 0, 99, 1000 } },
        { "bytes 5-9/*", true, { 5, 9, -1 } },
        { "bytes */1000", true, { -1, -1, 1000 } },
        { "bytes */*", false, { 0 } },
        { "bytes 1-2", false, { 0 } },
        { "", false, { 0 } },
        { "bytes 99999999999999999999-1/2", false, { 0 } },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct slice s = { .data = (const uint8_t *)cases[i].text,
                           .len = (uint32_t)strlen(cases[i].text) };
        struct http_range r;

        CHECK_INT(http_range_parse(s, &r), cases[i].good);
        if (!cases[i].good)
            continue;
        CHECK_INT(r.start, cases[i].range.start);
        CHECK_INT(r.end, cases[i].range.end);
        CHECK_INT(r.size, cases[i].range.size);
    }
}

static struct slice slice_of(const char *s)
{
    return (struct slice){ .data = (const uint8_t *)s, .len = (uint32_t)strlen(s) };
}

TEST(http1_parameter)
{
    static const struct { const char *header, *name, *value; } cases[] = {
        { "form-data; name=\"a;b\"; filename=\"c\\\"d\"", "filename", "c\\\"d" },
        { "form-data; name=\"a;b\"; filename=x.txt ; y=1", "filename", "x.txt" },
        { "attachment; filename*0=\"ab\"; filename*1=cd; filename*3=no", "filename", "abcd" },
        { "form-data; name=x", "filename", NULL },
        { "form-data", "filename", NULL },
    };
    struct arena arena;

    arena_init(&arena, 256, 0);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct slice out;
        bool found = mime_parameter(slice_of(cases[i].header), cases[i].name, &arena, &out);

        CHECK_INT(found, cases[i].value != NULL);
        if (found && cases[i].value != NULL)
            CHECK_BYTES(out.data, out.len, cases[i].value, strlen(cases[i].value));
    }
    arena_fini(&arena);
}

TEST(http1_disposition)
{
    static const struct { const char *header, *name; } cases[] = {
        { "attachment; filename=\"a;b.exe\"; size=3", "a;b.exe" },
        { "attachment; FileName=x", "x" },
        { "filename=x", "x" },
        { "attachment", NULL },
        { "attachment; filename=", NULL },
        { "", NULL },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct slice out;
        bool found = http_disposition_name(slice_of(cases[i].header), &out);

        CHECK_INT(found, cases[i].name != NULL);
        if (found && cases[i].name != NULL)
            CHECK_BYTES(out.data, out.len, cases[i].name, strlen(cases[i].name));
    }
}

/* --- odd headers ------------------------------------------------------------------------------ */

#define RESPONSE(lines) SPLIT_TC("HTTP/1.1 200 OK\r\n" lines "Content-Length: 2\r\n\r\nok")

static void expect_odd(struct test *t, struct split_step response, const char *expected)
{
    const struct split_step steps[] = { SPLIT_TS("GET / HTTP/1.1\r\nHost: a\r\n\r\n"), response };

    expect(t, steps, ARRAY_LEN(steps), expected);
}

#define ODD(type, events)                                                                        \
    "tx 0 http {\"http\":{\"hostname\":\"a\",\"url\":\"/\"" type "}}\n" events                   \
    "tx 0 file / closed 2 -\nflow http http http\n"
#define HTML ",\"http_content_type\":\"text/html\""
#define EVENT(name) "tx 0 event " name "\n"

TEST(http1_odd_fields)
{
    expect_odd(t, (struct split_step)RESPONSE("\rContent-Type: text/html\r\n"),
               ODD(HTML, EVENT("response_field_missing_colon")));
    expect_odd(t, (struct split_step)RESPONSE("A: b\r\n Content-Type: text/html\r\n"), ODD(HTML, ""));
    expect_odd(t, (struct split_step)RESPONSE("Content-Type:\r\n\ttext/html\r\n"), ODD(HTML, ""));
    expect_odd(t, (struct split_step)RESPONSE("Content-Type: \vtext/html\f\r\n"), ODD(HTML, ""));
    expect_odd(t, (struct split_step)RESPONSE("Content-Type : text/html\r\n"),
               ODD(HTML, EVENT("response_invalid_lws_after_name")));
    expect_odd(t, (struct split_step)RESPONSE("Content-Type\v: text/html\r\n"),
               ODD(HTML, EVENT("response_header_name_not_token")));
    expect_odd(t, (struct split_step)RESPONSE("  A: b\r\nContent-Type: text/html\r\n"),
               ODD(HTML, EVENT("invalid_response_field_folding")));
    expect_odd(t, (struct split_step)RESPONSE(": b\r\n"),
               ODD("", EVENT("response_field_missing_colon")));
}

TEST(http1_plain_fields)
{
    static const struct { const char *block; bool plain; } cases[] = {
        { "\r\n", true }, { "A: b\r\n\r\n", true }, { "A: b\r\nC: d\r\n\r\n", true },
        { "\n", false }, { "A: b\n\r\n", false }, { "A: b\r\n c\r\n\r\n", false },
        { "A: b\r\n\tc\r\n\r\n", false }, { "A: b\rc\r\n\r\n", false }, { " A: b\r\n", false },
        { "A: \vb\r\n\r\n", false }, { "A: b\r\r\n\r\n", false }, { "A: b", false },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        CHECK(http_fields_are_plain((struct slice){ .data = (const uint8_t *)cases[i].block,
                                                       .len = (uint32_t)strlen(cases[i].block) }) ==
                     cases[i].plain);
}

TEST(http1_protocol_number)
{
    static const struct { const char *text; int number; bool odd; } cases[] = {
        { "HTTP/1.1", HTP_PROTOCOL_1_1, false }, { "http/1.0", HTP_PROTOCOL_1_0, false },
        { "HTTP/0.9", HTP_PROTOCOL_0_9, true }, { "HTTP / 01.1", HTP_PROTOCOL_1_1, true },
        { "HTTP/1.2", HTP_PROTOCOL_INVALID, false }, { "HTTP/1.1x", HTP_PROTOCOL_INVALID, false },
        { "HTTP", HTP_PROTOCOL_INVALID, false }, { "", HTP_PROTOCOL_INVALID, false },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        const struct slice text = { .data = (const uint8_t *)cases[i].text,
                                    .len = (uint32_t)strlen(cases[i].text) };
        bool odd;

        CHECK_INT(http_protocol_number(text, &odd), cases[i].number);
        CHECK(odd == cases[i].odd);
    }
}

TEST(http1_event_names)
{
    for (int i = 0; http_events[i].name != NULL; i++)
        CHECK_INT(http_events[i].value, i + 1);
    CHECK_INT(http_event_of_message("Repetition for header", TO_CLIENT),
              HTTP_EVENT_RESPONSE_HEADER_REPETITION);
    CHECK_INT(http_event_of_message("no such message", TO_CLIENT), HTTP_EVENT_NONE);
    CHECK_INT(http_event_of_message(NULL, TO_CLIENT), HTTP_EVENT_NONE);
}

/* They are found by a binary search. */
TEST(http1_messages_are_in_order)
{
    const char *text, *last = "";

    for (size_t i = 0; (text = http_message_text(i)) != NULL; last = text, i++) {
        char more[128], less[128];

        CHECK(strcmp(last, text) < 0);
        CHECK(i == 0 || strncmp(last, text, strlen(last)) != 0);
        snprintf(more, sizeof(more), "%s: \xff", text);
        snprintf(less, sizeof(less), "%.*s", (int)strlen(text) - 1, text);
        CHECK(http_event_of_message(text, TO_SERVER) != HTTP_EVENT_NONE);
        CHECK_INT(http_event_of_message(more, TO_SERVER), http_event_of_message(text, TO_SERVER));
        CHECK_INT(http_event_of_message(less, TO_SERVER), HTTP_EVENT_NONE);
    }
    CHECK_INT(http_event_of_message("", TO_SERVER), HTTP_EVENT_NONE);
    CHECK_INT(http_event_of_message("~", TO_SERVER), HTTP_EVENT_NONE);
}

static uint32_t sizes_of(struct test *t, const char *yaml, uint32_t sizes[4])
{
    struct http_settings settings = { 0 };
    struct conf *conf = conf_new();
    struct err err = { 0 };
    uint32_t sum = 0;

    CHECK_INT(conf_load_string(conf, yaml, "test", &err), 0);
    CHECK_INT(http1_configure(conf_root(conf), conf_root(conf), &settings, &err), 0);
    for (unsigned d = 0; d < 2; d++) {
        sizes[2 * d] = settings.config[0].body[d].min_inspect;
        sizes[2 * d + 1] = settings.config[0].body[d].window;
    }
    for (unsigned i = 0; i < 4; i++)
        sum += sizes[i];
    http1_settings_free(&settings);
    conf_free(conf);
    return sum;
}

/* The same input gives the same alerts: sizes are drawn only where the configuration says so. */
TEST(http1_sizes_are_not_random_unless_asked_for)
{
    uint32_t sizes[4], drawn[4];

    CHECK_INT(sizes_of(t, "libhtp: { default-config: { personality: IDS } }\n", sizes),
              2 * (32768 + 4096));
    CHECK_INT(sizes[0], 32768);
    CHECK_INT(sizes[3], 4096);
    (void)sizes_of(t, "libhtp: { default-config: { randomize-inspection-sizes: yes, "
                      "randomize-inspection-range: 100 } }\n", drawn);
    CHECK(memcmp(sizes, drawn, sizeof(sizes)) != 0);
}

/* What a server may take for a request of its own is one here, too, and flagged. */
static void expect_smuggled(struct test *t, const char *head, const char *body, const char *event)
{
    static const char answers[] = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"
                                  "HTTP/1.1 404 No\r\nContent-Length: 0\r\n\r\n";
    char request[512], line[512];
    int n = snprintf(request, sizeof(request), "POST /f HTTP/1.1\r\nHost: a\r\n%s\r\n\r\n%s%s",
                     head, body, REQUEST(smuggled));
    const struct split_step steps[] = {
        { TO_SERVER, request, (uint32_t)n }, SPLIT_TC(answers),
    };
    const struct split_case c = { .yaml = extended, .port = 80, .steps = steps,
                                  .count = ARRAY_LEN(steps), .file_features = APP_FILE_SHA256 };

    snprintf(line, sizeof(line), "tx 0 http {\"http\":{\"hostname\":\"a\",\"url\":\"/f\"}}\n%s",
             event);
    split_expect(t, &c, line);
}

#define SMUGGLED \
    "tx 1 http {\"http\":{\"hostname\":\"a\",\"url\":\"/smuggled\"}}\nflow http http http\n"
#define ABC_FILE \
    "tx 0 file /f closed 3 ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad\n"

TEST(http1_smuggled_requests_are_seen)
{
    static const char te[] = "Transfer-Encoding: chunked";

    expect_smuggled(t, te, "10000000000000000\r\n\r\n",
                    "tx 0 event invalid_request_chunk_len\n" SMUGGLED);
    expect_smuggled(t, te, "10000000000000003\r\nabc\r\n0\r\n\r\n",
                    "tx 0 event invalid_request_chunk_len\n" ABC_FILE SMUGGLED);
    expect_smuggled(t, "Content-Length: 18446744073709551615", "",
                    "tx 0 event content_length_extra_data_end\n"
                    "tx 0 event invalid_content_length_field_in_request\n" SMUGGLED);
    expect_smuggled(t, "Transfer-Encoding: chunked, identity", "3\r\nabc\r\n0\r\n\r\n",
                    "tx 0 event invalid_transfer_encoding_value_in_request\n" ABC_FILE SMUGGLED);
    expect_smuggled(t, "Transfer-Encoding: , chunked ,", "3\r\nabc\r\n0\r\n\r\n",
                    ABC_FILE SMUGGLED);
    expect_smuggled(t, "Transfer-Encoding: identity\r\nContent-Length: 3", "abc",
                    "tx 0 event invalid_transfer_encoding_value_in_request\n" ABC_FILE SMUGGLED);
}

/* A chunk of 4 GiB is one: what follows is in it. */
TEST(http1_chunk_longer_than_31_bits)
{
    static const struct split_step steps[] = {
        SPLIT_TS("POST /f HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"
                 "100000000\r\nabc"),
    };

    expect(t, steps, ARRAY_LEN(steps),
           "tx 0 http {\"http\":{\"hostname\":\"a\",\"url\":\"/f\"}}\n"
           "tx 0 event invalid_request_chunk_len\n"
           "tx 0 file /f truncated 3 -\n"
           "flow http http http\n");
}

static unsigned refused_after;

static void refuse_from_now(struct app_fixture *fixture)
{
    (void)fixture;
    alloc_failures_set((struct alloc_failures){ .after = refused_after });
}

/* From the n-th request for memory on all are refused, for each n: the parser stops there. */
TEST(http1_survives_each_refusal)
{
    static const struct split_step steps[] = {
        SPLIT_TS("POST /a HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"
                 "5\r\nhello\r\n0\r\n\r\n"),
        SPLIT_TC("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"),
        SPLIT_TS("POST /b HTTP/1.1\r\nHost: a\r\nContent-Length: 60\r\n"
                 "Content-Type: multipart/form-data; boundary=x\r\n\r\n"
                 "--x\r\nContent-Disposition: form-data; filename=\"f\"\r\n\r\nhello"),
        SPLIT_TC("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
                 "5\r\nhello\r\n0\r\n\r\n") };
    const struct split_case c = { .port = 80, .steps = steps, .count = 4,
                                  .file_features = APP_FILE_CONTENT, .prepare = refuse_from_now };

    for (refused_after = 1; refused_after < 400; refused_after++) {
        uint64_t before = traffic_memory_refused();

        free(split_replay(&c, SPLIT_NONE, 0));
        alloc_failures_set((struct alloc_failures){ 0 });
        CHECK(refused_after > 10 || traffic_memory_refused() > before);
    }
}

/* As many requests as need a longer list of transactions. The test ends with no memory lost, as the
 * sanitizer says. */
TEST(http1_survives_each_refusal_of_many_requests)
{
    struct buf requests = { 0 }, answers = { 0 };
    struct split_step steps[2] = { { .direction = TO_SERVER }, { .direction = TO_CLIENT } };
    const struct split_case c = { .port = 80, .steps = steps, .count = 2,
                                  .prepare = refuse_from_now };

    for (unsigned i = 0; i < 20; i++) {
        buf_printf(&requests, "GET /%u HTTP/1.1\r\nHost: a\r\n\r\n", i);
        buf_printf(&answers, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
    }
    steps[0].data = requests.data;
    steps[0].len = (uint32_t)requests.len;
    steps[1].data = answers.data;
    steps[1].len = (uint32_t)answers.len;
    for (refused_after = 1; refused_after < 400; refused_after++) {
        free(split_replay(&c, SPLIT_NONE, 0));
        alloc_failures_set((struct alloc_failures){ 0 });
    }
    buf_fini(&requests);
    buf_fini(&answers);
}

static void expect_response_file(struct test *t, const char *response, const char *file)
{
    char expected[256];
    const struct split_step steps[] = {
        SPLIT_TS("GET /f HTTP/1.1\r\nHost: a\r\n\r\n"),
        { TO_CLIENT, response, (uint32_t)strlen(response) },
    };
    const struct split_case c = { .yaml = extended, .port = 80, .steps = steps,
                                  .count = ARRAY_LEN(steps), .file_features = APP_FILE_SHA256 };

    snprintf(expected, sizeof(expected), "tx 0 http {\"http\":{\"hostname\":\"a\",\"url\":\"/f\"}}\n"
             "%sflow http http http\n", file);
    split_expect(t, &c, expected);
}

/* Suricata calls a response that the connection's end cut off complete, but not between chunks. */
TEST(http1_responses_cut_off)
{
    expect_response_file(t, "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nabc", ABC_FILE);
    expect_response_file(t, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nabc", ABC_FILE);
    expect_response_file(t, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n",
                         "tx 0 file /f truncated 3 -\n");
    expect_response_file(t, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2",
                         "tx 0 file /f truncated 3 -\n");
}

/* 20 bytes of gzip that unpack to nothing. */
TEST(http1_empty_content_is_no_file)
{
    static const char response[] = "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n"
                                   "Content-Length: 20\r\n\r\n\x1f\x8b\x08\0\0\0\0\0\0\x03"
                                   "\x03\0\0\0\0\0\0\0\0\0";
    static const struct split_step steps[] = {
        SPLIT_TS("GET /f HTTP/1.1\r\nHost: a\r\n\r\n"), SPLIT_TC(response),
    };

    expect(t, steps, ARRAY_LEN(steps),
           "tx 0 http {\"http\":{\"hostname\":\"a\",\"url\":\"/f\"}}\nflow http http http\n");
}

/* The length says that the request is complete, so its last part is, too. */
TEST(http1_multipart_without_last_boundary)
{
    static const char body[] = "--B\r\nContent-Disposition: form-data; filename=\"p\"\r\n\r\nabc";
    char request[256];
    const struct split_step steps[] = {
        { TO_SERVER, request, (uint32_t)snprintf(request, sizeof(request),
              "POST /f HTTP/1.1\r\nHost: a\r\nContent-Type: multipart/form-data; boundary=B\r\n"
              "Content-Length: %zu\r\n\r\n%s", sizeof(body) - 1, body) },
    };

    expect(t, steps, ARRAY_LEN(steps),
           "tx 0 http {\"http\":{\"hostname\":\"a\",\"url\":\"/f\"}}\n"
           "tx 0 file p closed 3 -\nflow http http http\n");
}
