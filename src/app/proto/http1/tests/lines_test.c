/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Status lines and header lines as libhtp reads them, whether by its own functions or by those of lines.c. */
#include "app/proto/http1/lines.h"
#include "app/proto/http1/table.h"
#include "base/test.h"

#include <string.h>

TEST(http1_token_characters)
{
    for (int c = 0; c < 256; c++) {
        bool expected = c > 32 && c < 127 && strchr("()<>@,;:\\\"/[]?={}", c) == NULL;

        CHECK_INT(http_token_char[c], expected);
    }
}

struct line {
    const char *text;
    size_t len;
    const char *name, *value;
    uint64_t flags;
};
#define LINE(text) text, sizeof(text) - 1

static const struct line request_lines[] = {
    { LINE("Host: a.b\r\n"), "Host", "a.b", 0 },
    { LINE("X:\t v w \t\r\n"), "X", "v w", 0 },
    { LINE("Empty:  \r\n"), "Empty", "", 0 },
    { LINE("Y \t: 1\n"), "Y", "1", HTP_FIELD_INVALID },
    { LINE("a(b: 1\r\n"), "a(b", "1", HTP_FIELD_INVALID },
    { LINE(": 1\r\n"), "", "1", HTP_FIELD_INVALID },
    { LINE("no colon\r\n"), "", "no colon", HTP_FIELD_UNPARSEABLE },
    { LINE("nul\0x: 1\r\n"), "", "nul", HTP_FIELD_UNPARSEABLE },
};

static const struct line response_lines[] = {
    { LINE("Server: a\r\n"), "Server", "a", 0 },
    { LINE("Y\x01 : 1: 2\n"), "Y", "1: 2", HTP_FIELD_INVALID },
    { LINE("a/b: 1\r\n"), "a/b", "1", HTP_FIELD_INVALID },
    { LINE(": 1\r\n"), "", "1", HTP_FIELD_INVALID },
    { LINE("no colon\r\n"), "", "no colon", HTP_FIELD_UNPARSEABLE | HTP_FIELD_INVALID },
};

static htp_connp_t *connection(htp_cfg_t *cfg)
{
    htp_connp_t *connp;

    htp_config_set_server_personality(cfg, HTP_SERVER_IDS);
    connp = htp_connp_create(cfg);
    htp_connp_open(connp, "10.0.0.1", 1025, "10.0.0.2", 80, NULL);
    return connp;
}

/* The letter after the line shows that it is not folded. */
static void feed(htp_connp_t *connp, enum direction d, const char *start, const struct line *line)
{
    char text[128];
    size_t len = strlen(start);

    memcpy(text, start, len);
    memcpy(text + len, line->text, line->len);
    len += line->len;
    text[len++] = 'Z';
    if (d == TO_SERVER)
        htp_connp_req_data(connp, NULL, text, len);
    else
        htp_connp_res_data(connp, NULL, text, len);
}

/* A NUL ends the text that is compared. */
static void check_only(struct test *t, const htp_table_t *table, const struct line *line)
{
    htp_header_t *h = htp_table_get_index(table, 0, NULL);
    size_t name = strlen(line->name), value = strlen(line->value);

    CHECK_INT(htp_table_size(table), 1);
    if (h == NULL)
        return;
    CHECK_BYTES(bstr_ptr(h->name), bstr_len(h->name), line->name, name);
    CHECK(bstr_len(h->value) >= value && memcmp(bstr_ptr(h->value), line->value, value) == 0);
    CHECK_INT(h->flags, line->flags);
}

TEST(http1_request_lines)
{
    for (size_t i = 0; i < ARRAY_LEN(request_lines); i++) {
        const struct line *line = &request_lines[i];
        htp_cfg_t *cfg = htp_config_create();
        htp_connp_t *connp = connection(cfg);

        feed(connp, TO_SERVER, "GET / HTTP/1.1\r\n", line);
        check_only(t, htp_connp_get_in_tx(connp)->request_headers, line);
        CHECK_INT(htp_connp_get_in_tx(connp)->flags & line->flags, line->flags);
        htp_connp_destroy_all(connp);
        htp_config_destroy(cfg);
    }
}

TEST(http1_response_lines)
{
    for (size_t i = 0; i < ARRAY_LEN(response_lines); i++) {
        const struct line *line = &response_lines[i];
        htp_cfg_t *cfg = htp_config_create();
        htp_connp_t *connp = connection(cfg);

        htp_connp_req_data(connp, NULL, "GET / HTTP/1.1\r\nHost: a\r\n\r\n", 27);
        feed(connp, TO_CLIENT, "HTTP/1.1 200 OK\r\n", line);
        check_only(t, htp_connp_get_out_tx(connp)->response_headers, line);
        CHECK_INT(htp_connp_get_out_tx(connp)->flags & line->flags, line->flags);
        htp_connp_destroy_all(connp);
        htp_config_destroy(cfg);
    }
}

/* --- status lines ----------------------------------------------------------------------------- */

struct status_line {
    const char *line, *protocol, *status, *message;     /* NULL: none */
    int protocol_number, status_number;
};

static const struct status_line status_lines[] = {
    { "HTTP/1.1 200 OK", "HTTP/1.1", "200", "OK", HTP_PROTOCOL_1_1, 200 },
    { "HTTP/1.0 404 Not Found ", "HTTP/1.0", "404", "Not Found ", HTP_PROTOCOL_1_0, 404 },
    { " http/1.1 \v999", "http/1.1", "999", NULL, HTP_PROTOCOL_INVALID, 999 },
    { "HTTP/1.1\t 99 ", "HTTP/1.1", "99", NULL, HTP_PROTOCOL_1_1, HTP_STATUS_INVALID },
    { "HTTP/1.1 099 a", "HTTP/1.1", "099", "a", HTP_PROTOCOL_1_1, HTP_STATUS_INVALID },
    { "HTTP/1.1 0200", "HTTP/1.1", "0200", NULL, HTP_PROTOCOL_1_1, 200 },
    { "HTTP/1.1 2x0 a", "HTTP/1.1", "2x0", "a", HTP_PROTOCOL_1_1, HTP_STATUS_INVALID },
    { "HTTP/1.1 ", "HTTP/1.1", NULL, NULL, HTP_PROTOCOL_1_1, HTP_STATUS_INVALID },
    { "HTTP", "HTTP", NULL, NULL, HTP_PROTOCOL_INVALID, HTP_STATUS_INVALID },
    { "  ", NULL, NULL, NULL, HTP_PROTOCOL_INVALID, HTP_STATUS_INVALID },
};

static bool is_text(const bstr *b, const char *text)
{
    return text == NULL ? b == NULL : b != NULL && bstr_cmp_c(b, text) == 0;
}

/* The line is set as libhtp does before it has it read. */
static void check_status_line(struct test *t, htp_connp_t *connp, const struct status_line *want)
{
    htp_tx_t *tx = htp_connp_get_out_tx(connp);

    CHECK_INT(htp_tx_res_set_status_line(tx, want->line, strlen(want->line), HTP_ALLOC_COPY),
              HTP_OK);
    CHECK(is_text(tx->response_protocol, want->protocol));
    CHECK(is_text(tx->response_status, want->status));
    CHECK(is_text(tx->response_message, want->message));
    CHECK_INT(tx->response_protocol_number, want->protocol_number);
    CHECK_INT(tx->response_status_number, want->status_number);
}

TEST(http1_status_lines)
{
    for (size_t i = 0; i < ARRAY_LEN(status_lines); i++) {
        htp_cfg_t *cfg = htp_config_create();
        htp_connp_t *connp = connection(cfg);

        htp_connp_req_data(connp, NULL, "GET / HTTP/1.1\r\nHost: a\r\n\r\n", 27);
        htp_connp_res_data(connp, NULL, "H", 1);
        check_status_line(t, connp, &status_lines[i]);
        htp_connp_destroy_all(connp);
        htp_config_destroy(cfg);
    }
}

/* --- lengths ---------------------------------------------------------------------------------- */

static int messages;

static int count_message(htp_log_t *log UNUSED)
{
    messages++;
    return HTP_OK;
}

/* What follows other bytes and blanks may go unnoticed, as many bytes as precede. */
TEST(http1_content_lengths)
{
    static const struct { const char *value; int64_t length; int messages; } lengths[] = {
        { "0", 0, 0 }, { "1448", 1448, 0 }, { "007", 7, 0 }, { "", -1003, 0 }, { " ", -1001, 0 },
        { "ab", -1001, 1 }, { "5x", 5, 1 }, { "x5", 5, 1 }, { "xyz5", 5, 2 }, { "  5", 5, 1 },
        { "5 5", 5, 1 }, { "9223372036854775807", INT64_MAX, 0 },
        { "9223372036854775808", -2, 1 }, { "99999999999999999999", -2, 1 },
    };
    htp_cfg_t *cfg = htp_config_create();
    htp_connp_t *connp;

    htp_config_register_log(cfg, count_message);
    connp = connection(cfg);
    for (size_t i = 0; i < ARRAY_LEN(lengths); i++) {
        bstr *value = bstr_dup_c(lengths[i].value);

        messages = 0;
        CHECK_INT(htp_parse_content_length(value, connp), lengths[i].length);
        CHECK_INT(messages, lengths[i].messages);
        CHECK_INT(htp_parse_content_length(value, NULL), lengths[i].length);
        bstr_free(value);
    }
    htp_connp_destroy_all(connp);
    htp_config_destroy(cfg);
}
