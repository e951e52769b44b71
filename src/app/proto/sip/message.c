/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/proto/sip/message.c - the first line and the headers (RFC 3261 section 7). */
#include "app/proto/sip/sip.h"

#include "app/lib/log_text.h"
#include "base/array.h"

/* Two errors are told apart: too few bytes, which waits for more over TCP, and a wrong byte. The
 * first one stays. */
struct reader {
    struct bytes in;
    enum sip_parse status;
};

static bool is_one_of(uint8_t c, const char *set)
{
    return c != 0 && strchr(set, c) != NULL;
}

/* Sets of characters, after RFC 3261 section 25.1, but more lenient. */
static bool is_alpha(uint8_t c) { return (c | 32) >= 'a' && (c | 32) <= 'z'; }
static bool is_digit(uint8_t c) { return c >= '0' && c <= '9'; }
static bool is_token(uint8_t c)
{
    return is_alpha(c) || is_digit(c) || is_one_of(c, "!%'*+-._`~");
}
static bool is_uri(uint8_t c) { return is_token(c) || is_one_of(c, "#@:;=?+&$,/"); }
static bool is_version(uint8_t c) { return is_digit(c) || c == '.'; }
static bool is_reason(uint8_t c) { return is_token(c) || is_one_of(c, "$&(),/:;=?@[\\]^ "); }
static bool is_blank(uint8_t c) { return c == ' ' || c == '\t'; }
static bool is_value(uint8_t c)
{
    return is_token(c) || is_one_of(c, "\"#$&(),/;:<=>?@[]{}()^|~\\\t\n\r ");
}

static void fail(struct reader *r, enum sip_parse status)
{
    if (r->status == SIP_PARSED)
        r->status = status;
}

/* Also incomplete if the data end within the run: it may go on. */
static struct slice read_while(struct reader *r, bool (*is)(uint8_t c), uint32_t min)
{
    struct slice s = { r->in.next, 0 };

    if (r->status != SIP_PARSED)
        return s;
    while (bytes_left(&r->in) > 0 && is(*r->in.next)) {
        r->in.next++;
        s.len++;
    }
    if (bytes_left(&r->in) == 0)
        fail(r, SIP_INCOMPLETE);
    else if (s.len < min)
        fail(r, SIP_INVALID);
    return s;
}

/* Takes exactly this text. */
static void read_text(struct reader *r, const char *text)
{
    for (; *text != '\0' && r->status == SIP_PARSED; text++) {
        if (bytes_left(&r->in) == 0)
            fail(r, SIP_INCOMPLETE);
        else if (*r->in.next != (uint8_t)*text)
            fail(r, SIP_INVALID);
        else
            r->in.next++;
    }
}

static struct slice read_version(struct reader *r)
{
    struct slice s = { r->in.next, 4 };

    read_text(r, "SIP/");
    s.len += read_while(r, is_version, 1).len;
    return s;
}

/* A value ends at a line end that no blank follows: otherwise the line is folded (RFC 3261 section
 * 7.3.1). Blanks at the end are not part of it. */
static struct slice read_value(struct reader *r)
{
    const uint8_t *start = r->in.next, *end = start, *p = start;
    uint32_t blanks = 0;

    if (r->status != SIP_PARSED)
        return (struct slice){ start, 0 };
    for (; p < r->in.end; p++) {
        if (*p == '\n') {
            if (p + 1 == r->in.end)
                break;
            if (!is_blank(p[1])) {
                r->in.next = end + blanks;
                return (struct slice){ start, (uint32_t)(end - start) };
            }
            p++;
        } else if (is_blank(*p)) {
            blanks++;
        } else if (*p != '\r') {
            if (!is_value(*p))
                break;
            blanks = 0;
            end = p + 1;
        }
    }
    fail(r, SIP_INCOMPLETE);
    return (struct slice){ start, 0 };
}

/* Compact forms, RFC 3261 section 7.3.3. */
static struct slice full_name(struct slice name)
{
    static const struct { char compact; const char *name; } names[] = {
        { 'i', "Call-ID" }, { 'm', "Contact" }, { 'e', "Content-Encoding" },
        { 'l', "Content-Length" }, { 'c', "Content-Type" }, { 'f', "From" },
        { 's', "Subject" }, { 'k', "Supported" }, { 't', "To" }, { 'v', "Via" },
    };

    for (unsigned i = 0; i < ARRAY_LEN(names) && name.len == 1; i++)
        if (name.data[0] == (uint8_t)names[i].compact)
            return (struct slice){ (const uint8_t *)names[i].name,
                                   (uint32_t)strlen(names[i].name) };
    return name;
}

/* A Content-Length that is no number counts as missing. */
static void note_length(struct sip_layout *out, struct slice name, struct slice value)
{
    struct text digits = { (const char *)value.data, value.len };

    if (slice_is(name, "Content-Length") && text_to_u64(digits, UINT32_MAX, &out->content_length))
        out->has_length = true;
}

/* tx NULL: only the layout is wanted. */
static void read_headers(struct reader *r, struct sip_tx *tx, struct sip_layout *out)
{
    struct sip_header **tail = tx != NULL ? &tx->headers : NULL;

    while (r->status == SIP_PARSED && bytes_left(&r->in) > 0 && *r->in.next != '\r') {
        struct slice name = full_name(read_while(r, is_token, 0)), value;

        read_while(r, is_blank, 0);
        read_text(r, ":");
        read_while(r, is_blank, 0);
        value = read_value(r);
        read_text(r, "\r\n");
        if (r->status != SIP_PARSED)
            return;
        note_length(out, name, value);
        if (tail == NULL)
            continue;
        *tail = arena_zalloc(&tx->tx.arena, sizeof(**tail));
        if (*tail == NULL)
            break;
        (*tail)->name = app_text_copy(&tx->tx.arena, name);
        (*tail)->value = app_text_copy(&tx->tx.arena, value);
        tail = &(*tail)->next;
    }
}

/* RFC 3261 section 7.1 */
static void read_request_line(struct reader *r, struct sip_tx *tx)
{
    struct slice method = read_while(r, is_alpha, 0), uri, version;

    read_text(r, " ");
    uri = read_while(r, is_uri, 1);
    read_text(r, " ");
    version = read_version(r);
    read_text(r, "\r\n");
    if (r->status != SIP_PARSED || tx == NULL)
        return;
    tx->method = app_text_copy(&tx->tx.arena, method);
    tx->uri = app_text_copy(&tx->tx.arena, uri);
    tx->version = app_text_copy(&tx->tx.arena, version);
}

/* RFC 3261 section 7.2 */
static void read_status_line(struct reader *r, struct sip_tx *tx)
{
    struct slice version = read_version(r), code, reason;

    read_text(r, " ");
    code = take_slice(&r->in, 3);
    if (r->in.failed)
        fail(r, SIP_INCOMPLETE);
    read_text(r, " ");
    reason = read_while(r, is_reason, 0);
    read_text(r, "\r\n");
    if (r->status != SIP_PARSED || tx == NULL)
        return;
    tx->version = app_text_copy(&tx->tx.arena, version);
    tx->code = app_text_utf8(&tx->tx.arena, code);
    tx->reason = app_text_copy(&tx->tx.arena, reason);
}

/* Called first without `tx`, to see whether the message is complete; then with it, to keep its
 * parts. */
enum sip_parse sip_message_parse(struct bytes in, enum direction direction, struct sip_tx *tx,
                                 struct sip_layout *out)
{
    struct reader r = { .in = in };
    const uint8_t *headers;

    *out = (struct sip_layout){ 0 };
    if (tx != NULL) {
        struct reader line = r;

        tx->line = app_text_copy(&tx->tx.arena, read_while(&line, is_reason, 0));
    }
    if (direction == TO_SERVER)
        read_request_line(&r, tx);
    else
        read_status_line(&r, tx);
    headers = r.in.next;
    out->line = (uint32_t)(headers - in.next);
    read_headers(&r, tx, out);
    out->headers = (uint32_t)(r.in.next - headers);
    read_text(&r, "\r\n");
    out->body = (uint32_t)(r.in.next - in.next);
    return r.status;
}
