/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/proto/http1/tx.h - a transaction.
 *
 * libhtp keeps the parsed messages in memory of its own. A struct http_tx stands beside each of its
 * transactions and owns it: whichever of the two ends first waits for the other, see tx.c. */
#ifndef APP_HTTP1_TX_H
#define APP_HTTP1_TX_H

#include "app/core/file.h"
#include "app/proto/http1/state.h"
#include "app/proto/http1/table.h"
#include "app/tx.h"

/* As libhtp counts them, and rule hooks name them. */
#define HTTP_PROGRESS_LIST(E)    \
    E(HTTP_STARTED, "started")   \
    E(HTTP_LINE, "line")         \
    E(HTTP_HEADERS, "headers")   \
    E(HTTP_BODY, "body")         \
    E(HTTP_TRAILER, "trailer")   \
    E(HTTP_COMPLETE, "complete")
enum http_progress { HTTP_PROGRESS_LIST(APP_ENUM_ID) };

/* A window that slides over a body. Rules see what is new and some bytes before it. */
struct http_body {
    struct buf data;                    /* from `start` on */
    uint64_t start;                     /* position of data[0] */
    uint64_t size;                      /* bytes of the body taken so far, without gaps */
    uint64_t inspected;                 /* rules are through with these */
    uint64_t given;                     /* given to rules; inspected once more bytes come */
};

struct app_range;
struct http_multipart;
struct http_decoder;

enum http_coding {
    HTTP_CODING_NONE, HTTP_CODING_GZIP, HTTP_CODING_DEFLATE, HTTP_CODING_ZLIB, HTTP_CODING_LZMA,
    HTTP_CODING_BROTLI, HTTP_CODING_ZSTD,
};
#define HTTP_CODINGS_MAX 6

/* Follows the chunks of a body for what libhtp does not tell of them. */
struct http_chunks {
    uint64_t left;                      /* of the chunk, modulo 2^64 */
    uint32_t from;                      /* in the input: what was not looked at yet */
    uint8_t part;                       /* enum chunk_part, see chunks.c */
    bool digits;
    bool wide;                          /* longer than libhtp takes a chunk to be */
};

/* What rules see of a message and libhtp has not in one part. It can be made again. */
struct http_derived_buffers {
    struct arena arena;
    /* http.header, http.header_names, http.start: for so many headers */
    struct slice joined[3];
    size_t joined_for[3];
    struct slice *item;                 /* http.request_header, http.response_header */
    size_t item_count;
    struct buf swf;                     /* a Flash file unpacked, this one, from so many bytes */
    uint64_t swf_file;
    uint32_t swf_for;
};

/* What a message with a body has besides. */
struct http_content {
    struct http_body body;
    struct app_file *file;              /* open, or NULL */
    struct app_range *range;            /* ... and part of a bigger one, or NULL */
    struct http_multipart *multipart;
    struct http_decoder *decoder;
    struct http_chunks chunks;
    bool started;                         /* some of the body has come */
    bool has_content;                     /* ... and, decoded, is not empty */
};

struct http_message {
    struct buf raw_headers;             /* kept where a rule wants them */
    struct http_content *content;       /* in the transaction's arena; NULL: no body so far */
    struct http_derived_buffers *derived;  /* made when a rule asks; goes with the packet */
    uint64_t start;                     /* in its direction of the stream */
    uint32_t headers_size;              /* of all headers and trailers, as sent */
    uint8_t coding[HTTP_CODINGS_MAX];   /* enum http_coding, in the order put on */
    uint8_t codings;
    bool has_trailer;
};

struct http_tx {
    struct app_tx tx;                   /* first */
    htp_tx_t *htp;
    struct http_message message[2];
    struct slice uri;                   /* normalised; in the arena; no data: not made yet */
};

static inline struct http_tx *http_tx_of(struct app_tx *tx)
{
    return CONTAINER_OF(tx, struct http_tx, tx);
}

/* libhtp's transaction is about to change ours; NULL: it has none. */
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

extern const htp_tx_t http_no_htp;      /* of a transaction whose parser is lost */

/* libhtp's transaction, to be looked at. It may have been asleep. */
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
/* name in lower case. NULL: not there. */
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

/* fields.c: lines of a header as sent. */
bool http_fields_are_plain(struct slice block);
void http_fields_read_again(struct http_tx *htx, struct slice block, bool trailer, bool silently);
struct slice http_trimmed(struct slice s);
/* enum htp_protocol_t */
int http_protocol_number(struct slice protocol, bool *odd);

#endif
