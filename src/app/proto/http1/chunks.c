/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/proto/http1/chunks.c - chunk extensions ("8;name=value", RFC 9112 section 7.1.1), which
 * libhtp ignores.
 *
 * Walks the same bytes as libhtp, from length to length, and skips the data. It stops at a length
 * that makes no sense: libhtp raises the event for that. */
#include "app/proto/http1/body.h"
#include "app/proto/http1/tx.h"

/* OVER: not chunked, or done. LENGTH: the digits. REST_OF_LINE: after them. CONTENT: `left` bytes
 * of data. END: the line end after the data. */
enum chunk_part { CHUNKS_OVER, CHUNK_LENGTH, CHUNK_REST_OF_LINE, CHUNK_CONTENT, CHUNK_END };

/* `at`: where the body begins in the current input. */
void http_chunks_begin(struct http_tx *htx, enum direction d, size_t at)
{
    enum htp_transfer_coding_t coding = d == TO_SERVER ? htx->htp->request_transfer_coding
                                                       : htx->htp->response_transfer_coding;

    struct http_content *content = coding == HTP_CODING_CHUNKED ? http_content_make(htx, d)
                                                                : htx->message[d].content;

    if (content == NULL)
        return;
    content->chunks.part = CHUNKS_OVER;
    if (coding == HTP_CODING_CHUNKED)
        content->chunks = (struct http_chunks){ .part = CHUNK_LENGTH, .from = (uint32_t)at };
}

bool http_chunks_are_inside(const struct http_tx *htx, enum direction d)
{
    const struct http_content *c = htx->message[d].content;

    return c != NULL && c->chunks.part == CHUNK_CONTENT;
}

static int hex_value(uint8_t c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c |= 0x20;
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* libhtp accepts these before the digits. */
static bool is_filler(uint8_t c)
{
    return c == '\r' || c == '\n' || c == ' ' || c == '\t' || c == '\v' || c == '\f' || c == 0;
}

/* The last chunk has length 0. A line without digits is skipped. */
static void line_ends(struct http_chunks *c)
{
    if (c->digits)
        c->part = c->left == 0 || c->wide ? CHUNKS_OVER : CHUNK_CONTENT;
    c->digits = c->extended = false;
}

/* Lengths up to INT32_MAX, as libhtp reads them. A hostile length ends the walk before it
 * overflows. */
int64_t http_chunks_wide(struct http_tx *htx)
{
    struct http_chunks *c;

    if (htx->message[TO_SERVER].content == NULL)
        return -1;
    c = &htx->message[TO_SERVER].content->chunks;
    if (!c->wide || c->digits)
        return -1;
    c->wide = false;
    c->left = MIN(c->left, INT32_MAX);
    c->part = c->left == 0 ? CHUNKS_OVER : CHUNK_CONTENT;
    return (int64_t)c->left;
}

static void length_byte(struct http_chunks *c, uint8_t byte)
{
    int value = hex_value(byte);

    if (value >= 0) {
        c->wide |= c->left > INT32_MAX >> 4;
        c->left = c->left << 4 | (unsigned)value;
        c->digits = true;
    } else if (!c->digits && !is_filler(byte)) {
        c->part = CHUNKS_OVER;
    } else if (byte == '\n') {
        line_ends(c);
    } else if (c->digits) {
        c->part = CHUNK_REST_OF_LINE;
    }
}

static void step(struct http_chunks *c, struct bytes *in)
{
    if (c->part == CHUNK_CONTENT) {
        size_t n = (size_t)MIN(c->left, bytes_left(in));

        take_skip(in, n);
        c->left -= n;
        if (c->left == 0)
            c->part = CHUNK_END;
        return;
    }
    uint8_t byte = take_u8(in);

    if (c->part == CHUNK_LENGTH)
        length_byte(c, byte);
    else if (byte == '\n' && c->part == CHUNK_REST_OF_LINE)
        line_ends(c);
    else if (byte == '\n')
        c->part = CHUNK_LENGTH;
}

/* `end`: bytes of the input that libhtp has consumed. An extension needs a digit before its ';'.
 * Several of one chunk are one event. */
void http_chunks_look(struct http_tx *htx, enum direction d, struct slice input, size_t end)
{
    struct http_chunks *c;
    struct bytes in;
    size_t from;

    if (htx->message[d].content == NULL)
        return;
    c = &htx->message[d].content->chunks;
    from = c->from;
    c->from = 0;
    if (c->part == CHUNKS_OVER || end > input.len || from >= end)     /* a gap has no bytes */
        return;
    in = bytes_of(input.data + from, end - from);
    while (c->part != CHUNKS_OVER && bytes_have(&in, 1)) {
        bool in_line = c->part == CHUNK_LENGTH || c->part == CHUNK_REST_OF_LINE;

        if (in_line && c->digits && !c->extended && peek_u8(&in) == ';') {
            c->extended = true;
            app_tx_event(&htx->tx, d == TO_SERVER ? HTTP_EVENT_REQUEST_CHUNK_EXTENSION
                                                  : HTTP_EVENT_RESPONSE_CHUNK_EXTENSION);
        }
        step(c, &in);
    }
}
