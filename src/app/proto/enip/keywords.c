/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/proto/enip/keywords.c - what rules inspect of requests and responses. */
#include "app/proto/enip/enip.h"

/* NULL: the message of this direction is missing or could not be read. */
static const struct enip_pdu *pdu_of(const struct app_tx *tx, enum direction d)
{
    const struct enip_tx *t = enip_tx_of(tx);

    return d == TO_SERVER ? t->request : t->response;
}

static const struct app_path pdu_path = { APP_PATH_POINTERS(enip_tx, request, response) };
static const struct app_path response_path = { APP_PATH_POINTER(enip_tx, response) };

/* --- the message ------------------------------------------------------------------------------ */

/* The version of RegisterSession from either side, or of the first item of a list in a response. */
static bool get_version(struct app_tx *tx, enum direction d, unsigned i UNUSED, uint64_t *out)
{
    const struct enip_pdu *pdu = pdu_of(tx, d);

    if (pdu != NULL && pdu->payload == ENIP_REGISTER)
        *out = pdu->version;
    else if (pdu != NULL && d == TO_CLIENT && pdu->has_services)
        *out = pdu->services.version;
    else if (pdu != NULL && d == TO_CLIENT && pdu->has_identity)
        *out = pdu->identity.version;
    else
        return false;
    return true;
}

/* --- lists of the answer ---------------------------------------------------------------------- */

/* A keyword for one number of the first item in a response's list. */
#define LIST_INTEGER(of, member, keyword, size, text)                                         \
    static const struct app_integer of##_##member = {                                         \
        .name = "enip." keyword, .doc = text, .bits = size, .directions = APP_BOTH,           \
        .field = APP_FIELD_PART_WITH(&response_path, enip_pdu, of.member, has_##of),          \
    }
LIST_INTEGER(services, capabilities, "capabilities", 16,
             "capabilities of the first service listed");
LIST_INTEGER(identity, vendor, "vendor_id", 16, "vendor of the device");
LIST_INTEGER(identity, device, "device_type", 16, "type of the device");
LIST_INTEGER(identity, product, "product_code", 16, "product code of the device");
LIST_INTEGER(identity, revision, "revision", 16, "revision of the device: major * 256 + minor");
LIST_INTEGER(identity, status, "identity_status", 16, "status of the device");
LIST_INTEGER(identity, serial, "serial", 32, "serial number of the device");
LIST_INTEGER(identity, state, "state", 8, "state of the device");

/* --- numbers in CIP messages ------------------------------------------------------------------ */

/* Collects one kind of number from a message and the messages within. */
struct collector {
    enum enip_numbers_of what;
    struct enip_numbers *numbers;       /* value NULL: only count */
};

/* Counts, and keeps the value in the second pass. The caller's array has room for all that the
 * first pass has counted. */
static void collect(struct collector *c, uint32_t value)
{
    if (c->numbers->value != NULL)
        c->numbers->value[c->numbers->count] = value;
    c->numbers->count++;
}

/* Values of all segments of this type in the path; a malformed segment ends the walk. */
static void collect_segments(struct collector *c, const struct cip *m, unsigned type)
{
    struct bytes path = bytes_of_slice(m->path);
    struct cip_segment segment;

    while (bytes_left(&path) > 0 && cip_take_segment(&path, &segment))
        if (segment.type >> 2 == type)
            collect(c, segment.value);
}

/* The numbers of one message. Attributes are in the path, or in the data of services that name
 * several. */
static void collect_of(struct collector *c, const struct cip *m)
{
    static const uint8_t types[] = { [ENIP_OF_CLASS] = CIP_SEGMENT_CLASS,
                                     [ENIP_OF_INSTANCE] = CIP_SEGMENT_INSTANCE,
                                     [ENIP_OF_ATTRIBUTE] = CIP_SEGMENT_ATTRIBUTE };

    switch (c->what) {
    case ENIP_OF_CLASS: case ENIP_OF_INSTANCE:
        collect_segments(c, m, types[c->what]);
        break;
    case ENIP_OF_ATTRIBUTE:
        collect_segments(c, m, types[c->what]);
        for (uint32_t i = 0; i + 1 < m->attributes.len; i += 2)
            collect(c, get_le16(m->attributes.data + i));
        break;
    case ENIP_OF_STATUS:
        if (m->is_response)
            collect(c, m->status);
        break;
    case ENIP_OF_EXTENDED:
        if (m->is_response && m->extended.len == 2)
            collect(c, get_le16(m->extended.data));
        break;
    case ENIP_NUMBERS:
        break;
    }
}

/* Messages are nested one level only; see cip_nested(). */
static void collect_all(struct collector *c, const struct cip *m)
{
    struct cip inner;
    uint32_t at;

    collect_of(c, m);
    for (unsigned i = 0; cip_nested(m, i, &inner, &at); i++)
        collect_of(c, &inner);
}

/* Two passes: the first counts, the second keeps. Rules read the numbers one by one, so that they
 * are collected once per message. */
static const struct enip_numbers *numbers_of(struct app_tx *tx, struct enip_pdu *pdu,
                                             enum enip_numbers_of what)
{
    struct enip_numbers *n = &pdu->numbers[what];
    struct collector c = { what, n };
    struct cip m;

    if (n->collected)
        return n;
    n->collected = true;
    if (pdu->payload != ENIP_CIP || !pdu->has_message || !cip_read(pdu->message, &m))
        return n;
    collect_all(&c, &m);
    if (n->count == 0)
        return n;
    n->value = arena_alloc(&tx->arena, n->count * sizeof(*n->value));
    n->count = 0;
    if (n->value != NULL)
        collect_all(&c, &m);
    return n;
}

/* Numbers of the request or of the response, as `key->number` tells. */
static bool find_number(struct app_tx *tx, enum direction d UNUSED, const struct app_key *key,
                        unsigned i, uint64_t *out)
{
    const enum enip_numbers_of what = (enum enip_numbers_of)key->number;
    const bool of_response = what == ENIP_OF_STATUS || what == ENIP_OF_EXTENDED;
    const struct enip_tx *t = enip_tx_of(tx);
    struct enip_pdu *pdu = of_response ? t->response : t->request;
    const struct enip_numbers *n = pdu != NULL ? numbers_of(tx, pdu, what) : NULL;

    if (n == NULL || i >= n->count)
        return false;
    *out = n->value[i];
    return true;
}

/* A keyword for numbers that a message can have several of; any of them may match. */
#define CIP_INTEGER(symbol, of, keyword, size, text)                                          \
    static const struct app_integer symbol##_integer = {                                      \
        .name = "enip." keyword, .doc = text, .bits = size, .directions = APP_BOTH,           \
        .multi = true, .find = find_number, .key.number = (of),                               \
    }
CIP_INTEGER(class, ENIP_OF_CLASS, "cip_class", 32, "class in a CIP request");
CIP_INTEGER(instance, ENIP_OF_INSTANCE, "cip_instance", 32, "instance in a CIP request");
CIP_INTEGER(attribute, ENIP_OF_ATTRIBUTE, "cip_attribute", 32,
            "attribute in a CIP request");
CIP_INTEGER(cip_status, ENIP_OF_STATUS, "cip_status", 8, "status in a CIP answer");
CIP_INTEGER(extended, ENIP_OF_EXTENDED, "cip_extendedstatus", 16,
            "extended status in a CIP answer");

/* --- cip_service ------------------------------------------------------------------------------ */

/* SERVICE[,CLASS[,[!]ATTRIBUTE]] */
struct service_arg {
    uint8_t service;
    bool has_class, has_attribute;
    uint32_t class, attribute;
};

/* A negated attribute is read, but not tested. */
static int service_parse(struct text in, void *arg, struct arena *arena UNUSED, struct err *err)
{
    struct text rest = in, part;
    struct service_arg *a = arg;
    uint64_t service = 0, class = 0, attribute = 0;
    bool negated = false, good;

    good = text_split(&rest, ',', &part) && text_to_decimal(part, 0x7f, &service);
    if (good && text_split(&rest, ',', &part)) {
        a->has_class = true;
        good = text_to_u64(part, UINT32_MAX, &class);
    }
    if (good && text_split(&rest, ',', &part)) {
        negated = text_starts(part, "!");
        a->has_attribute = !negated;
        good = text_to_u64(text_trim(text_from(part, negated)), UINT32_MAX, &attribute);
    }
    if (!good || rest.n > 0)
        return err_set(err,
                       "cip_service: expected SERVICE[,CLASS[,ATTRIBUTE]], the service below 128, "
                       "found \"%.*s\"",
                       TEXT(in));
    a->service = (uint8_t)service;
    a->class = (uint32_t)class;
    a->attribute = (uint32_t)attribute;
    return 0;
}

/* The path has a segment with this type and value. */
static bool has_segment(const struct cip *m, unsigned type, uint32_t value)
{
    struct bytes path = bytes_of_slice(m->path);
    struct cip_segment segment;

    while (bytes_left(&path) > 0 && cip_take_segment(&path, &segment))
        if (segment.type >> 2 == type && segment.value == value)
            return true;
    return false;
}

/* An attribute in the path, or in the list of a service for several attributes. */
static bool has_attribute(const struct cip *m, uint32_t value)
{
    if (has_segment(m, CIP_SEGMENT_ATTRIBUTE, value))
        return true;
    for (uint32_t i = 0; i + 1 < m->attributes.len; i += 2)
        if (get_le16(m->attributes.data + i) == value)
            return true;
    return false;
}

/* The class without attribute matches the class alone. */
static bool is_service(const struct cip *m, const struct service_arg *a)
{
    if (m->service != a->service)
        return false;
    if (!a->has_class)
        return true;
    return has_segment(m, CIP_SEGMENT_CLASS, a->class) &&
           (!a->has_attribute || has_attribute(m, a->attribute));
}

/* A packet of messages matches by its own service, or by that of one message within. */
static bool service_match(struct app_tx *tx, enum direction d, const void *arg)
{
    const struct enip_pdu *pdu = pdu_of(tx, d);
    const struct service_arg *a = arg;
    struct cip m, inner;
    uint32_t at;

    if (pdu == NULL || pdu->payload != ENIP_CIP || !pdu->has_message ||
        !cip_read(pdu->message, &m))
        return false;
    if (m.service == a->service || !m.is_multiple)
        return is_service(&m, a);
    for (unsigned i = 0; cip_nested(&m, i, &inner, &at); i++)
        if (is_service(&inner, a))
            return true;
    return false;
}

/* --- declarations ----------------------------------------------------------------------------- */

static const struct app_integer command_integer = {
    .name = "enip_command", .doc = "command of the encapsulation", .bits = 16,
    .directions = APP_BOTH, .names = enip_commands,
    .field = APP_FIELD_PART(&pdu_path, enip_pdu, header.command, ALWAYS),
};
static const struct app_integer status_integer = {
    .name = "enip.status", .doc = "status of the encapsulation", .bits = 32,
    .directions = APP_BOTH, .names = enip_statuses,
    .field = APP_FIELD_PART(&pdu_path, enip_pdu, header.status, ALWAYS),
};
static const struct app_integer version_integer = {
    .name = "enip.protocol_version", .doc = "version of the encapsulation", .bits = 16,
    .directions = APP_BOTH, .get = get_version,
};
static const struct app_buffer product_name_buffer = {
    .name = "enip.product_name", .doc = "product name of the device", .directions = APP_BOTH,
    .field = APP_FIELD_PART_WITH(&response_path, enip_pdu, identity.name, has_identity),
};
static const struct app_buffer service_name_buffer = {
    .name = "enip.service_name", .doc = "name of the first service listed",
    .directions = APP_BOTH,
    .field = APP_FIELD_PART_WITH(&response_path, enip_pdu, services.name, has_services),
};
static const struct app_match match_service = {
    .name = "cip_service", .doc = "CIP service, and class and attribute in its path",
    .syntax = "<0-127>[,<class>[,[!]<attribute>]]",
    .directions = APP_BOTH, .arg_size = sizeof(struct service_arg), .parse = service_parse,
    .match = service_match,
};

const struct app_buffer *const enip_buffers[] = {
    &product_name_buffer, &service_name_buffer, NULL,
};
const struct app_integer *const enip_integers[] = {
    &command_integer, &status_integer, &version_integer, &services_capabilities,
    &identity_vendor, &identity_device, &identity_product, &identity_revision,
    &identity_status, &identity_serial, &identity_state, &class_integer,
    &instance_integer, &attribute_integer, &cip_status_integer, &extended_integer, NULL,
};
const struct app_match *const enip_matches[] = { &match_service, NULL };
