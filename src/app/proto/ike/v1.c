/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/proto/ike/v1.c - payloads of IKE 1 (RFC 2408 section 3). A security association contains
 * proposals, these contain transforms. Each level is a list of payloads like the outermost one. */
#include "app/proto/ike/ike.h"

#include "app/parser.h"

enum {
    PAYLOAD_SA = 1, PAYLOAD_PROPOSAL = 2, PAYLOAD_TRANSFORM = 3, PAYLOAD_KEY_EXCHANGE = 4,
    PAYLOAD_NONCE = 10, PAYLOAD_VENDOR = 13,
};
#define FLAG_ENCRYPTED 0x01
#define DOMAIN_IPSEC   1
#define PAYLOAD_HEADER 4
#define DEPTH_MAX      8                /* valid messages have three */

/* One message. `depth` bounds the recursion: hostile payloads may nest. */
struct reader {
    struct ike_state *state;
    struct ike_tx *tx;
    unsigned depth;
};

static bool read_list(struct reader *r, uint8_t type, struct bytes *in);

/* RFC 2408 section 3.3: short form with a value of 2 bytes, or a length and data. False: the end,
 * or truncated. */
bool ike_take_attribute(struct bytes *in, struct ike_attribute *out)
{
    struct bytes saved = *in;
    uint16_t head = take_be16(in);

    *out = (struct ike_attribute){ .type = head & 0x7fff, .value = take_be16(in) };
    if (head & 0x8000) {
        out->has_number = true;
        out->number = out->value;
    } else if (out->value == 4) {
        out->has_number = true;
        out->number = take_be32(in);
    } else {
        out->bytes = take_slice(in, out->value);
    }
    if (in->failed)
        *in = saved;
    return in->next != saved.next;
}

static void add_part(struct ike_tx *t, struct ike_parts *parts, struct slice bytes)
{
    struct ike_part *part = arena_zalloc(&t->tx.arena, sizeof(*part));

    if (part == NULL)
        return;
    part->bytes = bytes;
    if (parts->last != NULL)
        parts->last->next = part;
    else
        parts->first = part;
    parts->last = part;
    parts->count++;
}

/* RFC 2408 section 3.4. Other domains than IPsec have other contents, which are not read. */
static bool read_sa(struct reader *r, struct slice payload)
{
    struct bytes in = bytes_of_slice(payload);
    uint32_t domain = take_be32(&in);

    if (in.failed)
        return false;
    if (domain == DOMAIN_IPSEC) {
        take_skip(&in, 4);              /* the situation */
        if (in.failed)
            return false;
    }
    r->state->has_domain = true;
    r->state->domain = domain;
    return domain != DOMAIN_IPSEC || read_list(r, PAYLOAD_PROPOSAL, &in);
}

/* RFC 2408 section 3.5: number, protocol, SPI, count of transforms. */
static bool read_proposal(struct reader *r, struct slice payload)
{
    struct bytes in = bytes_of_slice(payload);
    uint8_t spi_len;

    take_skip(&in, 2);
    spi_len = take_u8(&in);
    take_skip(&in, 1u + spi_len);
    return !in.failed && read_list(r, PAYLOAD_TRANSFORM, &in);
}

/* False: malformed, and the message is discarded. Payloads without a case are only noted. */
static bool read_payload(struct reader *r, uint8_t type, struct slice payload)
{
    struct ike_tx *t = r->tx;

    t->has_payload[type / 8] |= (uint8_t)(1u << type % 8);
    switch (type) {
    case PAYLOAD_SA:
        return read_sa(r, payload);
    case PAYLOAD_PROPOSAL:
        return read_proposal(r, payload);
    case PAYLOAD_TRANSFORM:
        if (payload.len >= 4)
            add_part(t, &t->transforms, (struct slice){ payload.data + 4, payload.len - 4 });
        break;
    case PAYLOAD_KEY_EXCHANGE:
        t->key_exchange = payload;
        break;
    case PAYLOAD_NONCE:
        t->nonce = payload;
        break;
    case PAYLOAD_VENDOR:
        add_part(t, &t->vendors, payload);
        break;
    default:
        break;
    }
    return true;
}

/* The next payload of a list. A truncated one stays in `in`, which becomes an event. */
static bool take_payload(struct bytes *in, uint8_t *next_type, struct slice *payload)
{
    struct bytes saved = *in;
    uint16_t len;

    *next_type = take_u8(in);
    take_skip(in, 1);
    len = take_be16(in);
    *payload = take_slice(in, len >= PAYLOAD_HEADER ? len - PAYLOAD_HEADER : 0);
    if (!in->failed)
        return true;
    *in = saved;
    return false;
}

/* Each payload names the type of the next (RFC 2408 section 3.2). */
static bool read_list(struct reader *r, uint8_t type, struct bytes *in)
{
    struct slice payload;
    uint8_t next_type;
    bool good = true;

    if (++r->depth > DEPTH_MAX)
        return false;
    while (good && take_payload(in, &next_type, &payload)) {
        good = read_payload(r, type, payload);
        type = next_type;
    }
    r->depth--;
    return good;
}

/* --- what is known of the two sides ----------------------------------------------------------- */

static void set(struct buf *b, struct slice bytes)
{
    buf_clear(b);
    buf_add(b, bytes.data, bytes.len);
}

/* What records show of each side: the latest key exchange and nonce, the first transform. */
static void update_dir(struct ike_state *st, struct ike_tx *t)
{
    struct ike_dir *ds = &st->ds[t->direction];

    if (t->has_payload[0] & 1u << PAYLOAD_SA) {         /* a new exchange on the same flow */
        ds->transform_count = 0;
        buf_clear(&ds->transform);
    }
    if (t->direction == TO_CLIENT && ds->transform_count <= 1 &&
        ds->transform_count + t->transforms.count > 1)
        app_tx_event(&t->tx, IKE_MULTIPLE_SERVER_PROPOSAL);
    set(&ds->key_exchange, t->key_exchange);
    set(&ds->nonce, t->nonce);
    if (ds->transform_count == 0 && t->transforms.count > 0)
        set(&ds->transform, t->transforms.first->bytes);
    ds->transform_count += t->transforms.count;
}

/* False: malformed. Encrypted payloads are not read. */
bool ike_read_v1(struct ike_state *st, struct ike_tx *t, struct slice body)
{
    struct reader r = { .state = st, .tx = t };
    struct bytes in = bytes_of_slice(body);
    uint8_t first = t->header.next_payload;

    t->has_payload[first / 8] |= (uint8_t)(1u << first % 8);
    t->encrypted = (t->header.flags & FLAG_ENCRYPTED) != 0;
    if (t->encrypted)
        return true;
    if (!read_list(&r, first, &in))
        return false;
    update_dir(st, t);
    if (bytes_left(&in) > 0)
        app_tx_event(&t->tx, IKE_PAYLOAD_EXTRA_DATA);
    return true;
}
