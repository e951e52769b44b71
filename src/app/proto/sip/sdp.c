/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/proto/sip/sdp.c - session descriptions (RFC 4566): lines of one letter each, in a fixed
 * order. */
#include "app/proto/sip/sip.h"

#include "app/lib/log_text.h"
#include "base/array.h"
#include "base/text/ip.h"

#include <arpa/inet.h>
#include <stdio.h>

/* `in` is after the last line that was accepted. */
struct sdp_reader {
    struct bytes in;
    struct arena *arena;
};

/* --- lines ------------------------------------------------------------------------------------ */

static bool is_alpha(uint8_t c) { return (c | 32) >= 'a' && (c | 32) <= 'z'; }
static bool is_digit(uint8_t c) { return c >= '0' && c <= '9'; }
static bool is_alnum(uint8_t c) { return is_alpha(c) || is_digit(c); }
static bool is_blank(uint8_t c) { return c == ' ' || c == '\t'; }
static bool is_name(uint8_t c) { return is_alnum(c) || is_blank(c); }
static bool is_any(uint8_t c) { return c != '\r' && c != '\n'; }
/* Sets of characters, RFC 4566 section 9. */
static bool is_token(uint8_t c)
{
    return c == 0x21 || c == 0x2a || c == 0x2b || c == 0x2d || c == 0x2e ||
           (c >= 0x23 && c <= 0x27) || is_digit(c) || (c >= 0x41 && c <= 0x5a) ||
           (c >= 0x5e && c <= 0x7e);
}
static bool is_uri(uint8_t c) { return is_token(c) || (c != 0 && strchr("#@:;=?+&$,/", c)); }
static bool is_time(uint8_t c) { return is_digit(c) || (c != 0 && strchr("dhms-", c)); }
static bool is_address(uint8_t c)
{
    return is_digit(c) || ((c | 32) >= 'a' && (c | 32) <= 'f') || c == '.' || c == ':';
}

/* The value of the next line, if it has this type. r->in does not move: the caller accepts the line
 * by `behind`. */
static bool next_line(const struct sdp_reader *r, char type, struct bytes *value,
                      struct bytes *behind)
{
    struct bytes in = r->in;
    const uint8_t *start;

    if (take_u8(&in) != (uint8_t)type || take_u8(&in) != '=' || in.failed)
        return false;
    start = in.next;
    while (in.next < in.end && is_any(*in.next))
        in.next++;
    *value = bytes_of(start, (size_t)(in.next - start));
    if (peek_u8(&in) == '\r')
        take_skip(&in, 1);
    if (take_u8(&in) != '\n')
        return false;
    *behind = in;
    return !in.failed;
}

static struct slice span(struct bytes *in, bool (*is)(uint8_t c))
{
    struct slice s = { in->next, 0 };

    while (in->next < in->end && is(*in->next)) {
        in->next++;
        s.len++;
    }
    return s;
}

/* An empty value and a missing one differ: an empty one has a pointer. */
static struct slice keep(struct sdp_reader *r, struct slice s)
{
    struct slice copy = app_text_utf8(r->arena, s);

    return copy.len > 0 ? copy : (struct slice){ (const uint8_t *)"", 0 };
}

/* A line with one kind of characters. */
static bool plain_line(struct sdp_reader *r, char type, bool (*is)(uint8_t c), struct slice *out)
{
    struct bytes value, behind;
    struct slice s;

    if (!next_line(r, type, &value, &behind))
        return false;
    s = span(&value, is);
    if (bytes_left(&value) > 0)
        return false;
    *out = keep(r, s);
    r->in = behind;
    return true;
}

/* A line of several fields, each of at least `min` bytes. */
struct line_form {
    char type;
    uint32_t min;
    unsigned count;
    bool (*is[6])(uint8_t c);           /* by field: a byte that it may have */
};

/* The blanks between fields become one. */
static bool fields_line(struct sdp_reader *r, const struct line_form *form, struct slice *out)
{
    struct bytes value, behind;
    uint32_t len = 0;
    uint8_t *text;

    if (!next_line(r, form->type, &value, &behind))
        return false;
    text = arena_alloc(r->arena, bytes_left(&value) + 1);
    if (text == NULL)
        return false;
    for (unsigned i = 0; i < form->count; i++) {
        struct slice s;

        if (i > 0) {
            if (span(&value, is_blank).len == 0)
                return false;
            text[len++] = ' ';
        }
        s = span(&value, form->is[i]);
        if (s.len < form->min)
            return false;
        memcpy(text + len, s.data, s.len);
        len += s.len;
    }
    if (bytes_left(&value) > 0)
        return false;
    *out = app_text_utf8(r->arena, (struct slice){ text, len });
    r->in = behind;
    return true;
}

/* --- fields ----------------------------------------------------------------------------------- */

/* "/n", n from 1 to 255: a TTL, or a number of addresses. */
static bool take_count(struct bytes *in, unsigned *out)
{
    struct bytes b = *in;
    struct slice digits;
    uint64_t n;

    if (take_u8(&b) != '/')
        return false;
    digits = span(&b, is_digit);
    if (digits.len == 0 || digits.data[0] == '0' ||
        !text_to_u64((struct text){ (const char *)digits.data, digits.len }, 255, &n))
        return false;
    *out = (unsigned)n;
    *in = b;
    return true;
}

/* RFC 4566 section 5.7. An IPv4 multicast address must have a TTL. The address is written in its
 * canonical form. */
static bool connection_line(struct sdp_reader *r, struct slice *out)
{
    struct bytes value, behind;
    struct slice net, kind, address;
    unsigned first = 0, second = 0;
    char text[INET6_ADDRSTRLEN], *line;
    struct ip ip;

    if (!next_line(r, 'c', &value, &behind))
        return false;
    net = span(&value, is_alpha);
    if (span(&value, is_blank).len == 0)
        return false;
    kind = span(&value, is_alnum);
    if (span(&value, is_blank).len == 0)
        return false;
    address = span(&value, is_address);
    if (take_count(&value, &first))
        take_count(&value, &second);
    if (bytes_left(&value) > 0 ||
        !ip_parse((struct text){ (const char *)address.data, address.len }, &ip))
        return false;
    if (ip.version == 4 && (ip.b[0] & 0xf0) == 0xe0 && first == 0)
        return false;
    inet_ntop(ip.version == 4 ? AF_INET : AF_INET6, ip.b, text, sizeof(text));
    line = arena_printf(r->arena, "%.*s %.*s %s", (int)net.len, (const char *)net.data,
                        (int)kind.len, (const char *)kind.data, text);
    if (first > 0)
        line = arena_printf(r->arena, "%s/%u", line, first);
    if (second > 0 && ip.version == 4)
        line = arena_printf(r->arena, "%s/%u", line, second);
    *out = (struct slice){ (const uint8_t *)line, (uint32_t)strlen(line) };
    r->in = behind;
    return true;
}

/* RFC 4566 section 5.8, and TIAS of RFC 3890. */
static bool is_bandwidth(struct slice s)
{
    static const char *const types[] = { "CT:", "AS:", "TIAS:" };

    for (unsigned i = 0; i < ARRAY_LEN(types); i++) {
        size_t n = strlen(types[i]);

        if (s.len <= n || memcmp(s.data, types[i], n) != 0)
            continue;
        while (n < s.len && is_digit(s.data[n]))
            n++;
        return n == s.len;
    }
    return false;
}

/* RFC 4566 section 5.13: "name" or "name:value". */
static bool is_attribute(struct slice s)
{
    uint32_t n = 0;

    while (n < s.len && is_alpha(s.data[n]))
        n++;
    return n == s.len || s.data[n] == ':';
}

/* All following lines of this type. An invalid one ends the list and stays unread. */
static struct sdp_text *text_lines(struct sdp_reader *r, char type, bool (*fits)(struct slice s))
{
    struct sdp_text *first = NULL, **tail = &first;
    struct bytes value, behind;

    while (next_line(r, type, &value, &behind)) {
        struct slice s = take_rest(&value);

        if (!fits(s))
            break;
        *tail = arena_zalloc(r->arena, sizeof(**tail));
        if (*tail == NULL)
            break;
        (*tail)->text = keep(r, s);
        tail = &(*tail)->next;
        r->in = behind;
    }
    return first;
}

/* RFC 4566 sections 5.9 and 5.10. One repeat line per time. */
static struct sdp_time *time_lines(struct sdp_reader *r)
{
    static const struct line_form time = { 't', 1, 2, { is_digit, is_digit } };
    static const struct line_form repeat = { 'r', 0, 4, { is_time, is_time, is_time, is_time } };
    struct sdp_time *first = NULL, **tail = &first;
    struct slice s;

    while (fields_line(r, &time, &s)) {
        *tail = arena_zalloc(r->arena, sizeof(**tail));
        if (*tail == NULL)
            break;
        (*tail)->time = s;
        fields_line(r, &repeat, &(*tail)->repeat);
        tail = &(*tail)->next;
    }
    return first;
}

/* --- media ------------------------------------------------------------------------------------ */

static bool take_word(struct bytes *in, const char *const *words, struct slice *out)
{
    for (; *words != NULL; words++) {
        size_t n = strlen(*words);

        if (bytes_have(in, n) && memcmp(in->next, *words, n) == 0) {
            *out = take_slice(in, n);
            return true;
        }
    }
    return false;
}

/* Up to 99999: the caller checks the range. */
static bool take_port(struct bytes *in, uint64_t *out)
{
    struct slice s = span(in, is_digit);

    return s.len >= 1 && s.len <= 5 &&
           text_to_u64((struct text){ (const char *)s.data, s.len }, 99999, out);
}

/* "audio 49170/2 RTP/AVP 0 8", RFC 4566 section 5.14. Blanks between become one. */
static bool media_value(struct sdp_reader *r, struct bytes value, struct slice *out)
{
    static const char *const types[] = { "audio", "video", "text", "application", "message",
                                         NULL };
    static const char *const protocols[] = { "udp", "RTP/AVP", "RTP/SAVP", NULL };
    struct slice type, protocol, format;
    uint64_t port, count = UINT64_MAX;
    char *line;

    if (!take_word(&value, types, &type) || span(&value, is_blank).len == 0 ||
        !take_port(&value, &port) || port > UINT16_MAX)
        return false;
    if (peek_u8(&value) == '/') {
        take_skip(&value, 1);
        if (!take_port(&value, &count))
            return false;
    }
    if (span(&value, is_blank).len == 0 || !take_word(&value, protocols, &protocol))
        return false;
    line = arena_alloc(r->arena, bytes_left(&value) + 64);
    if (line == NULL)
        return false;
    uint32_t n = (uint32_t)snprintf(line, 64, "%.*s %u", (int)type.len, (const char *)type.data,
                                    (unsigned)port);
    if (count <= UINT16_MAX)
        n += (uint32_t)snprintf(line + n, 64 - n, "/%u", (unsigned)count);
    n += (uint32_t)snprintf(line + n, 64 - n, " %.*s", (int)protocol.len,
                            (const char *)protocol.data);
    if (bytes_left(&value) == 0)
        return false;
    while (bytes_left(&value) > 0) {
        if (span(&value, is_blank).len == 0)
            return false;
        format = span(&value, is_alnum);
        if (format.len == 0 || format.len > 255)
            return false;
        line[n++] = ' ';
        memcpy(line + n, format.data, format.len);
        n += format.len;
    }
    *out = (struct slice){ (const uint8_t *)line, n };
    return true;
}

/* A media description and its own lines, in the order of the RFC. */
static struct sdp_media *media_lines(struct sdp_reader *r)
{
    struct sdp_media *first = NULL, **tail = &first, *m;
    struct bytes value, behind;
    struct slice line;

    while (next_line(r, 'm', &value, &behind) && media_value(r, value, &line)) {
        r->in = behind;
        m = *tail = arena_zalloc(r->arena, sizeof(*m));
        if (m == NULL)
            break;
        tail = &m->next;
        m->media = line;
        plain_line(r, 'i', is_name, &m->info);
        connection_line(r, &m->connection);
        m->bandwidths = text_lines(r, 'b', is_bandwidth);
        plain_line(r, 'k', is_any, &m->key);
        m->attributes = text_lines(r, 'a', is_attribute);
    }
    return first;
}

static bool is_zero(uint8_t c) { return c == '0'; }

/* NULL: no valid description; the version, origin, name and a time are required (RFC 4566 section
 * 5). */
struct sdp *sdp_parse(struct bytes in, struct arena *arena)
{
    static const struct line_form origin = {
        'o', 0, 6, { is_token, is_digit, is_digit, is_alpha, is_alnum, is_any },
    };
    static const struct line_form zone = { 'z', 0, 4, { is_time, is_time, is_time, is_time } };
    struct sdp_reader r = { in, arena };
    struct sdp *sdp;
    struct slice version;

    if (!plain_line(&r, 'v', is_zero, &version) || version.len != 1)
        return NULL;
    sdp = arena_zalloc(arena, sizeof(*sdp));
    if (sdp == NULL || !fields_line(&r, &origin, &sdp->origin) ||
        !plain_line(&r, 's', is_name, &sdp->name))
        return NULL;
    plain_line(&r, 'i', is_name, &sdp->info);
    plain_line(&r, 'u', is_uri, &sdp->uri);
    plain_line(&r, 'e', is_any, &sdp->email);
    plain_line(&r, 'p', is_any, &sdp->phone);
    connection_line(&r, &sdp->connection);
    sdp->bandwidths = text_lines(&r, 'b', is_bandwidth);
    sdp->times = time_lines(&r);
    if (sdp->times == NULL)
        return NULL;
    fields_line(&r, &zone, &sdp->zone);
    plain_line(&r, 'k', is_any, &sdp->key);
    sdp->attributes = text_lines(&r, 'a', is_attribute);
    sdp->media = media_lines(&r);
    return sdp;
}
