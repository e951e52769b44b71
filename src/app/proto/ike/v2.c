/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/proto/ike/v2.c - payloads of IKE 2 (RFC 7296 section 3). A message counts only if all of its
 * payloads have the form that their types require. */
#include "app/proto/ike/ike.h"

#include "app/parser.h"

enum {
    PAYLOAD_SA = 33, PAYLOAD_KEY_EXCHANGE = 34, PAYLOAD_ID_INITIATOR = 35,
    PAYLOAD_ID_RESPONDER = 36, PAYLOAD_CERTIFICATE = 37, PAYLOAD_CERTIFICATE_REQUEST = 38,
    PAYLOAD_AUTHENTICATION = 39, PAYLOAD_NOTIFY = 41, PAYLOAD_DELETE = 42, PAYLOAD_VENDOR = 43,
    PAYLOAD_SELECTOR_INITIATOR = 44, PAYLOAD_SELECTOR_RESPONDER = 45,
};
enum { PROTOCOL_AH = 2 };
enum { SELECTOR_IPV4 = 7, SELECTOR_IPV6 = 8 };
#define PAYLOAD_HEADER  4
#define TRANSFORM_LEN   8
#define NOTIFY_STATUS   16384           /* RFC 7296 section 3.10.1: from here on no errors */

struct proposal {
    uint8_t protocol, transform_count;
    struct slice transforms;            /* complete, as many as transform_count says */
};

/* --- proposals -------------------------------------------------------------------------------- */

/* RFC 7296 section 3.3.2; attributes are skipped by the length. */
static bool take_transform(struct bytes *in, struct ike_transform *out)
{
    uint16_t len;

    take_skip(in, 2);
    len = take_be16(in);
    out->type = take_u8(in);
    take_skip(in, 1);
    out->id = take_be16(in);
    take_skip(in, len > TRANSFORM_LEN ? len - TRANSFORM_LEN : 0);
    return !in->failed;
}

/* RFC 7296 section 3.3.1. False: not a proposal, and `in` stays where it was. */
static bool take_proposal(struct bytes *in, struct proposal *out)
{
    struct bytes saved = *in, transforms;
    struct ike_transform transform;
    uint16_t len;
    uint8_t spi_len;

    take_skip(in, 2);
    len = take_be16(in);
    take_skip(in, 1);
    out->protocol = take_u8(in);
    spi_len = take_u8(in);
    out->transform_count = take_u8(in);
    take_skip(in, spi_len);
    in->failed |= len < 8u + spi_len;
    out->transforms = take_slice(in, in->failed ? 0 : len - 8u - spi_len);
    transforms = bytes_of_slice(out->transforms);
    for (unsigned i = 0; i < out->transform_count && !in->failed; i++)
        in->failed |= !take_transform(&transforms, &transform);
    if (!in->failed)
        return true;
    *in = saved;
    return false;
}

static void weigh_encryption(struct ike_tx *t, uint16_t id)
{
    /* DES, 3DES, RC5, IDEA, CAST, Blowfish, and no encryption. */
    if ((id >= 1 && id <= 9) || id == IKE_DEFAULT_ENC)
        app_tx_event(&t->tx, IKE_WEAK_CRYPTO_ENC);
}

static void weigh_prf(struct ike_tx *t, uint16_t id)
{
    if (id == 0)
        app_tx_event(&t->tx, IKE_INVALID_PROPOSAL);
    else if (id <= 2)                   /* HMAC with MD5 or SHA-1 */
        app_tx_event(&t->tx, IKE_WEAK_CRYPTO_PRF);
}

static void weigh_group(struct ike_tx *t, uint16_t id)
{
    if (id == 0)
        app_tx_event(&t->tx, IKE_INVALID_PROPOSAL);
    else if (id == 1 || id == 2 || id == 5 || id == 22)         /* at most 1536 bits */
        app_tx_event(&t->tx, IKE_WEAK_CRYPTO_DH);
}

/* Events for weak algorithms, as in Suricata. Each transform of each proposal counts, because a
 * peer may choose it. */
static void weigh(struct ike_tx *t, const struct ike_transform *transform)
{
    switch (transform->type) {
    case IKE_ENC:
        weigh_encryption(t, transform->id);
        break;
    case IKE_PRF:
        weigh_prf(t, transform->id);
        break;
    case IKE_AUTH:
        if (transform->id >= 1 && transform->id <= 7)
            app_tx_event(&t->tx, IKE_WEAK_CRYPTO_AUTH);
        break;
    case IKE_DH:
        weigh_group(t, transform->id);
        break;
    case IKE_ESN:
        break;
    default:
        app_tx_event(&t->tx, IKE_UNKNOWN_PROPOSAL);
        break;
    }
}

/* CCM, GCM and ChaCha20-Poly1305 include integrity. */
static bool is_aead(uint16_t id)
{
    return (id >= 14 && id <= 16) || (id >= 18 && id <= 20) || (id >= 25 && id <= 28);
}

/* RFC 7296 section 3.3.3: which transforms a proposal must have. */
static void weigh_proposal(struct ike_tx *t, const struct proposal *p)
{
    struct bytes in = bytes_of_slice(p->transforms);
    bool has_group = false, has_integrity = false;

    for (unsigned i = 0; i < p->transform_count; i++) {
        struct ike_transform transform;

        take_transform(&in, &transform);
        weigh(t, &transform);
        has_group |= transform.type == IKE_DH;
        has_integrity |= (transform.type == IKE_AUTH && transform.id != 0) ||
                         (transform.type == IKE_ENC && is_aead(transform.id));
    }
    if (!has_group)
        app_tx_event(&t->tx, IKE_WEAK_CRYPTO_NO_DH);
    if (p->protocol == PROTOCOL_AH)
        app_tx_event(&t->tx, IKE_NO_ENCRYPTION);
    if (!has_integrity)
        app_tx_event(&t->tx, IKE_WEAK_CRYPTO_NO_AUTH);
}

/* A response contains what the responder has chosen. Kept in the flow for logs, and in the
 * transaction for rules. */
static void note_chosen(struct ike_state *st, struct ike_tx *t, const struct proposal *p)
{
    struct bytes in = bytes_of_slice(p->transforms);
    struct ike_transform *chosen;

    chosen = arena_alloc(&t->tx.arena, (t->chosen_count + p->transform_count + 1u) *
                         sizeof(*chosen));
    if (chosen == NULL)
        return;
    if (t->chosen_count > 0)
        memcpy(chosen, t->chosen, t->chosen_count * sizeof(*chosen));
    t->chosen = chosen;
    for (unsigned i = 0; i < p->transform_count; i++) {
        struct ike_transform transform;

        take_transform(&in, &transform);
        if (transform.type < IKE_ENC || transform.type > IKE_ESN)
            continue;
        st->chosen[transform.type] = transform.id;
        chosen[t->chosen_count++] = transform;
    }
}

#define PROPOSALS_MAX 256               /* numbered by one byte */

static void read_sa(struct ike_state *st, struct ike_tx *t, struct slice payload)
{
    struct bytes in = bytes_of_slice(payload);
    struct proposal p;

    for (unsigned i = 0; i < PROPOSALS_MAX && take_proposal(&in, &p); i++) {
        weigh_proposal(t, &p);
        if (t->direction == TO_CLIENT && t->chosen_count < PROPOSALS_MAX)
            note_chosen(st, t, &p);
    }
}

/* --- payloads --------------------------------------------------------------------------------- */

/* The first proposal decides. */
static bool sa_holds(struct bytes in)
{
    struct proposal p;

    return take_proposal(&in, &p);
}

/* RFC 7296 section 3.10: protocol, SPI size, type, SPI. */
static bool notify_holds(struct bytes in)
{
    take_skip(&in, 1);
    take_skip(&in, 2u + take_u8(&in));
    return !in.failed;
}

/* RFC 7296 section 3.13.1; only the first selector is checked. */
static bool selector_holds(struct bytes in)
{
    uint8_t type;

    take_skip(&in, 4);
    type = take_u8(&in);
    take_skip(&in, 7);
    if (type != SELECTOR_IPV4 && type != SELECTOR_IPV6)
        return false;
    take_skip(&in, type == SELECTOR_IPV4 ? 8 : 32);
    return !in.failed;
}

/* Does the payload have at least the fixed part of its type? */
static bool payload_holds(uint8_t type, struct slice payload)
{
    struct bytes in = bytes_of_slice(payload);

    switch (type) {
    case PAYLOAD_SA:
        return sa_holds(in);
    case PAYLOAD_KEY_EXCHANGE: case PAYLOAD_ID_INITIATOR: case PAYLOAD_ID_RESPONDER:
    case PAYLOAD_AUTHENTICATION:
        return payload.len >= 4;
    case PAYLOAD_CERTIFICATE: case PAYLOAD_CERTIFICATE_REQUEST:
        return payload.len >= 1;
    case PAYLOAD_NOTIFY:
        return notify_holds(in);
    case PAYLOAD_DELETE: case PAYLOAD_VENDOR:
        return payload.len >= 8;
    case PAYLOAD_SELECTOR_INITIATOR: case PAYLOAD_SELECTOR_RESPONDER:
        return selector_holds(in);
    default:
        return true;
    }
}

/* RFC 7296 section 3.2. False: truncated, or a length below the header's. */
static bool take_payload(struct bytes *in, uint8_t *next_type, struct slice *payload)
{
    uint16_t len;

    *next_type = take_u8(in);
    take_skip(in, 1);
    len = take_be16(in);
    in->failed |= len < PAYLOAD_HEADER;
    *payload = take_slice(in, in->failed ? 0 : len - PAYLOAD_HEADER);
    return !in->failed;
}

/* Counts payloads and notifications. False: a payload without its form. */
static bool all_hold(uint8_t type, struct bytes in, uint32_t *payloads, uint32_t *notifies)
{
    struct slice payload;
    uint8_t next_type;

    for (; bytes_left(&in) > 0; type = next_type) {
        if (!take_payload(&in, &next_type, &payload) || !payload_holds(type, payload))
            return false;
        *notifies += type == PAYLOAD_NOTIFY;
        ++*payloads;
    }
    return true;
}

/* `types` and `notifies` have space for what all_hold() counted. */
static void read_all(struct ike_state *st, struct ike_tx *t, struct bytes in, uint8_t *types,
                     uint8_t *notifies)
{
    uint8_t type = t->header.next_payload, next_type;
    struct slice payload;

    *types++ = type;
    for (; bytes_left(&in) > 0 && take_payload(&in, &next_type, &payload); type = next_type) {
        *types++ = next_type;
        if (type == PAYLOAD_SA) {
            read_sa(st, t, payload);
        } else if (type == PAYLOAD_NOTIFY) {
            memcpy(notifies, payload.data + 2, 2);
            t->errors += get_be16(notifies) < NOTIFY_STATUS;
            notifies += 2;
        }
    }
}

/* Two passes, so that nothing of an invalid message is kept. */
void ike_read_v2(struct ike_state *st, struct ike_tx *t, struct slice body)
{
    struct bytes in = bytes_of_slice(body);
    uint32_t payloads = 0, count = 0;
    uint8_t *types, *notifies;

    if (!all_hold(t->header.next_payload, in, &payloads, &count))
        return;
    types = arena_alloc(&t->tx.arena, payloads + 1u);
    notifies = arena_alloc(&t->tx.arena, 2u * count + 1u);
    if (types == NULL || notifies == NULL)
        return;
    read_all(st, t, in, types, notifies);
    t->payloads = (struct slice){ types, payloads + 1 };
    t->notifies = (struct slice){ notifies, 2 * count };
}
