/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/lib/mime/body.c - bodies: removes the transfer encoding (RFC 2045, 6) and passes the bytes to
 * the attachment and to the search for URLs. The line end before a boundary belongs to the boundary
 * (RFC 2046, 5.1.1), so it is held back until the next line shows what it is. */
#include "app/lib/mime/private.h"

#include "base/text/base64.h"

#include <string.h>

/* RFC 2045, 6.7 and 6.8: encoded lines have at most 76 characters. */
#define ENCODED_LINE_LONG 76

static void to_file(struct mime_message *m, const uint8_t *data, uint32_t len)
{
    if (m->file_open && len > 0)
        m->sink->data(m->arg, data, len);
}

/* Keeps at most two bytes for the next line: a line end, or the start of an escape. */
static void hold(struct mime_message *m, struct slice s)
{
    m->buffered_len = MIN(s.len, sizeof(m->buffered));
    if (m->buffered_len > 0)
        memcpy(m->buffered, s.data, m->buffered_len);
}

/* Searches text and line end as one run: they are adjacent in memory. */
static void find_urls_in_line(struct mime_message *m, const struct mime_line *line)
{
    mime_urls_find(m, line->text.data, line->text.len + line->end.len);
}

/* The line end before this line goes first: the line was no boundary, so it belongs to the body. */
static void plain(struct mime_message *m, const struct mime_line *line)
{
    find_urls_in_line(m, line);
    if (m->filename_len == 0)
        return;
    to_file(m, m->buffered, m->buffered_len);
    to_file(m, line->text.data, line->text.len);
    hold(m, line->end);
}

/* --- base64 ----------------------------------------------------------------------------------- */

/* Decodes four characters to at most three bytes; -1: not base64. */
static int decode_quad(const uint8_t quad[4], uint8_t out[3])
{
    int v[4];

    for (unsigned i = 0; i < 4; i++)
        v[i] = base64_digit(quad[i]);
    if (v[0] < 0 || v[1] < 0)
        return -1;
    out[0] = (uint8_t)(v[0] << 2 | v[1] >> 4);
    if (quad[2] == '=')
        return 1;
    if (v[2] < 0)
        return -1;
    out[1] = (uint8_t)(v[1] << 4 | v[2] >> 2);
    if (quad[3] == '=')
        return 2;
    if (v[3] < 0)
        return -1;
    out[2] = (uint8_t)(v[2] << 6 | v[3]);
    return 3;
}

/* Other characters are skipped, RFC 2045, 6.8. Returns the bytes decoded; -1: one quad was invalid,
 * and the part is dropped. At most 3/4 of in.len + 3 bytes, so `out` of a chunk's size holds it. */
static int decode_base64(struct mime_message *m, struct slice in, uint8_t *out)
{
    int len = 0, n;

    for (uint32_t i = 0; i < in.len; i++) {
        if (m->quad_len == 0) {
            uint32_t taken = base64_groups((struct slice){ in.data + i, in.len - i }, out + len);

            len += (int)(taken / 4 * 3);
            i += taken;
        }
        if (i == in.len)
            break;
        if (base64_digit(in.data[i]) < 0 && in.data[i] != '=')
            continue;
        m->quad[m->quad_len++] = in.data[i];
        if (m->quad_len < 4)
            continue;
        m->quad_len = 0;
        n = decode_quad(m->quad, out + len);
        if (n < 0)
            return -1;
        len += n;
    }
    return len;
}

/* A line may be split inside a quad: m->quad keeps up to three characters. */
static void base64(struct mime_message *m, struct slice text)
{
    uint8_t out[MIME_CHUNK_MAX];
    int len;

    if (!m->settings->decode_base64)
        return;
    if (text.len > ENCODED_LINE_LONG)
        m->anomalies |= MIME_LONG_ENC_LINE;
    len = decode_base64(m, text, out);
    if (len < 0) {
        m->anomalies |= MIME_INVALID_BASE64;
        return;
    }
    mime_urls_find(m, out, (uint32_t)len);
    to_file(m, out, (uint32_t)len);
}

/* --- quoted-printable ------------------------------------------------------------------------- */

/* RFC 2045, 6.7 (1): capital digits only; lower case counts as an error. */
static int hex_value(uint8_t c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* A part of a line, decoded. Decoding never makes text longer; the 16 bytes are for the rest of an
 * earlier part and for the line end. */
struct qp {
    uint8_t out[MIME_CHUNK_MAX + 16];
    uint32_t len;
    bool soft;                          /* "=" at the end: the line goes on */
};

static void qp_add(struct qp *qp, const void *data, size_t len)
{
    if (len > 0)
        memcpy(qp->out + qp->len, data, len);
    qp->len += (uint32_t)len;
}

/* After "=": two digits, or the line's end (a soft line break, RFC 2045, 6.7 (5)). An escape that
 * is split waits for the next part; an invalid one is dropped and reported. */
static void qp_escape(struct mime_message *m, struct qp *qp, struct bytes *in, bool line_ends)
{
    struct slice rest = { .data = in->next - 1, .len = (uint32_t)bytes_left(in) + 1 };
    int high, low;

    if (rest.len < 3) {
        if (!line_ends)
            hold(m, rest);
        else if (rest.len == 1)
            qp->soft = true;
        else
            m->anomalies |= MIME_INVALID_QP;
        (void)take_rest(in);
        return;
    }
    high = hex_value(take_u8(in));
    low = hex_value(take_u8(in));
    if (high < 0 || low < 0)
        m->anomalies |= MIME_INVALID_QP;
    else
        qp->out[qp->len++] = (uint8_t)(high << 4 | low);
}

/* Copies up to each "=" and decodes what follows it. */
static void qp_decode(struct mime_message *m, struct qp *qp, struct bytes in, bool line_ends)
{
    struct slice run;

    while (bytes_have(&in, 1)) {
        if (!take_until(&in, '=', &run)) {
            run = take_rest(&in);
            qp_add(qp, run.data, run.len);
            return;
        }
        qp_add(qp, run.data, run.len);
        qp_escape(m, qp, &in, line_ends);
    }
}

/* Joins an escape that an earlier part began with the first bytes of this one. Emits a buffered
 * line end unchanged. */
static void qp_take_buffered(struct mime_message *m, struct qp *qp, struct bytes *in,
                             bool line_ends)
{
    uint8_t joined[3];
    unsigned len = m->buffered_len;
    struct bytes head;

    if (len == 0 || m->buffered[0] != '=') {
        qp_add(qp, m->buffered, len);
        m->buffered_len = 0;
        return;
    }
    memcpy(joined, m->buffered, len);
    while (len < 3 && bytes_have(in, 1))
        joined[len++] = take_u8(in);
    m->buffered_len = 0;
    head = bytes_of(joined, len);
    qp_decode(m, qp, head, line_ends && len < 3);
}

/* The line end is output with the next line, unless it was a soft one. */
static void quoted_printable(struct mime_message *m, const struct mime_line *line)
{
    struct qp qp;
    struct bytes in = bytes_of_slice(line->text);
    bool ends = line->end.len > 0;

    if (!m->settings->decode_quoted_printable)
        return;
    qp.len = 0;
    qp.soft = false;
    if (line->text.len > ENCODED_LINE_LONG)
        m->anomalies |= MIME_LONG_ENC_LINE;
    qp_take_buffered(m, &qp, &in, ends);
    qp_decode(m, &qp, in, ends);
    if (line->first && line->text.len == 0)
        hold(m, line->end);
    else if (ends && !qp.soft)
        qp_add(&qp, line->end.data, line->end.len);
    mime_urls_find(m, qp.out, qp.len);
    to_file(m, qp.out, qp.len);
}

/* --- entry ------------------------------------------------------------------------------------ */

/* A body without a file name is only searched for URLs; quoted-printable is searched undecoded. */
static void body_text(struct mime_message *m, const struct mime_line *line)
{
    if (!m->is_text)
        return;
    if (m->encoding == MIME_BASE64)
        base64(m, line->text);
    else
        find_urls_in_line(m, line);
}

void mime_body_decode(struct mime_message *m, const struct mime_line *line)
{
    if (m->filename_len == 0)
        body_text(m, line);
    else if (m->encoding == MIME_BASE64)
        base64(m, line->text);
    else if (m->encoding == MIME_QUOTED_PRINTABLE)
        quoted_printable(m, line);
    else
        plain(m, line);
}

/* At a part's end, characters that wait for a full quad count as if padding followed. */
void mime_body_flush(struct mime_message *m)
{
    uint8_t out[3];
    int len;

    if (m->encoding != MIME_BASE64 || m->quad_len == 0 || !m->settings->decode_base64)
        return;
    while (m->quad_len < 4)
        m->quad[m->quad_len++] = '=';
    m->quad_len = 0;
    len = decode_quad(m->quad, out);
    if (len > 0)
        to_file(m, out, (uint32_t)len);
}
