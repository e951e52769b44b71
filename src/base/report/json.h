/* SPDX-License-Identifier: GPL-2.0-or-later */
/* base/report/json.h - writes JSON into a buf. All EVE records are written with it.
 *
 * Keys are C strings that need no escaping. Valid UTF-8 is written unchanged, control characters as
 * \u00XX. In a string that is not UTF-8 each byte from 0x80 on becomes the four characters \xNN, as
 * in Suricata. So the output is always valid. The writer adds commas. At most 63 levels. */
#ifndef BASE_JSON_H
#define BASE_JSON_H

#include "base/memory/buf.h"
#include "base/text/text.h"

#include <string.h>

struct json {
    struct buf *out;        /* borrowed */
    uint64_t more;          /* one bit per depth: this level has a member already */
    unsigned depth;
};

/* A position in the output, to remove an object that turned out to be empty. */
struct json_mark {
    size_t len;
    uint64_t more;
    unsigned depth;
};

void json_init(struct json *j, struct buf *out);
struct json_mark json_mark(const struct json *j);
void json_rewind(struct json *j, struct json_mark mark);

/* jansson, which reads JSON, has functions with four of these names. Other symbol names keep ours
 * from replacing jansson's at link time. A source file includes only one of the two headers. */
#define JSON_SYMBOL(name) __asm__("ids_" #name)

/* key NULL: the root, or an item of an array. */
void json_object(struct json *j, const char *key) JSON_SYMBOL(json_object);
void json_object_end(struct json *j);
void json_array(struct json *j, const char *key) JSON_SYMBOL(json_array);
void json_array_end(struct json *j);

/* For keys whose length the caller knows; with the macros below the compiler computes it. */
void json_put_bytes(struct json *j, struct text key, const void *data, size_t len);
void json_put_u64(struct json *j, struct text key, uint64_t value);
void json_put_raw(struct json *j, struct text key, const char *text, size_t len);

static inline struct text json_key(const char *key)
{
    return (struct text){ key, key != NULL ? strlen(key) : 0 };
}

static inline void json_bytes(struct json *j, const char *key, const void *data, size_t len)
{
    json_put_bytes(j, json_key(key), data, len);
}

static inline void json_string(struct json *j, const char *key, const char *value)
{
    json_put_bytes(j, json_key(key), value, strlen(value));
}

static inline void json_slice(struct json *j, const char *key, struct slice s)
{
    json_put_bytes(j, json_key(key), s.data, s.len);
}

/* Members that most records have, with a key that is a literal: each reserves its space once and
 * copies a text of known length. The functions above cost more than the bytes they write. */
#define JSON_U64(j, key, value) json_literal_u64((j), JSON_LITERAL(key), (value))
/* A text that needs no escape: names in the engine's tables, and numbers as text. */
#define JSON_CLEAN(j, key, text, len) json_literal_clean((j), JSON_LITERAL(key), (text), (len))
#define JSON_NAME(j, key, name) JSON_CLEAN(j, key, name, strlen(name))
#define JSON_BOOL(j, key, value) json_literal_bool((j), JSON_LITERAL(key), (value))
#define JSON_OBJECT(j, key) json_literal_open((j), JSON_LITERAL(key), '{')
#define JSON_ARRAY(j, key) json_literal_open((j), JSON_LITERAL(key), '[')
/* A text that may need escapes. */
#define JSON_SLICE(j, key, slice) json_literal_slice((j), JSON_LITERAL(key), (slice))
/* Without it the compiler makes functions of them, which measure their key. */
#define JSON_INLINE static inline __attribute__((always_inline))
#define JSON_LITERAL(key) ((struct text){ "\"" key "\":", sizeof("\"" key "\":") - 1 })

/* Writes a comma if the level has a member, and reserves `space` bytes. NULL: no memory. */
static inline uint8_t *json_reserve(struct json *j, size_t space)
{
    uint64_t bit = UINT64_C(1) << (j->depth & 63);
    uint8_t *p;

    if (UNLIKELY(!buf_reserve(j->out, space + 1)))
        return NULL;
    p = j->out->data + j->out->len;
    if (j->more & bit)
        *p++ = ',';
    if (j->depth > 0)
        j->more |= bit;
    return p;
}

/* The record goes on at p. */
static inline void json_written(struct json *j, const uint8_t *p)
{
    j->out->len = (size_t)(p - j->out->data);
}

uint8_t *json_write_u64(uint8_t *p, uint64_t n);        /* at most 20 bytes */
extern const char json_two_digits[201];                 /* "00" to "99" */

/* A run of members that all records of a kind have: one json_reserve() for all of them, then text
 * and values at a bare pointer, and json_written(). The texts have the commas between members. */
#define JSON_PUT(p, literal) json_put_text((p), "" literal, sizeof(literal) - 1)
#define JSON_PUT_U64(p, literal, value) json_write_u64(JSON_PUT(p, literal), (value))

JSON_INLINE uint8_t *json_put_text(uint8_t *p, const char *text, size_t n)
{
    memcpy(p, text, n);
    return p + n;
}

JSON_INLINE void json_literal_u64(struct json *j, struct text member, uint64_t value)
{
    uint8_t *p = json_reserve(j, member.n + 20);

    if (UNLIKELY(p == NULL))
        return;
    memcpy(p, member.p, member.n);
    json_written(j, json_write_u64(p + member.n, value));
}

JSON_INLINE void json_literal_clean(struct json *j, struct text member, const char *text,
                                    size_t len)
{
    uint8_t *p = json_reserve(j, member.n + len + 2);

    if (UNLIKELY(p == NULL))
        return;
    memcpy(p, member.p, member.n);
    p += member.n;
    *p++ = '"';
    memcpy(p, text, len);
    p[len] = '"';
    json_written(j, p + len + 1);
}

JSON_INLINE void json_literal_bool(struct json *j, struct text member, bool value)
{
    uint8_t *p = json_reserve(j, member.n + 5);

    if (UNLIKELY(p == NULL))
        return;
    memcpy(p, member.p, member.n);
    p += member.n;
    memcpy(p, value ? "true" : "fals", 4);
    p[4] = 'e';
    json_written(j, p + (value ? 4 : 5));
}

JSON_INLINE void json_literal_open(struct json *j, struct text member, char bracket)
{
    uint8_t *p = json_reserve(j, member.n + 1);

    if (LIKELY(p != NULL)) {
        memcpy(p, member.p, member.n);
        p[member.n] = (uint8_t)bracket;
        json_written(j, p + member.n + 1);
    }
    j->depth++;
    j->more &= ~(UINT64_C(1) << (j->depth & 63));
}

/* Writes a string with its quotes. */
uint8_t *json_write_string(uint8_t *p, struct slice s);
size_t json_long_string_capacity(struct slice s);

/* The space that json_write_string() needs. */
static inline size_t json_string_capacity(struct slice s)
{
    return LIKELY(s.len < 256) ? (size_t)s.len * 6 + 10 : json_long_string_capacity(s);
}

JSON_INLINE void json_literal_slice(struct json *j, struct text member, struct slice s)
{
    uint8_t *p = json_reserve(j, member.n + json_string_capacity(s));

    if (UNLIKELY(p == NULL))
        return;
    memcpy(p, member.p, member.n);
    json_written(j, json_write_string(p + member.n, s));
}

/* Replaces each byte that is not part of UTF-8 by U+FFFD. */
void json_lossy(struct json *j, const char *key, struct slice s);
static inline void json_u64(struct json *j, const char *key, uint64_t value)
{
    json_put_u64(j, json_key(key), value);
}

void json_i64(struct json *j, const char *key, int64_t value);
void json_double(struct json *j, const char *key, double value);
static inline void json_bool(struct json *j, const char *key, bool value)
{
    json_put_raw(j, json_key(key), value ? "true" : "false", value ? 4 : 5);
}

void json_null(struct json *j, const char *key) JSON_SYMBOL(json_null);
void json_base64(struct json *j, const char *key, const void *data, size_t len);
void json_hex(struct json *j, const char *key, const void *data, size_t len);       /* "0aff" */
void json_printf(struct json *j, const char *key, const char *fmt, ...) PRINTF(3, 4);
/* Writes as payload_printable: a dot for each byte that is not printable ASCII, CR or LF. */
void json_printable(struct json *j, const char *key, const void *data, size_t len);
/* Adds text that is already JSON; key NULL: an array item, or members of the open object. */
void json_raw(struct json *j, const char *key, const char *text, size_t len);

#endif
