/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/proto/http1/multipart.c - uploads: parts of a multipart/form-data body (RFC 7578) that have a
 * file name become files.
 *
 * The body may be split anywhere. What cannot be decided yet (an unfinished line, a possible start
 * of a boundary) waits in `buffered`, which stays shorter than a header line. */
#include "app/lib/mime/parameter.h"
#include "app/proto/http1/body.h"
#include "app/proto/http1/tx.h"
#include "base/memory/lib_memory.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define BOUNDARY_MAX 255                /* RFC 2046 allows 70; as Suricata */
#define HEADER_LINE_MAX 4096            /* longer ones are skipped */
#define BOUNDARY_LINE_MAX 128           /* after a boundary, before its line end */

/* START: before a boundary's line. SKIP_LINE: within the rest of one. HEADERS: of a part. FIRST:
 * before its first byte. DATA: in its content. */
enum part_state { PART_START, PART_SKIP_LINE, PART_HEADERS, PART_FIRST, PART_DATA };

struct http_multipart {
    uint8_t boundary[2 + 2 + BOUNDARY_MAX];     /* CRLF, two dashes, the value */
    uint32_t boundary_len;              /* all of it */
    enum part_state state;
    bool named;                         /* this part has a file name */
    struct buf buffered;
};

/* NULL: no boundary, or no memory. The body is then one file. */
struct http_multipart *http_multipart_new(struct slice content_type)
{
    struct http_multipart *m;
    struct arena arena;
    struct slice value;

    arena_init(&arena, 512, 0);
    if (!mime_parameter(content_type, "boundary", &arena, &value) || value.len > BOUNDARY_MAX) {
        arena_fini(&arena);
        return NULL;
    }
    m = lib_calloc(1, sizeof(*m));
    if (m != NULL) {
        memcpy(m->boundary, "\r\n--", 4);
        memcpy(m->boundary + 4, value.data, value.len);
        m->boundary_len = 4 + value.len;
    }
    arena_fini(&arena);
    return m;
}

void http_multipart_free(struct http_multipart *m)
{
    if (m == NULL)
        return;
    buf_fini(&m->buffered);
    lib_free(m);
}

/* --- parts ------------------------------------------------------------------------------------ */

/* The boundary without the CRLF before it: how a part's first line looks. */
static struct slice delimiter(const struct http_multipart *m)
{
    return (struct slice){ .data = m->boundary + 2, .len = m->boundary_len - 2 };
}

/* 1: begins with it; 0: may, more bytes decide; -1: no. */
static int begins_with(const struct bytes *in, struct slice with)
{
    size_t n = MIN(bytes_left(in), with.len);

    if (memcmp(in->next, with.data, n) != 0)
        return -1;
    return n == with.len;
}

/* Backslashes are dropped: some browsers send complete paths with doubled ones. A second name in
 * one part ends the first file. */
static void set_name(struct http_tx *htx, struct http_multipart *m, struct slice name)
{
    uint8_t *plain = arena_alloc(&htx->tx.arena, name.len);
    uint32_t len = 0;

    if (plain == NULL)
        return;
    for (uint32_t i = 0; i < name.len; i++)
        if (name.data[i] != '\\')
            plain[len++] = name.data[i];
    m->named = true;
    app_file_close(htx->message[TO_SERVER].content->file, FILE_TRUNCATED);
    http_file_open(htx, TO_SERVER, (struct slice){ .data = plain, .len = len });
}

/* Only Content-Disposition matters. A line without a colon or a value is an event. */
static void header_line(struct http_multipart *m, struct http_tx *htx, struct slice line)
{
    static const char disposition[] = "content-disposition";
    struct bytes in = bytes_of_slice(line);
    struct slice name, value, file_name;

    if (!take_until(&in, ':', &name)) {
        app_tx_event(&htx->tx, HTTP_EVENT_MULTIPART_INVALID_HEADER);
        return;
    }
    while (bytes_have(&in, 1) && (peek_u8(&in) == ' ' || peek_u8(&in) == '\t'))
        take_u8(&in);
    value = take_rest(&in);
    if (value.len == 0)
        app_tx_event(&htx->tx, HTTP_EVENT_MULTIPART_INVALID_HEADER);
    if (name.len == sizeof(disposition) - 1 &&
        strncasecmp((const char *)name.data, disposition, name.len) == 0 &&
        mime_parameter(value, "filename", &htx->tx.arena, &file_name) && file_name.len > 0)
        set_name(htx, m, file_name);
}

/* The boundary after a part completes its file. */
static void end_part(struct http_multipart *m, struct http_tx *htx)
{
    app_file_close(htx->message[TO_SERVER].content->file, FILE_CLOSED);
    htx->message[TO_SERVER].content->file = NULL;
    m->named = false;
    m->state = PART_START;
}

/* States. A step returns true if it consumed or changed something and may go on. */

/* Lines before the first boundary are the preamble (RFC 2046 section 5.1.1), which is ignored. */
static bool at_start(struct http_multipart *m, struct bytes *in)
{
    int found = begins_with(in, delimiter(m));
    struct slice line;

    if (found == 0)
        return false;
    if (take_until(in, '\n', &line)) {
        m->state = found == 1 ? PART_HEADERS : PART_START;
        return true;
    }
    if (found == 1 && bytes_left(in) < m->boundary_len + BOUNDARY_LINE_MAX)
        return false;
    if (found < 0 && bytes_left(in) < HEADER_LINE_MAX)
        return false;
    if (found == 1)
        m->state = PART_SKIP_LINE;
    take_rest(in);
    return true;
}

/* The rest of an overlong line is dropped. */
static bool skip_line(struct http_multipart *m, struct bytes *in)
{
    struct slice line;

    if (!take_until(in, '\n', &line)) {
        take_rest(in);
        return false;
    }
    m->state = PART_HEADERS;
    return true;
}

/* Header lines end in CRLF; a lone LF does not end one. */
static bool in_headers(struct http_multipart *m, struct http_tx *htx, struct bytes *in)
{
    const uint8_t *end = memmem(in->next, bytes_left(in), "\r\n", 2);
    struct slice line;

    if (end == NULL) {
        if (bytes_left(in) <= HEADER_LINE_MAX)
            return false;
        m->state = PART_SKIP_LINE;
        return true;
    }
    line = take_slice(in, (size_t)(end - in->next));
    take_skip(in, 2);
    if (line.len == 0 || (line.len == 1 && line.data[0] == '\r'))
        m->state = PART_FIRST;
    else
        header_line(m, htx, line);
    return true;
}

/* A part without content: the boundary follows its headers immediately. */
static bool at_first(struct http_multipart *m, struct http_tx *htx, const struct bytes *in)
{
    int found = begins_with(in, delimiter(m));

    if (found == 0)
        return false;
    if (found < 0) {
        m->state = PART_DATA;
        return true;
    }
    if (m->named)
        app_tx_event(&htx->tx, HTTP_EVENT_MULTIPART_NO_FILEDATA);
    end_part(m, htx);
    return true;
}

/* The next position at which CRLF and the boundary begin, or may begin; *complete: they do.
 * memchr() keeps the cost linear. */
static const uint8_t *find_end(const struct http_multipart *m, const struct bytes *in,
                               bool *complete)
{
    struct slice mark = { .data = m->boundary, .len = m->boundary_len };

    *complete = false;
    for (const uint8_t *p = in->next; p < in->end; p++) {
        struct bytes rest = *in;
        int found;

        p = memchr(p, '\r', (size_t)(in->end - p));
        if (p == NULL)
            break;
        rest.next = p;
        found = begins_with(&rest, mark);
        if (found >= 0) {
            *complete = found == 1;
            return p;
        }
    }
    return in->end;
}

/* Data up to a possible boundary are safe to pass on. */
static bool in_data(struct http_multipart *m, struct http_tx *htx, struct bytes *in)
{
    bool complete;
    const uint8_t *end = find_end(m, in, &complete);
    struct slice data = take_slice(in, (size_t)(end - in->next));

    if (m->named && data.len > 0)
        app_file_append(htx->message[TO_SERVER].content->file, data.data, data.len);
    if (!complete)
        return false;
    take_skip(in, 2);
    end_part(m, htx);
    return true;
}

static bool step(struct http_multipart *m, struct http_tx *htx, struct bytes *in)
{
    switch (m->state) {
    case PART_START:
        return at_start(m, in);
    case PART_SKIP_LINE:
        return skip_line(m, in);
    case PART_HEADERS:
        return in_headers(m, htx, in);
    case PART_FIRST:
        return at_first(m, htx, in);
    default:
        return in_data(m, htx, in);
    }
}

/* Works on the data in place; copies only what must wait. */
void http_multipart_data(struct http_multipart *m, struct http_tx *htx, const uint8_t *data,
                         size_t len)
{
    struct bytes in = bytes_of(data, len);
    bool from_buffered = m->buffered.len > 0;

    if (from_buffered) {
        buf_add(&m->buffered, data, len);
        in = bytes_of(m->buffered.data, m->buffered.len);
    }
    while (bytes_have(&in, 1) && step(m, htx, &in))
        continue;
    if (from_buffered)
        buf_drop_front(&m->buffered, (size_t)(in.next - m->buffered.data));
    else
        buf_add(&m->buffered, in.next, bytes_left(&in));
}
