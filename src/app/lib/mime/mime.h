/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/lib/mime/mime.h - parses a mail message line by line: header fields, multipart bodies,
 * transfer encodings, attachments, URLs (RFC 5322, 2045, 2046).
 *
 * It does not depend on SMTP. The caller splits lines (a long line in parts) and gets attachments
 * by callbacks. All state is in the arena given at the start, and is bounded. */
#ifndef APP_MIME_MIME_H
#define APP_MIME_MIME_H

#include "base/memory/arena.h"
#include "base/text/bytes.h"
#include "base/text/text.h"

#define MIME_CHUNK_MAX 4096             /* maximum of bytes of one mime_line() */
#define MIME_NAME_MAX 255               /* bytes of a file name */

struct mime_settings {
    bool decode_base64, decode_quoted_printable;
    bool extract_urls, log_url_scheme, body_md5;
    unsigned scheme_count;
    struct text *schemes;               /* "http://" */
};

/* Anomalies of a line. */
enum mime_anomaly {
    MIME_INVALID_BASE64    = 1u << 0,
    MIME_INVALID_QP        = 1u << 1,
    MIME_LONG_LINE         = 1u << 2,
    MIME_LONG_ENC_LINE     = 1u << 3,
    MIME_LONG_HEADER_NAME  = 1u << 4,
    MIME_LONG_HEADER_VALUE = 1u << 5,
    MIME_LONG_BOUNDARY     = 1u << 6,
    MIME_LONG_FILENAME     = 1u << 7,
};

/* Receives attachments, one at a time, decoded. */
struct mime_sink {
    void (*open)(void *arg, struct slice name);
    void (*data)(void *arg, const uint8_t *data, uint32_t len);
    void (*close)(void *arg);
};

struct mime_field {                     /* a header field of the message itself, unfolded */
    struct mime_field *next;
    struct slice name, value;
};

struct mime_item {
    struct mime_item *next;
    struct slice text;
};

struct mime_message;

/* NULL when the arena is full. scratch: any arena; this code may reset it at any time. */
struct mime_message *mime_message_new(struct arena *arena, struct arena *scratch,
                                      const struct mime_settings *settings,
                                      const struct mime_sink *sink, void *arg);

/* A line or a part of one: text without its end. `end` is "\r\n", "\n", "\r", or empty when more of
 * the line follows. first: the line begins here. Returns mime_anomaly bits. */
struct mime_line {
    struct slice text, end;
    bool first;
};
unsigned mime_message_line(struct mime_message *m, const struct mime_line *line);
void mime_message_end(struct mime_message *m);

bool mime_message_in_body(const struct mime_message *m);

/* The value of the first field of this name (lower case), once the header is complete. */
bool mime_field_find(const struct mime_message *m, const char *name, struct slice *out);
/* NULL before the header is complete. */
const struct mime_field *mime_main_fields(const struct mime_message *m);
bool mime_field_is(const struct mime_field *field, const char *lower_name);
const struct mime_field *mime_fields(const struct mime_message *m);     /* first to last */
const struct mime_item *mime_attachments(const struct mime_message *m);     /* first to last */
const struct mime_item *mime_urls(const struct mime_message *m);
bool mime_body_md5(const struct mime_message *m, uint8_t out[16]);
/* Asks for it whatever the settings say; before the first line. */
void mime_want_body_md5(struct mime_message *m);

#endif
