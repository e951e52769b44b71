/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/proto/http1/uri.c - the normalised URI: path, query and fragment as libhtp decoded them. With
 * uri-include-all, scheme, credentials, host and port come before them. */
#include "app/proto/http1/buffers.h"
#include "app/proto/http1/settings.h"
#include "app/proto/http1/tx.h"

#include <string.h>

/* The parts to join; 16 are more than a URI has. */
struct uri_parts {
    struct slice part[16];
    unsigned count;
    size_t len;
};

static void add(struct uri_parts *u, struct slice s)
{
    if (s.len == 0 || u->count == ARRAY_LEN(u->part))
        return;
    u->part[u->count++] = s;
    u->len += s.len;
}

static void add_word(struct uri_parts *u, const char *word)
{
    add(u, (struct slice){ .data = (const uint8_t *)word, .len = (uint32_t)strlen(word) });
}

/* uri-include-all: the URI of a request to a proxy has these parts. */
static void add_authority(struct uri_parts *u, const htp_uri_t *uri)
{
    if (uri->scheme != NULL) {
        add(u, http_bstr(uri->scheme));
        add_word(u, "://");
    }
    if (uri->username != NULL || uri->password != NULL) {
        add(u, http_bstr(uri->username));
        add_word(u, ":");
        add(u, http_bstr(uri->password));
        add_word(u, "@");
    }
    add(u, http_bstr(uri->hostname));
    if (uri->port != NULL) {
        add_word(u, ":");
        add(u, http_bstr(uri->port));
    }
}

/* Decodes in place a second time. A shorter result means that it was encoded twice: an event. */
static void decode_again(struct http_tx *htx, const struct http_config *config, bstr *s)
{
    uint64_t flags = 0;
    size_t before = bstr_len(s);

    htp_urldecode_inplace(config->htp, HTP_DECODER_URLENCODED, s, &flags);
    if (bstr_len(s) < before)
        app_tx_event(&htx->tx, HTTP_EVENT_DOUBLE_ENCODED_URI);
}

static bstr *decoded_path(struct http_tx *htx, const struct http_config *config,
                          const htp_uri_t *uri)
{
    bstr *path = uri->path != NULL ? bstr_dup(uri->path) : NULL;

    if (path != NULL && config->double_decode_path)
        decode_again(htx, config, path);
    return path;
}

/* libhtp leaves the query encoded; the path is decoded already. */
static bstr *decoded_query(struct http_tx *htx, const struct http_config *config,
                           const htp_uri_t *uri)
{
    bstr *query = uri->query != NULL ? bstr_dup(uri->query) : NULL;
    uint64_t flags = 0;

    if (query == NULL)
        return NULL;
    htp_urldecode_inplace(config->htp, HTP_DECODER_URLENCODED, query, &flags);
    if (config->double_decode_query)
        decode_again(htx, config, query);
    return query;
}

/* Spaces between the URI and the line's end are no part of the URI. */
static uint32_t trailing_spaces(struct slice raw)
{
    uint32_t n = 0;

    while (n < raw.len && raw.data[raw.len - 1 - n] == ' ')
        n++;
    return n;
}

static struct slice join(struct arena *arena, const struct uri_parts *u)
{
    uint8_t *out = u->len > 0 ? arena_alloc(arena, u->len) : NULL;
    uint8_t *p = out;

    if (out == NULL)
        return (struct slice){ .data = NULL, .len = 0 };
    for (unsigned i = 0; i < u->count; i++) {
        memcpy(p, u->part[i].data, u->part[i].len);
        p += u->part[i].len;
    }
    return (struct slice){ .data = out, .len = (uint32_t)u->len };
}

/* The result lives in the transaction's arena, because libhtp's strings may move. */
void http_uri_normalise(struct http_tx *htx, const struct http_config *config)
{
    const htp_uri_t *uri = htx->htp->parsed_uri;
    struct uri_parts u = { .count = 0 };
    bstr *path, *query;
    uint32_t spaces;

    if (uri == NULL)
        return;
    path = decoded_path(htx, config, uri);
    query = decoded_query(htx, config, uri);
    if (config->uri_include_all)
        add_authority(&u, uri);
    add(&u, http_bstr(path));
    if (query != NULL)
        add_word(&u, "?");
    add(&u, http_bstr(query));
    if (uri->fragment != NULL)
        add_word(&u, "#");
    add(&u, http_bstr(uri->fragment));
    htx->uri = join(&htx->tx.arena, &u);
    spaces = trailing_spaces(http_bstr(htx->htp->request_uri));
    while (spaces-- > 0 && htx->uri.len > 0 && htx->uri.data[htx->uri.len - 1] == ' ')
        htx->uri.len--;
    bstr_free(path);
    bstr_free(query);
}
