/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/proto/http2/log.c - the `http` object of EVE records, with HTTP/2's own members in `http2`.
 * Names and values are spelled as in Suricata. */
#include "app/proto/http2/buffers.h"
#include "app/proto/http2/state.h"
#include "app/proto/http2/tx.h"
#include "base/text/text.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

static const char *const setting_names[] = {
    [1] = "SETTINGSHEADERTABLESIZE", [2] = "SETTINGSENABLEPUSH",
    [3] = "SETTINGSMAXCONCURRENTSTREAMS", [4] = "SETTINGSINITIALWINDOWSIZE",
    [5] = "SETTINGSMAXFRAMESIZE", [6] = "SETTINGSMAXHEADERLISTSIZE",
    [8] = "SETTINGSENABLECONNECTPROTOCOL", [9] = "SETTINGSNORFC7540PRIORITIES",
};

static const char *const error_names[] = {
    "NoError", "ProtocolError", "InternalError", "FlowControlError", "SettingsTimeout",
    "StreamClosed", "FrameSizeError", "RefusedStream", "Cancel", "CompressionError",
    "ConnectError", "EnhanceYourCalm", "InadequateSecurity", "Http11Required",
};

/* --- headers ---------------------------------------------------------------------------------- */

enum common { METHOD, PATH, HOST, USER_AGENT, LENGTH, STATUS, COMMON_COUNT };
static const char *const common_names[COMMON_COUNT] = {
    ":method", ":path", "host", "user-agent", "content-length", ":status",
};

/* The last header of a name is logged, as in Suricata. */
static void note_common(const struct h2_header *h, const struct h2_header **common)
{
    for (unsigned i = 0; i < COMMON_COUNT; i++)
        if (h->name.len == strlen(common_names[i]) &&
            strncasecmp((const char *)h->name.data, common_names[i], h->name.len) == 0)
            common[i] = h;
}

#define HEADER_SPACE 24                   /* bytes that JSON adds to a header */
#define RECORD_SPACE 320                /* bytes of a record without headers */

/* The connection's bytes limit the headers in its records, see H2_LOG_CREDIT. Further headers are
 * truncated. */
struct log_credit {
    struct h2_state *st;
    uint32_t factor;
    bool cut;
};

static bool may_log(struct log_credit *credit, size_t size)
{
    if (h2_header_is_paid(H2_LOG_CREDIT + credit->factor * credit->st->bytes,
                          &credit->st->headers_logged, size))
        return true;
    credit->cut = true;
    return false;
}

static void log_cut(struct json *j, const char *key, struct slice s, struct log_credit *credit)
{
    if (!may_log(credit, s.len))
        s.len = MIN(s.len, H2_HEADER_CUT);
    json_slice(j, key, s);
}

static void log_header(struct json *j, const struct h2_header *h)
{
    json_object(j, NULL);
    if (h->kind == H2_TABLE_SIZE) {
        json_u64(j, "table_size_update", h->table_size);
    } else if (h->kind == H2_FIELD_ERROR) {
        json_string(j, "error", "HTTP2HeaderDecodeError");
    } else {
        json_slice(j, "name", h->name);
        json_slice(j, "value", h->value);
        if (h->cut)
            json_bool(j, "cut", true);
    }
    json_object_end(j);
}

/* All headers of one direction, and pointers to the common ones. */
static bool log_headers(struct json *j, const struct h2_tx *t, enum direction d,
                        const struct h2_header **common, struct log_credit *credit)
{
    const struct h2_dir *ds = &t->ds[d];

    if (!ds->has_headers)
        return false;
    json_array(j, d == TO_SERVER ? "request_headers" : "response_headers");
    for (unsigned i = 0; i < ds->header_count; i++) {
        const struct h2_header *h = &ds->header[i];

        if (h->kind == H2_FIELD)
            note_common(h, common);
        if (may_log(credit, (size_t)h->name.len + h->value.len + HEADER_SPACE))
            log_header(j, h);
    }
    json_array_end(j);
    return true;
}

/* A value that is not a number is left out. */
static void log_number(struct json *j, const char *key, const struct h2_header *h)
{
    uint64_t n;

    if (h == NULL)
        return;
    if (text_to_u64((struct text){ (const char *)h->value.data, h->value.len }, UINT64_MAX, &n))
        json_u64(j, key, n);
}

static void log_text(struct json *j, const char *key, const struct h2_header *h,
                     struct log_credit *credit)
{
    if (h != NULL)
        log_cut(j, key, h->value, credit);
}

static void log_common(struct json *j, const struct h2_header **common,
                       struct log_credit *credit)
{
    log_text(j, "http_method", common[METHOD], credit);
    log_text(j, "url", common[PATH], credit);
    log_text(j, "hostname", common[HOST], credit);
    log_text(j, "http_user_agent", common[USER_AGENT], credit);
    log_number(j, "length", common[LENGTH]);
    log_number(j, "status", common[STATUS]);
}

/* --- the other frames ------------------------------------------------------------------------- */

static bool log_settings(struct json *j, const struct h2_dir *ds)
{
    bool any = false;

    for (const struct h2_note *n = ds->first_note; n != NULL; n = n->next) {
        if (n->kind != H2_NOTE_SETTING)
            continue;
        if (!any)
            json_array(j, "settings");
        any = true;
        json_object(j, NULL);
        json_string(j, "settings_id", setting_names[n->setting]);
        json_u64(j, "settings_value", n->value);
        json_object_end(j);
    }
    if (any)
        json_array_end(j);
    return any;
}

/* The name of a GOAWAY's error is in capitals, a stream's is not: so Suricata writes them. */
static void log_error(struct json *j, const struct h2_note *n)
{
    char text[32];
    size_t i;

    if (n->value >= ARRAY_LEN(error_names)) {
        json_printf(j, "error_code", "%u", n->value);
        return;
    }
    for (i = 0; error_names[n->value][i] != '\0'; i++) {
        unsigned char c = (unsigned char)error_names[n->value][i];

        text[i] = (char)(n->kind == H2_NOTE_GOAWAY ? toupper(c) : c);
    }
    text[i] = '\0';
    json_string(j, "error_code", text);
}

/* What a record already has: only the first of each kind is logged. */
struct seen {
    bool error, priority, multiple;
};

static void log_again(struct json *j, const char *what, struct seen *seen)
{
    if (!seen->multiple)
        json_string(j, "has_multiple", what);
    seen->multiple = true;
}

static void log_note(struct json *j, const struct h2_note *n, struct seen *seen)
{
    switch (n->kind) {
    case H2_NOTE_GOAWAY:
    case H2_NOTE_RESET:
        if (seen->error)
            log_again(j, "error_code", seen);
        else
            log_error(j, n);
        seen->error = true;
        break;
    case H2_NOTE_PRIORITY:
        if (seen->priority)
            log_again(j, "priority", seen);
        else
            json_u64(j, "priority", n->value);
        seen->priority = true;
        break;
    default:
        break;
    }
}

/* False: nothing to log, and the object is taken back. */
static bool log_direction(struct json *j, const struct h2_tx *t, enum direction d)
{
    const struct h2_dir *ds = &t->ds[d];
    struct json_mark mark = json_mark(j);
    struct seen seen = { 0 };
    bool any;

    json_object(j, d == TO_SERVER ? "request" : "response");
    any = log_settings(j, ds);
    for (const struct h2_note *n = ds->first_note; n != NULL; n = n->next)
        log_note(j, n, &seen);
    any |= seen.error || seen.priority;
    if (any)
        json_object_end(j);
    else
        json_rewind(j, mark);
    return any;
}

/* False: a record without any content, which is not written. */
bool h2_log_members(struct json *j, struct app_tx *tx)
{
    const struct h2_header *common[COMMON_COUNT] = { NULL };
    const struct h2_tx *t = h2_tx_of(tx);
    struct log_credit credit = { .st = tx->flow->state,
                                 .factor = h2_settings_of(tx->flow)->header_log };
    bool any;

    credit.st->headers_logged += RECORD_SPACE;
    json_string(j, "version", "2");
    any = log_headers(j, t, TO_SERVER, common, &credit);
    any |= log_headers(j, t, TO_CLIENT, common, &credit);
    log_common(j, common, &credit);
    if (credit.cut)
        json_bool(j, "headers_cut", true);
    json_object(j, "http2");
    json_u64(j, "stream_id", t->stream);
    any |= log_direction(j, t, TO_SERVER);
    any |= log_direction(j, t, TO_CLIENT);
    json_object_end(j);
    return any;
}

static bool http2_log_http(struct json *j, struct app_tx *tx, enum direction d UNUSED,
                           const void *conf UNUSED)
{
    return h2_log_members(j, tx);
}

void http2_alert_metadata(struct json *j, struct app_tx *tx)
{
    json_object(j, "http");
    (void)h2_log_members(j, tx);
    json_object_end(j);
}

static const struct app_log http = {
    .conf_name = "http2",
    .event_type = "http",
    .key = "http",
    .progress = { H2_COMPLETE, H2_COMPLETE },
    .log = http2_log_http,
};

const struct app_log *const h2_logs[] = { &http, NULL };
