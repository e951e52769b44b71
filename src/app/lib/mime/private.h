/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/lib/mime/private.h - the message as its parser has it. */
#ifndef APP_MIME_PRIVATE_H
#define APP_MIME_PRIVATE_H

#include "app/lib/mime/mime.h"

#include "base/system/digest.h"

/* A line of URLs waits for its end up to this. */
#define URL_LINE_MAX 8192
#define URL_LINE_CAPACITY (URL_LINE_MAX + MIME_CHUNK_MAX + 16)

#define NESTING_MAX 32                  /* multiparts in multiparts */
#define BOUNDARY_MAX 254                /* longer ones are an anomaly, and cut at BOUNDARY_LIMIT */
#define BOUNDARY_LIMIT 1024

#define VALUE_MAX 65536                 /* bytes of one field; what is beyond is left out */
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
    bool is_text;                       /* without a file name: a body to look for URLs in */
    bool nested;                        /* these headers are of a part that is a message */
    bool main_done;                     /* `fields` is complete */
    bool skip_line;                     /* the rest of a line that was a boundary */
    bool file_open;
    uint32_t retained;

    struct mime_field *fields, **fields_end;
    struct mime_text name, value;       /* the field that is being read */
    bool in_field;
    unsigned anomalies;                 /* of this line, or piece of one */
    unsigned anomalies_reported;/* of the line's earlier pieces */

    uint8_t filename[MIME_NAME_MAX];
    uint32_t filename_len;
    struct slice boundary[NESTING_MAX]; /* with the two dashes; the innermost is the last */
    unsigned boundary_count;

    struct mime_items attachments, urls;

    uint8_t quad[4];                    /* base64: characters that wait for the rest */
    unsigned quad_len;
    uint8_t buffered[2];  /* plain: the line end before; qp: the same, or "=", "=4" */
    unsigned buffered_len;
    uint8_t *url_line;                  /* URL_LINE_CAPACITY bytes, once needed */
    uint32_t url_line_len;

    struct digest_stream md5;           /* of the body, where it is wanted */
    bool md5_wanted, md5_running, md5_done;
    uint8_t md5_result[DIGEST_MAX];
};

bool mime_name_is(struct slice name, const char *lower);
/* Copies into the arena; false when the message remembers enough already. */
bool mime_keep(struct mime_message *m, struct slice s, struct slice *out);
void mime_items_add(struct mime_message *m, struct mime_items *items, struct slice text);

/* header.c: one line of a header; the end of the header. */
void mime_header_line(struct mime_message *m, struct slice line);
void mime_header_end(struct mime_message *m);

/* body.c: a piece of a body, decoded; its bytes go to the file and to the search for URLs. */
void mime_body_decode(struct mime_message *m, const struct mime_line *line);
void mime_body_flush(struct mime_message *m);           /* the part ends */

/* urls.c */
void mime_urls_find(struct mime_message *m, const uint8_t *data, uint32_t len);

#endif
