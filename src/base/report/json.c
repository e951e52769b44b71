/* SPDX-License-Identifier: GPL-2.0-or-later */
/* base/report/json.c - writes JSON (RFC 8259). Each value reserves its worst case once and then
 * writes through a bare pointer. Strings are scanned eight bytes at a time for bytes that need an
 * escape, and copied in runs. */
#include "base/report/json.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* 0: no escape; 'u': \u00XX; 'x': not ASCII; otherwise the letter after the backslash. */
static const uint8_t escape_of[256] = {
    [0 ... 7] = 'u', ['\b'] = 'b', ['\t'] = 't', ['\n'] = 'n', [11] = 'u', ['\f'] = 'f',
    ['\r'] = 'r', [14 ... 31] = 'u', ['"'] = '"', ['\\'] = '\\', [128 ... 255] = 'x',
};

static const char hex_digits[] = "0123456789abcdef";

const char json_two_digits[201] =
    "00010203040506070809101112131415161718192021222324252627282930313233343536373839"
    "40414243444546474849505152535455565758596061626364656667686970717273747576777879"
    "8081828384858687888990919293949596979899";

void json_init(struct json *j, struct buf *out)
{
    *j = (struct json){ .out = out };
}

/* A position to return to, for objects that turn out to be empty. */
struct json_mark json_mark(const struct json *j)
{
    return (struct json_mark){ .len = j->out->len, .more = j->more, .depth = j->depth };
}

void json_rewind(struct json *j, struct json_mark mark)
{
    j->out->len = mark.len;
    j->more = mark.more;
    j->depth = mark.depth;
}

/* One bit per level: whether a comma is needed. Levels beyond 64 share bits; EVE has less than
 * ten. */
static uint64_t level_bit(const struct json *j)
{
    return UINT64_C(1) << (j->depth & 63);
}

/* Most copies here are so short that a call of memcpy() costs more than the copy. The overlapping
 * copies need no loop. */
static inline uint8_t *put_short(uint8_t *p, const void *from, size_t n)
{
    const uint8_t *in = from;

    if (n > 16) {
        memcpy(p, in, n);
    } else if (n >= 8) {
        memcpy(p, in, 8);
        memcpy(p + n - 8, in + n - 8, 8);
    } else if (n >= 4) {
        memcpy(p, in, 4);
        memcpy(p + n - 4, in + n - 4, 4);
    } else if (n > 0) {
        p[0] = in[0];
        p[n / 2] = in[n / 2];
        p[n - 1] = in[n - 1];
    }
    return p + n;
}

/* Writes comma and key, and reserves `space` more bytes. Returns the position to write at. NULL
 * means that memory was refused; out->failed is then set and the record is lost. */
static inline uint8_t *begin_at(struct json *j, struct text key, size_t space)
{
    uint8_t *p = json_reserve(j, key.n + 3 + space);

    if (p != NULL && key.p != NULL) {
        *p++ = '"';
        p = put_short(p, key.p, key.n);
        *p++ = '"';
        *p++ = ':';
    }
    return p;
}

static inline uint8_t *begin(struct json *j, const char *key, size_t space)
{
    return begin_at(j, json_key(key), space);
}

static void open_level(struct json *j, const char *key, char c)
{
    uint8_t *p = begin(j, key, 1);

    if (p != NULL) {
        *p++ = (uint8_t)c;
        json_written(j, p);
    }
    j->depth++;
    j->more &= ~level_bit(j);
}

static void close_level(struct json *j, char c)
{
    buf_add_u8(j->out, (uint8_t)c);
    j->depth--;
}

void json_object(struct json *j, const char *key) { open_level(j, key, '{'); }
void json_object_end(struct json *j) { close_level(j, '}'); }
void json_array(struct json *j, const char *key) { open_level(j, key, '['); }
void json_array_end(struct json *j) { close_level(j, ']'); }

/* Length of the UTF-8 sequence at p, 0 if it is not valid (RFC 3629: no surrogates, no overlong
 * forms, nothing above U+10FFFF). */
static size_t utf8_length(const uint8_t *p, size_t left)
{
    uint8_t c = p[0], low = 0x80, high = 0xbf;
    size_t n = c >= 0xf0 ? 4 : c >= 0xe0 ? 3 : 2;

    if (c < 0xc2 || c > 0xf4 || left < n)
        return 0;
    if (c == 0xe0)
        low = 0xa0;
    else if (c == 0xed)
        high = 0x9f;
    else if (c == 0xf0)
        low = 0x90;
    else if (c == 0xf4)
        high = 0x8f;
    if (p[1] < low || p[1] > high)
        return 0;
    for (size_t i = 2; i < n; i++) {
        if ((p[i] & 0xc0) != 0x80)
            return 0;
    }
    return n;
}

static bool is_utf8(const uint8_t *p, size_t len)
{
    size_t i = 0;

    while (i < len) {
        size_t n = p[i] < 0x80 ? 1 : utf8_length(p + i, len - i);

        if (n == 0)
            return false;
        i += n;
    }
    return true;
}

/* The high bit of a byte is set if it needs an escape: below 0x20, '"', '\\' or not ASCII. A borrow
 * may also set it for a clean byte after such a byte; it is never missing. */
static inline uint64_t needs_care(uint64_t v)
{
    uint64_t quote = v ^ EACH_BYTE('"'), backslash = v ^ EACH_BYTE('\\');

    return (v | (v - EACH_BYTE(0x20)) | (quote - EACH_BYTE(1)) | (backslash - EACH_BYTE(1))) &
           EACH_BYTE(0x80);
}

/* True when no byte needs an escape, as in nearly all strings. The last eight (or four) bytes
 * overlap those before them. */
static bool is_clean(const uint8_t *data, size_t len)
{
    uint32_t low, high;
    uint64_t v;

    if (len >= 8) {
        for (size_t i = 0; i + 8 < len; i += 8) {
            memcpy(&v, data + i, 8);
            if (needs_care(v))
                return false;
        }
        memcpy(&v, data + len - 8, 8);
        return needs_care(v) == 0;
    }
    if (len >= 4) {
        memcpy(&low, data, 4);
        memcpy(&high, data + len - 4, 4);
        return needs_care((uint64_t)high << 32 | low) == 0;
    }
    for (size_t i = 0; i < len; i++)
        if (escape_of[data[i]] != 0)
            return false;
    return true;
}

struct escape {
    uint8_t text[7], len;
};

#define CLEAN(c) { { (uint8_t)(c) }, 1 }
#define NAMED(c) { { '\\', c }, 2 }
#define CONTROL(h, l) { { '\\', 'u', '0', '0', h, l }, 6 }
#define HIGH(h, l) { { '\\', '\\', 'x', h, l }, 5 }
#define EIGHT(c)                                                                                 \
    CLEAN(c), CLEAN((c) + 1), CLEAN((c) + 2), CLEAN((c) + 3), CLEAN((c) + 4), CLEAN((c) + 5),    \
        CLEAN((c) + 6), CLEAN((c) + 7)
#define ROW(of, h)                                                                               \
    of(h, '0'), of(h, '1'), of(h, '2'), of(h, '3'), of(h, '4'), of(h, '5'), of(h, '6'),          \
        of(h, '7'), of(h, '8'), of(h, '9'), of(h, 'a'), of(h, 'b'), of(h, 'c'), of(h, 'd'),      \
        of(h, 'e'), of(h, 'f')

/* What is written for each byte: a copy of eight bytes, without a branch. */
static const struct escape escapes[256] = {
    CONTROL('0', '0'), CONTROL('0', '1'), CONTROL('0', '2'), CONTROL('0', '3'), CONTROL('0', '4'),
    CONTROL('0', '5'), CONTROL('0', '6'), CONTROL('0', '7'), NAMED('b'), NAMED('t'), NAMED('n'),
    CONTROL('0', 'b'), NAMED('f'), NAMED('r'), CONTROL('0', 'e'), CONTROL('0', 'f'),
    ROW(CONTROL, '1'),
    CLEAN(0x20), CLEAN(0x21), NAMED('"'), CLEAN(0x23), CLEAN(0x24), CLEAN(0x25), CLEAN(0x26),
    CLEAN(0x27), EIGHT(0x28), EIGHT(0x30), EIGHT(0x38), EIGHT(0x40), EIGHT(0x48), EIGHT(0x50),
    CLEAN(0x58), CLEAN(0x59), CLEAN(0x5a), CLEAN(0x5b), NAMED('\\'), CLEAN(0x5d), CLEAN(0x5e),
    CLEAN(0x5f), EIGHT(0x60), EIGHT(0x68), EIGHT(0x70), EIGHT(0x78),
    ROW(HIGH, '8'), ROW(HIGH, '9'), ROW(HIGH, 'a'), ROW(HIGH, 'b'), ROW(HIGH, 'c'),
    ROW(HIGH, 'd'), ROW(HIGH, 'e'), ROW(HIGH, 'f'),
};

/* Bytes that are not valid UTF-8 become \\xNN. Validity is checked once, at the first byte that is
 * not ASCII, for the rest of the string: what was before it was ASCII. Writes up to seven bytes
 * more than it returns. */
static uint8_t *write_escaped(uint8_t *p, const uint8_t *data, size_t len)
{
    bool known = false, utf8 = false;
    size_t i = 0, end;
    uint64_t v;

    while (i < len) {
        if (len - i >= 8) {
            memcpy(&v, data + i, 8);
            if (needs_care(v) == 0) {
                memcpy(p, &v, 8);
                p += 8;
                i += 8;
                continue;
            }
        }
        for (end = i + MIN(len - i, 8); i < end; i++) {
            const struct escape *e = &escapes[data[i]];

            if (data[i] >= 0x80 && !known) {
                utf8 = is_utf8(data + i, len - i);
                known = true;
            }
            if (data[i] >= 0x80 && utf8) {
                *p++ = data[i];
                continue;
            }
            memcpy(p, e, sizeof(*e));
            p += e->len;
        }
    }
    return p;
}

#define ESCAPE_SLACK 8                  /* what write_escaped() may write beyond its end */

/* At most six bytes are written for one. Long strings are measured first. Otherwise one long text
 * would make the buffer permanently six times as large as the text. */
static size_t escaped_capacity(const uint8_t *data, size_t len)
{
    size_t space = ESCAPE_SLACK;

    if (len < 256)
        return len * 6 + ESCAPE_SLACK;
    for (size_t i = 0; i < len; i++)
        space += escapes[data[i]].len;
    return space;
}

size_t json_long_string_capacity(struct slice s)
{
    return escaped_capacity(s.data, s.len) + 2;
}

uint8_t *json_write_string(uint8_t *p, struct slice s)
{
    *p++ = '"';
    if (LIKELY(is_clean(s.data, s.len)))
        p = put_short(p, s.data, s.len);
    else
        p = write_escaped(p, s.data, s.len);
    *p++ = '"';
    return p;
}

/* Not inlined: for a literal of the caller the compiler would warn of the copy of long texts. */
__attribute__((noinline))
void json_put_bytes(struct json *j, struct text key, const void *data, size_t len)
{
    uint8_t *p = begin_at(j, key, escaped_capacity(data, len) + 2);

    if (p == NULL)
        return;
    *p++ = '"';
    if (LIKELY(is_clean(data, len)))
        p = put_short(p, data, len);
    else
        p = write_escaped(p, data, len);
    *p++ = '"';
    json_written(j, p);
}

/* Replaces each byte that is not valid UTF-8 by U+FFFD. */
void json_lossy(struct json *j, const char *key, struct slice s)
{
    uint8_t *p = begin(j, key, 6 * (size_t)s.len + 2 + ESCAPE_SLACK);
    size_t n;

    if (p == NULL)
        return;
    *p++ = '"';
    for (size_t i = 0; i < s.len; i += n) {
        n = s.data[i] < 0x80 ? 1 : utf8_length(s.data + i, s.len - i);
        if (n == 1) {
            p = write_escaped(p, s.data + i, 1);
            continue;
        }
        memcpy(p, n > 0 ? s.data + i : (const uint8_t *)"\xef\xbf\xbd", n > 0 ? n : 3);
        p += n > 0 ? n : 3;
        n = MAX(n, 1);
    }
    *p++ = '"';
    json_written(j, p);
}

/* The number of decimal digits: 1233/4096 is a little more than log10(2). */
static inline unsigned decimal_digits(uint64_t n)
{
    static const uint64_t power_of_ten[] = {
        0, 10, 100, 1000, 10000, 100000, 1000000, 10000000, 100000000, 1000000000, 10000000000,
        100000000000, 1000000000000, 10000000000000, 100000000000000, 1000000000000000,
        10000000000000000, 100000000000000000, 1000000000000000000, 10000000000000000000u,
    };
    unsigned about = (64 - (unsigned)__builtin_clzll(n | 1)) * 1233 >> 12;

    return about + (n >= power_of_ten[about]);
}

/* Writes digits from the right, two at a time. */
uint8_t *json_write_u64(uint8_t *p, uint64_t n)
{
    uint8_t *const last = p + decimal_digits(n), *at = last;

    while (n >= 100) {
        at -= 2;
        memcpy(at, json_two_digits + n % 100 * 2, 2);
        n /= 100;
    }
    if (n >= 10)
        memcpy(at - 2, json_two_digits + n * 2, 2);
    else
        at[-1] = (uint8_t)('0' + n);
    return last;
}

void json_put_u64(struct json *j, struct text key, uint64_t value)
{
    uint8_t *p = begin_at(j, key, 20);

    if (p != NULL)
        json_written(j, json_write_u64(p, value));
}

void json_i64(struct json *j, const char *key, int64_t value)
{
    uint8_t *p = begin(j, key, 21);

    if (p == NULL)
        return;
    if (value < 0)
        *p++ = '-';
    json_written(j, json_write_u64(p, value < 0 ? 0 - (uint64_t)value : (uint64_t)value));
}

/* The shortest form that reads back as the same number; null for numbers that JSON does not have
 * (RFC 8259, section 6). */
void json_double(struct json *j, const char *key, double value)
{
    char text[32];
    int n = 0;

    if (!isfinite(value)) {
        json_null(j, key);
        return;
    }
    for (int digits = 15; digits <= 17; digits++) {
        n = snprintf(text, sizeof(text), "%.*g", digits, value);
        if (strtod(text, NULL) == value)
            break;
    }
    json_raw(j, key, text, (size_t)n);
}

void json_null(struct json *j, const char *key)
{
    json_raw(j, key, "null", 4);
}

void json_put_raw(struct json *j, struct text key, const char *text, size_t len)
{
    uint8_t *p = begin_at(j, key, len);

    if (p != NULL)
        json_written(j, put_short(p, text, len));
}

void json_raw(struct json *j, const char *key, const char *text, size_t len)
{
    json_put_raw(j, json_key(key), text, len);
}

/* RFC 4648, section 4, with padding. */
void json_base64(struct json *j, const char *key, const void *data, size_t len)
{
    static const char alphabet[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const uint8_t *in = data;
    uint8_t *p = begin(j, key, (len + 2) / 3 * 4 + 2);

    if (p == NULL)
        return;
    *p++ = '"';
    for (; len >= 3; len -= 3, in += 3) {
        uint32_t v = (uint32_t)in[0] << 16 | (uint32_t)in[1] << 8 | in[2];

        *p++ = (uint8_t)alphabet[v >> 18];
        *p++ = (uint8_t)alphabet[v >> 12 & 63];
        *p++ = (uint8_t)alphabet[v >> 6 & 63];
        *p++ = (uint8_t)alphabet[v & 63];
    }
    if (len > 0) {
        uint32_t v = (uint32_t)in[0] << 16 | (len > 1 ? (uint32_t)in[1] << 8 : 0);

        *p++ = (uint8_t)alphabet[v >> 18];
        *p++ = (uint8_t)alphabet[v >> 12 & 63];
        *p++ = len > 1 ? (uint8_t)alphabet[v >> 6 & 63] : '=';
        *p++ = '=';
    }
    *p++ = '"';
    json_written(j, p);
}

void json_hex(struct json *j, const char *key, const void *data, size_t len)
{
    const uint8_t *in = data;
    uint8_t *p = begin(j, key, len * 2 + 2);

    if (p == NULL)
        return;
    *p++ = '"';
    for (size_t i = 0; i < len; i++) {
        *p++ = (uint8_t)hex_digits[in[i] >> 4];
        *p++ = (uint8_t)hex_digits[in[i] & 15];
    }
    *p++ = '"';
    json_written(j, p);
}

void json_printf(struct json *j, const char *key, const char *fmt, ...)
{
    char small[512];
    va_list args;
    int n;

    va_start(args, fmt);
    n = vsnprintf(small, sizeof(small), fmt, args);
    va_end(args);
    if (n < (int)sizeof(small)) {
        json_bytes(j, key, small, (size_t)MAX(n, 0));
        return;
    }
    char *large = malloc((size_t)n + 1);

    if (large == NULL) {
        json_bytes(j, key, small, sizeof(small) - 1);
        return;
    }
    va_start(args, fmt);
    vsnprintf(large, (size_t)n + 1, fmt, args);
    va_end(args);
    json_bytes(j, key, large, (size_t)n);
    free(large);
}

/* As Suricata's payload_printable: dots for what is not printable, except line ends. */
void json_printable(struct json *j, const char *key, const void *data, size_t len)
{
    const uint8_t *in = data;
    uint8_t *p = begin(j, key, len * 2 + 2);

    if (p == NULL)
        return;
    *p++ = '"';
    for (size_t i = 0; i < len; i++) {
        uint8_t c = in[i], how = escape_of[c];

        if (how == 0 && c != 0x7f) {
            *p++ = c;
        } else if (c == '\n' || c == '\r' || c == '"' || c == '\\') {
            *p++ = '\\';
            *p++ = how;
        } else {
            *p++ = '.';
        }
    }
    *p++ = '"';
    json_written(j, p);
}
