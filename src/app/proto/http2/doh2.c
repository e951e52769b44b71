/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/proto/http2/doh2.c - DNS over HTTP/2 (RFC 8484). With the first complete DNS message the flow
 * becomes doh2, which has the buffers of both protocols and one record for both. */
#include "app/parser.h"
#include "app/proto/http2/body.h"
#include "app/proto/http2/buffers.h"
#include "app/proto/http2/tx.h"
#include "base/text/base64.h"

#include <string.h>

#define PATH "/dns-query?dns="  /* RFC 8484 section 4.1.1; the path is a convention */

/* --- messages --------------------------------------------------------------------------------- */

/* A body of the right type that is no DNS message is ignored. So is a response from the client. */
void doh2_message(struct h2_tx *t, enum direction d, struct slice in)
{
    struct dns_message message;
    bool request;

    if (!dns_header_fits(bytes_of_slice(in), in.len, &request) ||
        dns_message_parse(in, &t->tx.arena, &message) != DNS_PARSED)
        return;
    if (d == TO_SERVER && (message.flags & DNS_FLAG_QR) != 0)
        return;
    if (app_set_subprotocol(&t->tx, APP_PROTO_doh2))
        t->ds[d].message = arena_copy(&t->tx.arena, &message, sizeof(message));
}

/* RFC 8484 uses base64url without padding; clients of both alphabets are accepted. */
static bool decode(struct slice text, struct arena *arena, struct slice *out)
{
    uint8_t *to = arena_alloc(arena, base64_capacity(text.len));
    int64_t len = to != NULL ? base64_decode(text, BASE64_BOTH, to) : -1;

    *out = (struct slice){ to, (uint32_t)MAX(len, 0) };
    return len >= 0;
}

/* GET requests have the query in the path. */
void doh2_path(struct h2_tx *t, struct slice path)
{
    const uint32_t at = sizeof(PATH) - 1;
    struct slice text, message;

    if (path.len <= at || memcmp(path.data, PATH, at) != 0)
        return;
    text = (struct slice){ path.data + at, path.len - at };
    if (decode(text, &t->tx.arena, &message))
        doh2_message(t, TO_SERVER, message);
}

/* --- logs ------------------------------------------------------------------------------------- */

/* The message to log: the response if there is one. */
static const struct dns_message *message_of(struct app_tx *tx, bool *is_response)
{
    const struct h2_tx *t = h2_tx_of(tx);

    *is_response = t->ds[TO_CLIENT].message != NULL;
    return t->ds[*is_response ? TO_CLIENT : TO_SERVER].message;
}

static bool log_http(struct json *j, struct app_tx *tx)
{
    struct json_mark mark = json_mark(j);

    json_object(j, "http");
    if (!h2_log_members(j, tx)) {
        json_rewind(j, mark);
        return false;
    }
    json_object_end(j);
    return true;
}

/* A record of type dns, with the members of http. */
static bool log_with_dns(struct json *j, struct app_tx *tx, enum direction d UNUSED,
                         const void *conf)
{
    bool is_response;
    const struct dns_message *m = message_of(tx, &is_response);
    bool any;

    if (m == NULL)
        return false;
    any = log_http(j, tx);
    return dns_log_object(j, m, is_response, conf) || any;
}

/* Transactions without DNS get an ordinary http record. */
static bool log_without_dns(struct json *j, struct app_tx *tx, enum direction d UNUSED,
                            const void *conf UNUSED)
{
    bool is_response;

    if (message_of(tx, &is_response) != NULL)
        return false;
    return log_http(j, tx);
}

void doh2_alert_metadata(struct json *j, struct app_tx *tx)
{
    bool is_response;
    const struct dns_message *m = message_of(tx, &is_response);

    (void)log_http(j, tx);
    if (m != NULL)
        (void)dns_log_object(j, m, is_response, NULL);
}

static const struct app_log with_dns = {
    .conf_name = "doh2", .event_type = "dns", .progress = { H2_COMPLETE, H2_COMPLETE },
    .configure = dns_configure, .log = log_with_dns,
};
static const struct app_log without_dns = {
    .conf_name = "doh2", .event_type = "http", .progress = { H2_COMPLETE, H2_COMPLETE },
    .log = log_without_dns,
};

const struct app_log *const doh2_logs[] = { &with_dns, &without_dns, NULL };
