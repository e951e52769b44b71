/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/proto/tls/tls.h - the state of a TLS flow; for this directory, and for outputs that store
 * certificates.
 *
 * A flow has one transaction, the handshake. The transaction has the data of rules and logs; the
 * flow has the state for finding records and messages. All memory is in the transaction's arena and
 * bounded: the first hello and the first chain of each side, and one message that is being
 * assembled. */
#ifndef APP_TLS_TLS_H
#define APP_TLS_TLS_H

#include "app/log.h"
#include "app/proto.h"
#include "app/proto/tls/certificate.h"
#include "app/proto/tls/chains.h"
#include "app/proto/tls/hello.h"
#include "app/proto/tls/version.h"
#include "app/rules.h"

#define TLS_MESSAGE_MAX (256u << 10)        /* handshake messages beyond are skipped */
#define TLS_CHAIN_MAX 256                   /* certificates; tls_dir.chain_len has 16 bits */

#define TLS_CLIENT_PROGRESS_LIST(E)                       \
    E(TLS_CLIENT_IN_PROGRESS, "client_in_progress")       \
    E(TLS_CLIENT_HELLO_DONE, "client_hello_done")         \
    E(TLS_CLIENT_CERT_DONE, "client_cert_done")           \
    E(TLS_CLIENT_HANDSHAKE_DONE, "client_handshake_done") \
    E(TLS_CLIENT_FINISHED, "client_finished")
enum tls_client_progress { TLS_CLIENT_PROGRESS_LIST(APP_ENUM_ID) };
#define TLS_SERVER_PROGRESS_LIST(E)                       \
    E(TLS_SERVER_IN_PROGRESS, "server_in_progress")       \
    E(TLS_SERVER_HELLO, "server_hello")                   \
    E(TLS_SERVER_CERT_DONE, "server_cert_done")           \
    E(TLS_SERVER_HELLO_DONE, "server_hello_done")         \
    E(TLS_SERVER_HANDSHAKE_DONE, "server_handshake_done") \
    E(TLS_SERVER_FINISHED, "server_finished")
enum tls_server_progress { TLS_SERVER_PROGRESS_LIST(APP_ENUM_ID) };

#define TLS_EVENT_LIST(E)                                                                 \
    E(TLS_EVENT_INVALID_SSLV2_HEADER, "invalid_sslv2_header")                             \
    E(TLS_EVENT_INVALID_TLS_HEADER, "invalid_tls_header")                                 \
    E(TLS_EVENT_INVALID_RECORD_VERSION, "invalid_record_version")                         \
    E(TLS_EVENT_INVALID_RECORD_TYPE, "invalid_record_type")                               \
    E(TLS_EVENT_INVALID_RECORD_LENGTH, "invalid_record_length")                           \
    E(TLS_EVENT_INVALID_HANDSHAKE_MESSAGE, "invalid_handshake_message")                   \
    E(TLS_EVENT_HEARTBEAT, "heartbeat_message")                                           \
    E(TLS_EVENT_INVALID_HEARTBEAT, "invalid_heartbeat_message")                           \
    E(TLS_EVENT_OVERFLOW_HEARTBEAT, "overflow_heartbeat_message")                         \
    E(TLS_EVENT_DATALEAK_HEARTBEAT_MISMATCH, "dataleak_heartbeat_mismatch")               \
    E(TLS_EVENT_HANDSHAKE_INVALID_LENGTH, "handshake_invalid_length")                     \
    E(TLS_EVENT_MULTIPLE_SNI_EXTENSIONS, "multiple_sni_extensions")                       \
    E(TLS_EVENT_INVALID_SNI_TYPE, "invalid_sni_type")                                     \
    E(TLS_EVENT_INVALID_SNI_LENGTH, "invalid_sni_length")                                 \
    E(TLS_EVENT_TOO_MANY_RECORDS_IN_PACKET, "too_many_records_in_packet")                 \
    E(TLS_EVENT_INVALID_ALERT, "invalid_alert_message")                                   \
    E(TLS_EVENT_INVALID_CERTIFICATE, "invalid_certificate")                               \
    E(TLS_EVENT_CERTIFICATE_INVALID_LENGTH, "certificate_invalid_length")                 \
    E(TLS_EVENT_CERTIFICATE_INVALID_VERSION, "certificate_invalid_version")               \
    E(TLS_EVENT_CERTIFICATE_INVALID_SERIAL, "certificate_invalid_serial")                 \
    E(TLS_EVENT_CERTIFICATE_INVALID_ALGORITHM, "certificate_invalid_algorithmidentifier") \
    E(TLS_EVENT_CERTIFICATE_INVALID_NAME, "certificate_invalid_x509name")                 \
    E(TLS_EVENT_CERTIFICATE_INVALID_DATE, "certificate_invalid_date")                     \
    E(TLS_EVENT_CERTIFICATE_INVALID_EXTENSIONS, "certificate_invalid_extensions")         \
    E(TLS_EVENT_CERTIFICATE_INVALID_DER, "certificate_invalid_der")                       \
    E(TLS_EVENT_CERTIFICATE_INVALID_SUBJECT, "certificate_invalid_subject")               \
    E(TLS_EVENT_CERTIFICATE_INVALID_ISSUER, "certificate_invalid_issuer")                 \
    E(TLS_EVENT_CERTIFICATE_INVALID_VALIDITY, "certificate_invalid_validity")             \
    E(TLS_EVENT_ERROR_MESSAGE_ENCOUNTERED, "error_message_encountered")                   \
    E(TLS_EVENT_INVALID_SSL_RECORD, "invalid_ssl_record")

enum tls_event { TLS_EVENT_NONE, TLS_EVENT_LIST(APP_EVENT_ID) };

#define TLS_FRAME_LIST(E)               \
    E(TLS_FRAME_STREAM, "stream")       \
    E(TLS_FRAME_PDU, "pdu")             \
    E(TLS_FRAME_HDR, "hdr")             \
    E(TLS_FRAME_DATA, "data")           \
    E(TLS_FRAME_ALERT, "alert")         \
    E(TLS_FRAME_HEARTBEAT, "heartbeat") \
    E(TLS_FRAME_SSL2_HDR, "ssl2.hdr")   \
    E(TLS_FRAME_SSL2_PDU, "ssl2.pdu")
enum { TLS_FRAME_LIST(APP_ENUM_ID) };

/* ssl_state: the last handshake message in the data that were just parsed. */
enum {
    TLS_STATE_CLIENT_HELLO  = 1u << 0,
    TLS_STATE_SERVER_HELLO  = 1u << 1,
    TLS_STATE_CLIENT_KEYX   = 1u << 2,
    TLS_STATE_SERVER_KEYX   = 1u << 3,
    TLS_STATE_UNKNOWN       = 1u << 4,
};

/* app_feature() bits */
enum {
    TLS_FEATURE_JA3 = 1u << 0, TLS_FEATURE_JA4 = 1u << 1, TLS_FEATURE_STORE = 1u << 2,
    TLS_FEATURE_CHAIN = 1u << 3,        /* certificates as sent; else only the parsed data of one */
};

struct tls_settings {
    enum { TLS_TRACK_ONLY, TLS_BYPASS, TLS_FULL } encryption;
    enum { TLS_FINGERPRINT_AUTO, TLS_FINGERPRINT_YES, TLS_FINGERPRINT_NO } ja3, ja4;
};

/* The messages of one side. Of its hello only what most flows need is here: many handshakes wait
 * for their end, and the rest is read again for a fingerprint. */
struct tls_dir {
    struct slice hello;                 /* the first one, as sent; see tls_hello_of() */
    struct slice sni, alpn;             /* of the hello; the name may be of a later one */
    uint16_t legacy_version;            /* of the hello; 0: none */
    uint16_t version;                   /* of the hello; until then of the record */
    bool has_hello;                     /* it was read to its end */
    bool has_supported_versions;        /* of the hello */
    uint8_t hello_copies;
    /* Random bytes of the latest hello (RFC 5246 section 7.4.1.2). In TLS 1.2 and older they
     * begin with the time. */
    union {
        uint8_t random[TLS_RANDOM_LEN];
        struct { uint8_t random_time[4], random_bytes[TLS_RANDOM_LEN - 4]; };
    };
    bool has_random;
    bool has_chain;                     /* a Certificate message came */
    bool has_certificate;               /* ... with one that could be read */
    bool store;                         /* tls.store matched */
    bool stored;                        /* output's */
    bool ja3_done;
    uint16_t chain_len;
    struct tls_chain *chain;            /* as sent; NULL unless a rule or log needs it */
    const struct tls_certificate *certificate;  /* the peer's own; see tls_certificate_of() */
    struct slice ja3, ja3_hash;         /* JA3S of the server */
};

struct tls_tx {
    struct app_tx tx;
    struct tls_dir ds[2];            /* by sender: TO_SERVER is the client */
    uint8_t state;                      /* TLS_STATE_* */
    bool resumed;                       /* one of them hopes so, or both agree */
    bool without_certificate;           /* TLS 1.3: none will be seen */
    bool requires_client_certificate;
    bool ja4_done;
    uint64_t certificate_us;            /* when the last visible certificate was complete; or 0 */
    struct slice ja4;
};

/* Handshakes that never end are many. */
_Static_assert(sizeof(struct tls_tx) <= 9 * CACHE_LINE, "hellos and certificates are read again");

static inline struct tls_tx *tls_tx_of(const struct app_tx *tx)
{
    return (struct tls_tx *)(uintptr_t)tx;
}

/* The peer's own certificate, or an empty one. */
static inline const struct tls_certificate *tls_certificate_of(const struct tls_dir *ds)
{
    static const struct tls_certificate none;

    return ds->certificate != NULL ? ds->certificate : &none;
}

/* True if the certificates are stored as sent. */
static inline bool tls_chain_retains(const struct tls_dir *ds)
{
    return ds->chain != NULL && ds->chain->der != NULL;
}

/* Returns the number of stored certificates. */
static inline unsigned tls_chain_retained(const struct tls_dir *ds)
{
    return tls_chain_retains(ds) ? ds->chain_len : 0;
}

/* What a thread has for all its flows. */
struct tls_thread {
    struct digests *digests;            /* NULL: there was no memory */
    struct tls_chains chains;
};
static inline struct digests *tls_digests(const struct app_flow *af)
{
    return ((struct tls_thread *)af->thread_data)->digests;
}
static inline struct tls_chains *tls_chains_of(const struct app_flow *af)
{
    return &((struct tls_thread *)af->thread_data)->chains;
}

/* A handshake message that spreads over records. */
struct tls_message {
    uint8_t *data;              /* in the transaction's arena; kept for the next one */
    uint32_t cap, len, size;    /* len 0: none begun; size: with its header, once that is here */
    uint32_t skip;              /* bytes of a message beyond the bound still to come */
};

struct tls_state {
    struct tls_tx *tx;          /* NULL before the first bytes and once it is gone */
    bool started, is_abandoned[2];
    bool header_seen[2];        /* the header of the current, incomplete record */
    bool cipher_changed[2];
    bool hello_seen[2];
    bool early_data;
    bool payload_off;           /* encryption-handling has been done */
    bool ssl2_hello[2], ssl2_no_session, ssl2_master_key, ssl2_encrypted[2];
    struct tls_message message[2];
    uint64_t skip[2];           /* bytes of the current record to skip */
    bool heartbeat_waiting, heartbeat_by_server;
    uint32_t heartbeat_len;     /* of an encrypted request */
};

/* handshake.c: the first hello of a side, once more; an empty one if there is none. */
void tls_hello_of(const struct tls_tx *tx, enum direction d, struct tls_hello *out);
/* handshake.c: the body of a handshake record. */
void tls_handshake_record(struct app_flow *af, struct tls_state *st, struct bytes body,
                          enum direction d);
/* ssl2.c: one record in the format of SSL 2. */
enum parse_status tls_ssl2_record(struct app_flow *af, struct tls_state *st,
                                  struct app_input *in, uint32_t *at);
/* heartbeat.c: RFC 6520. False: it leaks or is malformed, and the parser ends. */
bool tls_heartbeat(struct tls_state *st, struct bytes body, enum direction d);
/* record.c */
enum parse_status tls_parse(struct app_flow *af, struct app_input *in);
void tls_reset(struct app_flow *af, enum direction sender);
void tls_encrypted(struct app_flow *af, struct tls_state *st);  /* applies encryption-handling */

void tls_event(struct tls_state *st, enum tls_event event);
/* Never backwards. */
void tls_progress(struct tls_state *st, enum direction d, unsigned progress);

/* buffers.c: NULL when not required or not available. */
const struct slice *tls_ja3_of(struct app_tx *tx, enum direction d);
const struct slice *tls_ja3_hash_of(struct app_tx *tx, enum direction d);
const struct slice *tls_ja4_of(struct app_tx *tx);

extern const struct app_buffer *const tls_buffers[];
extern const struct app_integer *const tls_integers[];
extern const struct app_match *const tls_matches[];
extern const struct app_log *const tls_logs[];
extern const struct app_proto app_tls;
void tls_alert_metadata(struct json *j, struct app_tx *tx);

#endif
