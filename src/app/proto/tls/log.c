/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/proto/tls/log.c - EVE `tls`, and the session in alerts.
 *
 *     - tls:
 *         extended: yes                  # no: subject, issuer, alternative names
 *         custom: [subject, sni, ...]    # instead: exactly these
 *         session-resumption: yes        # also sessions without a certificate
 *
 * A bare `- tls` turns the last one off. */
#include <stdlib.h>
#include <time.h>

#include "app/proto/tls/tls.h"
#include "base/array.h"

enum {
    F_VERSION = 1u << 0, F_SUBJECT = 1u << 1, F_ISSUER = 1u << 2, F_SERIAL = 1u << 3,
    F_FINGERPRINT = 1u << 4, F_NOT_BEFORE = 1u << 5, F_NOT_AFTER = 1u << 6, F_SNI = 1u << 7,
    F_CERTIFICATE = 1u << 8, F_CHAIN = 1u << 9, F_RESUMED = 1u << 10, F_JA3 = 1u << 11,
    F_JA3S = 1u << 12, F_CLIENT = 1u << 13, F_CLIENT_CERTIFICATE = 1u << 14,
    F_CLIENT_CHAIN = 1u << 15, F_JA4 = 1u << 16, F_ALT_NAMES = 1u << 17,
    F_CLIENT_ALPNS = 1u << 18, F_SERVER_ALPNS = 1u << 19, F_CLIENT_HANDSHAKE = 1u << 20,
    F_SERVER_HANDSHAKE = 1u << 21,
};

/* Sets of fields for the settings above. */
#define F_NAMES (F_SUBJECT | F_ISSUER)
#define F_PEER (F_NAMES | F_SERIAL | F_FINGERPRINT | F_NOT_BEFORE | F_NOT_AFTER)
#define F_BASIC (F_NAMES | F_ALT_NAMES)
#define F_EXTENDED                                                                          \
    (F_BASIC | F_PEER | F_VERSION | F_SNI | F_JA3 | F_JA3S | F_JA4 | F_CLIENT |             \
     F_CLIENT_ALPNS | F_SERVER_ALPNS)

/* Names in `custom`. Some turn on their enclosing object as well. */
static const struct { const char *name; uint32_t bit; } fields[] = {
    { "version", F_VERSION }, { "subject", F_SUBJECT }, { "issuer", F_ISSUER },
    { "serial", F_SERIAL }, { "fingerprint", F_FINGERPRINT }, { "not_before", F_NOT_BEFORE },
    { "not_after", F_NOT_AFTER }, { "sni", F_SNI }, { "certificate", F_CERTIFICATE },
    { "chain", F_CHAIN }, { "session_resumed", F_RESUMED }, { "ja3", F_JA3 },
    { "ja3s", F_JA3S }, { "client", F_CLIENT },
    { "client_certificate", F_CLIENT | F_CLIENT_CERTIFICATE },
    { "client_chain", F_CLIENT | F_CLIENT_CHAIN }, { "ja4", F_JA4 },
    { "subjectaltname", F_ALT_NAMES }, { "client_alpns", F_CLIENT_ALPNS },
    { "server_alpns", F_SERVER_ALPNS }, { "client_handshake", F_CLIENT_HANDSHAKE },
    { "server_handshake", F_SERVER_HANDSHAKE },
};

struct tls_log_settings {
    uint32_t fields;
    bool resumed;
};

/* --- settings ------------------------------------------------------------------------------- */

/* An unknown name is a warning, so that a configuration for a newer version still works. */
static uint32_t custom_fields(const struct conf_node *list)
{
    uint32_t bits = 0;

    CONF_EACH (item, list) {
        unsigned i = 0;

        while (i < ARRAY_LEN(fields) &&
               !text_equal_nocase(text_of(item->value), fields[i].name))
            i++;
        if (i == ARRAY_LEN(fields))
            conf_warning(item, "there is no field \"%s\" to log", item->value);
        else
            bits |= fields[i].bit;
    }
    return bits;
}

/* Certificates are large: logging one twice is probably a mistake. */
static void warn_twice(const struct conf_node *node, uint32_t bits, uint32_t certificate,
                       uint32_t chain, const char *which)
{
    if ((bits & certificate) != 0 && (bits & chain) != 0)
        conf_warning(node, "the certificate of the %s is in its chain, too: one of the two is "
                     "enough", which);
}

/* A bare "- tls" is a scalar node. */
static void *tls_log_configure(const struct conf_node *node, struct err *err UNUSED)
{
    struct tls_log_settings *s = xcalloc(1, sizeof(*s));
    const struct conf_node *custom = conf_find(node, "custom");

    s->fields = conf_bool(node, "extended", false) ? F_EXTENDED : F_BASIC;
    if (custom != NULL)
        s->fields = custom_fields(custom);
    s->resumed = node != NULL && node->kind != CONF_SCALAR &&
                 conf_bool(node, "session-resumption", true);
    if (s->resumed)
        s->fields |= F_RESUMED;
    warn_twice(custom, s->fields, F_CERTIFICATE, F_CHAIN, "server");
    warn_twice(custom, s->fields, F_CLIENT_CERTIFICATE, F_CLIENT_CHAIN, "client");
    return s;
}

/* Certificates as sent are kept only if a log needs them. */
static uint32_t tls_log_features(const void *settings)
{
    const struct tls_log_settings *s = settings;

    return s->fields & (F_CERTIFICATE | F_CHAIN | F_CLIENT_CERTIFICATE | F_CLIENT_CHAIN)
               ? TLS_FEATURE_CHAIN : 0;
}

/* --- certificates --------------------------------------------------------------------------- */

/* 0: not known. */
static void log_time(struct json *j, const char *key, int64_t time)
{
    struct tm tm;
    time_t t = (time_t)time;
    char text[40];

    if (time == 0 || gmtime_r(&t, &tm) == NULL)
        return;
    strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%S", &tm);
    json_string(j, key, text);
}

static void log_some(struct json *j, const char *key, struct slice s)
{
    if (s.data != NULL)
        json_slice(j, key, s);
}

static void log_chain(struct json *j, const struct tls_dir *ds)
{
    if (tls_chain_retained(ds) == 0)
        return;
    json_array(j, "chain");
    for (unsigned i = 0; i < tls_chain_retained(ds); i++)
        json_base64(j, NULL, ds->chain->der[i].data, ds->chain->der[i].len);
    json_array_end(j);
}

static void log_certificate(struct json *j, const struct tls_dir *ds)
{
    if (tls_chain_retained(ds) > 0)
        json_base64(j, "certificate", ds->chain->der[0].data, ds->chain->der[0].len);
}

static void log_alt_names(struct json *j, const struct tls_certificate *c)
{
    if (c->alt_name_count == 0)
        return;
    json_array(j, "subjectaltname");
    for (unsigned i = 0; i < c->alt_name_count; i++)
        json_slice(j, NULL, c->alt_names[i]);
    json_array_end(j);
}

/* The client's certificate, which few servers ask for. */
static void log_client(struct json *j, const struct tls_dir *client, uint32_t field_mask)
{
    const struct tls_certificate *c = tls_certificate_of(client);

    if (!client->has_certificate)
        return;
    json_object(j, "client");
    log_some(j, "subject", c->subject);
    log_some(j, "issuerdn", c->issuer);
    log_some(j, "fingerprint", c->fingerprint);
    log_some(j, "serial", c->serial);
    log_time(j, "notbefore", c->not_before);
    log_time(j, "notafter", c->not_after);
    if (field_mask & F_CLIENT_CERTIFICATE)
        log_certificate(j, client);
    if (field_mask & F_CLIENT_CHAIN)
        log_chain(j, client);
    json_object_end(j);
}

/* --- hellos --------------------------------------------------------------------------------- */

static void log_alpns(struct json *j, const char *key, struct slice alpn)
{
    struct bytes list = bytes_of_slice(alpn);
    struct slice name;

    if (!tls_hello_next_alpn(&list, &name))
        return;
    json_array(j, key);
    do
        json_slice(j, NULL, name);
    while (tls_hello_next_alpn(&list, &name));
    json_array_end(j);
}

static void log_values(struct json *j, const char *key, struct slice values,
                       bool (*next)(struct bytes *list, uint16_t *value))
{
    struct bytes list = bytes_of_slice(values);
    uint16_t value;

    if (!next(&list, &value))
        return;
    json_array(j, key);
    do
        json_u64(j, NULL, value);
    while (next(&list, &value));
    json_array_end(j);
}

static void log_hello_version(struct json *j, const struct tls_hello *h)
{
    char buf[TLS_VERSION_TEXT];

    if (tls_version_known(h->highest))
        json_string(j, "version", tls_version_name(h->highest, buf));
}

/* 0: no hello was read. */
static void log_client_handshake(struct json *j, const struct tls_tx *tx)
{
    struct tls_hello h;

    if (tx->ds[TO_SERVER].legacy_version == 0)
        return;
    tls_hello_of(tx, TO_SERVER, &h);
    json_object(j, "client_handshake");
    log_hello_version(j, &h);
    log_values(j, "ciphers", h.ciphers, tls_hello_next_value);
    log_values(j, "exts", h.extensions, tls_hello_next_extension);
    log_values(j, "sig_algs", h.signatures, tls_hello_next_value);
    json_object_end(j);
}

static void log_server_handshake(struct json *j, const struct tls_tx *tx)
{
    struct tls_hello h;
    struct bytes list;

    if (tx->ds[TO_CLIENT].legacy_version == 0)
        return;
    tls_hello_of(tx, TO_CLIENT, &h);
    list = bytes_of_slice(h.ciphers);
    json_object(j, "server_handshake");
    log_hello_version(j, &h);
    json_u64(j, "cipher", take_be16(&list));
    log_values(j, "exts", h.extensions, tls_hello_next_extension);
    json_object_end(j);
}

static void log_ja3(struct json *j, const char *key, struct app_tx *tx, enum direction d)
{
    const struct slice *string = tls_ja3_of(tx, d), *hash = tls_ja3_hash_of(tx, d);

    if (string == NULL)
        return;
    json_object(j, key);
    if (hash != NULL)
        json_slice(j, "hash", *hash);
    json_slice(j, "string", *string);
    json_object_end(j);
}

static void log_ja4(struct json *j, struct app_tx *tx)
{
    const struct slice *ja4 = tls_ja4_of(tx);

    if (ja4 != NULL)
        json_slice(j, "ja4", *ja4);
}

/* --- the record ----------------------------------------------------------------------------- */

/* Suricata logs session_resumed only if no certificate was seen, although it could be visible. */
static void log_resumed(struct json *j, const struct tls_tx *tx)
{
    const struct tls_dir *server = &tx->ds[TO_CLIENT];

    if (tx->resumed && !server->has_certificate && !tx->without_certificate &&
        server->legacy_version != 0)
        json_bool(j, "session_resumed", true);
}

/* The server's version is the agreed one; without it, the client's offer. */
static void log_version(struct json *j, const struct tls_tx *tx)
{
    uint16_t version = tx->ds[TO_CLIENT].version;
    char buf[TLS_VERSION_TEXT];

    json_string(j, "version",
                tls_version_name(version != 0 ? version : tx->ds[TO_SERVER].version, buf));
}

/* Members in Suricata's order. */
static void log_peer(struct json *j, struct tls_tx *tx, uint32_t field_mask)
{
    const struct tls_certificate *c = tls_certificate_of(&tx->ds[TO_CLIENT]);

    if (field_mask & F_SUBJECT)
        log_some(j, "subject", c->subject);
    if (field_mask & F_ISSUER)
        log_some(j, "issuerdn", c->issuer);
    if (field_mask & F_ALT_NAMES)
        log_alt_names(j, c);
    if (field_mask & F_RESUMED)
        log_resumed(j, tx);
    if (field_mask & F_SERIAL)
        log_some(j, "serial", c->serial);
    if (field_mask & F_FINGERPRINT)
        log_some(j, "fingerprint", c->fingerprint);
    if (field_mask & F_SNI)
        log_some(j, "sni", tx->ds[TO_SERVER].sni);
    if (field_mask & F_VERSION)
        log_version(j, tx);
    if (field_mask & F_NOT_BEFORE)
        log_time(j, "notbefore", c->not_before);
    if (field_mask & F_NOT_AFTER)
        log_time(j, "notafter", c->not_after);
    if (field_mask & F_CERTIFICATE)
        log_certificate(j, &tx->ds[TO_CLIENT]);
    if (field_mask & F_CHAIN)
        log_chain(j, &tx->ds[TO_CLIENT]);
}

static void log_fields(struct json *j, struct tls_tx *tx, uint32_t field_mask)
{
    log_peer(j, tx, field_mask);
    if (field_mask & F_JA3)
        log_ja3(j, "ja3", &tx->tx, TO_SERVER);
    if (field_mask & F_JA3S)
        log_ja3(j, "ja3s", &tx->tx, TO_CLIENT);
    if (field_mask & F_JA4)
        log_ja4(j, &tx->tx);
    if (field_mask & F_CLIENT_ALPNS)
        log_alpns(j, "client_alpns", tx->ds[TO_SERVER].alpn);
    if (field_mask & F_SERVER_ALPNS)
        log_alpns(j, "server_alpns", tx->ds[TO_CLIENT].alpn);
    if (field_mask & F_CLIENT_HANDSHAKE)
        log_client_handshake(j, tx);
    if (field_mask & F_SERVER_HANDSHAKE)
        log_server_handshake(j, tx);
    if (field_mask & F_CLIENT)
        log_client(j, &tx->ds[TO_SERVER], field_mask);
}

/* Without a certificate there is a record only for TLS 1.3, where it is encrypted, or for resumed
 * sessions. */
static bool tls_log(struct json *j, struct app_tx *tx, enum direction d UNUSED, const void *conf)
{
    const struct tls_log_settings *s = conf;
    struct tls_tx *t = tls_tx_of(tx);
    uint16_t original = tx->flow->flow->app_proto_orig;     /* before a STARTTLS, for instance */

    if (!t->ds[TO_CLIENT].has_certificate && !t->without_certificate &&
        !(t->resumed && s->resumed))
        return false;
    log_fields(j, t, s->fields);
    if (original != APP_PROTO_UNKNOWN)
        json_string(j, "from_proto", app_proto_name((enum app_proto_id)original));
    return true;
}

void tls_alert_metadata(struct json *j, struct app_tx *tx)
{
    json_object(j, "tls");
    log_fields(j, tls_tx_of(tx), F_EXTENDED);
    json_object_end(j);
}

/* The record waits for messages that may change it, but its time is that of the certificate. */
static uint64_t tls_log_time(const struct app_tx *tx)
{
    return tls_tx_of(tx)->certificate_us;
}

static const struct app_log eve_tls = {
    .conf_name = "tls", .event_type = "tls", .key = "tls",
    .progress = { TLS_CLIENT_HANDSHAKE_DONE, TLS_SERVER_HANDSHAKE_DONE },
    .configure = tls_log_configure, .features = tls_log_features, .time_us = tls_log_time,
    .log = tls_log,
};

const struct app_log *const tls_logs[] = { &eve_tls, NULL };
