/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/proto/quic/quic.h - for this directory: QUIC up to the hellos (RFC 9000, 9001, 9369, and
 * Google's Q043 to Q050). Each packet is a transaction, complete at once; its data are in its
 * arena. */
#ifndef APP_QUIC_QUIC_H
#define APP_QUIC_QUIC_H

#include "app/lib/digest.h"
#include "app/log.h"
#include "app/proto/tls/hello.h"
#include "app/rules.h"
#include "base/memory/buf.h"

#define QUIC_EVENT_LIST(E)                               \
    E(QUIC_FAILED_DECRYPT, "failed_decrypt")             \
    E(QUIC_ERROR_ON_DATA, "error_on_data")               \
    E(QUIC_ERROR_ON_HEADER, "error_on_header")           \
    E(QUIC_CRYPTO_FRAG_TOO_LONG, "crypto_frag_too_long")

enum quic_event { QUIC_EVENT_NONE, QUIC_EVENT_LIST(APP_EVENT_ID) };

/* --- packets ---------------------------------------------------------------------------------- */

enum quic_type { QUIC_INITIAL, QUIC_RETRY, QUIC_HANDSHAKE, QUIC_0RTT, QUIC_NEGOTIATION,
                 QUIC_SHORT };
#define QUIC_V2 0x6b3343cfu
#define QUIC_Q043 0x51303433u
#define QUIC_Q044 0x51303434u
#define QUIC_Q045 0x51303435u
#define QUIC_Q046 0x51303436u
#define QUIC_Q050 0x51303530u

struct quic_header {
    uint32_t version;
    uint8_t type;                       /* enum quic_type */
    bool is_long;
    struct slice dcid;
    uint32_t size;                      /* of the header */
    uint32_t payload;                   /* bytes after the header that belong to this packet */
};
/* False: no header of QUIC. */
bool quic_header_parse(struct bytes in, struct quic_header *out);
uint64_t quic_take_number(struct bytes *in);            /* RFC 9000, 16 */

/* --- keys ------------------------------------------------------------------------------------- */

#define QUIC_KEY_SIZE 16
#define QUIC_IV_SIZE 12
struct quic_dir_keys {
    uint8_t protect[QUIC_KEY_SIZE], key[QUIC_KEY_SIZE], iv[QUIC_IV_SIZE];
};
struct quic_keys {
    bool known;
    struct quic_dir_keys ds[2];         /* by direction of the packets */
};

struct quic_crypto;                     /* libcrypto objects of a thread */
struct quic_crypto *quic_crypto_new(void);
void quic_crypto_free(struct quic_crypto *c);
/* Keys of initial packets, known for some versions only. */
void quic_keys_make(struct quic_crypto *c, struct quic_keys *keys, uint32_t version,
                    struct slice dcid);
/* Removes the protection of the packet with header `h`; out is in c until the next call. */
bool quic_decrypt(struct quic_crypto *c, const struct quic_dir_keys *keys,
                  const struct quic_header *h, const uint8_t *packet, struct slice *out);

/* --- CRYPTO frames ---------------------------------------------------------------------------- */

#define QUIC_HANDSHAKE_MAX 65535
#define QUIC_RANGES_MAX 32

struct quic_range { uint32_t from, to; };

/* The received parts of a handshake, in any order. Most handshakes have one range at a time. */
struct quic_assembly {
    struct buf data;
    struct quic_range *range;           /* sorted, apart; space for `cap` */
    uint16_t count, cap;
};
/* False: too long, or in too many parts. */
bool quic_assembly_add(struct quic_assembly *a, uint64_t offset, struct slice segment);
struct slice quic_assembly_front(const struct quic_assembly *a);        /* without holes */
void quic_assembly_fini(struct quic_assembly *a);       /* frees its memory; it may be used again */

/* --- transactions ----------------------------------------------------------------------------- */

struct quic_cyu {
    struct quic_cyu *next;
    struct slice text, hash;
};

struct quic_tx {
    struct app_tx tx;                   /* first */
    enum direction direction;
    uint32_t version;
    uint8_t type;
    bool is_long;
    uint8_t version_bytes[4];
    struct slice sni, ua;               /* data NULL: none */
    struct quic_cyu *cyu;
    bool has_hello, ja3_done, ja4_done;
    struct tls_hello hello;             /* of a message in the arena */
    struct slice ja3, ja3_hash, ja4;
};
static inline struct quic_tx *quic_tx_of(struct app_tx *tx)
{
    return CONTAINER_OF(tx, struct quic_tx, tx);
}

struct quic_state {
    struct quic_keys keys;
    struct quic_assembly assembly[2];
    bool hello[2];                      /* all later packets are encrypted */
    bool retried;
};

struct quic_thread {
    struct digests *digests;
    struct quic_crypto *crypto;
};

/* frames.c: the frames of a packet, into t. False: they are none. */
bool quic_frames_parse(struct quic_state *st, struct quic_tx *t, struct slice payload);

/* buffers.c: NULL without a hello. */
const struct slice *quic_ja3(struct quic_tx *t);
const struct slice *quic_ja3_hash(struct quic_tx *t);
const struct slice *quic_ja4(struct quic_tx *t);

extern const struct app_buffer *const quic_buffers[];
extern const struct app_log *const quic_logs[];
void quic_alert_metadata(struct json *j, struct app_tx *tx);

#endif
