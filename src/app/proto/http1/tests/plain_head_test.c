/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which heads are plain, and what is read of them. That a message read so gives the same events as
 * in pieces, which libhtp reads, is what the tests with split_expect() show. */
#include "app/proto/http1/lines.h"
#include "base/test.h"

#include <stdio.h>
#include <string.h>

static bool find(const char *text, enum direction d, struct plain_head *head)
{
    return http_plain_head_find((struct slice){ (const uint8_t *)text, (uint32_t)strlen(text) },
                                d, head);
}

/* All its lines are fields that are read here. */
static bool is_plain(const char *text, enum direction d)
{
    struct plain_head head;

    return find(text, d, &head) && !head.odd;
}

/* libhtp has to read its lines. */
static bool is_odd(const char *text, enum direction d)
{
    struct plain_head head;

    return find(text, d, &head) && head.odd &&
           head.line_len + head.fields_len == strlen(text) - 2;
}

static bool is_refused(const char *text, enum direction d)
{
    struct plain_head head;

    return !find(text, d, &head);
}

TEST(http1_plain_head_fields)
{
    static const char text[] = "GET /a?b=c HTTP/1.1\r\nHost: a.example\r\nAccept:  */*  \r\nX:\r\n"
                               "\r\nrest";
    struct plain_head head;

    CHECK(find(text, TO_SERVER, &head));
    CHECK_INT(head.line_len, strlen("GET /a?b=c HTTP/1.1\r\n"));
    CHECK_INT(head.line_len + head.fields_len, strlen(text) - strlen("\r\nrest"));
    CHECK_INT(head.count, 3);
    CHECK_BYTES(head.field[0].name.data, head.field[0].name.len, "Host", 4);
    CHECK_BYTES(head.field[0].value.data, head.field[0].value.len, "a.example", 9);
    CHECK_BYTES(head.field[1].value.data, head.field[1].value.len, "*/*", 3);
    CHECK_INT(head.field[2].value.len, 0);
}

static bool has_plain_target(const char *target, uint32_t path_len)
{
    uint32_t path = 0;

    return http_target_is_plain((struct slice){ (const uint8_t *)target,
                                                (uint32_t)strlen(target) }, &path) &&
           path == path_len;
}

/* Of others libhtp decodes, compresses or shortens something. */
TEST(http1_plain_target)
{
    CHECK(has_plain_target("/", 1));
    CHECK(has_plain_target("/a/b.c/~d;e=f&g", 15));
    CHECK(has_plain_target("/a?b=%20//..?", 2));
    CHECK(has_plain_target("/a./b", 5));
    CHECK(!has_plain_target("", 0));
    CHECK(!has_plain_target("a", 1));
    CHECK(!has_plain_target("*", 1));
    CHECK(!has_plain_target("http://a/", 9));
    CHECK(!has_plain_target("//a", 3));
    CHECK(!has_plain_target("/a//b", 5));
    CHECK(!has_plain_target("/a/./b", 6));
    CHECK(!has_plain_target("/a/..", 5));
    CHECK(!has_plain_target("/.a", 3));
    CHECK(!has_plain_target("/%41", 4));
    CHECK(!has_plain_target("/a\\b", 4));
    CHECK(!has_plain_target("/\x80", 2));
    CHECK(!has_plain_target("/a#b", 4));
    CHECK(!has_plain_target("/a?b#c", 2));
}

#define GET "GET / HTTP/1.1\r\n"

TEST(http1_plain_head_refuses_what_is_unusual)
{
    CHECK(is_plain(GET "A: b\r\n\r\n", TO_SERVER));
    CHECK(is_refused(GET "A: b\r\n", TO_SERVER));              /* not complete */
    CHECK(is_refused(GET "A: b\r\n\r", TO_SERVER));
    CHECK(is_refused(GET "A: b\r\nC", TO_SERVER));
    CHECK(is_refused(GET "A: b\r\nC\r", TO_SERVER));
    CHECK(is_refused(GET "\r\n", TO_SERVER));                  /* no field */
    CHECK(is_refused(GET "A: b\n\r\n", TO_SERVER));
    CHECK(is_refused(GET "A: b\r\n c\r\n\r\n", TO_SERVER));    /* folded */
    CHECK(is_refused(GET " A: b\r\n\r\n", TO_SERVER));
    CHECK(is_refused(GET "A: b\tc\r\n\r\n", TO_SERVER));
    CHECK(is_refused(GET "A: b\x01 12345678\r\n\r\n", TO_SERVER));
    CHECK(is_refused(GET "\tA: b\r\n\r\n", TO_SERVER));
    CHECK(is_plain(GET "Abc: b\r\nabd: d\r\n\r\n", TO_SERVER));
    CHECK(is_plain(GET "A: \x80\xff~\r\n\r\n", TO_SERVER));
}

TEST(http1_plain_head_with_odd_lines)
{
    CHECK(is_odd(GET "A : b\r\n\r\n", TO_SERVER));
    CHECK(is_odd(GET "A b\r\n\r\n", TO_SERVER));
    CHECK(is_odd(GET ": b\r\n\r\n", TO_SERVER));
    CHECK(is_odd(GET "A: b\r\nc\r\nD: e\r\n\r\n", TO_SERVER));
    CHECK(is_odd(GET "Abc: b\r\naBC: d\r\n\r\n", TO_SERVER));         /* repeated */
    CHECK(is_odd("HTTP/1.1 200 OK\r\nS: 1\r\nX: 2\r\ns: 3\r\n\r\n", TO_CLIENT));
    CHECK(is_refused(GET "A\r\n b\r\n\r\n", TO_SERVER));
    CHECK(is_refused(GET "A\r\nb\tc\r\n\r\n", TO_SERVER));
}

/* A name of any length ends at the first byte that is not of a token. */
TEST(http1_plain_head_names)
{
    char text[128];

    for (int len = 1; len < 24; len++)
        for (int at = 0; at < len; at++)
            for (int c = 1; c < 256; c++) {
                int n = snprintf(text, sizeof(text), GET "%.*s: v\r\n\r\n", len,
                                 "Abcdefg-Hijklmn_opqrstuvwxyz");

                text[n - 7 - len + at] = (char)c;
                CHECK(is_plain(text, TO_SERVER) ==
                      (http_token_char[c] || (c == ':' && at > 0)));
                CHECK(is_refused(text, TO_SERVER) == (c < ' ' || (c == ' ' && at == 0)));
            }
}

TEST(http1_plain_head_first_line)
{
    static const char *const requests[] = { "GET /", "GET  / HTTP/1.1", "GET / HTTP/1.1 ",
        "GET HTTP/1.1", "GET / a HTTP/1.1", " GET / HTTP/1.1", "G(T / HTTP/1.1",
        "GET\t/ HTTP/1.1", "GET / HTTP/1.2", "GET / http/1.1", "CONNECT a:1 HTTP/1.1",
        "GET /\t HTTP/1.1", " / HTTP/1.1", "" };
    static const char *const refused[] = { "HTTP/1.1 100 Continue", "HTTP/1.1 101 OK",
        "HTTP/1.1  100", "HTTP/1.1 020 OK", "HTTP/1.1 ", "http/1.1 200 OK", "HTTP/1.1\t200 OK",
        "HTTP/1.1", "HTTP", "200 OK", "" };
    static const char *const responses[] = { "HTTP/1.0 404", "HTTP/1.1 200 OK", "HTTP/1.1 20 OK",
        "HTTP/1.1 2000", "HTTP/1.1  200 OK", "HTTP/0.9 200 OK", "HTTP/1.1 600 OK" };
    char text[128];

    for (size_t i = 0; i < ARRAY_LEN(requests); i++) {
        snprintf(text, sizeof(text), "%s\r\nA: b\r\n\r\n", requests[i]);
        CHECK(is_refused(text, TO_SERVER));
    }
    for (size_t i = 0; i < ARRAY_LEN(refused); i++) {
        snprintf(text, sizeof(text), "%s\r\nA: b\r\n\r\n", refused[i]);
        CHECK(is_refused(text, TO_CLIENT));
    }
    for (size_t i = 0; i < ARRAY_LEN(responses); i++) {
        snprintf(text, sizeof(text), "%s\r\nA: b\r\n\r\n", responses[i]);
        CHECK(is_plain(text, TO_CLIENT));
    }
}

TEST(http1_plain_head_has_at_most_some_fields)
{
    char text[4096];
    size_t n = (size_t)snprintf(text, sizeof(text), GET);

    for (unsigned i = 0; i < PLAIN_FIELDS_MAX; i++)
        n += (size_t)snprintf(text + n, sizeof(text) - n, "Name-%u: %u\r\n", i, i);
    snprintf(text + n, sizeof(text) - n, "\r\n");
    CHECK(is_plain(text, TO_SERVER));
    snprintf(text + n, sizeof(text) - n, "One-more: x\r\n\r\n");
    CHECK(is_odd(text, TO_SERVER));
}

/* The end of a line is found at each position within 32 bytes, and never beyond the input. */
TEST(http1_plain_head_of_any_length)
{
    char text[128];

    for (int len = 0; len < 80; len++) {
        int n = snprintf(text, sizeof(text), GET "A: %.*s\r\n\r\n", len,
                         "abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyz"
                         "abcdefghijklmnopqrstuvwxyz0123");
        struct plain_head head;

        CHECK(find(text, TO_SERVER, &head));
        CHECK_INT(head.field[0].value.len, len);
        text[n - 1] = '\0';
        CHECK(!find(text, TO_SERVER, &head));
        text[n - 3] = '\0';
        CHECK(!find(text, TO_SERVER, &head));
    }
}

/* The strings of a line that is read so are those that libhtp reads of it. */
static void check_line(struct test *t, const char *target)
{
    char line[64];
    uint32_t len = (uint32_t)snprintf(line, sizeof(line), "GET %s HTTP/1.0", target), path = 0;
    const struct slice s = { (const uint8_t *)line, len };
    struct plain_head head = { .method = { s.data, 3 }, .target = { s.data + 4, len - 13 } };
    htp_cfg_t *cfg = htp_config_create();
    htp_connp_t *connp = htp_connp_create(cfg);
    htp_tx_t *a = htp_connp_tx_create(connp), *b;

    CHECK(http_target_is_plain(head.target, &path));
    CHECK(http_request_line_set(a, s, &head, path));
    CHECK(a->request_uri == NULL);
    http_request_line_add_target(a);
    htp_connp_req_data(connp, NULL, line, len);
    htp_connp_req_data(connp, NULL, "\r\n", 2);
    b = htp_connp_get_in_tx(connp);
    CHECK(b != NULL && b != a);
    CHECK(bstr_cmp(a->request_line, b->request_line) == 0);
    CHECK(bstr_cmp(a->request_method, b->request_method) == 0);
    CHECK(bstr_cmp(a->request_uri, b->request_uri) == 0);
    CHECK(bstr_cmp(a->request_protocol, b->request_protocol) == 0);
    CHECK(bstr_cmp(a->parsed_uri_raw->path, b->parsed_uri_raw->path) == 0);
    CHECK(bstr_cmp(a->parsed_uri->path, b->parsed_uri->path) == 0);
    CHECK((a->parsed_uri->query == NULL) == (b->parsed_uri->query == NULL));
    CHECK((a->parsed_uri_raw->query == NULL) == (b->parsed_uri_raw->query == NULL));
    if (b->parsed_uri->query != NULL && a->parsed_uri_raw->query != NULL) {
        CHECK(bstr_cmp(a->parsed_uri->query, b->parsed_uri->query) == 0);
        CHECK(bstr_cmp(a->parsed_uri_raw->query, b->parsed_uri_raw->query) == 0);
    }
    http_request_line_release(a);
    CHECK(a->request_line != NULL && a->request_uri == NULL);
    http_request_line_release(b);               /* not in one block */
    CHECK(b->request_uri != NULL);
    htp_connp_destroy_all(connp);
    htp_config_destroy(cfg);
}

TEST(http1_request_line_in_one_block)
{
    check_line(t, "/");
    check_line(t, "/a/b.html?c=d&e=%41");
    check_line(t, "/?");
}
