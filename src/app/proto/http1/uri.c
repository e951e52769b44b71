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

static bool is_space(uint8_t c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

/* At most so many: more were escaped in the URI. Returns how many there were. */
static uint32_t cut_spaces(bstr *b, uint32_t most)
{
    struct slice s = http_bstr(b);
    uint32_t n = 0;

    while (n < most && n < s.len && is_space(s.data[s.len - 1 - n]))
        n++;
    if (n > 0)
        bstr_adjust_len(b, s.len - n);
    return n;
}

/* The last part that there is. */
static bstr *last_part(const htp_uri_t *uri)
{
    if (uri->fragment != NULL)
        return uri->fragment;
    return uri->query != NULL ? uri->query : uri->path;
}

/* White space between the URI and the protocol, or the end of the line, belongs to neither. */
void http_target_trim(htp_tx_t *htp)
{
    const htp_uri_t *uris[] = { htp->parsed_uri, htp->parsed_uri_raw };
    uint32_t spaces = cut_spaces(htp->request_uri, UINT32_MAX);

    (void)cut_spaces(htp->request_protocol, UINT32_MAX);
    for (size_t i = 0; spaces > 0 && i < ARRAY_LEN(uris); i++)
        if (uris[i] != NULL)
            (void)cut_spaces(last_part(uris[i]), spaces);
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
    bstr_free(path);
    bstr_free(query);
}
