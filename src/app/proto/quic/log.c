/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/proto/quic/log.c - the `quic` object of EVE records, as in Suricata. */
#include "app/proto/quic/quic.h"
#include "app/proto/tls/version.h"

#include <stdio.h>

enum { EXT_SERVER_NAME = 0, EXT_SIGNATURE_ALGORITHMS = 13, EXT_ALPN = 16,
       EXT_SUPPORTED_VERSIONS = 43 };

/* IANA's names; missing numbers are not assigned. */
static const char *const extension_names[] = {
    [0] = "server_name", "max_fragment_length", "client_certificate_url", "trusted_ca_keys",
    "truncated_hmac", "status_request", "user_mapping", "client_authz", "server_authz",
    "cert_type", "supported_groups", "ec_point_formats", "srp", "signature_algorithms",
    "use_srtp", "heartbeat", "alpn", "status_request_v2", "signed_certificate_timestamp",
    "client_certificate_type", "server_certificate_type", "padding", "encrypt_then_mac",
    "extended_master_secret", "token_binding", "cached_info", "tls_lts", "compress_certificate",
    "record_size_limit", "pwd_protect", "pwd_clear", "password_salt", "ticket_pinning",
    "tls_cert_with_extern_psk", "delegated_credentials", "session_ticket", "tlmsp",
    "tlmsp_proxying", "tlmsp_delegate", "supported_ekt_ciphers",
    [41] = "pre_shared_key", "early_data", "supported_versions", "cookie",
    "psk_key_exchange_modes",
    [47] = "certificate_authorities", "oid_filters", "post_handshake_auth",
    "signature_algorithms_cert", "key_share", "transparency_info", "connection_id_deprecated",
    "connection_id", "external_id_hash", "external_session_id", "quic_transport_parameters",
    "ticket_request", "dnssec_chain",
};

static const char *extension_name(uint16_t type)
{
    if (type < ARRAY_LEN(extension_names))
        return extension_names[type];
    return type == 13172 ? "next_protocol_negotiation" : type == 65281 ? "renegotiation_info"
                                                                       : NULL;
}

/* --- values ----------------------------------------------------------------------------------- */

/* Spelled as Suricata does. */
static void log_version_value(struct json *j, uint16_t version)
{
    static const char *const names[] = { "Ssl30", "Tls10", "Tls11", "Tls12", "Tls13" };

    if (version >= 0x0300 && version <= 0x0304)
        json_string(j, NULL, names[version - 0x0300]);
    else
        json_printf(j, NULL, "TlsVersion(%u / 0x%x)", version, version);
}

/* A client has a list with its length (1 byte), a server one version. */
static void log_versions(struct json *j, struct bytes in, bool is_server)
{
    if (!is_server)
        take_u8(&in);
    while (bytes_have(&in, 2))
        log_version_value(j, take_be16(&in));
}

static void log_names(struct json *j, struct bytes in)
{
    take_skip(&in, 2);
    while (bytes_have(&in, 3)) {
        struct slice name;

        take_u8(&in);
        name = take_slice(&in, take_be16(&in));
        if (!in.failed)
            json_slice(j, NULL, name);
    }
}

static void log_signatures(struct json *j, struct bytes in)
{
    take_skip(&in, 2);
    while (bytes_have(&in, 2))
        json_printf(j, NULL, "%u", take_be16(&in));
}

static void log_alpn(struct json *j, struct bytes in)
{
    take_skip(&in, 2);
    while (bytes_have(&in, 1)) {
        struct slice name = take_slice(&in, take_u8(&in));

        if (!in.failed)
            json_slice(j, NULL, name);
    }
}

/* Values of these four extensions only; an empty array is taken back. */
static void log_values(struct json *j, uint16_t type, struct bytes body, bool is_server)
{
    struct json_mark mark = json_mark(j);
    size_t before;

    json_array(j, "values");
    before = j->out->len;
    if (type == EXT_SERVER_NAME)
        log_names(j, body);
    else if (type == EXT_SIGNATURE_ALGORITHMS)
        log_signatures(j, body);
    else if (type == EXT_ALPN)
        log_alpn(j, body);
    else if (type == EXT_SUPPORTED_VERSIONS)
        log_versions(j, body, is_server);
    if (j->out->len > before)
        json_array_end(j);
    else
        json_rewind(j, mark);
}

static void log_extensions(struct json *j, const struct tls_hello *hello)
{
    struct bytes in = bytes_of_slice(hello->extensions);

    if (hello->extensions.len == 0)
        return;
    json_array(j, "extensions");
    /* The hello's parser has checked the lengths. */
    while (bytes_have(&in, 4)) {
        uint16_t type = take_be16(&in);
        struct bytes body = take_sub(&in, take_be16(&in));
        const char *name = extension_name(type);

        json_object(j, NULL);
        if (name != NULL)
            json_string(j, "name", name);
        json_u64(j, "type", tls_extension_shown(type));
        if (!body.failed)
            log_values(j, type, body, hello->is_server);
        json_object_end(j);
    }
    json_array_end(j);
}

/* --- members ---------------------------------------------------------------------------------- */

/* Draft versions are printed in hex. */
static void log_version(struct json *j, uint32_t version)
{
    if (version == QUIC_V2)
        json_string(j, "version", "v2");
    else if (version == 0x51303339 || (version >= QUIC_Q043 && version <= QUIC_Q046))
        json_printf(j, "version", "Q0%c%c", (char)(version >> 8), (char)version);
    else
        json_printf(j, "version", "%x", version);
}

static void log_cyu(struct json *j, const struct quic_cyu *cyu)
{
    if (cyu == NULL)
        return;
    json_array(j, "cyu");
    for (; cyu != NULL; cyu = cyu->next) {
        json_object(j, NULL);
        json_slice(j, "hash", cyu->hash);
        json_slice(j, "string", cyu->text);
        json_object_end(j);
    }
    json_array_end(j);
}

static void log_fingerprints(struct json *j, struct quic_tx *t)
{
    const struct slice *ja3 = quic_ja3(t), *hash = quic_ja3_hash(t), *ja4 = quic_ja4(t);

    if (ja3 != NULL) {
        json_object(j, t->direction == TO_SERVER ? "ja3" : "ja3s");
        if (hash != NULL)
            json_slice(j, "hash", *hash);
        json_slice(j, "string", *ja3);
        json_object_end(j);
    }
    if (ja4 != NULL)
        json_slice(j, "ja4", *ja4);
}

static bool quic_log(struct json *j, struct app_tx *tx, enum direction d UNUSED,
                     const void *conf UNUSED)
{
    struct quic_tx *t = quic_tx_of(tx);

    log_version(j, t->version);
    if (t->sni.data != NULL)
        json_slice(j, "sni", t->sni);
    if (t->ua.data != NULL)
        json_slice(j, "ua", t->ua);
    log_cyu(j, t->cyu);
    log_fingerprints(j, t);
    if (t->has_hello)
        log_extensions(j, &t->hello);
    return true;
}

void quic_alert_metadata(struct json *j, struct app_tx *tx)
{
    json_object(j, "quic");
    quic_log(j, tx, TO_SERVER, NULL);
    json_object_end(j);
}

static const struct app_log quic = {
    .as_packet = true,
    .conf_name = "quic", .event_type = "quic", .key = "quic",
    .progress = { 1, 1 }, .each_direction = true, .log = quic_log,
};

const struct app_log *const quic_logs[] = { &quic, NULL };
