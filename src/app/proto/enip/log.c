/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/proto/enip/log.c - EVE enip: a request and its response, as in Suricata. */
#include "app/proto/enip/enip.h"

/* A value without a name is "unknown-" and its number, as for all names here. */
static void log_named(struct json *j, const char *key, const char *name, uint32_t number)
{
    if (name != NULL)
        json_string(j, key, name);
    else
        json_printf(j, key, "unknown-%u", number);
}

/* NULL: no name. */
static const char *name_in(const struct app_name *names, int64_t value)
{
    for (; names->name != NULL; names++)
        if (names->value == value)
            return names->name;
    return NULL;
}

/* Options appear only when they are not 0. */
static void log_header(struct json *j, const struct enip_header *h)
{
    log_named(j, "command", name_in(enip_commands, h->command), h->command);
    log_named(j, "status", name_in(enip_statuses, h->status), h->status);
    if (h->options != 0)
        json_u64(j, "options", h->options);
}

/* --- CIP -------------------------------------------------------------------------------------- */

/* The lower two bits of a segment type are the size of its value. */
static const char *segment_name(uint8_t type)
{
    switch (type >> 2) {
    case CIP_SEGMENT_CLASS:
        return "class";
    case CIP_SEGMENT_INSTANCE:
        return "instance";
    case CIP_SEGMENT_ATTRIBUTE:
        return "attribute";
    default:
        return NULL;
    }
}

/* The last class of the path names the class of the request. */
static void log_path(struct json *j, struct slice bytes)
{
    struct bytes path = bytes_of_slice(bytes);
    struct cip_segment segment;
    bool has_class = false;
    uint32_t class = 0;

    if (bytes.len == 0)
        return;
    json_array(j, "path");
    while (bytes_left(&path) > 0 && cip_take_segment(&path, &segment)) {
        json_object(j, NULL);
        log_named(j, "segment_type", segment_name(segment.type), segment.type);
        json_u64(j, "value", segment.value);
        json_object_end(j);
        if (segment.type >> 2 == CIP_SEGMENT_CLASS) {
            class = segment.value;
            has_class = true;
        }
    }
    json_array_end(j);
    if (has_class)
        log_named(j, "class_name", cip_class_name(class), class);
}

/* An extended status of two bytes may have a name. */
static void log_response(struct json *j, const struct cip *m)
{
    const char *meaning = NULL;

    log_named(j, "status", cip_status_name(m->status), m->status);
    if (m->extended.len == 0)
        return;
    json_hex(j, "status_extended", m->extended.data, m->extended.len);
    if (m->extended.len == 2)
        meaning = cip_extended_name(get_le16(m->extended.data));
    if (meaning != NULL)
        json_string(j, "status_extended_meaning", meaning);
}

/* A response has a status in place of a path. */
static void log_message(struct json *j, const struct cip *m)
{
    log_named(j, "service", cip_service_name(m->service), m->service);
    if (m->is_response)
        log_response(j, m);
    else
        log_path(j, m->path);
}

/* A multiple service packet shows its messages in a list of their own. A message that cannot be
 * read shows nothing. */
static void log_cip(struct json *j, const struct enip_pdu *pdu)
{
    struct cip m, inner;
    uint32_t at;

    if (!pdu->has_message || !cip_read(pdu->message, &m))
        return;
    json_object(j, "cip");
    log_message(j, &m);
    if (m.multiple_count > 0) {
        json_array(j, "multiple");
        for (unsigned i = 0; cip_nested(&m, i, &inner, &at); i++) {
            json_object(j, NULL);
            log_message(j, &inner);
            json_object_end(j);
        }
        json_array_end(j);
    }
    json_object_end(j);
}

/* --- messages --------------------------------------------------------------------------------- */

/* RegisterSession: the same fields in request and response. */
static void log_session(struct json *j, const struct enip_pdu *pdu)
{
    json_object(j, "register_session");
    json_u64(j, "protocol_version", pdu->version);
    json_u64(j, "options", pdu->options);
    json_object_end(j);
}

/* The first item of ListServices. */
static void log_services(struct json *j, const struct enip_services *s)
{
    json_object(j, "list_services");
    json_u64(j, "protocol_version", s->version);
    json_u64(j, "capabilities", s->capabilities);
    json_lossy(j, "service_name", s->name);
    json_object_end(j);
}

/* The first item of ListIdentity. The product name is the device's own text. */
static void log_identity(struct json *j, const struct enip_identity *i)
{
    json_object(j, "identity");
    json_u64(j, "protocol_version", i->version);
    json_printf(j, "revision", "%u.%u", i->revision >> 8, i->revision & 0xff);
    log_named(j, "vendor_id", enip_vendor_name(i->vendor), i->vendor);
    log_named(j, "device_type", enip_device_name(i->device), i->device);
    json_u64(j, "product_code", i->product);
    json_u64(j, "status", i->status);
    json_u64(j, "serial", i->serial);
    json_lossy(j, "product_name", i->name);
    json_u64(j, "state", i->state);
    json_object_end(j);
}

/* Lists are logged of responses only: requests for them are empty. */
static void log_pdu(struct json *j, const char *key, const struct enip_pdu *pdu, bool is_response)
{
    if (pdu == NULL)
        return;
    json_object(j, key);
    log_header(j, &pdu->header);
    if (pdu->payload == ENIP_CIP)
        log_cip(j, pdu);
    else if (pdu->payload == ENIP_REGISTER)
        log_session(j, pdu);
    else if (is_response && pdu->has_services)
        log_services(j, &pdu->services);
    else if (is_response && pdu->has_identity)
        log_identity(j, &pdu->identity);
    json_object_end(j);
}

/* Nothing to write when neither side could be read. */
static bool enip_log(struct json *j, struct app_tx *tx, enum direction d UNUSED,
                     const void *conf UNUSED)
{
    const struct enip_tx *t = enip_tx_of(tx);

    log_pdu(j, "request", t->request, false);
    log_pdu(j, "response", t->response, true);
    return t->request != NULL || t->response != NULL;
}

/* The same fields within an alert; no object without content. */
void enip_alert_metadata(struct json *j, struct app_tx *tx)
{
    const struct enip_tx *t = enip_tx_of(tx);

    if (t->request == NULL && t->response == NULL)
        return;
    json_object(j, "enip");
    enip_log(j, tx, TO_SERVER, NULL);
    json_object_end(j);
}

static const struct app_log eve = {
    .conf_name = "enip", .event_type = "enip", .key = "enip", .progress = { 1, 1 },
    .log = enip_log,
};

const struct app_log *const enip_logs[] = { &eve, NULL };
