/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/lib/mime/private.h - the parser's state of a message. */
#ifndef APP_MIME_PRIVATE_H
#define APP_MIME_PRIVATE_H

#include "app/lib/mime/mime.h"

#include "base/system/digest.h"

/* The maximum length of a line that is buffered to search it for URLs. */
#define URL_LINE_MAX 8192
#define URL_LINE_CAPACITY (URL_LINE_MAX + MIME_CHUNK_MAX + 16)

#define NESTING_MAX 32                  /* depth of multiparts in multiparts */
#define BOUNDARY_MAX 254           /* longer ones are an anomaly, and truncated to BOUNDARY_LIMIT */
#define BOUNDARY_LIMIT 1024

#define VALUE_MAX 65536                 /* bytes of a field; the rest is dropped */
#define RETAINED_LIMIT (256u << 10)           /* of all fields, names and URLs of a message */

enum mime_state { MIME_START, MIME_HEADER, MIME_BODY };
enum mime_encoding { MIME_PLAIN, MIME_BASE64, MIME_QUOTED_PRINTABLE };

struct mime_text {                      /* grows in the arena */
    uint8_t *data;
    uint32_t len, cap;
};

struct mime_items {
    struct mime_item *first, **end;
};

struct mime_message {
    struct arena *arena, *scratch;
    const struct mime_settings *settings;
    const struct mime_sink *sink;
    void *arg;

    enum mime_state state;
    enum mime_encoding encoding;
    bool is_text;                       /* no file name: a body to search for URLs */
    bool nested;                        /* the current headers belong to a part that is a message */
    bool main_done;                     /* `fields` is complete */
    bool skip_line;                     /* skip the rest of a boundary line */
    bool file_open;
    uint32_t retained;

    struct mime_field *fields, **fields_end;
    struct mime_text name, value;       /* the current header field */
    bool in_field;
    unsigned anomalies;                 /* of this line, or part of a line */
    unsigned anomalies_reported;/* of the earlier parts of the line */

    uint8_t filename[MIME_NAME_MAX];
    uint32_t filename_len;
    struct slice boundary[NESTING_MAX]; /* with the two dashes; the innermost is the last */
    unsigned boundary_count;

    struct mime_items attachments, urls;

    uint8_t quad[4];                    /* base64: characters of an incomplete group */
    unsigned quad_len;
    uint8_t buffered[2];  /* plain: the line end before; qp: the same, or "=", "=4" */
    unsigned buffered_len;
    uint8_t *url_line;                  /* URL_LINE_CAPACITY bytes, once needed */
    uint32_t url_line_len;

    struct digest_stream md5;           /* of the body, if required */
    bool md5_wanted, md5_running, md5_done;
    uint8_t md5_result[DIGEST_MAX];
};

bool mime_name_is(struct slice name, const char *lower);
/* Copies into the arena; false at the message's limit. */
bool mime_keep(struct mime_message *m, struct slice s, struct slice *out);
void mime_items_add(struct mime_message *m, struct mime_items *items, struct slice text);

/* header.c: one line of a header; the end of the header. */
void mime_header_line(struct mime_message *m, struct slice line);
void mime_header_end(struct mime_message *m);

/* body.c: decodes a part of a body, and passes its bytes to the file and to the search for URLs. */
void mime_body_decode(struct mime_message *m, const struct mime_line *line);
void mime_body_flush(struct mime_message *m);           /* the part ends */

/* urls.c */
void mime_urls_find(struct mime_message *m, const uint8_t *data, uint32_t len);

#endif
