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
