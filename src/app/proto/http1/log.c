/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/proto/http1/log.c - the `http` object of EVE records: its own, of alerts and of files. */
#include "app/proto/http1/body.h"
#include "app/proto/http1/buffers.h"
#include "app/proto/http1/http1.h"
#include "app/proto/http1/tx.h"
#include "base/text/utf8.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define NAME_MAX_LOGGED 255     /* bytes, as in Suricata */
#define VALUE_MAX_LOGGED 2047

struct log_settings {
    bool extended;
    bool all[2];                        /* dump-all-headers, by direction */
    const char **custom;                /* names of headers; NULL-ended; NULL: none */
};

/* Headers whose name in the configuration differs from the name in HTTP. */
static const struct { const char *setting, *header; } custom_names[] = {
    { "etag", "etags" },
};

/* Headers that `custom` may name: Suricata's list. */
static const char *const custom_headers[] = {
    "accept", "accept-charset", "accept-encoding", "accept-language", "accept-datetime",
    "authorization", "cache-control", "cookie", "from", "max-forwards", "origin", "pragma",
    "proxy-authorization", "range", "te", "via", "x-requested-with", "dnt", "x-forwarded-proto",
    "x-authenticated-user", "x-flash-version", "accept-range", "age", "allow", "connection",
    "content-encoding", "content-language", "content-length", "content-location", "content-md5",
    "content-range", "content-type", "date", "etags", "expires", "last-modified", "link",
    "location", "proxy-authenticate", "referer", "refresh", "retry-after", "server", "set-cookie",
    "trailer", "transfer-encoding", "upgrade", "vary", "warning", "www-authenticate",
    "true-client-ip", "org-src-ip", "x-bluecoat-via",
};

/* --- settings --------------------------------------------------------------------------------- */

/* "accept_encoding" means accept-encoding, in any case. */
static bool same_header(const char *setting, const char *header)
{
    for (; *setting != '\0' && *header != '\0'; setting++, header++)
        if (strncasecmp(setting, header, 1) != 0 && !(*setting == '_' && *header == '-'))
            return false;
    return *setting == *header;
}

static const char *custom_header(const char *setting)
{
    for (size_t i = 0; i < ARRAY_LEN(custom_names); i++)
        if (strcmp(custom_names[i].setting, setting) == 0)
            return custom_names[i].header;
    for (size_t i = 0; i < ARRAY_LEN(custom_headers); i++)
        if (same_header(setting, custom_headers[i]))
            return custom_headers[i];
    return NULL;
}

static unsigned count_items(const struct conf_node *list)
{
    unsigned n = 0;

    CONF_EACH (item, list)
        n++;
    return n;
}

/* One allocation, which the caller frees: the names follow the struct. */
static void *http1_log_configure(const struct conf_node *node, struct err *err)
{
    static const char *const dumps[] = { "none", "request", "response", "both", NULL };
    const struct conf_node *custom = conf_find(node, "custom");
    unsigned count = count_items(custom), used = 0;
    int dump = conf_choice(node, "dump-all-headers", dumps, 0);
    struct log_settings *s = calloc(1, sizeof(*s) + (count + 1) * sizeof(s->custom[0]));

    if (s == NULL) {
        err_set(err, "out of memory");
        return NULL;
    }
    s->extended = conf_bool(node, "extended", false);
    s->all[TO_SERVER] = dump == 1 || dump == 3;
    s->all[TO_CLIENT] = dump == 2 || dump == 3;
    s->custom = (const char **)(s + 1);
    CONF_EACH (item, custom) {
        const char *name = item->value != NULL ? custom_header(item->value) : NULL;

        if (name != NULL)
            s->custom[used++] = name;
        else
            conf_warning(item, "http: header \"%s\" cannot be logged", item->value);
    }
    if (used == 0)
        s->custom = NULL;
    return s;
}

/* --- members ---------------------------------------------------------------------------------- */

/* Leaves out empty strings, as Suricata does. Inlined for the sake of the literals. */
JSON_INLINE void log_string(struct json *j, struct text member, const bstr *s)
{
    if (s != NULL && bstr_len(s) > 0)
        json_literal_slice(j, member, http_bstr(s));
}

JSON_INLINE void log_header(struct json *j, struct text member, const struct http_tx *htx,
                            enum direction d, const char *name)
{
    const htp_header_t *h = http_header(htx, d, name);

    if (h != NULL)
        log_string(j, member, h->value);
}

/* The type without its parameters. */
static void log_content_type(struct json *j, const struct http_tx *htx)
{
    const htp_header_t *h = http_header(htx, TO_CLIENT, "content-type");
    struct slice s = http_bstr(h != NULL ? h->value : NULL);
    const uint8_t *end;

    if (h == NULL)
        return;
    end = s.len > 0 ? memchr(s.data, ';', s.len) : NULL;
    if (end != NULL)
        s.len = (uint32_t)(end - s.data);
    if (s.len > 0)
        JSON_SLICE(j, "http_content_type", s);
}

/* A star (unknown) is -1 in http_range and has no member. */
static void log_range(struct json *j, const struct http_tx *htx)
{
    const htp_header_t *h = http_header(htx, TO_CLIENT, "content-range");
    struct http_range r;

    if (h == NULL)
        return;
    json_object(j, "content_range");
    log_string(j, JSON_LITERAL("raw"), h->value);
    if (http_range_parse(http_bstr(h->value), &r)) {
        if (r.start >= 0)
            json_i64(j, "start", r.start);
        if (r.end >= 0)
            json_i64(j, "end", r.end);
        if (r.size >= 0)
            json_i64(j, "size", r.size);
    }
    json_object_end(j);
}

/* Members that records of http, alerts and files share. */
static void log_basic(struct json *j, const struct http_tx *htx)
{
    const htp_tx_t *htp = http_htp(htx);

    log_string(j, JSON_LITERAL("hostname"), htp->request_hostname);
    if (htp->request_port_number > 0)
        json_i64(j, "http_port", htp->request_port_number);
    log_string(j, JSON_LITERAL("url"), htp->request_uri);
    log_header(j, JSON_LITERAL("http_user_agent"), htx, TO_SERVER, "user-agent");
    log_header(j, JSON_LITERAL("xff"), htx, TO_SERVER, "x-forwarded-for");
    log_content_type(j, htx);
    log_range(j, htx);
}

/* Members with `extended: yes`, and in alerts. A status that is not a number is logged as text. */
static void log_extended(struct json *j, const struct http_tx *htx)
{
    const htp_tx_t *htp = http_htp(htx);

    log_header(j, JSON_LITERAL("http_refer"), htx, TO_SERVER, "referer");
    log_string(j, JSON_LITERAL("http_method"), htp->request_method);
    log_string(j, JSON_LITERAL("protocol"), htp->request_protocol);
    if (htp->response_status_number > 0)
        json_i64(j, "status", htp->response_status_number);
    else
        log_string(j, JSON_LITERAL("status_string"), htp->response_status);
    log_header(j, JSON_LITERAL("redirect"), htx, TO_CLIENT, "location");
    json_i64(j, "length", htp->response_message_len);
}

/* --- headers ---------------------------------------------------------------------------------- */

/* With neither list all headers are logged. */
static bool is_logged(const struct log_settings *s, enum direction d, const htp_header_t *h)
{
    if (s->all[d] || s->custom == NULL)
        return true;
    for (const char **name = s->custom; *name != NULL; name++) {
        if (s->extended && strcmp(*name, "referer") == 0)
            continue;                   /* already logged as http_refer */
        if (bstr_cmp_c_nocase(h->name, *name) == 0)
            return true;
    }
    return false;
}

/* Cut at `most` bytes and at the first NUL. A text that is not UTF-8 is left out. */
static void log_limited(struct json *j, const char *key, const bstr *s, uint32_t most)
{
    struct slice value = http_bstr(s);

    value.len = MIN(value.len, most);
    if (value.len > 0 && memchr(value.data, '\0', value.len) != NULL)
        value.len = (uint32_t)strnlen((const char *)value.data, value.len);
    if (utf8_is_valid(value))
        json_slice(j, key, value);
}

/* An empty list is not logged: the mark takes the array back. */
static void log_headers(struct json *j, const struct http_tx *htx, enum direction d,
                        const struct log_settings *s)
{
    htp_table_t *headers = http_headers(htx, d);
    struct json_mark mark = json_mark(j);
    bool any = false;

    if (!s->all[d] && s->custom == NULL)
        return;
    json_array(j, d == TO_SERVER ? "request_headers" : "response_headers");
    for (size_t i = 0; headers != NULL && i < htp_table_size(headers); i++) {
        const htp_header_t *h = htp_table_get_index(headers, i, NULL);

        if (!is_logged(s, d, h))
            continue;
        any = true;
        json_object(j, NULL);
        log_limited(j, "name", h->name, NAME_MAX_LOGGED);
        log_limited(j, "value", h->value, VALUE_MAX_LOGGED);
        json_object_end(j);
    }
    if (any)
        json_array_end(j);
    else
        json_rewind(j, mark);
}

static bool http1_log(struct json *j, struct app_tx *tx, enum direction d UNUSED, const void *conf)
{
    const struct http_tx *htx = http_tx_of(tx);
    const struct log_settings *s = conf;

    log_basic(j, htx);
    if (s != NULL && s->extended)
        log_extended(j, htx);
    if (s != NULL) {
        log_headers(j, htx, TO_SERVER, s);
        log_headers(j, htx, TO_CLIENT, s);
    }
    return true;
}

/* --- alerts ----------------------------------------------------------------------------------- */

/* The retained part of each body: as base64, or with dots for unprintable bytes. */
static void log_bodies(struct json *j, struct app_tx *tx, unsigned what)
{
    static const struct { const char *plain, *printable; } keys[2] = {
        { "http_request_body", "http_request_body_printable" },
        { "http_response_body", "http_response_body_printable" },
    };

    for (enum direction d = TO_SERVER; d <= TO_CLIENT; d++) {
        const struct slice body = http_body_retained(http_tx_of(tx), d);

        if (body.len == 0)
            continue;
        if (what & APP_CONTENTS_PRINTABLE)
            json_printable(j, keys[d].printable, body.data, body.len);
        if (what & APP_CONTENTS_BASE64)
            json_base64(j, keys[d].plain, body.data, body.len);
    }
}

void http1_alert_contents(struct json *j, struct app_tx *tx, unsigned what)
{
    json_object(j, "http");
    log_basic(j, http_tx_of(tx));
    log_extended(j, http_tx_of(tx));
    log_bodies(j, tx, what);
    json_object_end(j);
}

void http1_alert_metadata(struct json *j, struct app_tx *tx)
{
    http1_alert_contents(j, tx, 0);
}

static const struct app_log http = {
    .has_tx_id = true,
    .conf_name = "http",
    .event_type = "http",
    .key = "http",
    .progress = { HTTP_COMPLETE, HTTP_COMPLETE },
    .configure = http1_log_configure,
    .log = http1_log,
};

const struct app_log *const http_logs[] = { &http, NULL };
