/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/proto/ike/ike.h - IKE 1 and 2: messages, and the facts that both sides of a flow have
 * announced. */
#ifndef APP_IKE_IKE_H
#define APP_IKE_IKE_H

#include "app/log.h"
#include "app/rules.h"

#define IKE_EVENT_LIST(E)                                       \
    E(IKE_MALFORMED_DATA, "malformed_data")                     \
    E(IKE_NO_ENCRYPTION, "no_encryption")                       \
    E(IKE_WEAK_CRYPTO_ENC, "weak_crypto_enc")                   \
    E(IKE_WEAK_CRYPTO_PRF, "weak_crypto_prf")                   \
    E(IKE_WEAK_CRYPTO_DH, "weak_crypto_dh")                     \
    E(IKE_WEAK_CRYPTO_AUTH, "weak_crypto_auth")                 \
    E(IKE_WEAK_CRYPTO_NO_DH, "weak_crypto_no_dh")               \
    E(IKE_WEAK_CRYPTO_NO_AUTH, "weak_crypto_no_auth")           \
    E(IKE_INVALID_PROPOSAL, "invalid_proposal")                 \
    E(IKE_UNKNOWN_PROPOSAL, "unknown_proposal")                 \
    E(IKE_PAYLOAD_EXTRA_DATA, "payload_extra_data")             \
    E(IKE_MULTIPLE_SERVER_PROPOSAL, "multiple_server_proposal")

enum ike_event { IKE_EVENT_NONE, IKE_EVENT_LIST(APP_EVENT_ID) };

#define IKE_HEADER_LEN 28

struct ike_header {
    uint64_t initiator, responder;
    uint8_t next_payload, major, minor, exchange, flags;
    uint32_t message_id, length;
};

/* An attribute of a proposal of version 1. */
struct ike_attribute {
    uint16_t type, value;               /* value: of its two bytes, also where they are a length */
    bool has_number;
    uint32_t number;
    struct slice bytes;                 /* of other lengths than two or four bytes */
};
/* Takes the next attribute. False at the end, and at a truncated one. */
bool ike_take_attribute(struct bytes *in, struct ike_attribute *out);

struct ike_part {                       /* a transform's attributes, a vendor */
    struct ike_part *next;
    struct slice bytes;
    struct slice hex;                   /* of a vendor, made when a rule first asks for it */
};
struct ike_parts {
    struct ike_part *first, *last;
    uint32_t count;
};

enum ike_transform_type { IKE_ENC = 1, IKE_PRF, IKE_AUTH, IKE_DH, IKE_ESN, IKE_TRANSFORM_TYPES };
struct ike_transform {
    uint8_t type;
    uint16_t id;
};

struct ike_tx {
    struct app_tx tx;
    enum direction direction;
    struct ike_header header;
    char initiator[17], responder[17];  /* as hex digits */
    /* version 1 */
    bool encrypted;
    uint8_t has_payload[32];            /* bit per type */
    struct slice key_exchange, nonce;
    struct ike_parts transforms, vendors;
    /* version 2 */
    struct slice payloads;              /* their types, in order */
    struct slice notifies;              /* their types, two bytes each */
    uint32_t errors;
    struct ike_transform *chosen;       /* of the responder */
    unsigned chosen_count;
};
static inline struct ike_tx *ike_tx_of(const struct app_tx *tx)
{
    return (struct ike_tx *)(uintptr_t)tx;
}

struct ike_dir {                       /* version 1 */
    struct buf key_exchange, nonce;     /* of its last message */
    struct buf transform;               /* attributes of the first one */
    uint64_t transform_count;
};

struct ike_state {
    bool has_domain;
    uint32_t domain;                    /* of interpretation */
    struct ike_dir ds[2];
    uint16_t chosen[IKE_TRANSFORM_TYPES];       /* version 2: the responder's, by type */
};

/* v1.c, v2.c: what follows the header, in the transaction's arena. False: nothing to keep. */
bool ike_read_v1(struct ike_state *st, struct ike_tx *t, struct slice body);
void ike_read_v2(struct ike_state *st, struct ike_tx *t, struct slice body);
#define IKE_DEFAULT_ENC 11              /* ENCR_NULL */

/* names.c. NULL: none. */
const char *ike_v1_exchange_name(uint8_t type);
const char *ike_v1_payload_name(uint8_t type);
const char *ike_attribute_name(uint16_t type);          /* "unknown" */
const char *ike_attribute_value(const struct ike_attribute *attribute);     /* "Unknown" */
#define IKE_NAME_TEXT 48
const char *ike_v2_payload_name(uint8_t type, char out[IKE_NAME_TEXT]);
const char *ike_v2_notify_name(uint16_t type, char out[IKE_NAME_TEXT]);
const char *ike_v2_transform_name(enum ike_transform_type type, uint16_t id,
                                  char out[IKE_NAME_TEXT]);

extern const struct app_buffer *const ike_buffers[];
extern const struct app_integer *const ike_integers[];
extern const struct app_match *const ike_matches[];
extern const struct app_log *const ike_logs[];
void ike_alert_metadata(struct json *j, struct app_tx *tx);

#endif
