/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/proto/tls/hello.h - ClientHello and ServerHello (RFC 8446 section 4.1, RFC 5246 section
 * 7.4.1).
 *
 * The message body, without the handshake header: what TLS finds in records and QUIC in CRYPTO
 * frames. Nothing is copied: all slices point into the message, which must outlive the struct. */
#ifndef APP_TLS_HELLO_H
#define APP_TLS_HELLO_H

#include "base/text/bytes.h"

/* Problems of a hello; a set. */
enum tls_hello_problem {
    TLS_HELLO_LENGTH    = 1u << 0,      /* lengths contradict each other */
    TLS_HELLO_SNI_TYPE  = 1u << 1,
    TLS_HELLO_SNI_LENGTH = 1u << 2,
    TLS_HELLO_SNI_TWICE = 1u << 3,
};

#define TLS_RANDOM_LEN 32

struct tls_hello {
    bool is_server, has_session_ticket, has_early_data, has_supported_versions;
    uint8_t problems;
    uint16_t legacy_version;    /* of the field */
    uint16_t version;           /* with supported_versions taken in */
    uint16_t highest;           /* the greater of the two, for JA4 */
    uint16_t highest_listed;        /* of supported_versions, whatever it may mean */
    struct slice random;        /* TLS_RANDOM_LEN bytes, or none */
    struct slice session_id;
    struct slice ciphers;       /* 2 bytes each; of a server the one chosen */
    struct slice extensions;    /* the valid ones: type, length, body */
    struct slice sni;
    struct slice alpn;          /* names, each after a byte with its length */
    struct slice groups;        /* 2 bytes each, as in supported_groups */
    struct slice point_formats; /* 1 byte each */
    struct slice signatures;    /* 2 bytes each, as in signature_algorithms */
};

/* False when it breaks off before its end: what could be read is in *out. */
bool tls_hello_parse(struct bytes in, bool is_server, struct tls_hello *out);
/* Its session id; empty: none, or it breaks off before. */
struct slice tls_hello_session(struct bytes in, bool is_server);

/* The next value of a list of 16-bit values that is no GREASE; false at the end. */
bool tls_hello_next_value(struct bytes *list, uint16_t *value);
/* The next extension's type, GREASE left out. */
bool tls_hello_next_extension(struct bytes *list, uint16_t *type);
/* The next name of hello.alpn, never empty. */
bool tls_hello_next_alpn(struct bytes *list, struct slice *name);
/* The same by index, from 0. */
bool tls_hello_alpn(const struct tls_hello *hello, unsigned index, struct slice *name);

#endif
