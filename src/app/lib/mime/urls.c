/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/lib/mime/urls.c - URLs in decoded text, by their schemes. Searches line by line, by the lines
 * of the decoded text: an unfinished one waits, up to URL_LINE_MAX bytes. */
#include "app/lib/mime/private.h"

#include <string.h>

static uint8_t lower(uint8_t c)
{
    return c >= 'A' && c <= 'Z' ? (uint8_t)(c | 0x20) : c;
}

static bool starts_nocase(const uint8_t *p, size_t len, struct text what)
{
    if (len < what.n)
        return false;
    for (size_t i = 0; i < what.n; i++)
        if (lower(p[i]) != lower((uint8_t)what.p[i]))
            return false;
    return true;
}

/* memchr() looks for the first character of a scheme that is no letter, normally ":": it is rare,
 * and has only one case. */
static size_t anchor_of(struct text scheme)
{
    size_t i = 0;

    while (i + 1 < scheme.n && (lower((uint8_t)scheme.p[i]) >= 'a' &&
                                lower((uint8_t)scheme.p[i]) <= 'z'))
        i++;
    return i;
}

/* Returns the first position of the scheme, ignoring case; NULL when it is absent. */
static const uint8_t *find_scheme(struct slice in, struct text scheme)
{
    const uint8_t *end = in.data + in.len, *at;
    size_t anchor = anchor_of(scheme);
    uint8_t target = (uint8_t)scheme.p[anchor], other = target;

    if (in.len < scheme.n)
        return NULL;
    if (lower(target) >= 'a' && lower(target) <= 'z')
        other = target ^ 0x20;
    for (at = in.data + anchor; at < end; at++) {
        if (target == other && (at = memchr(at, target, (size_t)(end - at))) == NULL)
            return NULL;
        if ((*at == target || *at == other) &&
            starts_nocase(at - anchor, (size_t)(end - at) + anchor, scheme))
            return at - anchor;
    }
    return NULL;
}

/* A URL ends at a space, a quote, a bracket or a tab. A line end is no stop: at the end of a line
 * it becomes part of the URL, and rules in use expect that. */
static uint32_t url_length(const uint8_t *p, uint32_t len)
{
    static const char stops[] = " \"'<>]\t";

    for (uint32_t i = 0; i < len; i++)
        if (p[i] != '\0' && strchr(stops, p[i]) != NULL)
            return i;
    return len;
}

/* All URLs of one scheme in a run of text. Memory is bounded by mime_items_add(). */
static void extract_scheme(struct mime_message *m, struct slice in, struct text scheme)
{
    const uint8_t *end = in.data + in.len, *hit;
    uint32_t len, skip = m->settings->log_url_scheme ? 0 : (uint32_t)scheme.n;

    while ((hit = find_scheme(in, scheme)) != NULL) {
        len = url_length(hit, (uint32_t)(end - hit));
        if (len < scheme.n)             /* a scheme with a space in it */
            len = (uint32_t)scheme.n;
        mime_items_add(m, &m->urls, (struct slice){ .data = hit + skip, .len = len - skip });
        in = (struct slice){ .data = hit + len, .len = (uint32_t)(end - hit) - len };
    }
}

static void extract(struct mime_message *m, struct slice in)
{
    for (unsigned i = 0; i < m->settings->scheme_count; i++)
        extract_scheme(m, in, m->settings->schemes[i]);
}

/* Starts the waiting line. Without memory it is lost: only URLs across the break are missed. */
static void keep(struct mime_message *m, const uint8_t *data, uint32_t len)
{
    if (m->url_line == NULL)
        m->url_line = arena_alloc(m->arena, URL_LINE_CAPACITY);
    if (m->url_line == NULL)
        return;
    memmove(m->url_line, data, len);
    m->url_line_len = len;
}

/* Joins the buffered bytes and the new ones. URL_LINE_CAPACITY has space for one chunk. */
static struct slice join(struct mime_message *m, const uint8_t *data, uint32_t len)
{
    if (m->url_line_len == 0)
        return (struct slice){ .data = data, .len = len };
    memcpy(m->url_line + m->url_line_len, data, len);
    m->url_line_len += len;
    return (struct slice){ .data = m->url_line, .len = m->url_line_len };
}

/* Takes at most MIME_CHUNK_MAX + 16 bytes. Searches up to the last line end and keeps the rest;
 * beyond URL_LINE_MAX it searches what there is. */
void mime_urls_find(struct mime_message *m, const uint8_t *data, uint32_t len)
{
    const uint8_t *lf;
    struct slice in;

    if (!m->settings->extract_urls || m->settings->scheme_count == 0 || len == 0)
        return;
    in = join(m, data, len);
    lf = memrchr(in.data, '\n', in.len);
    if (in.len > URL_LINE_MAX || lf == in.data + in.len - 1) {
        extract(m, in);
        m->url_line_len = 0;
    } else if (lf != NULL && lf >= in.data + in.len - len) {
        extract(m, (struct slice){ .data = in.data, .len = (uint32_t)(lf - in.data) });
        keep(m, lf, (uint32_t)(in.data + in.len - lf));
    } else if (m->url_line_len == 0) {
        keep(m, data, len);
    }
}
