/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/proto/http1/lead_in.c - lines before a response's status line.
 *
 * Browsers skip lines before the status line, and evaders send them. libhtp 0.5 would read them as
 * a body. A first line that is no status line is dropped if the next one may be a status line.
 *
 * When a segment ends with such a line, Suricata does not wait for the next one: the line is the
 * body of a response that ends there, and the next segment begins another response. With
 * await-status-line libhtp gets no data until the next line has begun. */
#include "app/proto/http1/state.h"

#define LINE_BUFFER_LIMIT 1024          /* longer data without a line end are not a line */

static bool is_blank(uint8_t c)
{
    return c == ' ' || (c >= '\t' && c <= '\r') || c == 0;
}

static bool is_line_end(uint8_t c)
{
    return c == '\r' || c == '\n';
}

/* `letter` is in lower case. */
static bool is_http(uint8_t c, char letter)
{
    return (c | 0x20) == letter;
}

/* Checks whether this can become a status line: "http" in any case after white space. 1: yes; -1:
 * no; 0: too short to decide. */
static int looks_like_status(struct bytes in)
{
    static const char word[] = "http";

    while (bytes_have(&in, 1) && is_blank(peek_u8(&in)))
        if (is_line_end(take_u8(&in)))
            return -1;
    for (unsigned i = 0; i < sizeof(word) - 1; i++) {
        if (!bytes_have(&in, 1))
            return 0;
        if (!is_http(take_u8(&in), word[i]))
            return -1;
    }
    return 1;
}

/* The line with its end: LF, CRLF or a single CR. False: the end has not arrived; after a CR that
 * needs one more byte. */
static bool take_any_line(struct bytes *in, struct slice *line)
{
    struct bytes look = *in;

    while (bytes_have(&look, 1)) {
        uint8_t c = take_u8(&look);

        if (c == '\r' && !bytes_have(&look, 1))
            return false;
        if (c == '\r' && peek_u8(&look) == '\n')
            continue;
        if (c != '\n' && c != '\r')
            continue;
        *line = take_slice(in, (size_t)(look.next - in->next));
        return true;
    }
    return false;
}

static uint32_t chomped_len(struct slice line)
{
    while (line.len > 0 && (line.data[line.len - 1] == '\n' || line.data[line.len - 1] == '\r'))
        line.len--;
    return line.len;
}

static uint32_t offset_of(const struct bytes *in, const struct app_input *complete)
{
    return (uint32_t)(in->next - complete->data);
}

/* True if the line is a response of its own, because its segment ends with it. libhtp skips blank
 * lines. */
static bool is_complete_response(struct slice line, const struct bytes *next,
                                 bool await_status_line)
{
    return !await_status_line && bytes_left(next) < 2 && chomped_len(line) > 2;
}

/* *skip: bytes to drop before the response. WAIT: the data do not decide yet. At the stream's end,
 * or beyond LINE_BUFFER_LIMIT, libhtp gets what there is. */
enum http_lead_in http_lead_in(const struct app_input *in, bool await_status_line, uint32_t *skip)
{
    struct bytes rest = bytes_of(in->data, in->len);

    *skip = 0;
    for (;;) {
        struct bytes next = rest;
        struct slice line = { 0 };
        int status = looks_like_status(rest);

        if (status > 0)
            return HTTP_LEAD_IN_DONE;
        if (take_any_line(&next, &line) && is_complete_response(line, &next, await_status_line))
            return HTTP_LEAD_IN_DONE;
        if (line.len == 0 || bytes_left(&next) < 2)
            return in->end || bytes_left(&rest) > LINE_BUFFER_LIMIT ? HTTP_LEAD_IN_DONE
                                                                : HTTP_LEAD_IN_WAIT;
        if (peek_u8(&next) != 'H' && chomped_len(line) > 2) /* only an 'H' promises a status line */
            return HTTP_LEAD_IN_DONE;
        rest = next;
        *skip = offset_of(&rest, in);
    }
}
