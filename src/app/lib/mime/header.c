/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/lib/mime/header.c - header fields: unfolds them (RFC 5322, 2.2.3), keeps the message's own,
 * and reads those that describe the body. Anomaly limits are those of Suricata. */
#include "app/lib/mime/parameter.h"
#include "app/lib/mime/private.h"

#include <string.h>

#define NAME_LONG 75                    /* with its colon a line of 76 (RFC 2045, 6.7) */
#define VALUE_LONG 2000

static bool is_space(uint8_t c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static bool text_equals(struct slice s, const char *text)
{
    return s.len == strlen(text) && memcmp(s.data, text, s.len) == 0;
}

/* Doubles the capacity, so that the abandoned copies in the arena are never larger than the current
 * one. Drops bytes beyond VALUE_MAX. */
static void text_add(struct mime_message *m, struct mime_text *t, struct slice more)
{
    uint32_t len = MIN(more.len, VALUE_MAX - t->len), cap = MAX(t->cap, 256);
    uint8_t *data;

    while (cap < t->len + len)
        cap *= 2;
    if (cap > t->cap) {
        data = arena_alloc(m->arena, cap);
        if (data == NULL)
            return;
        if (t->len > 0)
            memcpy(data, t->data, t->len);
        t->data = data;
        t->cap = cap;
    }
    if (len > 0)
        memcpy(t->data + t->len, more.data, len);
    t->len += len;
}

static struct slice text_slice(const struct mime_text *t)
{
    return (struct slice){ .data = t->data, .len = t->len };
}

/* --- fields that describe the body ----------------------------------------------------------- */

/* The first name wins, whichever field has it. A name beyond MIME_NAME_MAX is cut and reported. */
static void set_filename(struct mime_message *m, struct slice value, const char *parameter)
{
    struct slice name;

    if (m->filename_len > 0 || !mime_parameter(value, parameter, m->scratch, &name))
        return;
    if (name.len > MIME_NAME_MAX) {
        m->anomalies |= MIME_LONG_FILENAME;
        name.len = MIME_NAME_MAX;
    }
    if (name.len > 0)
        memcpy(m->filename, name.data, name.len);
    m->filename_len = name.len;
    mime_items_add(m, &m->attachments, name);
}

/* A multipart's boundary with its two dashes. Nesting and memory are bounded: deeper boundaries are
 * not known, and their parts stay part of the enclosing body. */
static void add_boundary(struct mime_message *m, struct slice value)
{
    struct slice b;
    uint8_t *data;
    uint32_t len;

    if (!mime_parameter(value, "boundary", m->scratch, &b))
        return;
    if (b.len > BOUNDARY_MAX)
        m->anomalies |= MIME_LONG_BOUNDARY;
    len = MIN(b.len, BOUNDARY_LIMIT);
    if (m->boundary_count == NESTING_MAX || m->retained + len + 2 > RETAINED_LIMIT)
        return;
    data = arena_alloc(m->arena, len + 2);
    if (data == NULL)
        return;
    data[0] = data[1] = '-';
    memcpy(data + 2, b.data, len);
    m->retained += len + 2;
    m->boundary[m->boundary_count++] = (struct slice){ .data = data, .len = len + 2 };
}

/* A text/plain or text/html body is searched for URLs; a part of type message has headers of its
 * own after the empty line. */
static void content_type(struct mime_message *m, struct slice value)
{
    static const char message[] = "message/";
    struct bytes in = bytes_of_slice(value);
    struct slice type;

    set_filename(m, value, "name");
    add_boundary(m, value);
    if (!take_until(&in, ';', &type))
        type = value;
    m->is_text = text_equals(type, "text/plain") || text_equals(type, "text/html");
    if (type.len >= sizeof(message) - 1 && memcmp(type.data, message, sizeof(message) - 1) == 0)
        m->nested = true;
}

/* 7bit, 8bit, binary and unknown encodings are not decoded. */
static void transfer_encoding(struct mime_message *m, struct slice value)
{
    if (mime_name_is(value, "base64"))
        m->encoding = MIME_BASE64;
    else if (mime_name_is(value, "quoted-printable"))
        m->encoding = MIME_QUOTED_PRINTABLE;
}

/* Reads a complete field. The scratch arena holds a joined parameter only until it is copied. */
static void heed(struct mime_message *m, struct slice name, struct slice value)
{
    if (mime_name_is(name, "content-disposition"))
        set_filename(m, value, "filename");
    else if (mime_name_is(name, "content-transfer-encoding"))
        transfer_encoding(m, value);
    else if (mime_name_is(name, "content-type"))
        content_type(m, value);
    else
        return;
    arena_reset(m->scratch);
}

/* Without memory left the field is not kept, though its effect on the body still is. */
static void keep_field(struct mime_message *m, struct slice name, struct slice value)
{
    struct mime_field *f;

    if (RETAINED_LIMIT - m->retained < name.len + value.len + sizeof(*f))
        return;
    f = arena_zalloc(m->arena, sizeof(*f));
    if (f == NULL || !mime_keep(m, name, &f->name) || !mime_keep(m, value, &f->value))
        return;
    m->retained += sizeof(*f);
    *m->fields_end = f;
    m->fields_end = &f->next;
}

/* --- lines ------------------------------------------------------------------------------------ */

/* A field is complete when the next one or the empty line comes: folding is known only then. */
void mime_header_end(struct mime_message *m)
{
    struct slice name = text_slice(&m->name), value = text_slice(&m->value);

    if (!m->in_field)
        return;
    m->in_field = false;
    if (!m->main_done)
        keep_field(m, name, value);
    heed(m, name, value);
}

/* A line without a colon is skipped. */
static void new_field(struct mime_message *m, struct slice line)
{
    struct bytes in = bytes_of_slice(line);
    struct slice name, value;

    if (!take_until(&in, ':', &name))
        return;
    mime_header_end(m);
    while (is_space(peek_u8(&in)))
        take_u8(&in);
    value = take_rest(&in);
    if (name.len > NAME_LONG)
        m->anomalies |= MIME_LONG_HEADER_NAME;
    if (value.len > VALUE_LONG)
        m->anomalies |= MIME_LONG_HEADER_VALUE;
    m->name.len = m->value.len = 0;
    text_add(m, &m->name, name);
    text_add(m, &m->value, value);
    m->in_field = true;
    m->state = MIME_HEADER;
}

/* RFC 5322, 2.2.3: a line that begins with white space continues the field before it. Only that one
 * character is removed. */
void mime_header_line(struct mime_message *m, struct slice line)
{
    if (line.len == 0)
        return;
    if (m->in_field && (line.data[0] == ' ' || line.data[0] == '\t'))
        text_add(m, &m->value, (struct slice){ .data = line.data + 1, .len = line.len - 1 });
    else
        new_field(m, line);
}
