/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/proto/rdp/log.c - EVE rdp: a record for each message.
 *
 * Section numbers are those of [MS-RDPBCGR]. Values were checked by the parser where an array here
 * is indexed by them. */
#include "app/proto/rdp/rdp.h"

#include "app/lib/asn1/der.h"
#include "app/rules.h"

/* One string for each known bit; no array when no bit is set. */
static void log_bits(struct json *j, const char *key, uint32_t value, const struct app_name *names)
{
    if (value == 0)
        return;
    json_array(j, key);
    for (; names->name != NULL; names++)
        if (value & names->value)
            json_string(j, NULL, names->name);
    json_array_end(j);
}

/* --- X.224 ------------------------------------------------------------------------------------ */

/* Flags of RDP_NEG_REQ (2.2.1.1.1). */
static void log_request(struct json *j, const struct rdp_tx *t)
{
    static const struct app_name flags[] = {
        { "restricted_admin_mode_required", 1 }, { "redirected_authentication_mode_required", 2 },
        { "correlation_info_present", 8 }, { NULL, 0 } };

    if (t->has_cookie)
        json_slice(j, "cookie", t->cookie);
    log_bits(j, "flags", t->flags, flags);
}

/* Flags and protocols of RDP_NEG_RSP (2.2.1.2.1), reasons of RDP_NEG_FAILURE (2.2.1.2.2). The
 * parser accepts only protocols and reasons that these arrays have. */
static void log_confirm(struct json *j, const struct rdp_tx *t)
{
    static const struct app_name flags[] = {
        { "extended_client_data", 1 }, { "dynvc_gfx", 2 }, { "restricted_admin", 8 },
        { "redirected_authentication", 16 }, { NULL, 0 } };
    static const char *const protocols[] = {
        [0] = "rdp", [1] = "ssl", [2] = "hybrid", [4] = "rds_tls", [8] = "hybrid_ex" };
    static const char *const reasons[] = {
        [1] = "ssl required by server", [2] = "ssl not allowed by server",
        [3] = "ssl cert not on server", [4] = "inconsistent flags",
        [5] = "hybrid required by server", [6] = "ssl with user auth required by server" };

    if (t->negotiation == RDP_ACCEPTED) {
        log_bits(j, "server_supports", t->flags, flags);
        json_string(j, "protocol", protocols[t->protocol]);
    } else if (t->negotiation == RDP_REFUSED) {
        json_u64(j, "error_code", t->protocol);
        json_string(j, "reason", reasons[t->protocol]);
    }
}

/* --- client data ------------------------------------------------------------------------------ */

static const char *known(const char *name)
{
    return name != NULL ? name : "unknown";
}

/* The color depth in bits per pixel, from the newest of the three fields that the protocol has had
 * for it (TS_UD_CS_CORE, 2.2.1.3.2). 0: no field has it. */
static unsigned color_depth(const struct rdp_client *c)
{
    static const uint8_t depths[] = { 4, 8, 15, 16, 24 };       /* of 0xca00 to 0xca04 */

    if (rdp_is_high_depth(c->high_depth.value))
        return c->high_depth.value;
    if (c->post_beta2_depth.value >= 0xca00)
        return depths[c->post_beta2_depth.value - 0xca00];
    return c->color_depth == 0xca00 ? 4 : c->color_depth == 0xca01 ? 8 : 0;
}

/* Empty text and number 0 mean that the client has not said anything: no field. */
static void log_text(struct json *j, const char *key, struct slice text)
{
    if (text.len > 0)
        json_slice(j, key, text);
}

static void log_number(struct json *j, const char *key, uint32_t value)
{
    if (value != 0)
        json_u64(j, key, value);
}

/* A field that may legitimately be 0: the flag decides. */
static void log_optional(struct json *j, const char *key, struct rdp_optional o)
{
    if (o.has)
        json_u64(j, key, o.value);
}

/* keyboardType of TS_UD_CS_CORE (2.2.1.3.2); unknown types have no field. */
static void log_keyboard(struct json *j, const struct rdp_client *c)
{
    static const char *const types[] = { NULL, "xt", "ico", "at", "enhanced", "1050", "9140",
                                         "jp" };

    if (c->keyboard_type > 0 && c->keyboard_type < ARRAY_LEN(types))
        json_string(j, "keyboard_type", types[c->keyboard_type]);
    log_number(j, "keyboard_subtype", c->keyboard_subtype);
    log_number(j, "function_keys", c->function_keys);
}

/* The optional fields of TS_UD_CS_CORE, in their order on the wire. `hint` is at most 7:
 * is_hint(). */
static void log_optionals(struct json *j, const struct rdp_client *c)
{
    static const struct app_name capabilities[] = {
        { "support_errinfo_pdf", 0x01 }, { "want_32bpp_session", 0x02 },
        { "support_statusinfo_pdu", 0x04 }, { "strong_asymmetric_keys", 0x08 },
        { "valid_connection_type", 0x20 }, { "support_monitor_layout_pdu", 0x40 },
        { "support_netchar_autodetect", 0x80 }, { "support_dynvc_gfx_protocol", 0x100 },
        { "support_dynamic_time_zone", 0x200 }, { "support_heartbeat_pdu", 0x400 }, { NULL, 0 } };
    static const char *const hints[] = { NULL, "modem", "low_broadband", "satellite",
                                         "high_broadband", "wan", "lan", "autodetect" };

    log_optional(j, "product_id", c->product_id);
    log_number(j, "serial_number", c->serial.value);
    log_bits(j, "capabilities", c->capabilities.value, capabilities);
    log_text(j, "id", c->product);
    if (c->hint.value != 0)
        json_string(j, "connection_hint", hints[c->hint.value]);
    log_optional(j, "physical_width", c->physical_width);
    log_optional(j, "physical_height", c->physical_height);
    log_optional(j, "desktop_orientation", c->orientation);
    log_optional(j, "scale_factor", c->scale);
    log_optional(j, "device_scale_factor", c->device_scale);
}

/* Fields of the client. Versions, layouts and builds that the tables do not have are "unknown". */
static void log_client(struct json *j, const struct rdp_client *c)
{
    json_object(j, "client");
    json_string(j, "version", known(rdp_version_name(c->version)));
    json_u64(j, "desktop_width", c->width);
    json_u64(j, "desktop_height", c->height);
    log_number(j, "color_depth", color_depth(c));
    json_string(j, "keyboard_layout", known(rdp_layout_name(c->keyboard_layout)));
    json_string(j, "build", known(rdp_build_name(c->build)));
    log_text(j, "client_name", c->name);
    log_keyboard(j, c);
    log_text(j, "ime", c->ime);
    log_optionals(j, c);
    json_object_end(j);
}

/* A connect request without readable core data still shows its channels. */
static void log_connect(struct json *j, const struct rdp_tx *t)
{
    if (t->client != NULL)
        log_client(j, t->client);
    if (t->channel_count == 0)
        return;
    json_array(j, "channels");
    for (uint32_t i = 0; i < t->channel_count; i++)
        json_slice(j, NULL, t->channels[i]);
    json_array_end(j);
}

/* --- certificates ----------------------------------------------------------------------------- */

/* Finds the serial number: Certificate, TBSCertificate, version [0] (optional), serialNumber (RFC
 * 5280 section 4.1). Only these first elements are parsed. */
static bool find_serial(struct slice certificate, struct slice *out)
{
    struct bytes in = bytes_of_slice(certificate), outer = der_enter(&in, DER_SEQUENCE);
    struct bytes tbs = der_enter(&outer, DER_SEQUENCE);
    struct der version;

    if (der_peek(&tbs) == DER_CONTEXT_CONSTRUCTED)
        der_take(&tbs, &version);
    return der_take_tag(&tbs, DER_INTEGER, out) && out->len > 0;
}

/* Writes the serial as a hexadecimal number without leading zeros. RFC 5280 allows 20 bytes; more
 * than 64 are cut. */
static void log_serial(struct json *j, struct slice serial)
{
    static const char digits[] = "0123456789abcdef";
    char text[2 * 64 + 1];
    size_t n = 0;

    for (uint32_t i = 0; i < serial.len && n + 2 < sizeof(text); i++) {
        if (n > 0 || serial.data[i] >= 16)
            text[n++] = digits[serial.data[i] >> 4];
        if (n > 0 || serial.data[i] > 0)
            text[n++] = digits[serial.data[i] & 15];
    }
    json_bytes(j, NULL, n > 0 ? text : "0", n > 0 ? n : 1);
}

/* The list of a TLS 1.2 Certificate message (RFC 5246 section 7.4.2): a length of 3 bytes before
 * each certificate. A certificate whose serial cannot be read is left out. */
static void log_certificates(struct json *j, struct slice list)
{
    struct bytes in = bytes_of_slice(list);
    struct slice serial;

    json_array(j, "x509_serials");
    while (bytes_left(&in) > 0) {
        struct slice certificate = take_slice(&in, take_be24(&in));

        if (in.failed)
            break;
        if (find_serial(certificate, &serial))
            log_serial(j, serial);
    }
    json_array_end(j);
}

/* --- records ---------------------------------------------------------------------------------- */

/* Transactions have numbers from 1 in records. */
static bool rdp_log(struct json *j, struct app_tx *tx, enum direction d UNUSED,
                    const void *conf UNUSED)
{
    static const char *const kinds[] = {
        [RDP_REQUEST] = "initial_request", [RDP_CONFIRM] = "initial_response",
        [RDP_CONNECT_REQUEST] = "connect_request", [RDP_CONNECT_RESPONSE] = "connect_response",
        [RDP_CERTIFICATES] = "tls_handshake" };
    const struct rdp_tx *t = rdp_tx_of(tx);

    json_u64(j, "tx_id", tx->id + 1);
    json_string(j, "event_type", kinds[t->kind]);
    if (t->kind == RDP_REQUEST)
        log_request(j, t);
    else if (t->kind == RDP_CONFIRM)
        log_confirm(j, t);
    else if (t->kind == RDP_CONNECT_REQUEST)
        log_connect(j, t);
    else if (t->kind == RDP_CERTIFICATES)
        log_certificates(j, t->certificates);
    return true;
}

/* The same object within an alert. */
void rdp_alert_metadata(struct json *j, struct app_tx *tx)
{
    json_object(j, "rdp");
    rdp_log(j, tx, TO_SERVER, NULL);
    json_object_end(j);
}

static const struct app_log eve = {
    .conf_name = "rdp", .event_type = "rdp", .key = "rdp", .progress = { 1, 1 },
    .as_packet = true, .log = rdp_log,
};

const struct app_log *const rdp_logs[] = { &eve, NULL };
