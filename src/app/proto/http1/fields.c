/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/proto/http1/fields.c - malformed response headers that browsers understand.
 *
 * libhtp 0.5 reads folded lines, single CRs and lines without a colon differently than browsers do.
 * A block without any of these stays as libhtp read it. Any other block is read again here, and the
 * result replaces libhtp's headers and events. */
#include "app/proto/http1/lines.h"
#include "app/proto/http1/state.h"
#include "app/proto/http1/tx.h"

#include <string.h>
#include <strings.h>

#define FOLDS_MAX 128       /* lines of one value; further lines are separate fields */
#define REPETITIONS_MAX 64  /* values appended to earlier ones: each append copies */

/* --- characters ------------------------------------------------------------------------------- */

static bool is_blank(uint8_t c)
{
    return c == ' ' || c == '\t';
}

static bool is_space(uint8_t c)
{
    return is_blank(c) || (c >= '\n' && c <= '\r');
}

static bool is_token(uint8_t c)
{
    return http_token_char[c] != 0;
}

/* A NUL at the start of a line folds it, too: browsers skip it. */
static bool is_fold(uint8_t c)
{
    return is_blank(c) || c == 0;
}

/* Without white space at both ends. */
struct slice http_trimmed(struct slice s)
{
    while (s.len > 0 && is_space(s.data[0])) {
        s.data++;
        s.len--;
    }
    while (s.len > 0 && is_space(s.data[s.len - 1]))
        s.len--;
    return s;
}

/* --- plain blocks ----------------------------------------------------------------------------- */

/* Lines that end in CRLF, none folded, no control characters. The loop has no branches, so that the
 * compiler vectorises it. */
bool http_fields_are_plain(struct slice block)
{
    const uint8_t *p = block.data;
    uint8_t odd = 0;

    if (block.len < 2 || p[block.len - 1] != '\n' || p[block.len - 2] != '\r')
        return false;
    if (block.len == 2)
        return true;
    for (uint32_t i = 1; i + 1 < block.len; i++) {
        uint8_t control = p[i] < ' ', cr = p[i] == '\r', lf = p[i] == '\n';
        uint8_t in_end = (uint8_t)((cr & (p[i + 1] == '\n')) |
                                   (lf & (p[i - 1] == '\r') & (p[i + 1] != ' ')));

        odd |= (uint8_t)(control & ~in_end);
    }
    return odd == 0 && p[0] > ' ';
}

/* --- one field -------------------------------------------------------------------------------- */

struct field {
    struct slice name;
    struct slice value;                 /* not yet trimmed; in the block or in `unfolded` */
    bool no_name, deformed_end;
};

struct reader {
    struct bytes in;
    bool complete;                      /* nothing more comes, be the last line folded or not */
    struct buf unfolded;                /* a value of several lines */
};

/* A line end: CRLF, LFCR, or one of the two. */
static bool take_end(struct bytes *in)
{
    uint8_t first = peek_u8(in);

    if (!bytes_have(in, 1) || (first != '\r' && first != '\n'))
        return false;
    take_u8(in);
    if (peek_u8(in) == (first == '\r' ? '\n' : '\r') && bytes_have(in, 1))
        take_u8(in);
    return true;
}

static bool starts_with(const struct bytes *in, const char *text)
{
    size_t n = strlen(text);

    return bytes_have(in, n) && memcmp(in->next, text, n) == 0;
}

/* An empty line follows. */
static bool at_line_end(const struct bytes *in)
{
    return starts_with(in, "\n") || starts_with(in, "\r\n");
}

/* Line ends that look like the empty line after a header, but browsers read on: "\n\r\r\n" before
 * an empty line, and "\r\n\r" with more CRs or blanks and no empty line after it. */
static bool take_deformed_end(struct bytes *in)
{
    struct bytes look = *in;
    const uint8_t *from;

    if (starts_with(&look, "\n\r\r\n")) {
        take_skip(&look, 4);
        if (!at_line_end(&look))
            return false;
        *in = look;
        return true;
    }
    if (!starts_with(&look, "\r\n\r"))
        return false;
    take_skip(&look, 3);
    from = look.next;
    while (bytes_have(&look, 1) && (peek_u8(&look) == '\r' || is_blank(peek_u8(&look))))
        take_u8(&look);
    if (look.next == from || !bytes_have(&look, 1))
        return false;
    if (peek_u8(&look) == '\n')
        take_u8(&look);
    if (at_line_end(&look))
        return false;
    *in = look;
    return true;
}

/* After a fold: a name with a colon begins a new field, whatever blanks precede it. */
static bool is_named_field(struct bytes in)
{
    bool token = false;

    while (bytes_have(&in, 1) && is_blank(peek_u8(&in)))
        take_u8(&in);
    while (bytes_have(&in, 1) && is_token(peek_u8(&in))) {
        take_u8(&in);
        token = true;
    }
    while (bytes_have(&in, 1) && is_blank(peek_u8(&in)))
        take_u8(&in);
    return token && peek_u8(&in) == ':';
}

static struct slice take_text(struct bytes *in)
{
    const uint8_t *from = in->next;

    while (bytes_have(in, 1) && peek_u8(in) != '\r' && peek_u8(in) != '\n')
        take_u8(in);
    return (struct slice){ .data = from, .len = (uint32_t)(in->next - from) };
}

/* The end of one line of a value. */
struct line_end {
    size_t len;
    bool folded;
    bool open;                          /* no data follow yet: it may still be folded */
    uint8_t fold;                       /* the blank that the next line begins with */
};

/* Decides whether the next line continues this value. */
static struct line_end take_line_end(struct reader *r, struct field *f)
{
    const uint8_t *from = r->in.next;
    struct bytes look = r->in;
    struct line_end end = { 0 };

    if (take_end(&look) && bytes_have(&look, 1) && is_fold(peek_u8(&look))) {
        end = (struct line_end){ .len = (size_t)(look.next - from), .folded = true };
        end.fold = take_u8(&look);
        r->in = look;
        return end;
    }
    if (take_deformed_end(&r->in))
        f->deformed_end = true;
    else
        take_end(&r->in);
    end.len = (size_t)(r->in.next - from);
    end.open = !r->complete && !bytes_have(&r->in, 1);
    return end;
}

/* Joins the lines of a folded value. If they are all empty the fold ends the value, and the empty
 * line may end the header. False: the end has not arrived. */
static bool take_folded(struct reader *r, struct field *f, struct slice first,
                        struct line_end end)
{
    struct bytes rest = r->in;

    buf_clear(&r->unfolded);
    buf_add(&r->unfolded, first.data, first.len);
    for (unsigned n = 0; end.folded && n < FOLDS_MAX && !is_named_field(r->in); n++) {
        uint8_t fold = end.fold;
        struct slice text = take_text(&r->in);

        if (!bytes_have(&r->in, 1))
            return false;
        end = take_line_end(r, f);
        if (end.open)
            return false;
        if (r->unfolded.len > 0)
            buf_add_u8(&r->unfolded, fold);
        buf_add(&r->unfolded, text.data, text.len);
        if (text.len > 0 || end.len > 1 || peek_u8(&r->in) == '\n')
            rest = r->in;
    }
    if (end.folded && is_named_field(r->in))
        rest = r->in;
    r->in = rest;
    f->value = buf_slice(&r->unfolded);
    return true;
}

/* False: the line's end has not arrived. */
static bool take_value(struct reader *r, struct field *f)
{
    struct slice text = take_text(&r->in);
    struct line_end end;

    if (!bytes_have(&r->in, 1))
        return false;
    end = take_line_end(r, f);
    f->value = text;
    if (end.open)
        return false;
    return !end.folded || take_folded(r, f, text, end);
}

/* The name up to its colon, which may be on the next line after a blank. False: no name. */
static bool take_name(struct reader *r, struct slice *name)
{
    struct bytes look = r->in;
    uint8_t finished = 0;

    while (bytes_have(&look, 1)) {
        uint8_t c = take_u8(&look);

        if (finished == 0 && c == ':') {
            *name = take_slice(&r->in, (size_t)(look.next - 1 - r->in.next));
            take_u8(&r->in);
            return true;
        }
        if (finished == 0)
            finished = c == '\r' || c == '\n' ? c : 0;
        else if (c == ' ')
            finished = 0;
        else if (c == '\n' && finished == '\r')
            finished = c;
        else
            return false;
    }
    return false;
}

/* Takes one field. A line without a colon is a field without a name, whose text is its value. */
static bool take_field(struct reader *r, struct field *f)
{
    *f = (struct field){ 0 };
    if (!bytes_have(&r->in, 1))
        return false;
    if (take_name(r, &f->name)) {
        while (bytes_have(&r->in, 1) && is_blank(peek_u8(&r->in)))
            take_u8(&r->in);
    } else if (starts_with(&r->in, "\r\n")) {
        return false;
    }
    f->no_name = f->name.len == 0;
    return take_value(r, f);
}

/* --- events ----------------------------------------------------------------------------------- */

static bool has_any(const struct http_tx *htx, const uint8_t *events, unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        if (app_tx_has_event(&htx->tx, events[i]))
            return true;
    return false;
}

/* Raised once per transaction; the first event of this kind wins, as in Suricata. */
static void raise_invalid(struct http_tx *htx, enum http_event event)
{
    static const uint8_t kind[] = {
        HTTP_EVENT_REQUEST_HEADER_INVALID, HTTP_EVENT_RESPONSE_HEADER_NAME_NOT_TOKEN,
        HTTP_EVENT_REQUEST_INVALID_LWS_AFTER_NAME, HTTP_EVENT_RESPONSE_INVALID_LWS_AFTER_NAME,
    };

    if (!has_any(htx, kind, ARRAY_LEN(kind)))
        app_tx_event(&htx->tx, event);
}

/* The same event of the request counts, too. */
static void raise_once(struct http_tx *htx, enum http_event event, enum http_event in_request)
{
    const uint8_t kind[] = { (uint8_t)event, (uint8_t)in_request };

    if (!has_any(htx, kind, ARRAY_LEN(kind)))
        app_tx_event(&htx->tx, event);
}

/* Blanks around the name are allowed here; they have their own event. */
static bool name_is_token(struct slice name)
{
    uint32_t at = 0;

    while (at < name.len && is_blank(name.data[at]))
        at++;
    while (at < name.len && is_token(name.data[at]))
        at++;
    while (at < name.len && is_blank(name.data[at]))
        at++;
    return at == name.len;
}

/* Raises the events of one field. A field without a name raises only that. */
static void report(struct http_tx *htx, const struct field *f)
{
    struct slice name = f->name;

    if (f->deformed_end)
        app_tx_event(&htx->tx, HTTP_EVENT_DEFORMED_EOL);
    if (f->no_name) {
        raise_once(htx, HTTP_EVENT_RESPONSE_FIELD_MISSING_COLON,
                   HTTP_EVENT_REQUEST_FIELD_MISSING_COLON);
        return;
    }
    if (is_blank(name.data[name.len - 1]))
        raise_invalid(htx, HTTP_EVENT_RESPONSE_INVALID_LWS_AFTER_NAME);
    if (is_blank(name.data[0]))
        raise_once(htx, HTTP_EVENT_INVALID_RESPONSE_FIELD_FOLDING,
                   HTTP_EVENT_INVALID_REQUEST_FIELD_FOLDING);
    if (!name_is_token(name))
        raise_invalid(htx, HTTP_EVENT_RESPONSE_HEADER_NAME_NOT_TOKEN);
}

/* --- the block -------------------------------------------------------------------------------- */

static htp_header_t *find(htp_table_t *headers, struct slice name)
{
    return htp_table_get_mem(headers, name.data, name.len);
}

/* Values of one name form a list (RFC 9110 section 5.3). Without memory the value stays shorter. */
static void append(htp_header_t *h, struct slice value)
{
    bstr *longer = bstr_add_mem(h->value, ", ", 2);

    if (longer != NULL)
        h->value = longer;
    longer = bstr_add_mem(h->value, value.data, value.len);
    if (longer != NULL)
        h->value = longer;
}

/* A second Content-Length is not appended: the list would be no number. */
static void add(htp_tx_t *htp, struct slice name, struct slice value, unsigned *repetitions)
{
    htp_header_t *h = find(htp->response_headers, name);

    if (h == NULL) {
        htp_tx_res_set_header(htp, (const char *)name.data, name.len, (const char *)value.data,
                              value.len, HTP_ALLOC_COPY);
    } else if (++*repetitions <= REPETITIONS_MAX &&
               bstr_cmp_c_nocase(h->name, "content-length") != 0) {
        append(h, value);
    }
}

/* libhtp reads the type when it prepares the body, which was earlier. */
static void read_content_type(htp_tx_t *htp)
{
    const htp_header_t *h = htp_table_get_c(htp->response_headers, "content-type");
    struct slice type;
    uint32_t len = 0;

    if (h == NULL || htp->response_content_type != NULL)
        return;
    type = http_bstr(h->value);
    while (len < type.len && type.data[len] != ';' && !is_space(type.data[len]))
        len++;
    htp->response_content_type = bstr_dup_mem(type.data, len);
    if (htp->response_content_type != NULL)
        bstr_to_lowercase(htp->response_content_type);
}

/* A field may have no name. libhtp's functions take no NULL. */
static struct slice not_null(struct slice s)
{
    if (s.data == NULL)
        s.data = (const uint8_t *)"";
    return s;
}

/* True if a line with its end, even a CR alone, is followed by an empty line: libhtp has waited for
 * another one. */
static bool has_end(struct http_tx *htx, struct slice block)
{
    struct reader r = { .in = bytes_of_slice(block), .unfolded = http_buf_take(htx->tx.flow) };
    struct field f;
    bool found = false;

    while (!found && take_field(&r, &f))
        found = take_end(&r.in);
    http_buf_release(htx->tx.flow, &r.unfolded);
    return found;
}

/* A further empty line behind the header of a response without fields: no ordinary server sends
 * it. */
void http_empty_line_follows(struct http_tx *htx)
{
    raise_once(htx, HTTP_EVENT_RESPONSE_FIELD_MISSING_COLON,
               HTTP_EVENT_REQUEST_FIELD_MISSING_COLON);
    htp_tx_res_set_header(htx->htp, "", 0, "", 0, HTP_ALLOC_COPY);
}

/* Reads the block again in place of libhtp. Of a trailer, libhtp's fields stay and only new names
 * are added. `closed`: the server closed; within the block that raises no events. */
void http_fields_read_again(struct http_tx *htx, struct slice block, bool trailer, bool closed)
{
    bool silently = closed && !has_end(htx, block);
    struct reader r = { .in = bytes_of_slice(block), .complete = closed || !trailer,
                        .unfolded = http_buf_take(htx->tx.flow) };
    unsigned repetitions = 0;
    struct field f;

    if (!trailer)
        htp_tx_res_set_headers_clear(htx->htp);
    if (block.len == 1)                 /* the line end of a header without fields */
        take_skip(&r.in, 1);
    htx->message[TO_CLIENT].bare_header = block.len == 1 && !trailer;
    while (take_field(&r, &f)) {
        struct slice name = http_trimmed(not_null(f.name)), value = not_null(f.value);

        if (!silently)
            report(htx, &f);
        if (!trailer || find(htx->htp->response_headers, name) == NULL)
            add(htx->htp, name, http_trimmed(value), &repetitions);
        if (take_end(&r.in))
            break;
    }
    if (!trailer)
        read_content_type(htx->htp);
    http_buf_release(htx->tx.flow, &r.unfolded);
}

/* --- protocols -------------------------------------------------------------------------------- */

static void skip_spaces(struct bytes *in)
{
    while (bytes_have(in, 1) && is_space(peek_u8(in)) && peek_u8(in) != '\v')
        take_u8(in);
}

static int number_of(struct bytes *in)
{
    static const struct { const char *text; int number; } versions[] = {
        { ".9", HTP_PROTOCOL_0_9 }, { "1.0", HTP_PROTOCOL_1_0 }, { "1.1", HTP_PROTOCOL_1_1 },
    };

    for (size_t i = 0; i < ARRAY_LEN(versions); i++) {
        if (!starts_with(in, versions[i].text))
            continue;
        take_skip(in, strlen(versions[i].text));
        return versions[i].number;
    }
    return HTP_PROTOCOL_INVALID;
}

/* "http / 01.1" is understood, but unusual: *odd. */
int http_protocol_number(struct slice protocol, bool *odd)
{
    struct bytes in = bytes_of_slice(protocol);
    const uint8_t *from;
    int number;

    *odd = false;
    while (bytes_have(&in, 1) && (is_space(peek_u8(&in)) || peek_u8(&in) == 0))
        take_u8(&in);
    if (!bytes_have(&in, 4) || strncasecmp((const char *)in.next, "http", 4) != 0)
        return HTP_PROTOCOL_INVALID;
    take_skip(&in, 4);
    from = in.next;
    skip_spaces(&in);
    *odd = in.next != from;
    if (take_u8(&in) != '/')
        return HTP_PROTOCOL_INVALID;
    from = in.next;
    while (skip_spaces(&in), peek_u8(&in) == '0')
        take_u8(&in);
    *odd |= in.next != from;
    number = number_of(&in);
    skip_spaces(&in);
    if (bytes_left(&in) > 0)
        number = HTP_PROTOCOL_INVALID;
    *odd &= number != HTP_PROTOCOL_INVALID;
    return number;
}
