/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/proto/http2/http2.h - for this directory: settings, the state of a flow, a transaction.
 *
 * A stream is a transaction; a frame on stream 0, which is about the connection, is one of its
 * own, complete at once. All that a transaction keeps lies in its arena but for decoders. */
#ifndef APP_HTTP2_HTTP2_H
#define APP_HTTP2_HTTP2_H

#include "app/core/decoder_memory.h"
#include "app/core/file.h"
#include "app/log.h"
#include "app/proto/dns/dns.h"
#include "app/rules.h"
#include "base/memory/buf.h"

#include <nghttp2/nghttp2.h>

/* --- settings --------------------------------------------------------------------------------- */

struct h2_settings {
    uint32_t max_streams;               /* transactions of a flow at a time */
    uint32_t max_table_size;            /* of an HPACK table, whatever the peers agree on */
    uint32_t max_reassembly;            /* bytes of a header block over several frames */
    uint32_t max_frames;                /* of one transaction and direction */
    uint64_t bomb_limit;                /* bytes out of a decoder, when they are too many */
    uint32_t body_expansion;            /* what may come out of a byte of bodies; 0: any */
    uint64_t max_header_list;           /* bytes of the headers of one message */
    uint32_t header_expansion;          /* bytes of headers kept for each byte of the connection */
    uint32_t header_log;                /* the same for headers in records */
};

/* --- events ----------------------------------------------------------------------------------- */

#define H2_EVENT_LIST(E)                                                   \
    E(H2_INVALID_FRAME_HEADER, "invalid_frame_header")                     \
    E(H2_INVALID_CLIENT_MAGIC, "invalid_client_magic")                     \
    E(H2_INVALID_FRAME_DATA, "invalid_frame_data")                         \
    E(H2_INVALID_HEADER, "invalid_header")                                 \
    E(H2_INVALID_FRAME_LENGTH, "invalid_frame_length")                     \
    E(H2_EXTRA_HEADER_DATA, "extra_header_data")                           \
    E(H2_LONG_FRAME_DATA, "long_frame_data")                               \
    E(H2_STREAM_ID_REUSE, "stream_id_reuse")                               \
    E(H2_INVALID_HTTP1_SETTINGS, "invalid_http1_settings")                 \
    E(H2_FAILED_DECOMPRESSION, "failed_decompression")                     \
    E(H2_INVALID_RANGE, "invalid_range")                                   \
    E(H2_HEADER_INTEGER_OVERFLOW, "header_integer_overflow")               \
    E(H2_TOO_MANY_STREAMS, "too_many_streams")                             \
    E(H2_AUTHORITY_HOST_MISMATCH, "authority_host_mismatch")               \
    E(H2_USERINFO_IN_URI, "userinfo_in_uri")                               \
    E(H2_REASSEMBLY_LIMIT_REACHED, "reassembly_limit_reached")             \
    E(H2_DNS_REQUEST_TOO_LONG, "dns_request_too_long")                     \
    E(H2_DNS_RESPONSE_TOO_LONG, "dns_response_too_long")                   \
    E(H2_DATA_STREAM_ZERO, "data_stream_zero")                             \
    E(H2_TOO_MANY_FRAMES, "too_many_frames")                               \
    E(H2_COMPRESSION_BOMB, "compression_bomb")                             \
    E(H2_DECOMPRESSION_WINDOW_TOO_LARGE, "decompression_window_too_large") \
    E(H2_DECOMPRESSION_MEMCAP_REACHED, "decompression_memcap_reached")     \
    E(H2_HEADER_LIST_TOO_LARGE, "header_list_too_large")                   \
    E(H2_HEADERS_CUT, "headers_cut")                                       \
    E(H2_TOO_MANY_ENCODING_LAYERS, "too_many_encoding_layers")

enum h2_event { H2_EVENT_NONE, H2_EVENT_LIST(APP_EVENT_ID) };

/* --- frames (RFC 9113, 4.1 and 6) ------------------------------------------------------------- */

#define H2_FRAME_HEADER 9
enum h2_type {
    H2_DATA, H2_HEADERS, H2_PRIORITY, H2_RST_STREAM, H2_SETTINGS, H2_PUSH_PROMISE, H2_PING,
    H2_GOAWAY, H2_WINDOW_UPDATE, H2_CONTINUATION,
};
#define H2_FLAG_END_STREAM  0x01
#define H2_FLAG_END_HEADERS 0x04
#define H2_FLAG_PADDED      0x08
#define H2_FLAG_PRIORITY    0x20

struct h2_frame {
    uint32_t length, stream;
    uint8_t type, flags;
    bool reserved;
};
bool h2_frame_take(struct bytes *in, struct h2_frame *out);

/* --- transactions ----------------------------------------------------------------------------- */

enum h2_progress { H2_STARTED, H2_OPEN, H2_BODY, H2_COMPLETE };

enum h2_header_kind { H2_FIELD, H2_TABLE_SIZE, H2_FIELD_ERROR };
struct h2_header {
    struct slice name, value;           /* in the arena */
    uint64_t table_size;                /* H2_TABLE_SIZE only */
    uint8_t kind;
    bool cut;                           /* name or value are the beginning only */
};

/* Kinds of frames other than headers and data. */
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

/* Buffers for rules that must be assembled; valid until more headers arrive. */
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
    size_t header_bytes;
    struct h2_note *first_note, *last_note;
    uint32_t frames;
    uint64_t types[4];                  /* bit per frame type seen */
    bool has_headers;                   /* a frame with headers, be it without any */
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
    struct slice full_name;            /* of that one */
    struct h2_decoder *decoder;
    struct slice dns;              /* message so far, in the arena, which has space for all of it */
    uint32_t dns_space;
    struct dns_message *message;        /* once that is complete; NULL: none */
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

/* One byte can refer to a header of the table of any length. The bytes of the connection limit
 * stored and logged headers; beyond the limit headers are truncated to this. */
#define H2_HEADER_CUT 128
#define H2_HEADER_CREDIT (256u << 10)           /* what a connection begins with */
#define H2_LOG_CREDIT (96u << 10)      /* the same for records */

/* --- the flow --------------------------------------------------------------------------------- */

#define H2_HASH_SIZE 64

/* A DATA frame at work: content goes where it belongs as it comes. */
struct h2_data {
    uint32_t stream, content, padding;  /* bytes still to come */
    bool active, padded, over;
};

/* A header block over several frames. */
struct h2_block {
    struct buf data;
    uint32_t stream;                    /* of the frames */
    uint32_t owner;                     /* of the headers: the promised stream, or the same */
    bool active, over;
};

struct h2_state {
    bool magic_done;
    nghttp2_hd_inflater *inflater[2];
    struct h2_block block[2];
    struct h2_data data[2];
    uint32_t skip[2];                   /* bytes of the current frame to skip */
    uint64_t in, out;                   /* of decoders that are done: for the ratio */
    uint64_t bytes;                     /* of the connection so far, both directions */
    uint64_t headers_kept, headers_logged;      /* bytes of the long ones */
    struct h2_tx *few[H2_HASH_SIZE];    /* by stream, at first */
    struct h2_tx **many;                /* NULL: they are in `few` */
    uint32_t hash_size, hashed;         /* buckets, streams; size 0: H2_HASH_SIZE */
};

static inline const struct h2_settings *h2_settings_of(const struct app_flow *af)
{
    return af->settings;
}

/* tx.c: NULL when there are too many: the parser stops. */
struct h2_tx *h2_tx_find(struct app_flow *af, uint32_t stream);
struct h2_tx *h2_tx_for(struct app_flow *af, uint32_t stream, uint8_t type);
void h2_tx_close(struct app_tx *tx);
/* This direction has ended; the transaction is over when the other one has ended too. */
void h2_tx_finished(struct h2_tx *t, enum direction d);
/* A frame about the connection is a transaction of its direction, and all of it. */
void h2_tx_global(struct h2_tx *t, enum direction d);

/* headers.c */
bool h2_inflaters_open(struct app_flow *af);
void h2_inflaters_close(struct h2_state *st);
/* Decodes one header block into t's headers. False: a number in it is too large, and the rest was
 * not decoded. */
bool h2_headers_inflate(struct app_flow *af, enum direction d, struct h2_tx *t, struct slice in);
void h2_header_add(struct h2_tx *t, enum direction d, const struct h2_header *h);
/* True if this many more bytes of headers are within the connection's limit; adds them to
 * *spent. */
bool h2_header_is_paid(uint64_t credit, uint64_t *spent, size_t size);
/* Evaluates the headers from `from` on, after all of them have been added. */
void h2_headers_done(struct h2_tx *t, enum direction d, unsigned from);
/* Returns the first header of this name; NULL: none. */
const struct h2_header *h2_header_find(const struct h2_tx *t, enum direction d,
                                       const char *name);

/* frame.c: a complete frame other than DATA. False: the parser stops. */
bool h2_frame_parse(struct app_flow *af, enum direction d, const struct h2_frame *f,
                    struct slice payload, uint64_t *tx_id);
void h2_note_add(struct h2_tx *t, enum direction d, enum h2_note_kind kind, uint16_t setting,
                 uint32_t value);
/* SETTINGS as in a frame, or (RFC 7540, 3.2.1) as an HTTP/1 header has them. */
void h2_settings_parse(struct h2_tx *t, enum direction d, struct slice payload);
void h2_frame_count(struct h2_tx *t, enum direction d, uint8_t type);

/* body.c: content of a stream. False: too much came out of too little, the parser stops. */
bool h2_body_data(struct h2_tx *t, enum direction d, struct slice data);
/* END_STREAM. */
void h2_body_end(struct h2_tx *t, enum direction d);
void h2_body_free(struct h2_tx *t, enum direction d);

/* doh2.c: processes one complete message of DNS over HTTP/2 (RFC 8484). */
void doh2_message(struct h2_tx *t, enum direction d, struct slice message);
/* A request that brings it in its path. */
void doh2_path(struct h2_tx *t, struct slice path);
bool h2_log_members(struct json *j, struct app_tx *tx);
extern const struct app_log *const doh2_logs[];
void doh2_alert_metadata(struct json *j, struct app_tx *tx);

/* decode.c: gzip, deflate, br; NULL: none of them. */
struct h2_decoder *h2_decoder_new(struct h2_tx *t, struct slice coding);
void h2_decoder_event(struct h2_tx *t, enum decoder_refusal why);
void h2_decoder_free(struct h2_decoder *dec);
enum h2_decoded { H2_DECODED, H2_DECODED_ALL, H2_DECODE_FAILED, H2_DECODE_REFUSED };
/* Returns the next part of output for the rest of *in. H2_DECODED: call again. */
enum h2_decoded h2_decode(struct h2_decoder *dec, struct slice *in, struct slice *out);
/* After H2_DECODE_REFUSED: what had been taken before this call and gave nothing. */
struct slice h2_decoder_kept(const struct h2_decoder *dec);
enum decoder_refusal h2_decoder_refusal(const struct h2_decoder *dec);
uint64_t h2_decoder_in(const struct h2_decoder *dec);
uint64_t h2_decoder_out(const struct h2_decoder *dec);
struct h2_decoder *h2_decoder_next(const struct h2_decoder *dec);
void h2_decoder_pass(struct h2_decoder *dec);       /* from now on bytes go through as they are */
/* Makes the decoder return no more output. */
void h2_decoder_stop(struct h2_decoder *dec);
/* True if this decoder or a later one has begun to return more than its input allows. */
bool h2_decoder_is_bomb_at_end(const struct h2_decoder *dec);

/* upgrade.c: creates stream 1 from the request that asked for the upgrade. */
void h2_upgrade(struct app_flow *af);

extern const struct app_name h2_events[];
extern const struct app_reports h2_reports, doh2_reports;
extern const struct app_buffer *const h2_buffers[], *const doh2_buffers[];
extern const struct app_integer *const h2_integers[], *const doh2_integers[];
extern const struct app_match *const h2_matches[];
extern const struct app_log *const h2_logs[];
void h2_alert_metadata(struct json *j, struct app_tx *tx);

#endif
