/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/proto/http2/tx.h - a transaction: its headers, frames and bodies.
 *
 * A stream is a transaction. A frame on stream 0 concerns the connection and is a transaction of
 * its own, complete at once. All memory of a transaction is in its arena, except decoders. */
#ifndef APP_HTTP2_TX_H
#define APP_HTTP2_TX_H

#include "app/core/file.h"
#include "app/proto/dns/dns.h"
#include "app/tx.h"

/* H2_CLOSED: this side has ended the stream; H2_COMPLETE: both have. */
enum h2_progress { H2_STARTED, H2_OPEN, H2_BODY, H2_CLOSED, H2_COMPLETE };

enum h2_header_kind { H2_FIELD, H2_TABLE_SIZE, H2_FIELD_ERROR };
struct h2_header {
    struct slice name, value;           /* in the arena */
    uint64_t table_size;                /* H2_TABLE_SIZE only */
    uint8_t kind;
    bool cut;                           /* name or value are truncated */
};

/* A fact from a frame that is neither header nor data. */
enum h2_note_kind { H2_NOTE_SETTING, H2_NOTE_GOAWAY, H2_NOTE_RESET, H2_NOTE_PRIORITY,
                    H2_NOTE_WINDOW };
struct h2_note {
    struct h2_note *next;
    uint32_t value;
    uint16_t setting;                   /* H2_NOTE_SETTING: its number */
    uint8_t kind;
};

struct app_range;
struct h2_decoder;

/* Buffers that combine or look up headers; retained until more headers come. */
enum h2_derived {
    H2_DERIVED_AUTHORITY,
    H2_DERIVED_HOST,
    H2_DERIVED_USER_AGENT,
    H2_DERIVED_COOKIE,
    H2_DERIVED_CONTENT_TYPE,
    H2_DERIVED_CONTENT_LEN,
    H2_DERIVED_CONNECTION,
    H2_DERIVED_REFERER,
    H2_DERIVED_ACCEPT,
    H2_DERIVED_ACCEPT_ENC,
    H2_DERIVED_ACCEPT_LANG,
    H2_DERIVED_SERVER,
    H2_DERIVED_LOCATION,
    H2_DERIVED_LINE,
    H2_DERIVED_HEADERS,
    H2_DERIVED_RAW,
    H2_DERIVED_NAMES,
    H2_DERIVED_COUNT,
};

struct h2_dir {
    struct h2_header *header;
    unsigned header_count, header_space;
    unsigned header_blocks;
    size_t header_bytes;
    struct h2_note *first_note, *last_note;
    uint32_t frames;
    uint64_t types[4];                  /* bit per frame type seen */
    bool has_headers;                   /* a frame with headers came, even an empty one */
    bool finished;                         /* END_STREAM */
    bool data_seen;
    bool is_dns;                        /* content-type: application/dns-message */
    bool coding_known;
    uint32_t derived;                      /* bit per enum h2_derived */
    struct slice make[H2_DERIVED_COUNT];
    struct slice *item;                 /* headers one by one, as name and value */
    unsigned item_count;
    struct app_file *file;
    struct app_range *range;            /* part of a bigger file, or NULL */
    struct slice full_name;            /* name of that file */
    struct h2_decoder *decoder;
    struct slice dns;                   /* message so far, in the arena, which has space for all
                                         * of it */
    uint32_t dns_space;
    struct dns_message *message;        /* the complete message; NULL: none */
};

struct h2_tx {
    struct app_tx tx;                   /* first */
    struct h2_tx *hash_next;
    uint32_t stream;
    bool closed;
    struct h2_dir ds[2];
};

static inline struct h2_tx *h2_tx_of(struct app_tx *tx)
{
    return CONTAINER_OF(tx, struct h2_tx, tx);
}

/* One byte of a header block can stand for a long header of the HPACK table. So retained and
 * logged headers are limited by the bytes of the connection; headers above the limit are
 * truncated to this length. */
#define H2_HEADER_CUT 128
#define H2_HEADER_CREDIT (256u << 10)           /* allowance of a new connection */
#define H2_LOG_CREDIT (96u << 10)      /* the same for records */

/* tx.c: h2_tx_for() returns NULL when there are too many transactions; the parser stops. */
struct h2_tx *h2_tx_find(struct app_flow *af, uint32_t stream);
struct h2_tx *h2_tx_for(struct app_flow *af, uint32_t stream, uint8_t type);
void http2_tx_close(struct app_tx *tx);
/* This direction has ended; the transaction ends when the other one has too. */
void h2_tx_finished(struct h2_tx *t, enum direction d);
/* Completes the transaction of a frame that concerns the connection. */
void h2_tx_global(struct h2_tx *t, enum direction d);

/* headers.c */
/* Decodes one header block into t's headers. False: a number in it is too large, and the rest was
 * not read. */
bool h2_headers_inflate(struct app_flow *af, enum direction d, struct h2_tx *t, struct slice in);
void h2_header_add(struct h2_tx *t, enum direction d, const struct h2_header *h);
/* True if `size` more bytes of headers are within the credit of the connection; adds them to
 * *spent. */
bool h2_header_is_paid(uint64_t credit, uint64_t *spent, size_t size);
/* Interprets the headers from `from` on, after all of a block have been added. */
void h2_headers_done(struct h2_tx *t, enum direction d, unsigned from);
/* Returns the first header of this name; NULL: none. */
const struct h2_header *h2_header_find(const struct h2_tx *t, enum direction d,
                                       const char *name);

#endif
