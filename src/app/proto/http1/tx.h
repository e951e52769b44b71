/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/proto/http1/tx.h - a transaction.
 *
 * libhtp keeps the parsed messages in memory of its own. Each of its transactions has a struct
 * http_tx, which owns it. If libhtp or the engine finishes first, it waits for the other one,
 * see tx.c. */
#ifndef APP_HTTP1_TX_H
#define APP_HTTP1_TX_H

#include "app/core/file.h"
#include "app/lib/packed_window.h"
#include "app/proto/http1/state.h"
#include "app/proto/http1/table.h"
#include "app/tx.h"

/* The steps that libhtp distinguishes, and that hooks of rules name. */
#define HTTP_PROGRESS_LIST(E)    \
    E(HTTP_STARTED, "started")   \
    E(HTTP_LINE, "line")         \
    E(HTTP_HEADERS, "headers")   \
    E(HTTP_BODY, "body")         \
    E(HTTP_TRAILER, "trailer")   \
    E(HTTP_COMPLETE, "complete")
enum http_progress { HTTP_PROGRESS_LIST(APP_ENUM_ID) };

/* A sliding window over a body. Rules see the new bytes and some bytes before them. */
struct http_body {
    struct buf data;                    /* from `start` on */
    uint64_t start;                     /* position of data[0] */
    uint64_t size;                      /* bytes of the body received so far, without gaps */
    uint64_t inspected;                 /* rules have inspected the bytes up to here */
    uint64_t given;                     /* passed to rules; counts as inspected once more bytes
                                         * come */
    uint64_t again;                     /* bytes that rules got once more */
    uint32_t held;                      /* memory of `data`, if it counts as unpacked */
    struct packed_window packed;        /* then it may be packed while it waits */
};

struct app_range;
struct http_multipart;
struct http_decoder;

enum http_coding {
    HTTP_CODING_NONE, HTTP_CODING_GZIP, HTTP_CODING_DEFLATE, HTTP_CODING_ZLIB, HTTP_CODING_LZMA,
    HTTP_CODING_BROTLI, HTTP_CODING_ZSTD,
};
#define HTTP_CODINGS_MAX 6

/* Tracks the chunks of a body, for facts that libhtp does not report. */
struct http_chunks {
    uint64_t left;                      /* of the chunk, modulo 2^64 */
    uint32_t from;                      /* position in the input of the first byte not read yet */
    uint8_t part;                       /* enum chunk_part, see chunks.c */
    bool digits;
    bool extended;                      /* the event of this chunk's extension is raised */
    bool wide;                          /* longer than libhtp accepts */
};

/* Buffers of a message that combine several strings of libhtp. They can be created again. */
struct http_derived_buffers {
    struct arena arena;
    /* http.header, http.header_names, http.start, and the number of headers that each includes */
    struct slice joined[3];
    size_t joined_for[3];
    struct slice *item;                 /* http.request_header, http.response_header */
    size_t item_count;
    struct buf swf;                     /* the Flash file of this id, decompressed from this many
                                         * bytes */
    uint64_t swf_file;
    uint32_t swf_for;
};

/* Further state of a message that has a body. */
struct http_content {
    struct http_body body;
    struct app_file *file;              /* open, or NULL */
    struct app_range *range;            /* ... and part of a bigger one, or NULL */
    struct http_multipart *multipart;
    struct http_decoder *decoder;
    struct http_chunks chunks;
    bool started;                         /* some of the body has come */
    bool has_content;                     /* ... and, decoded, is not empty */
    bool is_over;                         /* decoding has ended; later data do not count */
};

struct http_message {
    struct buf raw_headers;             /* retained if a rule needs them */
    struct http_content *content;       /* in the transaction's arena; NULL: no body so far */
    struct http_derived_buffers *derived;  /* created when a rule needs them; freed with the
                                            * packet */
    uint64_t start;                     /* in its direction of the stream */
    uint32_t headers_size;              /* of all headers and trailers, as sent */
    uint8_t coding[HTTP_CODINGS_MAX];   /* enum http_coding, in the order of encoding */
    uint8_t codings;
    bool has_trailer;
    bool bare_header;                   /* only a line feed ends it; of responses */
};

struct http_tx {
    struct app_tx tx;                   /* first */
    htp_tx_t *htp;
    struct http_message message[2];
    struct slice uri;                   /* normalised; in the arena; no data: not computed yet */
};

static inline struct http_tx *http_tx_of(struct app_tx *tx)
{
    return CONTAINER_OF(tx, struct http_tx, tx);
}

/* Marks our transaction as changed, before libhtp's one changes. NULL: there is none. */
static inline struct http_tx *http_tx_changing(const htp_tx_t *htp)
{
    struct http_tx *htx = htp_tx_get_user_data(htp);

    if (htx != NULL)
        app_tx_mark(&htx->tx);
    return htx;
}

static inline struct slice http_bstr(const bstr *b)
{
    if (b == NULL)
        return (struct slice){ .data = NULL, .len = 0 };
    return (struct slice){ .data = bstr_ptr(b), .len = (uint32_t)bstr_len(b) };
}

extern const htp_tx_t http_no_htp;      /* stands in for libhtp's transaction after its parser
                                         * was lost */

/* Returns libhtp's transaction for reading; resumes a suspended parser. */
static inline const htp_tx_t *http_htp(const struct http_tx *htx)
{
    if (UNLIKELY(htx->htp == NULL) && !http_resume(htx->tx.flow->state))
        return &http_no_htp;
    return LIKELY(htx->htp != NULL) ? htx->htp : &http_no_htp;
}

static inline htp_table_t *http_headers(const struct http_tx *htx, enum direction d)
{
    const htp_tx_t *htp = http_htp(htx);

    return d == TO_SERVER ? htp->request_headers : htp->response_headers;
}
/* name: in lower case. NULL: the message has no such header. */
static inline const htp_header_t *http_header(const struct http_tx *htx, enum direction d,
                                              const char *name)
{
    htp_table_t *headers = http_headers(htx, d);

    return headers != NULL ? htp_table_get_c(headers, name) : NULL;
}
bool http_slice_has(struct slice s, const char *word);      /* anywhere, any case */

/* tx.c */
struct http_tx *http_tx_new(struct http_state *state, htp_tx_t *htp);
void http1_tx_close(struct app_tx *tx);
void http_orphans_destroy(struct http_state *state);
void http_unlisted_destroy(struct http_state *state);    /* before its parser */

/* fields.c: lines of a header as sent. */
bool http_fields_are_plain(struct slice block);
void http_fields_read_again(struct http_tx *htx, struct slice block, bool trailer, bool closed);
void http_empty_line_follows(struct http_tx *htx);
struct slice http_trimmed(struct slice s);
/* enum htp_protocol_t */
int http_protocol_number(struct slice protocol, bool *odd);

#endif
