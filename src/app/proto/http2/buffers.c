/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/proto/http2/buffers.c - the buffers that rules inspect of a stream: those of HTTP/1 that make
 * sense here, and the names of headers.
 *
 * Buffers that combine several values are created on first use, and again after more headers. */
#include "app/proto/http2/buffers.h"

#include "app/proto/http1/text_facts.h"
#include "app/proto/http2/tx.h"

#include <ctype.h>
#include <string.h>

/* --- making ----------------------------------------------------------------------------------- */

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

/* Upper limit for all headers with four bytes of separators each, and a first line. */
static size_t space_for(const struct h2_dir *ds)
{
    return ds->header_bytes + 4 * (size_t)ds->header_count + 32;
}

/* Empty results are kept as well: a missing header is looked up once. */
static bool keep(struct h2_dir *ds, enum h2_derived what, struct slice s, struct slice *out)
{
    ds->derived |= 1u << what;
    ds->make[what] = s;
    *out = s;
    return s.data != NULL;
}

static bool retained(const struct h2_dir *ds, enum h2_derived what, struct slice *out)
{
    *out = ds->make[what];
    return (ds->derived & 1u << what) != 0;
}

static bool is_field(const struct h2_header *h, const char *name)
{
    return h->kind == H2_FIELD && h->name.len == strlen(name) &&
           memcmp(h->name.data, name, h->name.len) == 0;
}

/* Several headers of one name form a list with commas (RFC 9110 section 5.3). */
static struct slice join(struct h2_tx *t, struct h2_dir *ds, const char *name, unsigned first)
{
    struct slice out = ds->header[first].value;
    uint8_t *p = NULL, *start = NULL;

    for (unsigned i = first + 1; i < ds->header_count; i++) {
        if (!is_field(&ds->header[i], name))
            continue;
        if (start == NULL) {
            start = arena_alloc(&t->tx.arena, space_for(ds));
            if (start == NULL)
                return out;
            p = put(start, out);
        }
        p = put(put_text(p, ", "), ds->header[i].value);
        out = (struct slice){ .data = start, .len = (uint32_t)(p - start) };
    }
    return out;
}

/* Names are in lower case on the wire (RFC 9113 section 8.2.1), so that bytes are compared. */
static bool get_value(struct app_tx *tx, enum direction d, const char *name, enum h2_derived what,
                      struct slice *out)
{
    struct h2_tx *t = h2_tx_of(tx);
    struct h2_dir *ds = &t->ds[d];
    struct slice none = { 0 };

    if (retained(ds, what, out))
        return out->data != NULL;
    for (unsigned i = 0; i < ds->header_count; i++)
        if (is_field(&ds->header[i], name))
            return keep(ds, what, join(t, ds, name, i), out);
    return keep(ds, what, none, out);
}

/* --- single headers --------------------------------------------------------------------------- */

/* `key->number` is the place where the joined value is kept. */
static bool find_value(struct app_tx *tx, enum direction d, const struct app_key *key,
                       unsigned i UNUSED, struct slice *out)
{
    return get_value(tx, d, key->name[d], (enum h2_derived)key->number, out);
}
#define VALUE(name_, derived) .find = find_value, .key = { { (name_), (name_) }, (derived) }

static bool find_first(struct app_tx *tx, enum direction d, const struct app_key *key,
                       unsigned i UNUSED, struct slice *out)
{
    const struct h2_header *h = h2_header_find(h2_tx_of(tx), d, key->name[d]);

    if (h != NULL)
        *out = h->value;
    return h != NULL;
}
#define FIRST(name_) .find = find_first, .key = APP_KEY(name_)

/* The name alone, without user and port. */
static struct slice bare_host(struct slice s)
{
    const uint8_t *at = s.len > 0 ? memchr(s.data, '@', s.len) : NULL;
    const uint8_t *colon;

    if (at != NULL) {
        s.len -= (uint32_t)(at + 1 - s.data);
        s.data = at + 1;
    }
    colon = s.len > 0 ? memchr(s.data, ':', s.len) : NULL;
    if (colon != NULL)
        s.len = (uint32_t)(colon - s.data);
    return s;
}

static bool get_host(struct app_tx *tx, enum direction d, unsigned i UNUSED, struct slice *out)
{
    struct h2_dir *ds = &h2_tx_of(tx)->ds[d];
    struct slice s;
    uint8_t *lower;

    if (retained(ds, H2_DERIVED_HOST, out))
        return out->data != NULL;
    if (!get_value(tx, d, ":authority", H2_DERIVED_AUTHORITY, &s))
        return false;
    s = bare_host(s);
    lower = arena_alloc(&tx->arena, s.len + 1);
    if (lower == NULL)
        return false;
    for (uint32_t n = 0; n < s.len; n++)
        lower[n] = (uint8_t)tolower(s.data[n]);
    s.data = lower;
    return keep(ds, H2_DERIVED_HOST, s, out);
}

/* --- lines ------------------------------------------------------------------------------------ */

static struct slice value_or_empty(const struct h2_tx *t, enum direction d, const char *name)
{
    const struct h2_header *h = h2_header_find(t, d, name);

    return h != NULL ? h->value : (struct slice){ 0 };
}

/* The line as HTTP/1 would have it. */
static bool get_line(struct app_tx *tx, enum direction d, unsigned i UNUSED, struct slice *out)
{
    struct h2_tx *t = h2_tx_of(tx);
    struct h2_dir *ds = &t->ds[d];
    uint8_t *start, *p;

    if (retained(ds, H2_DERIVED_LINE, out))
        return true;
    start = p = arena_alloc(&tx->arena, space_for(ds));
    if (start == NULL)
        return false;
    if (d == TO_SERVER) {
        p = put_text(put(p, value_or_empty(t, d, ":method")), " ");
        p = put_text(put(p, value_or_empty(t, d, ":path")), " HTTP/2\r\n");
    } else {
        p = put_text(put(put_text(p, "HTTP/2 "), value_or_empty(t, d, ":status")), "\r\n");
    }
    return keep(ds, H2_DERIVED_LINE, (struct slice){ start, (uint32_t)(p - start) }, out);
}

/* HTTP/2 has no protocol in a line, and no reason phrase (RFC 9113 section 8.3.2): rules see these
 * texts. */
static bool find_text(struct app_tx *tx UNUSED, enum direction d, const struct app_key *key,
                      unsigned i UNUSED, struct slice *out)
{
    *out = (struct slice){ (const uint8_t *)key->name[d], (uint32_t)strlen(key->name[d]) };
    return true;
}
#define TEXT_OF(text) .find = find_text, .key = APP_KEY(text)

/* --- all headers in one part ----------------------------------------------------------------- */

static bool is_cookie(const struct h2_header *h, enum direction d)
{
    return is_field(h, d == TO_SERVER ? "cookie" : "set-cookie");
}

static struct slice trimmed(struct slice s)
{
    while (s.len > 0 && (s.data[0] == ' ' || s.data[0] == '\t')) {
        s.data++;
        s.len--;
    }
    while (s.len > 0 && (s.data[s.len - 1] == ' ' || s.data[s.len - 1] == '\t'))
        s.len--;
    return s;
}

static uint8_t *put_headers(uint8_t *p, const struct h2_dir *ds, enum direction d,
                            enum h2_derived what)
{
    for (unsigned i = 0; i < ds->header_count; i++) {
        const struct h2_header *h = &ds->header[i];

        if (what == H2_DERIVED_NAMES)
            p = put_text(put(p, h->name), "\r\n");
        else if (what == H2_DERIVED_RAW)
            p = put_text(put(put_text(put(p, h->name), ": "), h->value), "\r\n");
        else if (!is_cookie(h, d))
            p = put_text(put(put_text(put(p, h->name), ": "), trimmed(h->value)), "\r\n");
    }
    return p;
}

/* http.header leaves out cookies and trims values, http.header.raw does not. */
static bool find_joined(struct app_tx *tx, enum direction d, const struct app_key *key,
                        unsigned i UNUSED, struct slice *out)
{
    const enum h2_derived what = (enum h2_derived)key->number;
    struct h2_dir *ds = &h2_tx_of(tx)->ds[d];
    uint8_t *start, *p;

    if (ds->header_count == 0)
        return false;
    if (retained(ds, what, out))
        return out->len > 0;
    start = p = arena_alloc(&tx->arena, space_for(ds));
    if (start == NULL)
        return false;
    if (what == H2_DERIVED_NAMES)
        p = put_text(p, "\r\n");
    p = put_headers(p, ds, d, what);
    if (what == H2_DERIVED_NAMES)
        p = put_text(p, "\r\n");
    keep(ds, what, (struct slice){ start, (uint32_t)(p - start) }, out);
    return out->len > 0;
}

#define JOINED(what) .find = find_joined, .key.number = (what)

/* --- headers one by one ----------------------------------------------------------------------- */

/* Built once for all headers; h2_header_add() drops it. */
static bool make_items(struct h2_tx *t, struct h2_dir *ds)
{
    struct slice *item;

    if (ds->item != NULL)
        return true;
    item = arena_alloc(&t->tx.arena, ds->header_count * sizeof(*item));
    if (item == NULL)
        return false;
    for (unsigned i = 0; i < ds->header_count; i++) {
        const struct h2_header *h = &ds->header[i];
        uint32_t len = h->name.len + 2 + h->value.len;
        uint8_t *p = arena_alloc(&t->tx.arena, len);

        if (p == NULL)
            return false;
        item[i] = (struct slice){ .data = p, .len = len };
        put(put_text(put(p, h->name), ": "), h->value);
    }
    ds->item = item;
    return true;
}

static bool get_item(struct app_tx *tx, enum direction d, unsigned index, struct slice *out)
{
    struct h2_tx *t = h2_tx_of(tx);
    struct h2_dir *ds = &t->ds[d];

    if (index >= ds->header_count || !make_items(t, ds))
        return false;
    *out = ds->item[index];
    return true;
}

static const void *nth_header(struct app_tx *tx, enum direction d, unsigned index)
{
    const struct h2_dir *ds = &h2_tx_of(tx)->ds[d];

    return index < ds->header_count ? &ds->header[index] : NULL;
}

static const struct app_path headers_path = { .find = nth_header };

/* --- declarations ----------------------------------------------------------------------------- */

/* Most buffers are complete when the headers are (H2_OPEN). The last argument says how the value is
 * found. */
#define BUFFER(symbol, name_, alias_, legacy_, directions_, doc_, ...)                           \
    static const struct app_buffer symbol = {                                                    \
        .name = (name_), .alias = (alias_), .legacy = (legacy_), .doc = (doc_),                  \
        .directions = (directions_), .progress = { H2_OPEN, H2_OPEN }, __VA_ARGS__,              \
    }

BUFFER(uri, "http.uri", "http.uri.normalized", "http_uri", APP_TS, "URI, normalised",
       FIRST(":path"));
BUFFER(raw_uri, "http.uri.raw", NULL, "http_raw_uri", APP_TS, "URI, as sent", FIRST(":path"));
BUFFER(method, "http.method", NULL, "http_method", APP_TS, "request method", FIRST(":method"));
BUFFER(request_line, "http.request_line", "http_request_line", NULL, APP_TS,
       "whole request line", .get = get_line);
static const struct app_buffer response_line = {
    .name = "http.response_line", .alias = "http_response_line", .doc = "whole status line",
    .directions = APP_TC, .progress = { H2_OPEN, H2_BODY }, .get = get_line,
};
static const struct app_buffer protocol = {
    .name = "http.protocol", .alias = "http_protocol", .doc = "protocol of the first line",
    .directions = APP_BOTH, .progress = { H2_OPEN, H2_BODY }, TEXT_OF("HTTP/2"),
};
BUFFER(stat_code, "http.stat_code", NULL, "http_stat_code", APP_TC, "status code",
       FIRST(":status"),
       .facts = &http_status_facts);
BUFFER(stat_msg, "http.stat_msg", NULL, "http_stat_msg", APP_TC, "reason of the status line",
       TEXT_OF(""));
BUFFER(raw_host, "http.host.raw", NULL, "http_raw_host", APP_TS, "host, as sent",
       VALUE(":authority", H2_DERIVED_AUTHORITY));
BUFFER(header, "http.header", NULL, "http_header", APP_BOTH,
       "all headers but cookies, normalised", JOINED(H2_DERIVED_HEADERS),
       .facts = &http_header_facts);
BUFFER(raw_header, "http.header.raw", NULL, "http_raw_header", APP_BOTH, "all headers, as sent",
       JOINED(H2_DERIVED_RAW));
BUFFER(header_names, "http.header_names", "http_header_names", NULL, APP_BOTH,
       "names of the headers, CRLF between and around them", JOINED(H2_DERIVED_NAMES));
BUFFER(cookie, "http.cookie", NULL, "http_cookie", APP_BOTH, "Cookie or Set-Cookie",
       .find = find_value, .key = { { "cookie", "set-cookie" }, H2_DERIVED_COOKIE },
       .facts = &http_cookie_facts);
BUFFER(user_agent, "http.user_agent", NULL, "http_user_agent", APP_TS, "User-Agent header",
       VALUE("user-agent", H2_DERIVED_USER_AGENT),
       .facts = &http_agent_facts);
BUFFER(content_type, "http.content_type", "http_content_type", NULL, APP_BOTH,
       "Content-Type header", VALUE("content-type", H2_DERIVED_CONTENT_TYPE),
       .facts = &http_type_facts);
BUFFER(content_len, "http.content_len", "http_content_len", NULL, APP_BOTH,
       "Content-Length header", VALUE("content-length", H2_DERIVED_CONTENT_LEN));
BUFFER(connection, "http.connection", "http_connection", NULL, APP_BOTH, "Connection header",
       VALUE("connection", H2_DERIVED_CONNECTION));
BUFFER(referer, "http.referer", "http_referer", NULL, APP_TS, "Referer header",
       VALUE("referer", H2_DERIVED_REFERER),
       .facts = &http_referer_facts);
BUFFER(accept, "http.accept", "http_accept", NULL, APP_TS, "Accept header",
       VALUE("accept", H2_DERIVED_ACCEPT));
BUFFER(accept_enc, "http.accept_enc", "http_accept_enc", NULL, APP_TS, "Accept-Encoding header",
       VALUE("accept-encoding", H2_DERIVED_ACCEPT_ENC));
BUFFER(accept_lang, "http.accept_lang", "http_accept_lang", NULL, APP_TS,
       "Accept-Language header", VALUE("accept-language", H2_DERIVED_ACCEPT_LANG));
BUFFER(server, "http.server", NULL, NULL, APP_TC, "Server header",
       VALUE("server", H2_DERIVED_SERVER),
       .facts = &http_server_facts);
BUFFER(location, "http.location", NULL, NULL, APP_TC, "Location header",
       VALUE("location", H2_DERIVED_LOCATION));

static const struct app_buffer host = {
    .name = "http.host", .legacy = "http_host", .doc = "host, in lower case, without port",
    .directions = APP_TS, .progress = { H2_OPEN, 0 }, .lower_case = true, .get = get_host,
    .facts = &http_host_facts,
};
static const struct app_buffer request_header = {
    .name = "http.request_header",
    .doc = "name and value of one request header",
    .directions = APP_TS, .progress = { H2_OPEN, 0 }, .multi = true, .get = get_item,
};
static const struct app_buffer response_header = {
    .name = "http.response_header",
    .doc = "name and value of one response header",
    .directions = APP_TC, .progress = { 0, H2_OPEN }, .multi = true, .get = get_item,
};
static const struct app_buffer header_name = {
    .name = "http2.header_name", .doc = "name of one header",
    .directions = APP_BOTH, .progress = { H2_OPEN, H2_OPEN }, .multi = true,
    .field = APP_FIELD_PART(&headers_path, h2_header, name, ALWAYS),
};
static const struct app_buffer request_body = {
    .name = "http.request_body", .legacy = "http_client_body", .doc = "request body, decoded",
    .directions = APP_TS, .progress = { H2_BODY, 0 }, .grows = true,
    .get = app_file_get_data, .position = app_file_data_position,
    .files = APP_FILE_CONTENT,
};
static const struct app_buffer response_body = {
    .name = "http.response_body", .legacy = "http_server_body", .doc = "response body, decoded",
    .same_as = "file.data",
    .directions = APP_TC, .progress = { 0, H2_BODY }, .grows = true, .multi = true,
    .get = app_file_get_data, .position = app_file_data_position,
    .files = APP_FILE_CONTENT,
};

APP_FILE_BUFFERS_BY(APP_BOTH, H2_BODY, H2_BODY, app_file_get_data, 0);

/* --- DNS messages (doh2) ---------------------------------------------------------------------- */

static const struct dns_message *message_of(const struct app_tx *tx, enum direction d)
{
    return h2_tx_of((struct app_tx *)(uintptr_t)tx)->ds[d].message;
}

/* Suricata has the last two sections for responses only. */
static bool find_name(struct app_tx *tx, enum direction d, const struct app_key *key,
                      unsigned index, struct slice *out)
{
    const struct dns_message *m = message_of(tx, d);
    const enum dns_names which = (enum dns_names)key->number;

    if (m == NULL || (d == TO_SERVER &&
                      (which == DNS_AUTHORITY_NAMES || which == DNS_ADDITIONAL_NAMES)))
        return false;
    return dns_name_at(tx, m, which, index, out);
}

#define NAMES(symbol, name, directions, which)                                                 \
    DNS_NAMES(symbol, name, directions, H2_BODY, DNS_##which##_NAMES, find_name, NULL)
static const struct app_buffer dns_query = {
    .name = "dns.query", .alias = "dns_query", .directions = APP_TS,
    .progress = { H2_BODY, H2_BODY }, .multi = true,
    .find = find_name, .key.number = DNS_QUESTION_NAMES,
    .facts = &dns_query_facts,
};
NAMES(dns_query_name, "dns.query.name", APP_BOTH, QUESTION);
NAMES(dns_queries, "dns.queries.rrname", APP_BOTH, QUESTION);
NAMES(dns_answer_name, "dns.answer.name", APP_BOTH, ANSWER);
NAMES(dns_answers, "dns.answers.rrname", APP_BOTH, ANSWER);
NAMES(dns_authorities, "dns.authorities.rrname", APP_BOTH, AUTHORITY);
NAMES(dns_additionals, "dns.additionals.rrname", APP_BOTH, ADDITIONAL);
NAMES(dns_response, "dns.response.rrname", APP_TC, ALL);

/* --- the lists -------------------------------------------------------------------------------- */

#define H2_BUFFERS                                                                               \
    &uri, &raw_uri, &method, &request_line, &response_line, &protocol, &stat_code, &stat_msg,    \
    &host, &raw_host, &header, &raw_header, &header_names, &request_header, &response_header,    \
    &cookie, &user_agent, &content_type, &content_len, &connection, &referer, &accept,           \
    &accept_enc, &accept_lang, &server, &location, &request_body, &response_body, &header_name,  \
    &file_data, &file_name, &file_magic

const struct app_buffer *const h2_buffers[] = { H2_BUFFERS, NULL };
const struct app_buffer *const doh2_buffers[] = {
    H2_BUFFERS, &dns_query, &dns_query_name, &dns_queries, &dns_answer_name, &dns_answers,
    &dns_authorities, &dns_additionals, &dns_response, NULL,
};
