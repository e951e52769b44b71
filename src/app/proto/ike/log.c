/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/proto/ike/log.c - EVE ike: one record per message, with what is known of both sides of the
 * flow. */
#include "app/proto/ike/ike.h"

#include "base/array.h"

#include <stdio.h>

#define FLAG_INITIATOR 0x08             /* version 2 */

/* --- version 1 -------------------------------------------------------------------------------- */

/* A value with its name, and the number or the bytes under a second key. */
static void log_attribute(struct json *j, const char *name, const struct ike_attribute *a)
{
    char raw[48];

    snprintf(raw, sizeof(raw), "%s_raw", name);
    json_string(j, name, ike_attribute_value(a));
    if (a->has_number)
        json_u64(j, raw, a->number);
    else
        json_hex(j, raw, a->bytes.data, a->bytes.len);
}

/* The first attribute of each type. All unknown types count as one. Known types are below 32: see
 * `seen`. */
static void log_attributes(struct json *j, struct slice transform)
{
    struct bytes in = bytes_of_slice(transform);
    struct ike_attribute a;
    uint32_t seen = 0;

    while (ike_take_attribute(&in, &a)) {
        const char *name = ike_attribute_name(a.type);
        unsigned bit = name[0] == 'u' ? 0 : a.type;

        if (seen & 1u << bit)
            continue;
        seen |= 1u << bit;
        log_attribute(j, name, &a);
    }
}

/* All transforms of the security association, each with its attributes. */
static void log_proposals(struct json *j, const char *key, const struct ike_tx *t)
{
    json_array(j, key);
    for (const struct ike_part *part = t->transforms.first; part != NULL; part = part->next) {
        json_object(j, NULL);
        log_attributes(j, part->bytes);
        json_object_end(j);
    }
    json_array_end(j);
}

/* Key exchange and nonce are public values, whatever the function's name suggests. */
static void log_secret(struct json *j, const char *key, const char *length_key,
                       const struct buf *value)
{
    if (value->len == 0)
        return;
    json_hex(j, key, value->data, value->len);
    json_u64(j, length_key, value->len);
}

static void log_direction(struct json *j, const char *key, const struct ike_dir *ds,
                     const struct ike_tx *proposals)
{
    json_object(j, key);
    log_secret(j, "key_exchange_payload", "key_exchange_payload_length", &ds->key_exchange);
    log_secret(j, "nonce_payload", "nonce_payload_length", &ds->nonce);
    if (proposals != NULL && proposals->transforms.count > 0)
        log_proposals(j, "proposals", proposals);
    json_object_end(j);
}

/* More than one transform from the responder is an anomaly, see IKE_MULTIPLE_SERVER_PROPOSAL. */
static void log_v1_chosen(struct json *j, const struct ike_state *st, const struct ike_tx *t)
{
    if (st->ds[TO_CLIENT].transform_count > 0)
        log_attributes(j, buf_slice(&st->ds[TO_CLIENT].transform));
    if (t->direction == TO_CLIENT && t->transforms.count > 1)
        log_proposals(j, "server_proposals", t);
}

/* Each type of payload once, in ascending order of the number: the parser keeps one bit for
 * each. */
static void log_v1_payloads(struct json *j, const struct ike_tx *t)
{
    for (unsigned type = 0; type <= UINT8_MAX; type++) {
        const char *name = ike_v1_payload_name((uint8_t)type);

        if (name != NULL && (t->has_payload[type / 8] & 1u << type % 8))
            json_string(j, NULL, name);
    }
}

/* Encrypted messages show the header only. */
static void log_v1(struct json *j, const struct ike_state *st, const struct ike_tx *t)
{
    json_object(j, "ikev1");
    if (st->has_domain)
        json_u64(j, "doi", st->domain);
    json_bool(j, "encrypted_payloads", t->encrypted);
    if (!t->encrypted) {
        log_direction(j, "client", &st->ds[TO_SERVER], t->direction == TO_SERVER ? t : NULL);
        log_direction(j, "server", &st->ds[TO_CLIENT], NULL);
        if (t->vendors.count > 0) {
            json_array(j, "vendor_ids");
            for (const struct ike_part *part = t->vendors.first; part != NULL; part = part->next)
                json_hex(j, NULL, part->bytes.data, part->bytes.len);
            json_array_end(j);
        }
    }
    json_object_end(j);
}

/* --- version 2 -------------------------------------------------------------------------------- */

/* The responder's record names the chosen algorithms. */
static void log_v2_role(struct json *j, const struct ike_state *st, const struct ike_tx *t)
{
    static const struct { const char *key; enum ike_transform_type type; } algorithms[] = {
        { "alg_enc", IKE_ENC }, { "alg_auth", IKE_AUTH }, { "alg_prf", IKE_PRF },
        { "alg_dh", IKE_DH }, { "alg_esn", IKE_ESN } };
    char text[IKE_NAME_TEXT];

    if (t->header.flags & FLAG_INITIATOR) {
        json_string(j, "role", "initiator");
        return;
    }
    json_string(j, "role", "responder");
    for (unsigned i = 0; i < ARRAY_LEN(algorithms); i++)
        json_string(j, algorithms[i].key,
                    ike_v2_transform_name(algorithms[i].type, st->chosen[algorithms[i].type],
                                          text));
}

/* Two bytes per notification type, in network order. */
static void log_v2(struct json *j, const struct ike_tx *t)
{
    char text[IKE_NAME_TEXT];

    json_object(j, "ikev2");
    json_u64(j, "errors", t->errors);
    if (t->notifies.len > 0) {
        json_array(j, "notify");
        for (uint32_t i = 0; i < t->notifies.len; i += 2)
            json_string(j, NULL, ike_v2_notify_name(get_be16(t->notifies.data + i), text));
        json_array_end(j);
    }
    json_object_end(j);
}

/* --- records ---------------------------------------------------------------------------------- */

/* Version 1 keeps a set of payload types, version 2 the list of them in their order. */
static void log_payloads(struct json *j, const struct ike_tx *t)
{
    char text[IKE_NAME_TEXT];

    json_array(j, "payload");
    if (t->header.major == 1)
        log_v1_payloads(j, t);
    for (uint32_t i = 0; i < t->payloads.len; i++)
        json_string(j, NULL, ike_v2_payload_name(t->payloads.data[i], text));
    json_array_end(j);
}

/* `extended` adds the exchange's name. */
static void log_message(struct json *j, const struct app_tx *tx, bool extended)
{
    const struct ike_state *st = tx->flow->state;
    const struct ike_tx *t = ike_tx_of(tx);
    const struct ike_header *h = &t->header;

    json_u64(j, "version_major", h->major);
    json_u64(j, "version_minor", h->minor);
    json_string(j, "init_spi", t->initiator);
    json_string(j, "resp_spi", t->responder);
    json_u64(j, "message_id", h->message_id);
    json_u64(j, "exchange_type", h->exchange);
    if (h->major == 1) {
        if (extended && ike_v1_exchange_name(h->exchange) != NULL)
            json_string(j, "exchange_type_verbose", ike_v1_exchange_name(h->exchange));
        log_v1_chosen(j, st, t);
    } else {
        log_v2_role(j, st, t);
    }
    log_payloads(j, t);
    if (h->major == 1)
        log_v1(j, st, t);
    else
        log_v2(j, t);
}

/* Options of this log. */
struct ike_log_settings {
    bool extended;  /* also the name of an exchange */
};

static void *ike_log_configure(const struct conf_node *node, struct err *err UNUSED)
{
    struct ike_log_settings *s = xcalloc(1, sizeof(*s));

    s->extended = conf_bool(node, "extended", false);
    return s;
}

/* One record for each message. `conf` can be missing. */
static bool ike_log(struct json *j, struct app_tx *tx, enum direction d UNUSED, const void *conf)
{
    const struct ike_log_settings *s = conf;

    log_message(j, tx, s != NULL && s->extended);
    return true;
}

/* Alerts always have the extended form. */
void ike_alert_metadata(struct json *j, struct app_tx *tx)
{
    json_object(j, "ike");
    log_message(j, tx, true);
    json_object_end(j);
}

static const struct app_log eve = {
    .conf_name = "ike", .event_type = "ike", .key = "ike", .progress = { 1, 1 },
    .each_direction = true, .configure = ike_log_configure, .log = ike_log,
};

const struct app_log *const ike_logs[] = { &eve, NULL };
