/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/proto/http1/private.h - within this directory: settings, the state of a flow, a transaction.
 *
 * libhtp keeps the parsed messages in memory of its own. A struct http_tx stands beside each of
 * its transactions and owns it: whichever of the two ends first waits for the other, see tx.c. */
#ifndef APP_HTTP1_PRIVATE_H
#define APP_HTTP1_PRIVATE_H

#include "app/core/file.h"
#include "app/log.h"
#include "app/parser.h"
#include "app/proto/http1/events.h"
#include "app/proto/http1/http1.h"
#include "app/proto/http1/table.h"
#include "base/memory/buf.h"
#include "base/text/ip.h"

#include <htp/htp.h>

/* --- settings --------------------------------------------------------------------------------- */

enum http_inline { BODY_INLINE_AUTO, BODY_INLINE_NO, BODY_INLINE_YES };

/* One section: default-config, or one of server-config. */
struct http_config {
    htp_cfg_t *htp;
    struct file_window body[2];         /* by direction */
    uint32_t max_tx;
    uint32_t bomb_limit;                /* bytes that unpacking may give, see decoder.c */
    uint32_t body_expansion;            /* what may come out of a byte, see decoder.c; 0: any */
    uint32_t bomb_count;                /* bombs in a flow, then nothing more is unpacked */
    uint32_t layer_limit, lzma_layers;  /* codings of a body, of them lzma; 0: any number */
    bool lzma_off;              /* lzma-enabled: no */
    uint32_t lzma_memlimit;
    uint32_t time_limit_us;             /* for unpacking one body */
    enum http_inline body_inline;       /* inspect bodies as they come */
    bool double_decode_path, double_decode_query;
    bool uri_include_all;               /* http.uri with scheme and host */
    bool swf;
    bool swf_deflate, swf_lzma;
    uint32_t swf_compress_depth, swf_decompress_depth;
};

struct http_server {
    struct ip net;
    uint8_t prefix_bits;
    const struct http_config *config;
};

struct http_settings {
    struct http_config *config;         /* [0] is the default */
    unsigned config_count;
    struct http_server *server;         /* longest prefix first */
    unsigned server_count;
};

void http_libhtp_free(void *block);     /* what libhtp has allocated and left to us */

int http_configure(const struct conf_node *node, const struct conf_node *root, void *settings,
                   struct err *err);
void http_settings_free(void *settings);
const struct http_config *http_config_for(const struct http_settings *s, const struct ip *server);

enum http_frame { HTTP_FRAME_STREAM, HTTP_FRAME_REQUEST, HTTP_FRAME_RESPONSE };

/* --- transactions ----------------------------------------------------------------------------- */

/* As libhtp counts them, and rule hooks name them. */
enum http_progress {
    HTTP_STARTED, HTTP_LINE, HTTP_HEADERS, HTTP_BODY, HTTP_TRAILER, HTTP_COMPLETE,
};

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

/* --- the flow --------------------------------------------------------------------------------- */

struct http_state {
    struct app_flow *af;
    const struct http_config *config;
    struct http_thread *thread;         /* the flow's is another's once the protocol changes */
    htp_connp_t *connp;
    uint64_t offset;                    /* of the first of the bytes at work */
    struct slice input;                 /* what libhtp was given, during the call */
    uint64_t packed[2], unpacked[2];    /* bytes of coded bodies so far, by direction */
    uint32_t messages;                  /* of libhtp, so far */
    uint32_t responses;                 /* complete ones */
    uint32_t frame[2];                  /* of the message under way; 0: none */
    uint8_t direction;                  /* of the bytes at work */
    bool closed[2];
    bool requests_over;                 /* HTTP/0.9: a connection has one request */
    bool tunnel;                        /* libhtp lets everything pass */
    bool change;                        /* of protocol, asked for by what was just parsed */
    bool had_gap;                       /* libhtp remembers */
    bool refused;                       /* a request: too many are open, nothing more is parsed */
    bool replaying;                     /* libhtp is given `retained` once more: hooks keep still */
    bool is_lost;                       /* the parser: there was no memory to make it again */
    bool has_messages;                  /* libhtp holds some */
    bool closing;                       /* libhtp is told that nothing more comes */
    bool odd_fields;                    /* in the request at work */
    uint16_t pending_events;  /* what libhtp said of the header at work; see hooks.c */
    struct buf *block;                  /* its lines, when they came in pieces, or NULL */
    bool has_derived_buffers;                     /* a transaction has message[].derived */
    /* Ours is gone, libhtp still works on them: destroyed as soon as it has moved on. */
    htp_tx_t *orphan[2];
    uint32_t transactions;              /* that this connp has made */
    uint32_t bombs;                     /* bodies given up as such */
    uint8_t reframes;                   /* see framing.c */
    /* The request at work as the client has sent it so far, each part behind its size in two
     * bytes; NULL: not kept. See suspend.c. */
    uint8_t *retained;
    uint32_t retained_len;
};

#define HTTP_INFLATES_AT_REST 16

/* What a thread keeps to save allocations: buffers that have grown, streams of zlib. */
struct http_thread {
    struct buf spare[32];
    unsigned spares;
    struct http_inflate *inflate;
    unsigned inflates;
    struct http_decoder *decoder;       /* of one layer; NULL: none at rest */
    uint32_t active, active_max;          /* parsers of libhtp; beyond, those that wait sleep */
    struct slice block;                 /* of header lines, just read, of the packet at work */
};
struct buf http_buf_take(struct app_flow *af);
void http_buf_release(struct app_flow *af, struct buf *b);

static inline struct slice http_bstr(const bstr *b)
{
    if (b == NULL)
        return (struct slice){ .data = NULL, .len = 0 };
    return (struct slice){ .data = bstr_ptr(b), .len = (uint32_t)bstr_len(b) };
}

/* suspend.c */
#define HTTP_ACTIVE_MAX 4096

bool http_parser_open(struct http_state *state);
void http_parser_close(struct http_state *state);
/* Before bytes of a request are parsed. */
void http_keep(struct http_state *state, const uint8_t *data, uint32_t len);
void http_keep_no_more(struct http_state *state);
void http_messages_release(struct http_state *state);
bool http_resume(struct http_state *state);      /* false: no memory; the parser is lost */
void http_rest(struct app_flow *af);
void http_prefetch(const struct app_flow *af);

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

/* hooks.c */
void http_hooks_register(htp_cfg_t *cfg);

/* http1.c: no transaction is under way. */
bool http_is_between(const struct http_state *state);

/* tx.c */
struct http_tx *http_tx_new(struct http_state *state, htp_tx_t *htp);
void http_tx_close(struct app_tx *tx);
void http_orphans_destroy(struct http_state *state);

/* block.c */
bool http_block_hold(struct http_state *state, enum http_event event);  /* was it of a header? */
void http_block_add(struct http_state *state, struct slice part);
void http_block_done(struct http_state *state, struct http_tx *htx, bool trailer);
void http_block_clear(struct http_state *state);

/* fields.c: lines of a header as sent. */
bool http_fields_are_plain(struct slice block);
void http_fields_read_again(struct http_tx *htx, struct slice block, bool trailer, bool silently);
struct slice http_trimmed(struct slice s);
/* enum htp_protocol_t */
int http_protocol_number(struct slice protocol, bool *odd);

/* lead_in.c: how much to drop of what comes where a response should begin. */
enum http_lead_in { HTTP_LEAD_IN_DONE, HTTP_LEAD_IN_WAIT };
enum http_lead_in http_lead_in(const struct app_input *in, uint32_t *skip);

/* uri.c: fills htx->uri. When a rule asks, or the settings may find an event in it. */
void http_uri_normalise(struct http_tx *htx, const struct http_config *config);

/* body.c: a part of a body as libhtp decoded it; data NULL: so many bytes are missing. */
void http_body_data(struct http_tx *htx, enum direction d, const uint8_t *data, size_t len);
/* The message's, made when there is none. */
struct http_content *http_content_make(struct http_tx *htx, enum direction d);
void http_body_end(struct http_tx *htx, enum direction d);
void http_body_free(struct http_tx *htx, enum direction d);
/* What rules have to look at now. */
bool http_body_inspect(struct http_tx *htx, enum direction d, struct slice *out,
                       uint64_t *position);
/* Bytes decoded, cut to the body limit, to files and window. */
void http_body_store(struct http_tx *htx, enum direction d, const uint8_t *data, size_t len);
/* The body has reached its limit: no rule and no output sees what follows. */
bool http_body_is_full(const struct http_tx *htx, enum direction d);

/* decoder.c: codings are read once the header is complete; NULL: the body comes as it is. Output
 * goes to http_body_store(). */
void http_codings_read(struct http_tx *htx, enum direction d);
struct http_decoder *http_decoder_new(struct http_tx *htx, enum direction d);
void http_decoder_free(struct http_decoder *dec);
void http_decoder_data(struct http_decoder *dec, const uint8_t *data, size_t len);
void http_decoder_end(struct http_decoder *dec);        /* also at a gap: that is all */

/* coding.c, decoder.c: what a thread keeps of them. */
void http_inflates_free(struct http_thread *ht);
void http_decoders_free(struct http_thread *ht);

/* chunks.c: begins behind the header, then gets what libhtp has taken since. */
void http_chunks_begin(struct http_tx *htx, enum direction d, size_t at);
void http_chunks_look(struct http_tx *htx, enum direction d, struct slice input, size_t end);
/* The length of a request's chunk just read that libhtp does not take; -1: another error. What
 * is looked at next are the chunk's bytes. */
int64_t http_chunks_wide(struct http_tx *htx);

/* framing.c: before libhtp goes on to the body. */
void http_framing_mend(htp_tx_t *htp);
/* libhtp has given up a request at a chunk's length: a fresh one stands behind it. */
bool http_reframe(struct http_state *state, uint64_t now_us);

/* multipart.c: NULL when the content type is not multipart/form-data with a boundary. */
struct http_multipart *http_multipart_new(struct slice content_type);
void http_multipart_free(struct http_multipart *m);
void http_multipart_data(struct http_multipart *m, struct http_tx *htx, const uint8_t *data,
                         size_t len);

/* buffers.c: NULL when there is no memory. */
struct http_derived_buffers *http_derived_buffers(struct http_tx *htx, enum direction d);
void http_derived_buffers_free(struct http_tx *htx, enum direction d);

/* swf.c: what rules see in place of a packed Flash file's beginning. */
void http_swf_derive(struct http_tx *htx, struct app_file *file, struct slice *data);

/* parameter.c: "attachment; filename=x.exe" as browsers read it. */
bool http_disposition_name(struct slice header, struct slice *out);
/* Opens message[d].file with the section's limits. */
void http_file_open(struct http_tx *htx, enum direction d, struct slice name);

extern const struct app_buffer *const http_buffers[], *const http_bodies[2];
extern const struct app_reports http_reports;
extern const struct app_log *const http_logs[];
void http_alert_metadata(struct json *j, struct app_tx *tx);
/* With bodies, as far as they are kept. */
void http_alert_contents(struct json *j, struct app_tx *tx, unsigned what);

#endif
