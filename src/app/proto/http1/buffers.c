/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/proto/http1/buffers.c - the buffers that rules inspect.
 *
 * Most are views of libhtp's strings. Those that combine several (all headers in one buffer) are
 * created when a rule first reads them, stay with the transaction, and are created again when
 * trailers have arrived. */
#include "app/proto/http1/buffers.h"

#include "app/proto/http1/body.h"
#include "app/proto/http1/http1.h"
#include "app/proto/http1/state.h"
#include "app/proto/http1/text_facts.h"
#include "app/proto/http1/tx.h"
#include "base/memory/lib_memory.h"

#include <ctype.h>
#include <stddef.h>
#include <string.h>

static bool set_slice(struct slice s, struct slice *out)
{
    *out = s;
    return s.data != NULL;
}

static const htp_tx_t *htp_of(struct app_tx *tx)
{
    return http_htp(http_tx_of(tx));
}

/* --- lines ------------------------------------------------------------------------------------ */

/* `key->number` is the offset in htp_tx_t of a pointer to a string of libhtp. */
static bool find_string(struct app_tx *tx, enum direction d UNUSED, const struct app_key *key,
                        unsigned i UNUSED, struct slice *out)
{
    bstr *string;

    memcpy(&string, (const char *)htp_of(tx) + key->number, sizeof(string));
    return set_slice(http_bstr(string), out);
}
#define STRING(member) .find = find_string, .key.number = offsetof(htp_tx_t, member)

/* Normalised on first use, because not every transaction is inspected by a rule for http.uri. */
static bool get_uri(struct app_tx *tx, enum direction d UNUSED, unsigned i UNUSED,
                    struct slice *out)
{
    struct http_tx *htx = http_tx_of(tx);
    const struct http_state *state = tx->flow->state;

    if (htx->uri.data == NULL && http_htp(htx) != &http_no_htp)
        http_uri_normalise(htx, state->config);
    return set_slice(htx->uri, out);
}

static bool get_protocol(struct app_tx *tx, enum direction d, unsigned i UNUSED,
                         struct slice *out)
{
    const htp_tx_t *htp = htp_of(tx);
    struct slice s = http_bstr(d == TO_SERVER ? htp->request_protocol : htp->response_protocol);

    return s.len > 0 && set_slice(s, out);
}

/* The host with its port and case: from the URI if that has one, else from the field Host. */
static bool get_raw_host(struct app_tx *tx, enum direction d UNUSED, unsigned i UNUSED,
                         struct slice *out)
{
    const htp_uri_t *uri = htp_of(tx)->parsed_uri;
    const htp_header_t *h = http_header(http_tx_of(tx), TO_SERVER, "host");

    if (uri != NULL && uri->hostname != NULL)
        return set_slice(http_bstr(uri->hostname), out);
    return h != NULL && set_slice(http_bstr(h->value), out);
}

/* --- single headers --------------------------------------------------------------------------- */

static bool find_header(struct app_tx *tx, enum direction d, const struct app_key *key,
                        unsigned i UNUSED, struct slice *out)
{
    const htp_header_t *h = http_header(http_tx_of(tx), d, key->name[d]);

    return h != NULL && set_slice(http_bstr(h->value), out);
}

#define HEADER(name) .find = find_header, .key = APP_KEY(name)

/* --- all headers in one part ----------------------------------------------------------------- */

#define DERIVED_BLOCK 1000 /* first block: with the allocator's header one size class */

/* NULL: no memory. Rules then do not see the buffers. See suspend.c for when they are freed. */
struct http_derived_buffers *http_derived_buffers(struct http_tx *htx, enum direction d)
{
    struct http_message *m = &htx->message[d];
    struct http_state *state = htx->tx.flow->state;

    if (m->derived == NULL) {
        state->has_derived_buffers = true;
        m->derived = lib_calloc(1, sizeof(*m->derived));
        if (m->derived != NULL)
            arena_init(&m->derived->arena, DERIVED_BLOCK, 0);
    }
    return m->derived;
}

void http_derived_buffers_free(struct http_tx *htx, enum direction d)
{
    struct http_derived_buffers *derived = htx->message[d].derived;

    if (derived == NULL)
        return;
    arena_fini(&derived->arena);
    http_buf_release(htx->tx.flow, &derived->swf);
    lib_free(derived);
    htx->message[d].derived = NULL;
}

enum joined { JOINED_HEADERS, JOINED_NAMES, JOINED_START };

/* Cookies have a separate buffer and are not part of http.header, as in Suricata. */
static bool is_cookie(const htp_header_t *h, enum direction d)
{
    const struct text name = d == TO_SERVER ? TEXT_LITERAL("cookie") : TEXT_LITERAL("set-cookie");

    return bstr_len(h->name) == name.n && bstr_cmp_c_nocase(h->name, name.p) == 0;
}

static uint8_t *put(uint8_t *p, struct slice s)
{
    if (s.len > 0)
        memcpy(p, s.data, s.len);
    return p + s.len;
}

static uint8_t *put_text(uint8_t *p, const char *s)
{
    return put(p, (struct slice){ .data = (const uint8_t *)s, .len = (uint32_t)strlen(s) });
}

/* Upper limit: each header with ": " and CRLF, the line, CRLF before and after. */
static size_t space_for(htp_table_t *headers, struct slice line)
{
    size_t space = line.len + 8;

    for (size_t i = 0; i < htp_table_size(headers); i++) {
        const htp_header_t *h = htp_table_get_index(headers, i, NULL);

        space += bstr_len(h->name) + bstr_len(h->value) + 4;
    }
    return space;
}

static uint8_t *put_header(uint8_t *p, const htp_header_t *h)
{
    p = put(p, http_bstr(h->name));
    p = put_text(p, ": ");
    p = put(p, http_bstr(h->value));
    return put_text(p, "\r\n");
}

static uint8_t *put_all(uint8_t *p, htp_table_t *headers, enum joined what, enum direction d)
{
    size_t count = htp_table_size(headers);

    if (what == JOINED_NAMES && count > 0)
        p = put_text(p, "\r\n");
    for (size_t i = 0; i < count; i++) {
        const htp_header_t *h = htp_table_get_index(headers, i, NULL);

        if (what == JOINED_NAMES)
            p = put_text(put(p, http_bstr(h->name)), "\r\n");
        else if (what == JOINED_START || !is_cookie(h, d))
            p = put_header(p, h);
    }
    return what != JOINED_HEADERS && count > 0 ? put_text(p, "\r\n") : p;
}

/* `joined_for` is the number of headers that the buffer was built from: trailers add headers,
 * and then it is built again. The older buffer stays in the arena, where rules may still point
 * into it. */
static bool find_joined(struct app_tx *tx, enum direction d, const struct app_key *key,
                        unsigned i UNUSED, struct slice *out)
{
    const enum joined what = (enum joined)key->number;
    struct http_tx *htx = http_tx_of(tx);
    htp_table_t *headers = http_headers(htx, d);
    struct http_derived_buffers *derived;
    const htp_tx_t *htp = http_htp(htx);
    const bstr *line = d == TO_SERVER ? htp->request_line : htp->response_line;
    uint8_t *start, *p;

    if (tx->progress[d] <= HTTP_HEADERS || headers == NULL ||
        (what == JOINED_START && line == NULL))
        return false;
    derived = http_derived_buffers(htx, d);
    if (derived == NULL)
        return false;
    if (derived->joined[what].data == NULL ||
        derived->joined_for[what] != htp_table_size(headers)) {
        start = p = arena_alloc(&derived->arena, space_for(headers, http_bstr(line)));
        if (start == NULL)
            return false;
        if (what == JOINED_START)
            p = put_text(put(p, http_bstr(line)), "\r\n");
        p = put_all(p, headers, what, d);
        derived->joined[what] = (struct slice){ .data = start, .len = (uint32_t)(p - start) };
        derived->joined_for[what] = htp_table_size(headers);
    }
    return derived->joined[what].len > 0 && set_slice(derived->joined[what], out);
}

#define JOINED(what) .find = find_joined, .key.number = (what)

static bool get_raw_headers(struct app_tx *tx, enum direction d, unsigned i UNUSED,
                            struct slice *out)
{
    *out = buf_slice(&http_tx_of(tx)->message[d].raw_headers);
    return out->len > 0;
}

/* --- headers one by one ----------------------------------------------------------------------- */

/* Name and value of each header, built once for all of them. */
static bool make_items(struct http_tx *htx, enum direction d, htp_table_t *headers)
{
    struct http_derived_buffers *derived = http_derived_buffers(htx, d);
    size_t count = htp_table_size(headers);

    if (derived == NULL)
        return false;
    if (derived->item != NULL && derived->item_count == count)
        return true;
    derived->item_count = 0;
    derived->item =
        count > 0 ? arena_alloc(&derived->arena, count * sizeof(derived->item[0])) : NULL;
    if (derived->item == NULL)
        return false;
    for (size_t i = 0; i < count; i++) {
        const htp_header_t *h = htp_table_get_index(headers, i, NULL);
        size_t len = bstr_len(h->name) + 2 + bstr_len(h->value);
        uint8_t *p = arena_alloc(&derived->arena, len);

        if (p == NULL)
            return false;
        derived->item[i] = (struct slice){ .data = p, .len = (uint32_t)len };
        put(put_text(put(p, http_bstr(h->name)), ": "), http_bstr(h->value));
        derived->item_count = i + 1;
    }
    return true;
}

static bool get_header_item(struct app_tx *tx, enum direction d, unsigned index,
                            struct slice *out)
{
    struct http_tx *htx = http_tx_of(tx);
    htp_table_t *headers = http_headers(htx, d);

    if (headers == NULL || !make_items(htx, d, headers) ||
        index >= htx->message[d].derived->item_count)
        return false;
    *out = htx->message[d].derived->item[index];
    return true;
}

/* --- bodies ----------------------------------------------------------------------------------- */

static bool get_request_body(struct app_tx *tx, enum direction d, unsigned i UNUSED,
                             struct slice *out)
{
    uint64_t position;

    return http_body_inspect(http_tx_of(tx), d, out, &position);
}

static uint64_t request_body_position(struct app_tx *tx, enum direction d, unsigned i UNUSED)
{
    struct slice s;
    uint64_t position = 0;

    http_body_inspect(http_tx_of(tx), d, &s, &position);
    return position;
}

static bool request_body_is_cut(struct app_tx *tx, enum direction d, unsigned i UNUSED)
{
    return http_tx_of(tx)->message[d].content != NULL && http_body_is_full(http_tx_of(tx), d);
}

static bool retained_body(struct app_tx *tx, enum direction d, struct slice *out,
                          uint64_t *position)
{
    *out = http_body_retained(http_tx_of(tx), d);
    if (out->len > 0)
        *position = http_tx_of(tx)->message[d].content->body.start;
    return out->len > 0;
}

/* --- what patterns must be like --------------------------------------------------------------- */

/* http.host is in lower case: a pattern with capitals can never match. The messages are Suricata's,
 * because users search for them. */
static bool check_host(struct slice pattern, bool nocase, struct err *err)
{
    if (nocase) {
        err_set(err, "http.host keyword specified along with \"nocase\". The hostname buffer is "
                "normalized to lowercase, specifying nocase is redundant.");
        return false;
    }
    for (uint32_t i = 0; i < pattern.len; i++) {
        if (!isupper(pattern.data[i]))
            continue;
        err_set(err, "A pattern with uppercase characters detected for http.host. The hostname "
                "buffer is normalized to lowercase, please specify a lowercase pattern.");
        return false;
    }
    return true;
}

/* A method has no white space: such a pattern can never match. */
static bool check_method(struct slice pattern, bool nocase UNUSED, struct err *err)
{
    static const struct { uint8_t c; const char *name; } blanks[] = { { ' ', "space" },
                                                                      { '\t', "tab" } };

    for (size_t i = 0; i < ARRAY_LEN(blanks) && pattern.len > 0; i++) {
        bool last = pattern.data[pattern.len - 1] == blanks[i].c;

        if (!last && pattern.data[0] != blanks[i].c)
            continue;
        err_set(err, "http_method pattern with %s %s", last ? "trailing" : "leading",
                blanks[i].name);
        return false;
    }
    return true;
}

static bool check_protocol(struct slice pattern, bool nocase UNUSED, struct err *err)
{
    if (pattern.len == 0 || memchr(pattern.data, ' ', pattern.len) == NULL)
        return true;
    err_set(err, "Invalid http.protocol string containing a space");
    return false;
}

/* --- declarations ----------------------------------------------------------------------------- */

static const struct app_buffer uri = {
    .name = "http.uri", .alias = "http.uri.normalized", .legacy = "http_uri",
    .doc = "URI, normalised",
    .directions = APP_TS, .progress = { HTTP_LINE, 0 }, .get = get_uri,
    .percent_decoded = true,
};
static const struct app_buffer raw_uri = {
    .name = "http.uri.raw", .legacy = "http_raw_uri", .doc = "URI, as sent",
    .directions = APP_TS, .progress = { HTTP_LINE, 0 }, STRING(request_uri),
};
static const struct app_buffer method = {
    .name = "http.method", .legacy = "http_method", .doc = "request method",
    .directions = APP_TS, .progress = { HTTP_LINE, 0 }, STRING(request_method),
    .check = check_method,
    .few_values = true, .pattern_rank = 4,
};
static const struct app_buffer request_line = {
    .name = "http.request_line", .alias = "http_request_line", .doc = "whole request line",
    .directions = APP_TS, .progress = { HTTP_LINE, 0 }, STRING(request_line),
};
static const struct app_buffer response_line = {
    .name = "http.response_line", .alias = "http_response_line", .doc = "whole status line",
    .directions = APP_TC, .progress = { 0, HTTP_LINE }, STRING(response_line),
};
static const struct app_buffer protocol = {
    .name = "http.protocol", .alias = "http_protocol", .doc = "protocol of the first line",
    .directions = APP_BOTH, .progress = { HTTP_LINE, HTTP_LINE }, .get = get_protocol,
    .check = check_protocol,
    .few_values = true,
};
static const struct app_buffer stat_code = {
    .name = "http.stat_code", .legacy = "http_stat_code", .doc = "status code",
    .directions = APP_TC, .progress = { 0, HTTP_LINE }, STRING(response_status),
    .few_values = true, .pattern_rank = 4,
    .facts = &http_status_facts,
};
static const struct app_buffer stat_msg = {
    .name = "http.stat_msg", .legacy = "http_stat_msg", .doc = "reason of the status line",
    .directions = APP_TC, .progress = { 0, HTTP_LINE }, STRING(response_message),
    .few_values = true,
};
static const struct app_buffer host = {
    .name = "http.host", .legacy = "http_host", .doc = "host, in lower case, without port",
    .directions = APP_TS, .progress = { HTTP_HEADERS, 0 }, .lower_case = true,
    STRING(request_hostname),
    .check = check_host,
    .facts = &http_host_facts,
};
static const struct app_buffer raw_host = {
    .name = "http.host.raw", .legacy = "http_raw_host", .doc = "host, as sent",
    .directions = APP_TS, .progress = { HTTP_HEADERS, 0 }, .get = get_raw_host,
};
static bool has_trailer(const struct app_tx *tx, enum direction d)
{
    return CONTAINER_OF(tx, const struct http_tx, tx)->message[d].has_trailer;
}

/* Trailers follow the last chunk (RFC 9112 section 7.1.2), and headers tell the coding. */
static bool lacks_trailer(const struct app_tx *tx, enum direction d)
{
    const htp_tx_t *htp = CONTAINER_OF(tx, const struct http_tx, tx)->htp;
    enum htp_transfer_coding_t coding = d == TO_SERVER ? htp->request_transfer_coding
                                                       : htp->response_transfer_coding;

    return coding == HTP_CODING_IDENTITY;
}

static const struct app_buffer header = {
    .name = "http.header", .legacy = "http_header", .doc = "all headers but cookies, normalised",
    .directions = APP_BOTH, .progress = { HTTP_HEADERS, HTTP_HEADERS }, JOINED(JOINED_HEADERS),
    .again = has_trailer, .again_at = { HTTP_TRAILER, HTTP_TRAILER },
    .never_again = lacks_trailer,
    .percent_decoded = true,
    .facts = &http_header_facts,
};
static const struct app_buffer raw_header = {
    .name = "http.header.raw", .legacy = "http_raw_header", .doc = "all headers, as sent",
    .directions = APP_BOTH, .progress = { HTTP_BODY, HTTP_BODY }, .one_way = true,
    .appended = true, .get = get_raw_headers,
    .again = has_trailer, .again_at = { HTTP_COMPLETE, HTTP_TRAILER },
    .feature = HTTP1_KEEP_RAW_HEADERS,
};
static const struct app_buffer header_names = {
    .name = "http.header_names", .alias = "http_header_names",
    .doc = "names of the headers, CRLF between and around them",
    .directions = APP_BOTH, .progress = { HTTP_HEADERS, HTTP_HEADERS }, JOINED(JOINED_NAMES),
};
static const struct app_buffer start = {
    .name = "http.start", .alias = "http_start", .doc = "first line and headers",
    .directions = APP_BOTH, .progress = { HTTP_HEADERS, HTTP_HEADERS }, JOINED(JOINED_START),
};
static const struct app_buffer request_header = {
    .name = "http.request_header",
    .doc = "name and value of one request header",
    .directions = APP_TS, .progress = { HTTP_HEADERS, 0 }, .multi = true,
    .get = get_header_item,
};
static const struct app_buffer response_header = {
    .name = "http.response_header",
    .doc = "name and value of one response header",
    .directions = APP_TC, .progress = { 0, HTTP_HEADERS }, .multi = true,
    .get = get_header_item,
};
static const struct app_buffer cookie = {
    .name = "http.cookie", .legacy = "http_cookie", .doc = "Cookie or Set-Cookie",
    .directions = APP_BOTH, .progress = { HTTP_HEADERS, HTTP_HEADERS }, .find = find_header,
    .key.name = { "cookie", "set-cookie" },
    .percent_decoded = true,
    .facts = &http_cookie_facts,
};
static const struct app_buffer user_agent = {
    .name = "http.user_agent", .legacy = "http_user_agent", .doc = "User-Agent header",
    .directions = APP_TS, .progress = { HTTP_HEADERS, 0 }, HEADER("user-agent"),
    .facts = &http_agent_facts,
};
static const struct app_buffer content_type = {
    .name = "http.content_type", .alias = "http_content_type", .doc = "Content-Type header",
    .directions = APP_BOTH, .progress = { HTTP_HEADERS, HTTP_HEADERS }, HEADER("content-type"),
    .facts = &http_type_facts,
};
static const struct app_buffer content_len = {
    .name = "http.content_len", .alias = "http_content_len", .doc = "Content-Length header",
    .directions = APP_BOTH, .progress = { HTTP_HEADERS, HTTP_HEADERS }, HEADER("content-length"),
};
static const struct app_buffer connection = {
    .name = "http.connection", .alias = "http_connection", .doc = "Connection header",
    .directions = APP_BOTH, .progress = { HTTP_HEADERS, HTTP_HEADERS }, HEADER("connection"),
    .few_values = true,
};
static const struct app_buffer referer = {
    .name = "http.referer", .alias = "http_referer", .doc = "Referer header",
    .directions = APP_TS, .progress = { HTTP_HEADERS, 0 }, HEADER("referer"),
    .facts = &http_referer_facts,
};
static const struct app_buffer accept = {
    .name = "http.accept", .alias = "http_accept", .doc = "Accept header",
    .directions = APP_TS, .progress = { HTTP_HEADERS, 0 }, HEADER("accept"),
};
static const struct app_buffer accept_enc = {
    .name = "http.accept_enc", .alias = "http_accept_enc", .doc = "Accept-Encoding header",
    .directions = APP_TS, .progress = { HTTP_HEADERS, 0 }, HEADER("accept-encoding"),
};
static const struct app_buffer accept_lang = {
    .name = "http.accept_lang", .alias = "http_accept_lang", .doc = "Accept-Language header",
    .directions = APP_TS, .progress = { HTTP_HEADERS, 0 }, HEADER("accept-language"),
};
static const struct app_buffer server = {
    .name = "http.server", .doc = "Server header",
    .directions = APP_TC, .progress = { 0, HTTP_HEADERS }, HEADER("server"),
    .facts = &http_server_facts,
};
static const struct app_buffer location = {
    .name = "http.location", .doc = "Location header",
    .directions = APP_TC, .progress = { 0, HTTP_HEADERS }, HEADER("location"),
};
static const struct app_buffer request_body = {
    .name = "http.request_body", .legacy = "http_client_body", .doc = "request body, decoded",
    .directions = APP_TS, .progress = { HTTP_BODY, 0 }, .grows = true,
    .get = get_request_body, .position = request_body_position, .retained = retained_body,
    .is_cut = request_body_is_cut,
    .feature = HTTP1_KEEP_REQUEST_BODY,
    .flushes = true,
};
/* A response's body is a file. */
static const struct app_buffer response_body = {
    .name = "http.response_body", .legacy = "http_server_body", .doc = "response body, decoded",
    .same_as = "file.data",
    .directions = APP_TC, .progress = { 0, HTTP_BODY }, .grows = true, .multi = true,
    .get = app_file_get_data, .position = app_file_data_position, .retained = app_file_retained,
    .is_cut = app_file_data_is_cut,
    .files = APP_FILE_CONTENT,
};

/* Rules see Flash files unpacked, if swf-decompression is on. Only a window that starts at the
 * file's beginning has the header. */
static bool get_file_data(struct app_tx *tx, enum direction d, unsigned index, struct slice *out)
{
    const struct http_state *state = tx->flow->state;
    struct app_file *file = tx->files[d];

    if (!app_file_get_data(tx, d, index, out))
        return false;
    if (LIKELY(!state->config->swf) || d == TO_SERVER ||
        app_file_data_position(tx, d, index) != 0)
        return true;
    while (index-- > 0)
        file = file->next;
    http_swf_derive(http_tx_of(tx), file, out);
    return true;
}

APP_FILE_BUFFERS_BY(APP_BOTH, HTTP_BODY, HTTP_BODY, get_file_data, 0);

const struct app_buffer *const http_bodies[2] = { &request_body, &response_body };

const struct app_buffer *const http_buffers[] = {
    &uri, &raw_uri, &method, &request_line, &response_line, &protocol, &stat_code, &stat_msg,
    &host, &raw_host, &header, &raw_header, &header_names, &start, &request_header,
    &response_header, &cookie, &user_agent, &content_type, &content_len, &connection, &referer,
    &accept, &accept_enc, &accept_lang, &server, &location, &request_body, &response_body,
    &file_data, &file_name, &file_magic, NULL,
};
