/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/proto/http1/lines.c - status lines and header lines, read in place of libhtp 0.5.42's
 * functions and with the same result and messages.
 *
 * libhtp calls two functions for each character of a name, one of which is a jump table, and one
 * for each character of a status line, and looks at each character of a value. If its archive is
 * linked, its definitions are weak (libhtp.weak), so that its calls come here. */
#include "config.h"

#include "app/proto/http1/lines.h"

#include <string.h>

const uint8_t http_token_char[256] = {
    ['!'] = 1, ['#'] = 1, ['$'] = 1, ['%'] = 1, ['&'] = 1, ['\''] = 1, ['*'] = 1, ['+'] = 1,
    ['-'] = 1, ['.'] = 1, ['0' ... '9'] = 1, ['A' ... 'Z'] = 1, ['^'] = 1, ['_'] = 1, ['`'] = 1,
    ['a' ... 'z'] = 1, ['|'] = 1, ['~'] = 1,
};

#ifdef HAVE_HTP_ARCHIVE

int htp_is_token(int c)
{
    return c >= 0 && c < 256 && http_token_char[c];
}

static bool is_token(struct slice s)
{
    uint8_t all = 1;

    for (uint32_t i = 0; i < s.len; i++)
        all &= http_token_char[s.data[i]];
    return all != 0;
}

static bool is_blank(uint8_t c)
{
    return c == ' ' || c == '\t';
}

static struct slice without_line_end(const unsigned char *data, size_t len)
{
    while (len > 0 && (data[len - 1] == '\r' || data[len - 1] == '\n'))
        len--;
    return (struct slice){ .data = data, .len = (uint32_t)len };
}

/* What follows the colon, without blanks at both ends. */
static struct slice value_of(struct slice line, uint32_t from)
{
    uint32_t to = line.len;

    while (from < to && is_blank(line.data[from]))
        from++;
    while (to > from && is_blank(line.data[to - 1]))
        to--;
    return (struct slice){ .data = line.data + from, .len = to - from };
}

static bool has_byte(struct slice s, int c)
{
    return s.len > 0 && memchr(s.data, c, s.len) != NULL;
}

/* Marks the header and its transaction, whose first mark of this kind comes with a message. */
static COLD void mark(htp_connp_t *connp, htp_tx_t *tx, htp_header_t *h, uint64_t flag,
                      const char *message)
{
    h->flags |= flag;
    if ((tx->flags & flag) != 0)
        return;
    tx->flags |= flag;
    htp_log(connp, __FILE__, __LINE__, HTP_LOG_WARNING, 0, "%s", message);
}

static htp_status_t set(htp_header_t *h, struct slice name, struct slice value)
{
    h->name = bstr_dup_mem(name.data, name.len);
    h->value = h->name != NULL ? bstr_dup_mem(value.data, value.len) : NULL;
    if (LIKELY(h->value != NULL))
        return HTP_OK;
    if (h->name != NULL)
        bstr_free(h->name);
    h->name = NULL;
    return HTP_ERROR;
}

static const struct slice no_name = { .data = (const uint8_t *)"" };

/* A NUL before the colon ends the line as far as its name is concerned. */
htp_status_t htp_parse_request_header_generic(htp_connp_t *connp, htp_header_t *h,
                                              unsigned char *data, size_t len)
{
    htp_tx_t *tx = htp_connp_get_in_tx(connp);
    struct slice line = without_line_end(data, len), name = line;
    const uint8_t *colon = line.len > 0 ? memchr(line.data, ':', line.len) : NULL;

    if (colon != NULL)
        name.len = (uint32_t)(colon - line.data);
    if (UNLIKELY(colon == NULL || has_byte(name, 0))) {
        mark(connp, tx, h, HTP_FIELD_UNPARSEABLE, "Request field invalid: colon missing");
        return set(h, no_name, line);
    }
    if (UNLIKELY(name.len == 0))
        mark(connp, tx, h, HTP_FIELD_INVALID, "Request field invalid: colon missing");
    for (; name.len > 0 && is_blank(name.data[name.len - 1]); name.len--)
        mark(connp, tx, h, HTP_FIELD_INVALID, "Request field invalid: LWS after name");
    if (UNLIKELY(!is_token(name)))
        mark(connp, tx, h, HTP_FIELD_INVALID, "Request header name is not a token");
    return set(h, name, value_of(line, (uint32_t)(colon - line.data) + 1));
}

/* A line without a colon is all value. */
static struct slice response_name(htp_connp_t *connp, htp_tx_t *tx, htp_header_t *h,
                                  struct slice name)
{
    if (UNLIKELY(name.len == 0))
        mark(connp, tx, h, HTP_FIELD_INVALID, "Response field invalid: empty name.");
    for (; name.len > 0 && name.data[name.len - 1] <= ' '; name.len--)
        mark(connp, tx, h, HTP_FIELD_INVALID, "Response field invalid: LWS after name.");
    if (UNLIKELY(!is_token(name)))
        mark(connp, tx, h, HTP_FIELD_INVALID, "Response header name is not a token.");
    return name;
}

htp_status_t htp_parse_response_header_generic(htp_connp_t *connp, htp_header_t *h,
                                               unsigned char *data, size_t len)
{
    htp_tx_t *tx = htp_connp_get_out_tx(connp);
    struct slice line = without_line_end(data, len), name = no_name, value;
    const uint8_t *colon = line.len > 0 ? memchr(line.data, ':', line.len) : NULL;
    uint32_t from = 0;

    if (LIKELY(colon != NULL)) {
        from = (uint32_t)(colon - line.data) + 1;
        name = response_name(connp, tx, h, (struct slice){ .data = line.data, .len = from - 1 });
    } else {
        h->flags |= HTP_FIELD_INVALID;
        if ((tx->flags & HTP_FIELD_UNPARSEABLE) == 0)   /* the request's flags are here, too */
            tx->flags |= HTP_FIELD_INVALID;
        mark(connp, tx, h, HTP_FIELD_UNPARSEABLE, "Response field invalid: missing colon.");
    }
    value = value_of(line, from);
    if (UNLIKELY(has_byte(value, 0)))
        htp_log(connp, __FILE__, __LINE__, HTP_LOG_WARNING, 0, "%s",
                "Response header value contains null.");
    return set(h, name, value);
}

/* --- the status line, and lengths ------------------------------------------------------------- */

static bool is_space(uint8_t c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

static void skip_space(struct slice *rest)
{
    while (rest->len > 0 && is_space(rest->data[0])) {
        rest->data++;
        rest->len--;
    }
}

/* The bytes up to the next space. */
static struct slice take_word(struct slice *rest)
{
    struct slice word;

    skip_space(rest);
    word = (struct slice){ .data = rest->data };
    while (word.len < rest->len && !is_space(rest->data[word.len]))
        word.len++;
    rest->data += word.len;
    rest->len -= word.len;
    return word;
}

static int protocol_of(bstr *protocol)
{
    const uint8_t *p = bstr_ptr(protocol);

    if (LIKELY(bstr_len(protocol) == 8 && memcmp(p, "HTTP/1.1", 8) == 0))
        return HTP_PROTOCOL_1_1;
    return htp_parse_protocol(protocol);
}

static bool is_digit(uint8_t c)
{
    return c >= '0' && c <= '9';
}

static int status_of(bstr *status)
{
    const uint8_t *p = bstr_ptr(status);

    if (LIKELY(bstr_len(status) == 3 && p[0] != '0' && is_digit(p[0]) && is_digit(p[1]) &&
               is_digit(p[2])))
        return (p[0] - '0') * 100 + (p[1] - '0') * 10 + (p[2] - '0');
    return htp_parse_status(status);
}

/* Protocol, status, and all the rest as the message. What is missing is NULL. */
htp_status_t htp_parse_response_line_generic(htp_connp_t *connp)
{
    htp_tx_t *tx = htp_connp_get_out_tx(connp);
    struct slice rest = { bstr_ptr(tx->response_line), (uint32_t)bstr_len(tx->response_line) };
    struct slice word = take_word(&rest);

    tx->response_protocol = tx->response_status = tx->response_message = NULL;
    tx->response_protocol_number = HTP_PROTOCOL_INVALID;
    tx->response_status_number = HTP_STATUS_INVALID;
    if (word.len == 0)
        return HTP_OK;
    tx->response_protocol = bstr_dup_mem(word.data, word.len);
    if (tx->response_protocol == NULL)
        return HTP_ERROR;
    tx->response_protocol_number = protocol_of(tx->response_protocol);
    word = take_word(&rest);
    if (word.len == 0)
        return HTP_OK;
    tx->response_status = bstr_dup_mem(word.data, word.len);
    if (tx->response_status == NULL)
        return HTP_ERROR;
    tx->response_status_number = status_of(tx->response_status);
    skip_space(&rest);
    if (rest.len == 0)
        return HTP_OK;
    tx->response_message = bstr_dup_mem(rest.data, rest.len);
    return tx->response_message != NULL ? HTP_OK : HTP_ERROR;
}

/* What precedes the digits is reported once. */
static struct slice from_digit(struct slice s, htp_connp_t *connp)
{
    bool is_told = connp == NULL;

    for (; s.len > 0 && !is_digit(s.data[0]); s.data++, s.len--) {
        if (is_told || is_blank(s.data[0]))
            continue;
        is_told = true;
        htp_log(connp, __FILE__, __LINE__, HTP_LOG_WARNING, 0, "%s",
                "C-L value with extra data in the beginnning");
    }
    return s;
}

/* -2: more than an int64_t. libhtp compares the end of the digits with the length of all: after
 * other bytes it may not see that some follow. */
int64_t htp_parse_content_length(bstr *b, htp_connp_t *connp)
{
    const struct slice all = { bstr_ptr(b), (uint32_t)bstr_len(b) };
    struct slice digits;
    int64_t n = 0;
    uint32_t i;

    if (all.len == 0)
        return -1003;
    digits = from_digit(all, connp);
    if (digits.len == 0)
        return -1001;
    for (i = 0; i < digits.len && is_digit(digits.data[i]); i++)
        if (__builtin_mul_overflow(n, 10, &n) ||
            __builtin_add_overflow(n, digits.data[i] - '0', &n)) {
            n = -2;
            break;
        }
    if (i == digits.len)
        i++;
    if (UNLIKELY(i < all.len) && connp != NULL)
        htp_log(connp, __FILE__, __LINE__, HTP_LOG_WARNING, 0, "%s",
                "C-L value with extra data in the end");
    return n;
}

#endif
