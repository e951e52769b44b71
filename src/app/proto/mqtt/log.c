/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/proto/mqtt/log.c - EVE mqtt: one object per message of the transaction, as in Suricata. */
#include "app/proto/mqtt/mqtt.h"

#include "app/lib/log_text.h"
#include "base/array.h"

/* `limit`: bytes of a text (string-log-limit). Longer ones are cut. */
/* One instance for the output, read-only after the start. */
struct mqtt_log_settings {
    bool passwords;     /* false: the password is left out */
    uint32_t limit;
};

/* In an alert the password is always written, whatever the configuration of the log says. */
static const struct mqtt_log_settings alert_settings = { .passwords = true, .limit = 1024 };

static void *mqtt_log_configure(const struct conf_node *node, struct err *err)
{
    const char *limit = conf_string(node, "string-log-limit", NULL);
    struct mqtt_log_settings *s;
    uint64_t bytes = 1024;

    if (limit != NULL && (!text_to_size(text_of(limit), &bytes) || bytes > UINT32_MAX)) {
        err_set(err, "mqtt: string-log-limit: invalid size argument \"%s\"", limit);
        return NULL;
    }
    s = xcalloc(1, sizeof(*s));
    s->passwords = conf_bool(node, "passwords", true);
    s->limit = (uint32_t)bytes;
    return s;
}

/* The kind comes from the identifier (MQTT 5.0 section 2.2.2.2). The name of a user property is the
 * peer's own text, so it must become valid UTF-8 before it can be a key. */
static void log_property(struct json *j, const struct mqtt_property *p, struct arena *arena,
                         uint32_t limit)
{
    switch (p->kind) {
    case MQTT_NUMBER:
        json_u64(j, p->name, p->number);
        break;
    case MQTT_TEXT:
        app_json_limited(j, p->name, app_text_utf8(arena, p->text), limit);
        break;
    case MQTT_BINARY:
        app_json_limited(j, p->name, p->text, limit);
        break;
    case MQTT_PAIR:
        app_json_limited(j, app_json_key(arena, app_text_utf8(arena, p->text)),
                         app_text_utf8(arena, p->value), limit);
        break;
    case MQTT_UNKNOWN:
        break;
    }
}

/* Stops at the first malformed property: without its length no later one can be found. */
static void log_properties(struct json *j, struct slice properties, struct app_tx *tx,
                           uint32_t limit)
{
    struct bytes in = bytes_of_slice(properties);
    struct mqtt_property p;

    if (properties.len == 0)
        return;
    json_object(j, "properties");
    while (mqtt_take_property(&in, &p))
        log_property(j, &p, &tx->arena, limit);
    json_object_end(j);
}

/* CONNECT (MQTT 5.0 section 3.1). The flags say which fields the payload has; `flags` shows them
 * even when a field is empty. */
static void log_connect(struct json *j, const struct mqtt_message *m, struct app_tx *tx,
                        const struct mqtt_log_settings *s)
{
    const struct mqtt_connect *c = m->connect;

    json_slice(j, "protocol_string", c->protocol);
    json_u64(j, "protocol_version", c->version);
    app_json_limited(j, "client_id", c->client_id, s->limit);
    json_object(j, "flags");
    json_bool(j, "username", c->flags & MQTT_CONNECT_USERNAME);
    json_bool(j, "password", c->flags & MQTT_CONNECT_PASSWORD);
    json_bool(j, "will_retain", c->flags & MQTT_CONNECT_WILL_RETAIN);
    json_bool(j, "will", c->flags & MQTT_CONNECT_WILL);
    json_bool(j, "clean_session", c->flags & MQTT_CONNECT_CLEAN_SESSION);
    json_object_end(j);
    if (c->flags & MQTT_CONNECT_USERNAME)
        app_json_limited(j, "username", c->username, s->limit);
    if (c->flags & MQTT_CONNECT_PASSWORD && s->passwords)
        json_slice(j, "password", c->password);
    if (c->flags & MQTT_CONNECT_WILL) {
        json_object(j, "will");
        app_json_limited(j, "topic", c->will_topic, s->limit);
        app_json_limited(j, "message", c->will_message, s->limit);
        log_properties(j, c->will_properties, tx, s->limit);
        json_object_end(j);
    }
    log_properties(j, m->properties, tx, s->limit);
}

/* Topics until all of them together reach the limit of one text. */
static void log_subscribe_topics(struct json *j, const struct mqtt_message *m, uint32_t limit)
{
    uint32_t used = 0;

    json_array(j, "topics");
    for (uint32_t i = 0; i < m->topic_count && used <= limit; i++) {
        uint32_t len = MIN(m->topics[i].name.len, limit);
        bool full = used + len > limit;

        json_object(j, NULL);
        app_json_limited(j, "topic", m->topics[i].name, full ? limit - used : limit);
        json_u64(j, "qos", m->topics[i].qos);
        json_object_end(j);
        if (full)
            break;
        used += len;
    }
    json_array_end(j);
}

/* Reason codes (MQTT 5.0 section 3.9.3): one byte for each topic, in the order of the request. */
static void log_codes(struct json *j, const char *key, struct slice codes)
{
    json_array(j, key);
    for (uint32_t i = 0; i < codes.len; i++)
        json_u64(j, NULL, codes.data[i]);
    json_array_end(j);
}

static void log_unsubscribe_topics(struct json *j, const struct mqtt_message *m)
{
    json_array(j, "topics");
    for (uint32_t i = 0; i < m->topic_count; i++)
        json_slice(j, NULL, m->topics[i].name);
    json_array_end(j);
}

/* PUBACK and its kin, DISCONNECT, AUTH. */
static void log_ack(struct json *j, const struct mqtt_message *m, struct app_tx *tx,
                       uint32_t limit)
{
    if (m->has_id)
        json_u64(j, "message_id", m->id);
    if (m->has_code)
        json_u64(j, "reason_code", m->code);
    log_properties(j, m->properties, tx, limit);
}

/* Types without a case have no content. In version 5.0 the entries of qos_granted are reason
 * codes. */
static void log_content(struct json *j, const struct mqtt_message *m, struct app_tx *tx,
                        const struct mqtt_log_settings *s)
{
    switch ((enum mqtt_type)m->header.type) {
    case MQTT_CONNECT:
        log_connect(j, m, tx, s);
        break;
    case MQTT_CONNACK:
        json_bool(j, "session_present", m->session_present);
        json_u64(j, "return_code", m->code);
        log_properties(j, m->properties, tx, s->limit);
        break;
    case MQTT_PUBLISH:
        app_json_limited(j, "topic", m->topic, s->limit);
        if (m->has_id)
            json_u64(j, "message_id", m->id);
        app_json_limited(j, "message", m->payload, s->limit);
        log_properties(j, m->properties, tx, s->limit);
        break;
    case MQTT_SUBSCRIBE:
        json_u64(j, "message_id", m->id);
        log_subscribe_topics(j, m, s->limit);
        log_properties(j, m->properties, tx, s->limit);
        break;
    case MQTT_SUBACK:
        json_u64(j, "message_id", m->id);
        log_codes(j, "qos_granted", m->codes);
        break;
    case MQTT_UNSUBSCRIBE:
        json_u64(j, "message_id", m->id);
        log_unsubscribe_topics(j, m);
        break;
    case MQTT_UNSUBACK:
        json_u64(j, "message_id", m->id);
        if (m->codes.len > 0)
            log_codes(j, "reason_codes", m->codes);
        break;
    case MQTT_PUBACK: case MQTT_PUBREC: case MQTT_PUBREL: case MQTT_PUBCOMP:
    case MQTT_DISCONNECT: case MQTT_AUTH:
        log_ack(j, m, tx, s->limit);
        break;
    /* These have a header only, or no known meaning. */
    case MQTT_PINGREQ: case MQTT_PINGRESP: case MQTT_UNASSIGNED:
        break;
    }
}

/* A truncated message shows the bytes that were skipped. */
static void log_message(struct json *j, const struct mqtt_message *m, struct app_tx *tx,
                        const struct mqtt_log_settings *s)
{
    if (m->header.type == MQTT_UNASSIGNED && !m->truncated)
        return;
    json_object(j, mqtt_types[m->header.type].name);
    json_u64(j, "qos", m->header.qos);
    json_bool(j, "retain", m->header.retain);
    json_bool(j, "dup", m->header.dup);
    if (m->truncated) {
        json_bool(j, "truncated", true);
        json_u64(j, "skipped_length", m->header.length + m->header.size);
    } else {
        log_content(j, m, tx, s);
    }
    json_object_end(j);
}

/* All messages of an exchange are one record, in the order of arrival. */
static bool mqtt_log(struct json *j, struct app_tx *tx, enum direction d UNUSED,
                     const void *conf)
{
    for (const struct mqtt_message *m = mqtt_tx_of(tx)->first; m != NULL; m = m->next)
        log_message(j, m, tx, conf);
    return true;
}

/* The same fields within an alert. */
void mqtt_alert_metadata(struct json *j, struct app_tx *tx)
{
    json_object(j, "mqtt");
    mqtt_log(j, tx, TO_SERVER, &alert_settings);
    json_object_end(j);
}

static const struct app_log eve_mqtt = {
    .conf_name = "mqtt", .event_type = "mqtt", .key = "mqtt",
    .progress = { MQTT_COMPLETE, MQTT_COMPLETE },
    .each_direction = true, .configure = mqtt_log_configure, .log = mqtt_log,
};
const struct app_log *const mqtt_logs[] = { &eve_mqtt, NULL };
