/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/proto/mqtt/message.c - reads one message (MQTT 5.0, chapters 2 and 3; 3.1.1 has the same
 * layout without properties). */
#include "app/proto/mqtt/mqtt.h"

#include "app/lib/log_text.h"
#include "base/array.h"

/* --- primitives ------------------------------------------------------------------------------- */

/* A variable byte integer (MQTT 5.0 section 1.5.5): up to four bytes, seven bits each, lowest
 * first. */
static uint32_t take_varint(struct bytes *in)
{
    uint32_t value = 0;

    for (unsigned shift = 0; shift < 28; shift += 7) {
        uint8_t c = take_u8(in);

        value |= (uint32_t)(c & 0x7f) << shift;
        if (!(c & 0x80))
            return value;
    }
    in->failed = true;
    return 0;
}

static struct slice take_binary(struct bytes *in)
{
    return take_slice(in, take_be16(in));
}

/* Texts should be UTF-8: invalid bytes are replaced, so that records stay valid. */
static struct slice take_text(struct bytes *in, struct arena *arena)
{
    return app_text_utf8(arena, take_binary(in));
}

/* The fixed header, MQTT 5.0 section 2.1. Returns its size; -1: more bytes are needed; 0: a length
 * of more than four bytes. */
int mqtt_header_parse(struct bytes in, struct mqtt_header *out)
{
    const uint8_t *start = in.next;
    uint8_t first = take_u8(&in);

    if (in.failed)
        return -1;
    *out = (struct mqtt_header){ .type = first >> 4, .dup = first & 8, .qos = first >> 1 & 3,
                                 .retain = first & 1 };
    for (unsigned i = 0; i < 4; i++) {
        uint8_t c = take_u8(&in);

        if (in.failed)
            return -1;
        out->length |= (uint32_t)(c & 0x7f) << 7 * i;
        if (!(c & 0x80))
            return out->size = (uint8_t)(in.next - start);
    }
    return 0;
}

/* --- properties ------------------------------------------------------------------------------- */

/* MQTT 5.0 section 2.2.2.2. `kind` tells how the value is read. */
static const struct {
    uint8_t id, kind, size;             /* size: of a number; 0: variable */
    const char *name;
} properties[] = {
    { 1, MQTT_NUMBER, 1, "payload_format_indicator" },
    { 2, MQTT_NUMBER, 4, "message_expiry_interval" },
    { 3, MQTT_TEXT, 0, "content_type" },
    { 8, MQTT_TEXT, 0, "response_topic" },
    { 9, MQTT_BINARY, 0, "correlation_data" },
    { 11, MQTT_NUMBER, 0, "subscription_identifier" },
    { 17, MQTT_NUMBER, 4, "session_expiry_interval" },
    { 18, MQTT_TEXT, 0, "assigned_client_identifier" },
    { 19, MQTT_NUMBER, 2, "server_keep_alive" },
    { 21, MQTT_TEXT, 0, "authentication_method" },
    { 22, MQTT_BINARY, 0, "authentication_data" },
    { 23, MQTT_NUMBER, 1, "request_problem_information" },
    { 24, MQTT_NUMBER, 4, "will_delay_interval" },
    { 25, MQTT_NUMBER, 1, "request_response_information" },
    { 26, MQTT_TEXT, 0, "response_information" },
    { 28, MQTT_TEXT, 0, "server_reference" },
    { 31, MQTT_TEXT, 0, "reason_string" },
    { 33, MQTT_NUMBER, 2, "receive_maximum" },
    { 34, MQTT_NUMBER, 2, "topic_alias_maximum" },
    { 35, MQTT_NUMBER, 2, "topic_alias" },
    { 36, MQTT_NUMBER, 1, "maximum_qos" },
    { 37, MQTT_NUMBER, 1, "retain_available" },
    { 38, MQTT_PAIR, 0, NULL },
    { 39, MQTT_NUMBER, 4, "maximum_packet_size" },
    { 40, MQTT_NUMBER, 1, "wildcard_subscription_available" },
    { 41, MQTT_NUMBER, 1, "subscription_identifier_available" },
    { 42, MQTT_NUMBER, 1, "shared_subscription_available" },
};

static uint32_t take_number(struct bytes *in, unsigned size)
{
    switch (size) {
    case 1: return take_u8(in);
    case 2: return take_be16(in);
    case 4: return take_be32(in);
    default: return take_varint(in);
    }
}

/* Takes one property. The size of an unknown one is not known: its value is read as further
 * properties. */
bool mqtt_take_property(struct bytes *in, struct mqtt_property *out)
{
    uint32_t id;
    unsigned i = 0;

    if (in->failed || bytes_left(in) == 0)
        return false;
    id = take_varint(in);
    while (i < ARRAY_LEN(properties) && properties[i].id != id)
        i++;
    *out = (struct mqtt_property){ .kind = MQTT_UNKNOWN };
    if (i < ARRAY_LEN(properties)) {
        out->name = properties[i].name;
        out->kind = properties[i].kind;
        if (out->kind == MQTT_NUMBER)
            out->number = take_number(in, properties[i].size);
        else
            out->text = take_binary(in);
        if (out->kind == MQTT_PAIR)
            out->value = take_binary(in);
    }
    return !in->failed;
}

/* Checks all properties, and keeps their bytes: logs read them again. */
static void take_properties(struct bytes *in, struct slice *out, struct arena *arena)
{
    struct slice all = take_slice(in, take_varint(in));
    struct bytes check = bytes_of_slice(all);
    struct mqtt_property p;

    while (mqtt_take_property(&check, &p))
        continue;
    if (check.failed)
        in->failed = true;
    *out = app_text_copy(arena, all);
}

/* --- messages --------------------------------------------------------------------------------- */

/* MQTT 5.0 section 3.1.3: the will's parts come between client id and user name. */
static void take_will(struct bytes *in, struct mqtt_connect *c, struct arena *arena)
{
    if (c->version == 5)
        take_properties(in, &c->will_properties, arena);
    c->will_topic = take_text(in, arena);
    c->will_message = app_text_copy(arena, take_binary(in));
}

/* MQTT 5.0 section 3.1. The version decides whether properties follow. */
static void take_connect(struct bytes *in, struct mqtt_message *m, struct arena *arena)
{
    struct mqtt_connect *c = arena_zalloc(arena, sizeof(*c));

    if (c == NULL) {
        in->failed = true;
        return;
    }
    c->protocol = take_text(in, arena);
    c->version = take_u8(in);
    c->flags = take_u8(in);
    take_skip(in, 2);                   /* keep alive */
    if (c->version == 5)
        take_properties(in, &m->properties, arena);
    c->client_id = take_text(in, arena);
    if (c->flags & MQTT_CONNECT_WILL)
        take_will(in, c, arena);
    if (c->flags & MQTT_CONNECT_USERNAME)
        c->username = take_text(in, arena);
    if (c->flags & MQTT_CONNECT_PASSWORD)
        c->password = app_text_copy(arena, take_binary(in));
    m->connect = c;
}

/* MQTT 5.0 section 3.2. */
static void take_connack(struct bytes *in, struct mqtt_message *m, uint8_t version,
                         struct arena *arena)
{
    m->session_present = take_u8(in) & 1;
    m->code = take_u8(in);
    m->has_code = true;
    if (version == 5)
        take_properties(in, &m->properties, arena);
}

/* MQTT 5.0 section 3.3. Only QoS 1 and 2 have an identifier. */
static void take_publish(struct bytes *in, struct mqtt_message *m, uint8_t version,
                         struct arena *arena)
{
    m->topic = take_text(in, arena);
    if (m->header.qos > 0) {
        m->id = take_be16(in);
        m->has_id = true;
    }
    if (version == 5)
        take_properties(in, &m->properties, arena);
    m->payload = app_text_copy(arena, take_rest(in));
}

/* MQTT 5.0 section 3.4: reason code 0 without properties may be left out. */
static void take_ack(struct bytes *in, struct mqtt_message *m, uint8_t version,
                        struct arena *arena)
{
    m->id = take_be16(in);
    m->has_id = true;
    if (version < 5)
        return;
    m->has_code = true;
    if (bytes_left(in) == 0)
        return;
    m->code = take_u8(in);
    if (bytes_left(in) > 0)
        take_properties(in, &m->properties, arena);
}

/* Complete topics; their number is not in the message. Called first with `out` NULL to count
 * them. */
static unsigned take_topics(struct bytes in, bool with_qos, struct mqtt_topic *out,
                            struct arena *arena)
{
    unsigned n = 0;

    while (bytes_left(&in) > 0) {
        struct slice name = take_binary(&in);
        uint8_t qos = with_qos ? take_u8(&in) : 0;

        if (in.failed)
            break;
        if (out != NULL)
            out[n] = (struct mqtt_topic){ app_text_utf8(arena, name), qos };
        n++;
    }
    return n;
}

/* MQTT 5.0 sections 3.8 and 3.10. A SUBSCRIBE without topics is malformed. */
static void take_subscription(struct bytes *in, struct mqtt_message *m, uint8_t version,
                              struct arena *arena)
{
    bool with_qos = m->header.type == MQTT_SUBSCRIBE;

    m->id = take_be16(in);
    m->has_id = true;
    if (version == 5)
        take_properties(in, &m->properties, arena);
    if (in->failed)
        return;
    m->topic_count = take_topics(*in, with_qos, NULL, NULL);
    if (m->topic_count == 0 && with_qos)
        in->failed = true;
    m->topics = arena_alloc(arena, (m->topic_count + 1) * sizeof(*m->topics));
    if (m->topics != NULL)
        take_topics(*in, with_qos, m->topics, arena);
    else
        m->topic_count = 0;
}

static void take_suback(struct bytes *in, struct mqtt_message *m, uint8_t version,
                        struct arena *arena)
{
    m->id = take_be16(in);
    m->has_id = true;
    if (version == 5)
        take_properties(in, &m->properties, arena);
    m->codes = app_text_copy(arena, take_rest(in));
}

/* MQTT 5.0 section 3.14. A reason code without properties is not read: the code stays 0. */
static void take_disconnect(struct bytes *in, struct mqtt_message *m, uint8_t version,
                            struct arena *arena)
{
    if (version < 5)
        return;
    m->has_code = true;
    if (bytes_left(in) < 2)
        return;
    m->code = take_u8(in);
    take_properties(in, &m->properties, arena);
}

static void take_auth(struct bytes *in, struct mqtt_message *m, struct arena *arena)
{
    m->code = take_u8(in);
    m->has_code = true;
    take_properties(in, &m->properties, arena);
}

/* False: malformed, and the parser stops. `version` is that of the flow's CONNECT; 0 before it. */
bool mqtt_message_parse(struct slice body, uint8_t version, struct arena *arena,
                        struct mqtt_message *out)
{
    struct bytes in = bytes_of_slice(body);

    switch ((enum mqtt_type)out->header.type) {
    case MQTT_CONNECT:     take_connect(&in, out, arena); break;
    case MQTT_CONNACK:     take_connack(&in, out, version, arena); break;
    case MQTT_PUBLISH:     take_publish(&in, out, version, arena); break;
    case MQTT_PUBACK:
    case MQTT_PUBREC:
    case MQTT_PUBREL:
    case MQTT_PUBCOMP:     take_ack(&in, out, version, arena); break;
    case MQTT_SUBSCRIBE:
    case MQTT_UNSUBSCRIBE: take_subscription(&in, out, version, arena); break;
    case MQTT_SUBACK:
    case MQTT_UNSUBACK:    take_suback(&in, out, version, arena); break;
    case MQTT_DISCONNECT:  take_disconnect(&in, out, version, arena); break;
    case MQTT_AUTH:        take_auth(&in, out, arena); break;
    case MQTT_PINGREQ:
    case MQTT_PINGRESP:
    case MQTT_UNASSIGNED:  break;
    }
    return !in.failed;
}
