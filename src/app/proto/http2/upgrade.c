/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/proto/http2/upgrade.c - from HTTP/1 with "Upgrade: h2c" (RFC 7540 section 3.2): the request
 * is answered on stream 1, and one of its headers has the client's settings. */
#include "app/parser.h"
#include "app/proto/http1/http1.h"
#include "app/proto/http2/body.h"
#include "app/proto/http2/events.h"
#include "app/proto/http2/frame.h"
#include "app/proto/http2/state.h"
#include "app/proto/http2/tx.h"

#include <openssl/evp.h>
#include <string.h>
#include <strings.h>

#define SETTINGS_TEXT_MAX 1024  /* bytes of the header: 100 settings and more */

static bool name_is(struct slice name, const char *text)
{
    return name.len == strlen(text) &&
           strncasecmp((const char *)name.data, text, name.len) == 0;
}

/* base64url without padding (RFC 7540 section 3.2.1). 0: invalid. */
static unsigned decode(struct slice in, uint8_t *out)
{
    unsigned char text[SETTINGS_TEXT_MAX + 4];
    unsigned n = in.len, padding;
    int len;

    for (unsigned i = 0; i < n; i++)
        text[i] = in.data[i] == '-' ? '+' : in.data[i] == '_' ? '/' : in.data[i];
    while (n > 0 && text[n - 1] == '=')
        n--;
    padding = (4 - n % 4) % 4;
    memset(text + n, '=', padding);
    len = padding < 3 ? EVP_DecodeBlock(out, text, (int)(n + padding)) : -1;
    return len > (int)padding ? (unsigned)len - padding : 0;
}

/* `request` carries the event of invalid settings. */
static void take_settings(struct app_flow *af, struct h2_tx *request, struct slice value)
{
    uint8_t payload[SETTINGS_TEXT_MAX];
    unsigned len = value.len <= SETTINGS_TEXT_MAX ? decode(value, payload) : 0;
    struct h2_tx *t;

    if (len == 0 || len % 6 != 0)
        app_tx_event(&request->tx, H2_INVALID_HTTP1_SETTINGS);
    t = len > 0 ? h2_tx_for(af, 0, H2_SETTINGS) : NULL;
    if (t == NULL)
        return;
    h2_settings_parse(t, TO_SERVER, (struct slice){ payload, len });
    h2_frame_count(t, TO_SERVER, H2_SETTINGS);
    h2_tx_global(t, TO_SERVER);
}

static void add(struct h2_tx *t, const char *name, struct slice value)
{
    const struct h2_header h = {
        .kind = H2_FIELD, .value = value,
        .name = { .data = (const uint8_t *)name, .len = (uint32_t)strlen(name) },
    };

    h2_header_add(t, TO_SERVER, &h);
}

/* Host becomes :authority, as in a request of HTTP/2. */
static void copy_headers(struct app_flow *af, struct h2_tx *t, const struct app_tx *request)
{
    struct h2_header h = { .kind = H2_FIELD };

    for (unsigned i = 0; http1_request_header(request, i, &h.name, &h.value); i++) {
        if (name_is(h.name, "http2-settings"))
            take_settings(af, t, h.value);
        else if (name_is(h.name, "host"))
            add(t, ":authority", h.value);
        else
            h2_header_add(t, TO_SERVER, &h);
    }
}

/* Returns the newest request, which asked for the upgrade. */
static const struct app_tx *last_request(const struct app_flow *af)
{
    const struct app_tx *tx = app_previous(af)->first;

    while (tx != NULL && tx->next != NULL)
        tx = tx->next;
    return tx;
}

/* The request is complete: the client sends no more on stream 1. */
void h2_upgrade(struct app_flow *af)
{
    const struct app_tx *request = last_request(af);
    struct slice method, uri;
    struct h2_tx *t;

    if (request == NULL || !http1_request_target(request, &method, &uri))
        return;
    t = h2_tx_for(af, 1, H2_HEADERS);
    if (t == NULL)
        return;
    t->ds[TO_SERVER].has_headers = true;
    add(t, ":method", method);
    if (uri.data != NULL)
        add(t, ":path", uri);
    copy_headers(af, t, request);
    h2_frame_count(t, TO_SERVER, H2_HEADERS);
    h2_headers_done(t, TO_SERVER, 0);
    h2_body_end(t, TO_SERVER);
}
