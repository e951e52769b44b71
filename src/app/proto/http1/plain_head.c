/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/proto/http1/plain_head.c - the fields of a head that has nothing unusual, read in one pass.
 *
 * libhtp takes each byte of a head through its state machine, and then reads each line again.
 * Nearly all heads come in one part and have fields of one form: a token, a colon, a value, CRLF,
 * and each name once. Where a line has another form, or a name repeats, libhtp reads each line, but
 * still not each byte. http1.c begins such a request by libhtp's own functions for programs with a
 * parser of their own, or gives libhtp the first line; it puts the fields into libhtp's table, and
 * then gives it the empty line and what follows. So libhtp's states are the same as ever. A head of
 * any other form goes to libhtp as it came. */
#include "app/proto/http1/lines.h"
#include "app/proto/http1/table.h"
#include "base/text/bytes.h"

#include <string.h>
#include <strings.h>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

#define HIGH_BITS EACH_BYTE(0x80)

/* The first byte in memory is the lowest. */
static uint64_t eight_bytes(const uint8_t *p)
{
    uint64_t v;

    memcpy(&v, p, sizeof(v));
    return __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ ? __builtin_bswap64(v) : v;
}

/* How many bytes precede the first one whose high bit is set in `bits`, which is not 0. */
static uint32_t bytes_before(uint64_t bits)
{
    return (uint32_t)__builtin_ctzll(bits) / 8;
}

/* The position of the first control character from `at` on, or the length. Eight bytes at a time:
 * the high bit of a byte is set if it is below ' ', or after such a byte. */
static uint32_t control_by_words(struct slice s, uint32_t at)
{
    for (; s.len - at >= 8; at += 8) {
        uint64_t v = eight_bytes(s.data + at), control = (v - EACH_BYTE(' ')) & ~v & HIGH_BITS;

        if (control != 0)
            return at + bytes_before(control);
    }
    while (at < s.len && s.data[at] >= ' ')
        at++;
    return at;
}

/* The high bits of bytes that are letters or '-', as nearly all bytes of names are. No byte of v
 * has its own high bit set. */
static uint64_t letters(uint64_t v)
{
    uint64_t lower = v | EACH_BYTE(0x20), dash = v ^ EACH_BYTE('-');
    uint64_t from_a = lower + EACH_BYTE(0x80 - 'a'), after_z = lower + EACH_BYTE(0x7f - 'z');

    return ((from_a & ~after_z) | ~(dash + EACH_BYTE(0x7f))) & HIGH_BITS;
}

/* The position of the first byte from `at` on that is not of a token, or the length. */
static uint32_t token_end_by_words(struct slice s, uint32_t at)
{
    for (; s.len - at >= 8; at += 8) {
        uint64_t v = eight_bytes(s.data + at), others;

        if (UNLIKELY((v & HIGH_BITS) != 0))
            break;
        others = ~letters(v) & HIGH_BITS;
        if (others == 0)
            continue;
        at += bytes_before(others);
        break;
    }
    while (at < s.len && http_token_char[s.data[at]])
        at++;
    return at;
}

#ifdef __SSE2__

/* A bit for each of sixteen bytes that is a control character. */
static uint32_t controls_16(const uint8_t *p)
{
    const __m128i v = _mm_loadu_si128((const __m128i *)p);

    return (uint32_t)_mm_movemask_epi8(_mm_cmpeq_epi8(_mm_min_epu8(v, _mm_set1_epi8(' ' - 1)), v));
}

static uint32_t controls_32(const uint8_t *p)
{
    return controls_16(p) | controls_16(p + 16) << 16;
}

/* The last 32 bytes may overlap those before them. */
static uint32_t control_at(struct slice s, uint32_t at)
{
    uint32_t bits;

    for (; s.len - at >= 32; at += 32) {
        bits = controls_32(s.data + at);
        if (bits != 0)
            return at + (uint32_t)__builtin_ctz(bits);
    }
    if (UNLIKELY(s.len < 32))
        return control_by_words(s, at);
    bits = at < s.len ? controls_32(s.data + s.len - 32) >> (32 - (s.len - at)) : 0;
    return bits != 0 ? at + (uint32_t)__builtin_ctz(bits) : s.len;
}

/* A bit for each of sixteen bytes that is neither a letter nor '-', as nearly all bytes of names
 * are. */
static uint32_t others_16(const uint8_t *p)
{
    const __m128i v = _mm_loadu_si128((const __m128i *)p), last = _mm_set1_epi8('z' - 'a');
    const __m128i letter = _mm_sub_epi8(_mm_or_si128(v, _mm_set1_epi8(0x20)), _mm_set1_epi8('a'));
    const __m128i is_letter = _mm_cmpeq_epi8(_mm_min_epu8(letter, last), letter);
    const __m128i is_dash = _mm_cmpeq_epi8(v, _mm_set1_epi8('-'));

    return (uint32_t)_mm_movemask_epi8(_mm_or_si128(is_letter, is_dash)) ^ 0xffff;
}

static uint32_t token_end(struct slice s, uint32_t at)
{
    for (uint32_t others; s.len - at >= 16; at += 16) {
        others = others_16(s.data + at);
        if (others == 0)
            continue;
        at += (uint32_t)__builtin_ctz(others);
        while (at < s.len && http_token_char[s.data[at]])
            at++;
        return at;
    }
    return token_end_by_words(s, at);
}

#else

static uint32_t control_at(struct slice s, uint32_t at)
{
    return control_by_words(s, at);
}

static uint32_t token_end(struct slice s, uint32_t at)
{
    return token_end_by_words(s, at);
}

#endif

static bool is_line_end(struct slice s, uint32_t at)
{
    return s.len - at >= 2 && memcmp(s.data + at, "\r\n", 2) == 0;
}

static struct slice part(struct slice s, uint32_t from, uint32_t to)
{
    return (struct slice){ .data = s.data + from, .len = to - from };
}

static bool has_version_at(struct slice line, uint32_t at)
{
    return line.len - at >= 8 && memcmp(line.data + at, "HTTP/1.", 7) == 0 &&
           (line.data[at + 7] == '0' || line.data[at + 7] == '1');
}

/* A method, one space, a target without spaces, one space, the version. Of CONNECT the rest may be
 * another protocol. */
static bool is_request_line(struct slice line, struct plain_head *head)
{
    const uint8_t *space = line.len > 12 ? memchr(line.data, ' ', line.len - 9) : NULL;
    uint32_t method;

    if (space == NULL || !has_version_at(line, line.len - 8) || line.data[line.len - 9] != ' ')
        return false;
    method = (uint32_t)(space - line.data);
    if (method == 0 || (method == 7 && memcmp(line.data, "CONNECT", 7) == 0))
        return false;
    for (uint32_t i = 0; i < method; i++)
        if (!http_token_char[line.data[i]])
            return false;
    head->method = part(line, 0, method);
    head->target = part(line, method + 1, line.len - 9);
    return head->target.len > 0 && memchr(head->target.data, ' ', head->target.len) == NULL;
}

/* 1: nothing that is decoded; 2: nor behind a '/'. */
static const uint8_t path_char[256] = {
    ['!'] = 1, ['"'] = 1, ['$'] = 1, ['&' ... '-'] = 1, ['.'] = 2, ['/'] = 2,
    ['0' ... '>'] = 1, ['@' ... '['] = 1, [']' ... '~'] = 1,
};

bool http_target_is_plain(struct slice target, uint32_t *path)
{
    uint32_t i = 1;

    if (target.len == 0 || target.data[0] != '/')
        return false;
    for (; i < target.len && path_char[target.data[i]] != 0; i++)
        if (UNLIKELY(path_char[target.data[i]] == 2) && target.data[i - 1] == '/')
            return false;
    *path = i;
    return i == target.len ||
           (target.data[i] == '?' && memchr(target.data + i, '#', target.len - i) == NULL);
}

/* A version, blanks, and what may be a status. After 1xx another head follows, or another protocol.
 * libhtp reads the line, whatever it has. */
static bool is_status_line(struct slice line)
{
    const uint8_t *space = line.len > 5 && memcmp(line.data, "HTTP/", 5) == 0
                               ? memchr(line.data, ' ', line.len) : NULL;
    uint32_t at = space != NULL ? (uint32_t)(space - line.data) : line.len;

    while (at < line.len && line.data[at] == ' ')
        at++;
    return at < line.len && line.data[at] >= '2' && line.data[at] <= '9';
}

static bool is_same_name(struct slice a, struct slice b)
{
    return a.len == b.len &&
           strncasecmp((const char *)a.data, (const char *)b.data, a.len) == 0;
}

/* A bit by the length, the first and the last letter of a name: names that differ share few. */
static uint64_t name_mark(struct slice name)
{
    unsigned first = name.data[0] | 0x20, last = name.data[name.len - 1] | 0x20;

    return UINT64_C(1) << ((name.len * 8 + first + last * 3) & 63);
}

/* `mark`: that of the name. */
static bool is_new_name(const struct plain_head *head, struct slice name, uint64_t mark)
{
    if ((head->marks & mark) == 0)
        return true;
    for (unsigned i = 0; i < head->count; i++)
        if (is_same_name(head->field[i].name, name))
            return false;
    return true;
}

/* *at: where the field begins, and then the next one. */
static bool take_field(struct slice in, uint32_t *at, struct plain_head *head)
{
    struct http_field *f = &head->field[head->count];
    uint32_t from = *at, colon = token_end(in, from), to, end;
    uint64_t mark;

    if (colon == from || colon == in.len || in.data[colon] != ':')
        return false;
    f->name = part(in, from, colon);
    mark = name_mark(f->name);
    end = to = control_at(in, colon + 1);
    if (!is_line_end(in, end) || !is_new_name(head, f->name, mark))
        return false;
    for (from = colon + 1; from < to && in.data[from] == ' ';)
        from++;
    while (to > from && in.data[to - 1] == ' ')
        to--;
    f->value = part(in, from, to);
    head->marks |= mark;
    head->count++;
    *at = end + 2;
    return true;
}

/* Any line that is not folded. */
static bool take_odd_line(struct slice in, uint32_t *at)
{
    uint32_t end = control_at(in, *at);

    if (end == *at || in.data[*at] == ' ' || !is_line_end(in, end))
        return false;
    *at = end + 2;
    return true;
}

bool http_plain_head_find(struct slice in, enum direction d, struct plain_head *head)
{
    uint32_t at = control_at(in, 0);
    struct slice line = part(in, 0, at);

    head->method = head->target = part(in, 0, 0);
    if (!is_line_end(in, at) ||
        !(d == TO_SERVER ? is_request_line(line, head) : is_status_line(line)))
        return false;
    at += 2;
    head->line_len = at;
    head->marks = 0;
    head->count = 0;
    head->odd = false;
    while (!is_line_end(in, at)) {
        if (LIKELY(!head->odd && head->count < PLAIN_FIELDS_MAX) && take_field(in, &at, head))
            continue;
        if (!take_odd_line(in, &at))
            return false;
        head->odd = true;
    }
    head->fields_len = at - head->line_len;
    return head->fields_len > 0;
}

bool http_plain_head_process(htp_connp_t *connp, struct slice fields, enum direction d)
{
    for (uint32_t at = 0, end; at < fields.len; at = end + 2) {
        uint8_t *line = (uint8_t *)(uintptr_t)fields.data + at;

        end = control_at(fields, at);
        if ((d == TO_SERVER
                 ? htp_process_request_header_generic(connp, line, end - at)
                 : htp_process_response_header_generic(connp, line, end - at)) != HTP_OK)
            return false;
    }
    return true;
}

/* The header is libhtp's from then on. */
static bool add_field(const struct http_field *f, htp_table_t *headers)
{
    htp_header_t *h = http_libhtp_calloc(sizeof(*h));

    if (h == NULL)
        return false;
    h->name = bstr_dup_mem(f->name.data, f->name.len);
    h->value = bstr_dup_mem(f->value.data, f->value.len);
    if (h->name != NULL && h->value != NULL &&
        htp_table_add(headers, h->name, h) == HTP_OK)
        return true;
    bstr_free(h->name);
    bstr_free(h->value);
    http_libhtp_free(h);
    return false;
}

#define TRANSFER_ENCODING "transfer-encoding"

/* Only then can a trailer follow. libhtp appends the values of its fields to those of equal names,
 * which therefore have to be blocks of their own. */
static bool may_be_chunked(const struct plain_head *head)
{
    const size_t len = sizeof(TRANSFER_ENCODING) - 1;

    for (unsigned i = 0; i < head->count; i++)
        if (head->field[i].name.len == len &&
            strncasecmp((const char *)head->field[i].name.data, TRANSFER_ENCODING, len) == 0)
            return true;
    return false;
}

bool http_plain_head_add(const struct plain_head *head, htp_table_t *headers)
{
    const struct slice text = { .data = head->field[0].name.data, .len = head->fields_len };

    if (HTTP_TABLE_IS_OURS && head->count <= HTTP_TABLE_FILL_MAX &&
        http_table_size(headers) == 0 && !may_be_chunked(head))
        return http_table_fill(headers, head->field, head->count, text);
    for (unsigned i = 0; i < head->count; i++)
        if (!add_field(&head->field[i], headers))
            return false;
    return true;
}

/* --- the strings of a plain request line, in one block ---------------------------------------- */

/* libhtp would allocate eight of them, and free each with its transaction. Here all but the first
 * one refer to the text of the first one, behind them. They are taken out before libhtp frees the
 * transaction; the first one frees the block. Nothing changes their text: a plain target has
 * nothing to trim, decode or shorten. They lie in this order. */
enum string { LINE, METHOD, TARGET, PROTOCOL, RAW_PATH, RAW_QUERY, PATH, QUERY, STRINGS };

static void set_uri(htp_uri_t *uri, bstr *path, bstr *query, bool has_query)
{
    uri->path = path;
    uri->query = has_query ? query : NULL;
}

bool http_request_line_set(htp_tx_t *htp, struct slice line, const struct plain_head *head,
                           uint32_t path_len)
{
    bstr *string = http_libhtp_calloc(STRINGS * sizeof(*string) + line.len);
    bool has_query = path_len < head->target.len;
    uint8_t *text, *target;

    htp->request_line = string;
    htp->parsed_uri = htp_uri_alloc();
    if (string == NULL || htp->parsed_uri == NULL)
        return false;
    text = (uint8_t *)(string + STRINGS);
    target = text + (head->target.data - line.data);
    memcpy(text, line.data, line.len);
    string[LINE] = http_borrowed(text, line.len);
    string[METHOD] = http_borrowed(text, head->method.len);
    string[TARGET] = http_borrowed(target, head->target.len);
    string[PROTOCOL] = http_borrowed(text + line.len - 8, 8);          /* HTTP/1.x */
    string[PATH] = string[RAW_PATH] = http_borrowed(target, path_len);
    string[QUERY] = string[RAW_QUERY] =
        http_borrowed(target + path_len + has_query, head->target.len - path_len - has_query);
    htp->request_method = &string[METHOD];
    htp->request_protocol = &string[PROTOCOL];
    set_uri(htp->parsed_uri_raw, &string[RAW_PATH], &string[RAW_QUERY], has_query);
    set_uri(htp->parsed_uri, &string[PATH], &string[QUERY], has_query);
    return true;
}

/* No other block begins where the second string of this one lies. */
static bool is_one_block(const htp_tx_t *htp)
{
    return htp->request_line != NULL && htp->request_method == htp->request_line + METHOD;
}

void http_request_line_add_target(htp_tx_t *htp)
{
    if (htp->request_uri == NULL && is_one_block(htp))
        htp->request_uri = htp->request_line + TARGET;
}

void http_request_line_release(htp_tx_t *htp)
{
    if (!is_one_block(htp))
        return;
    htp->request_method = htp->request_uri = htp->request_protocol = NULL;
    set_uri(htp->parsed_uri_raw, NULL, NULL, false);
    if (htp->parsed_uri != NULL)
        set_uri(htp->parsed_uri, NULL, NULL, false);
}
