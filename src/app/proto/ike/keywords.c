/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/proto/ike/keywords.c - what rules inspect of a message. */
#include "app/proto/ike/ike.h"
#include "app/values.h"

/* --- buffers ---------------------------------------------------------------------------------- */

static bool goes(const struct app_tx *tx, enum direction d)
{
    return ike_tx_of(tx)->direction == d;
}

static struct slice hex_of(struct slice bytes, struct arena *arena)
{
    static const char digits[] = "0123456789abcdef";
    uint8_t *text = arena_alloc(arena, 2u * bytes.len + 1u);

    if (text == NULL)
        return (struct slice){ 0 };
    for (uint32_t i = 0; i < bytes.len; i++) {
        text[2 * i] = (uint8_t)digits[bytes.data[i] >> 4];
        text[2 * i + 1] = (uint8_t)digits[bytes.data[i] & 15];
    }
    return (struct slice){ text, 2 * bytes.len };
}

/* Vendor ids as hex digits: Suricata's rules match text. */
static bool get_vendor(struct app_tx *tx, enum direction d, unsigned index, struct slice *out)
{
    const void *found =
        goes(tx, d) ? APP_ITEM_AT(tx, ike_tx_of(tx)->vendors.first, ike_part, index) : NULL;
    struct ike_part *part = (struct ike_part *)(uintptr_t)found;

    if (part == NULL)
        return false;
    if (part->hex.data == NULL)
        part->hex = hex_of(part->bytes, &tx->arena);
    *out = part->hex;
    return out->data != NULL;
}

/* --- numbers ---------------------------------------------------------------------------------- */

/* --- ike.chosen_sa_attribute ------------------------------------------------------------------ */

struct attribute_arg {
    uint16_t type;                      /* of version 1 */
    uint8_t transform;                  /* of version 2; 0: none */
    uint32_t value;
};

/* Attributes of version 1 (RFC 2409 appendix A), and the transform of version 2 that
 * corresponds. */
static const struct {
    const char *name;
    uint16_t type;
    uint8_t transform;
} attributes[] = {
    { "alg_enc", 1, IKE_ENC }, { "alg_hash", 2, 0 }, { "alg_auth", 3, IKE_AUTH },
    { "alg_dh", 4, IKE_DH }, { "sa_group_type", 5, 0 }, { "sa_life_type", 11, 0 },
    { "sa_life_duration", 12, 0 }, { "alg_prf", 13, IKE_PRF }, { "sa_key_length", 14, 0 },
    { "sa_field_size", 15, 0 },
};

static bool attribute_by_name(struct text name, struct attribute_arg *out)
{
    for (unsigned i = 0; i < ARRAY_LEN(attributes); i++) {
        if (!text_equal(name, attributes[i].name))
            continue;
        out->type = attributes[i].type;
        out->transform = attributes[i].transform;
        return true;
    }
    return false;
}

static int attribute_parse(struct text in, void *arg, struct arena *arena UNUSED, struct err *err)
{
    struct text rest = in, name, value;
    struct attribute_arg *a = arg;
    uint64_t number;

    if (!text_split(&rest, '=', &name) || !text_split(&rest, '=', &value) || rest.n > 0 ||
        !attribute_by_name(name, a) || !text_to_u64(value, UINT32_MAX, &number))
        return err_set(err,
                       "ike.chosen_sa_attribute: expected ATTRIBUTE=NUMBER, the attribute one of "
                       "alg_enc, alg_hash, alg_auth, alg_dh, alg_prf, sa_group_type, sa_life_type, "
                       "sa_life_duration, sa_key_length, sa_field_size, found \"%.*s\"",
                       TEXT(in));
    a->value = (uint32_t)number;
    return 0;
}

/* The first attribute, or transform, of the type decides. */
static bool match_v1(const struct ike_tx *t, const struct attribute_arg *a)
{
    struct ike_attribute attribute;
    struct bytes in;

    if (t->transforms.first == NULL)
        return false;
    in = bytes_of_slice(t->transforms.first->bytes);
    while (ike_take_attribute(&in, &attribute))
        if (attribute.type == a->type && attribute.has_number)
            return attribute.number == a->value;
    return false;
}

static bool match_v2(const struct ike_tx *t, const struct attribute_arg *a)
{
    for (unsigned i = 0; i < t->chosen_count && a->transform != 0; i++)
        if (t->chosen[i].type == a->transform)
            return t->chosen[i].id == a->value;
    return false;
}

static bool attribute_match(struct app_tx *tx, enum direction d, const void *arg)
{
    const struct ike_tx *t = ike_tx_of(tx);

    return goes(tx, d) && (t->header.major == 1 ? match_v1(t, arg) : match_v2(t, arg));
}

/* --- declarations ----------------------------------------------------------------------------- */

static const struct app_buffer init_spi_buffer = {
    .name = "ike.init_spi", .doc = "SPI of the initiator, hex digits", .directions = APP_TS,
    .progress = { 1, 1 }, .field = APP_FIELD_FROM(ike_tx, initiator, ALWAYS, direction),
    .pattern_rank = 1,
};
static const struct app_buffer resp_spi_buffer = {
    .name = "ike.resp_spi", .doc = "SPI of the responder, hex digits", .directions = APP_TC,
    .progress = { 1, 1 }, .field = APP_FIELD_FROM(ike_tx, responder, ALWAYS, direction),
    .pattern_rank = 1,
};
static const struct app_buffer vendor_buffer = {
    .name = "ike.vendor", .doc = "each vendor identifier, hex digits (version 1)",
    .directions = APP_TS, .progress = { 1, 1 }, .multi = true, .get = get_vendor,
    .pattern_rank = 1,
};
static const struct app_buffer key_exchange_buffer = {
    .name = "ike.key_exchange_payload", .doc = "key exchange payload (version 1)",
    .directions = APP_BOTH, .progress = { 1, 1 },
    .field = APP_FIELD_FROM(ike_tx, key_exchange, FILLED, direction),
    .pattern_rank = 1,
};
static const struct app_buffer nonce_buffer = {
    .name = "ike.nonce_payload", .doc = "nonce payload (version 1)", .directions = APP_BOTH,
    .progress = { 1, 1 }, .field = APP_FIELD_FROM(ike_tx, nonce, FILLED, direction),
    .pattern_rank = 1,
};
static const struct app_integer exchange_integer = {
    .name = "ike.exchtype", .doc = "type of the exchange", .bits = 8, .directions = APP_BOTH,
    .progress = { 1, 1 }, .field = APP_FIELD_FROM(ike_tx, header.exchange, ALWAYS, direction),
};
static const struct app_integer key_exchange_len_integer = {
    .name = "ike.key_exchange_payload_length", .doc = "bytes of the key exchange payload",
    .bits = 32, .directions = APP_BOTH, .progress = { 1, 1 },
    .field = APP_FIELD_FROM(ike_tx, key_exchange.len, KNOWN, direction),
};
static const struct app_integer nonce_len_integer = {
    .name = "ike.nonce_payload_length", .doc = "bytes of the nonce payload", .bits = 32,
    .directions = APP_BOTH, .progress = { 1, 1 },
    .field = APP_FIELD_FROM(ike_tx, nonce.len, KNOWN, direction),
};
static const struct app_match match_attribute = {
    .name = "ike.chosen_sa_attribute", .doc = "attribute of what the responder chose",
    .syntax = "<attribute>=<n>",
    .directions = APP_TC, .progress = { 1, 1 }, .arg_size = sizeof(struct attribute_arg),
    .parse = attribute_parse, .match = attribute_match,
};

const struct app_buffer *const ike_buffers[] = {
    &init_spi_buffer, &resp_spi_buffer, &vendor_buffer, &key_exchange_buffer, &nonce_buffer,
    NULL,
};
const struct app_integer *const ike_integers[] = {
    &exchange_integer, &key_exchange_len_integer, &nonce_len_integer, NULL,
};
const struct app_match *const ike_matches[] = { &match_attribute, NULL };
