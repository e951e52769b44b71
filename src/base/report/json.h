/* SPDX-License-Identifier: GPL-2.0-or-later */
/* base/report/json.h - writes JSON into a buf, fast; the only way EVE records are made.
 *
 * Keys are C strings that need no escaping. A string that is UTF-8 stands as it is, control
 * characters as \u00XX; in one that is not, each byte from 0x80 on becomes the four characters
 * \xNN, as Suricata writes it. So the output is always valid. Commas are the writer's affair.
 * At most 63 levels. */
#ifndef BASE_JSON_H
#define BASE_JSON_H

#include "base/memory/buf.h"
#include "base/text/text.h"

#include <string.h>

struct json {
    struct buf *out;        /* borrowed */
    uint64_t more;          /* bit per depth: something stands at this level already */
    unsigned depth;
};

/* A place to come back to, to take something back that turned out empty. */
struct json_mark {
    size_t len;
    uint64_t more;
    unsigned depth;
};

void json_init(struct json *j, struct buf *out);
struct json_mark json_mark(const struct json *j);
void json_rewind(struct json *j, struct json_mark mark);

/* jansson, with which JSON is read, has functions of these four names. In the
 * object files ours are called otherwise, or they would take the place of jansson's inside it; a
 * source file includes one of the two headers. */
#define JSON_SYMBOL(name) __asm__("ids_" #name)

/* With key NULL: the root, or an item of an array. */
void json_object(struct json *j, const char *key) JSON_SYMBOL(json_object);
void json_object_end(struct json *j);
void json_array(struct json *j, const char *key) JSON_SYMBOL(json_array);
void json_array_end(struct json *j);

/* Keys whose length the caller knows; those below leave the counting to the compiler. */
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

/* Each byte that is not part of UTF-8 becomes U+FFFD. */
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
/* As payload_printable: what is not printable ASCII, CR or LF becomes a dot. */
void json_printable(struct json *j, const char *key, const void *data, size_t len);
/* Text that is JSON already; with key NULL also members of the object that is open. */
void json_raw(struct json *j, const char *key, const char *text, size_t len);

#endif
