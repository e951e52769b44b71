/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/lib/mime/message.c - the message: headers, bodies, boundaries between them (RFC 2046, 5.1).
 * Input is line by line, long lines in parts. All memory is the transaction's arena. */
#include "app/lib/mime/private.h"

#include <string.h>

#define LINE_LONG 998                   /* RFC 5322, 2.1.1 */

/* Field names and encodings ignore case in ASCII; `lower` must be lower case. */
bool mime_name_is(struct slice name, const char *lower)
{
    size_t n = strlen(lower);

    if (name.len != n)
        return false;
    for (size_t i = 0; i < n; i++) {
        uint8_t c = name.data[i];

        if (c >= 'A' && c <= 'Z')
            c |= 0x20;
        if (c != (uint8_t)lower[i])
            return false;
    }
    return true;
}

/* Copies into the arena within the message's memory limit; false beyond it. */
bool mime_keep(struct mime_message *m, struct slice s, struct slice *out)
{
    if (s.len > RETAINED_LIMIT - m->retained)
        return false;
    m->retained += s.len;
    *out = (struct slice){ .data = arena_copy(m->arena, s.data, s.len), .len = s.len };
    return s.len == 0 || out->data != NULL;
}

/* Each item counts with its own size too: otherwise empty items would cost the sender nothing. */
void mime_items_add(struct mime_message *m, struct mime_items *items, struct slice text)
{
    struct mime_item *item;

    if (RETAINED_LIMIT - m->retained < text.len + sizeof(*item))
        return;
    item = arena_zalloc(m->arena, sizeof(*item));
    if (item == NULL || !mime_keep(m, text, &item->text))
        return;
    m->retained += sizeof(*item);
    *items->end = item;
    items->end = &item->next;
}

/* --- life ------------------------------------------------------------------------------------ */

/* NULL without memory. settings, sink and arenas must outlive the message. */
struct mime_message *mime_message_new(struct arena *arena, struct arena *scratch,
                                      const struct mime_settings *settings,
                                      const struct mime_sink *sink, void *arg)
{
    struct mime_message *m = arena_zalloc(arena, sizeof(*m));

    if (m == NULL)
        return NULL;
    m->arena = arena;
    m->scratch = scratch;
    m->settings = settings;
    m->sink = sink;
    m->arg = arg;
    m->is_text = true;
    m->fields_end = &m->fields;
    m->attachments.end = &m->attachments.first;
    m->urls.end = &m->urls.first;
    digest_begin(&m->md5, DIGEST_MD5);
    m->md5_wanted = settings->body_md5;
    return m;
}

/* --- parts ----------------------------------------------------------------------------------- */

static void close_file(struct mime_message *m)
{
    if (m->file_open)
        m->sink->close(m->arg);
    m->file_open = false;
}

/* A header follows: that of the next part, or of the message inside this part. */
static void restart(struct mime_message *m)
{
    m->state = MIME_START;
    m->encoding = MIME_PLAIN;
    m->is_text = true;
    m->nested = false;
    m->filename_len = 0;
    m->quad_len = 0;
    m->buffered_len = 0;
    m->url_line_len = 0;
}

/* Opens the file of a part that has a name, after its headers and before any body line. The first
 * header with a field is the message's own; later ones are not kept. */
static void header_complete(struct mime_message *m)
{
    mime_header_end(m);
    if (m->fields != NULL)
        m->main_done = true;
    if (m->nested) {
        restart(m);
        return;
    }
    m->state = MIME_BODY;
    if (m->filename_len == 0)
        return;
    close_file(m);
    m->file_open = true;
    m->sink->open(m->arg, (struct slice){ .data = m->filename, .len = m->filename_len });
}

/* Only the innermost boundary counts. A prefix match, as transport padding may follow (RFC 2046,
 * 5.1.1). */
static bool is_boundary(const struct mime_message *m, struct slice text)
{
    struct slice b;

    if (m->boundary_count == 0)
        return false;
    b = m->boundary[m->boundary_count - 1];
    return text.len >= b.len && memcmp(text.data, b.data, b.len) == 0;
}

/* "--" after the boundary closes the multipart. Skips the rest of a boundary line that was
 * split. */
static void at_boundary(struct mime_message *m, const struct mime_line *line)
{
    struct slice b = m->boundary[m->boundary_count - 1], text = line->text;

    mime_body_flush(m);
    if (m->filename_len > 0)
        close_file(m);
    if (text.len >= b.len + 2 && text.data[b.len] == '-' && text.data[b.len + 1] == '-')
        m->boundary_count--;
    restart(m);
    m->skip_line = line->end.len == 0;
}

/* --- lines ------------------------------------------------------------------------------------ */

/* The hash covers the body from its first line on, boundaries and part headers included. */
static void add_md5(struct mime_message *m, const struct mime_line *line)
{
    if (m->state == MIME_BODY)
        m->md5_running = true;
    if (!m->md5_running)
        return;
    digest_add(&m->md5, line->text.data, line->text.len);
    digest_add(&m->md5, line->end.data, line->end.len);
}

static void body_line(struct mime_message *m, const struct mime_line *line)
{
    if (line->first && is_boundary(m, line->text))
        at_boundary(m, line);
    else
        mime_body_decode(m, line);
}

/* Empty line: only one that begins the line counts, not the last piece of a long line. */
static void read_line(struct mime_message *m, const struct mime_line *line)
{
    if (m->md5_wanted)
        add_md5(m, line);
    if (m->skip_line) {
        m->skip_line = line->end.len == 0;
        return;
    }
    if (m->state == MIME_BODY)
        body_line(m, line);
    else if (line->first && line->text.len == 0)
        header_complete(m);
    else
        mime_header_line(m, line->text);
}

/* Reports each anomaly of a line once, for any number of parts. */
unsigned mime_message_line(struct mime_message *m, const struct mime_line *line)
{
    unsigned fresh;

    if (line->first)
        m->anomalies_reported = 0;
    m->anomalies = line->text.len > LINE_LONG ? MIME_LONG_LINE : 0;
    read_line(m, line);
    fresh = m->anomalies & ~m->anomalies_reported;
    m->anomalies_reported |= m->anomalies;
    return fresh;
}

/* The input ended, or the parser gave up: closes the hash, the URL search and the file. A "\n" ends
 * the URL search's last line. */
void mime_message_end(struct mime_message *m)
{
    if (m->md5_running && !m->md5_done) {
        digest_end(&m->md5, m->md5_result);
        m->md5_done = true;
    }
    mime_urls_find(m, (const uint8_t *)"\n", 1);
    close_file(m);
}

/* --- results ---------------------------------------------------------------------------------- */

bool mime_message_in_body(const struct mime_message *m)
{
    return m->state == MIME_BODY;
}

bool mime_field_find(const struct mime_message *m, const char *name, struct slice *out)
{
    const struct mime_field *f = mime_main_fields(m);

    while (f != NULL && !mime_name_is(f->name, name))
        f = f->next;
    if (f != NULL)
        *out = f->value;
    return f != NULL;
}

const struct mime_field *mime_main_fields(const struct mime_message *m)
{
    return m->main_done ? m->fields : NULL;
}

bool mime_field_is(const struct mime_field *field, const char *lower_name)
{
    return mime_name_is(field->name, lower_name);
}

const struct mime_field *mime_fields(const struct mime_message *m)
{
    return m->fields;
}

const struct mime_item *mime_attachments(const struct mime_message *m)
{
    return m->attachments.first;
}

const struct mime_item *mime_urls(const struct mime_message *m)
{
    return m->urls.first;
}

void mime_want_body_md5(struct mime_message *m)
{
    m->md5_wanted = true;
}

bool mime_body_md5(const struct mime_message *m, uint8_t out[16])
{
    if (!m->md5_done)
        return false;
    memcpy(out, m->md5_result, 16);
    return true;
}
