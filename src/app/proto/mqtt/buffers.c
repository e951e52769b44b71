/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/proto/mqtt/buffers.c - what rules inspect of a transaction. A keyword matches if any message
 * of the transaction fits. */
#include "app/proto/mqtt/mqtt.h"
#include "app/values.h"

#include <stddef.h>

/* --- buffers ---------------------------------------------------------------------------------- */

static bool not_empty(struct slice s, struct slice *out)
{
    *out = s;
    return s.len > 0;
}

/* A struct mqtt_connect: at most one CONNECT starts a transaction. */
static const void *connect_of(struct app_tx *tx, enum direction d UNUSED, unsigned i UNUSED)
{
    for (const struct mqtt_message *m = mqtt_tx_of(tx)->first; m != NULL; m = m->next)
        if (m->connect != NULL)
            return m->connect;
    return NULL;
}

static const struct app_path connect_path = { .find = connect_of };

#define CONNECT_BUFFER(id, member, text)                                                      \
    static const struct app_buffer id##_buffer = {                                            \
        .name = "mqtt.connect." #id, .doc = text, .directions = APP_TS,                       \
        .field = APP_FIELD_PART(&connect_path, mqtt_connect, member, FILLED),                 \
    }
CONNECT_BUFFER(clientid, client_id, "client identifier of CONNECT");
CONNECT_BUFFER(username, username, "user name of CONNECT");
CONNECT_BUFFER(password, password, "password of CONNECT");
CONNECT_BUFFER(willtopic, will_topic, "topic of the will in CONNECT");
CONNECT_BUFFER(willmessage, will_message, "message of the will in CONNECT");
CONNECT_BUFFER(protocol_string, protocol, "protocol name of CONNECT");

/* `key->number` is the offset of a slice in struct mqtt_message. Truncated messages have no
 * contents. */
static bool find_publish(struct app_tx *tx, enum direction d UNUSED, const struct app_key *key,
                         unsigned i UNUSED, struct slice *out)
{
    for (const struct mqtt_message *m = mqtt_tx_of(tx)->first; m != NULL; m = m->next)
        if (m->header.type == MQTT_PUBLISH && !m->truncated &&
            not_empty(*(const struct slice *)(const void *)((const char *)m + key->number), out))
            return true;
    return false;
}

/* Values that messages have several of: rules number them through all messages. */
struct counted {
    unsigned (*count)(const struct mqtt_message *m);
};

/* The message with value number `index`, and in *at the value's number within it. The place is the
 * message of the last request, and the number of its first value. */
static const struct mqtt_message *message_with(struct app_tx *tx, const struct counted *values,
                                               unsigned index, unsigned *at)
{
    const struct mqtt_message *m = mqtt_tx_of(tx)->first;
    struct app_place *place = app_place_of(tx, m, values, index);
    unsigned first = place->index, n;

    for (m = place->item != NULL ? place->item : m; m != NULL; m = m->next, first += n) {
        n = values->count(m);
        place->item = m;
        place->index = first;
        *at = index - first;
        if (*at < n)
            return m;
    }
    return NULL;
}

static unsigned subscribed_count(const struct mqtt_message *m)
{
    return m->header.type == MQTT_SUBSCRIBE ? m->topic_count : 0;
}

static unsigned unsubscribed_count(const struct mqtt_message *m)
{
    return m->header.type == MQTT_UNSUBSCRIBE ? m->topic_count : 0;
}

/* limit 0: no limit. */
static const struct mqtt_topic *topic_at(struct app_tx *tx, const struct counted *topics,
                                         unsigned index, unsigned limit)
{
    const struct mqtt_message *m;
    unsigned at;

    if (limit > 0 && index >= limit)
        return NULL;
    m = message_with(tx, topics, index, &at);
    return m != NULL ? &m->topics[at] : NULL;
}

static const void *subscribed_topic(struct app_tx *tx, enum direction d UNUSED, unsigned i)
{
    static const struct counted topics = { subscribed_count };
    const struct mqtt_settings *s = tx->flow->settings;

    return topic_at(tx, &topics, i, s->max_subscribe);
}

static const void *unsubscribed_topic(struct app_tx *tx, enum direction d UNUSED, unsigned i)
{
    static const struct counted topics = { unsubscribed_count };
    const struct mqtt_settings *s = tx->flow->settings;

    return topic_at(tx, &topics, i, s->max_unsubscribe);
}

static const struct app_path subscribed_path = { .find = subscribed_topic };
static const struct app_path unsubscribed_path = { .find = unsubscribed_topic };

static const struct app_buffer publish_topic_buffer = {
    .name = "mqtt.publish.topic", .doc = "topic of PUBLISH", .directions = APP_BOTH,
    .find = find_publish, .key.number = offsetof(struct mqtt_message, topic),
};
static const struct app_buffer publish_message_buffer = {
    .name = "mqtt.publish.message", .doc = "message of PUBLISH", .directions = APP_BOTH,
    .find = find_publish, .key.number = offsetof(struct mqtt_message, payload),
};
static const struct app_buffer subscribe_topic_buffer = {
    .name = "mqtt.subscribe.topic", .doc = "each topic of SUBSCRIBE", .directions = APP_TS,
    .multi = true, .field = APP_FIELD_PART(&subscribed_path, mqtt_topic, name, ALWAYS),
};
static const struct app_buffer unsubscribe_topic_buffer = {
    .name = "mqtt.unsubscribe.topic", .doc = "each topic of UNSUBSCRIBE", .directions = APP_TS,
    .multi = true, .field = APP_FIELD_PART(&unsubscribed_path, mqtt_topic, name, ALWAYS),
};

const struct app_buffer *const mqtt_buffers[] = {
    &clientid_buffer, &username_buffer, &password_buffer, &willtopic_buffer,
    &willmessage_buffer, &protocol_string_buffer, &publish_topic_buffer,
    &publish_message_buffer, &subscribe_topic_buffer, &unsubscribe_topic_buffer, NULL,
};

/* --- numbers ---------------------------------------------------------------------------------- */

/* max-messages limits their number. */
static const struct app_path messages_path = { APP_PATH_LIST(mqtt_tx, first, mqtt_message) };

/* As rules know the bits: QoS, between the two, has a keyword of its own. */
static bool get_flags(struct app_tx *tx, enum direction d UNUSED, unsigned i, uint64_t *out)
{
    const struct mqtt_message *m = APP_ITEM_AT(tx, mqtt_tx_of(tx)->first, mqtt_message, i);

    if (m == NULL)
        return false;
    *out = (m->header.dup ? 8 : 0) | (m->header.retain ? 1 : 0);
    return true;
}

static const void *state_of(struct app_tx *tx, enum direction d UNUSED, unsigned i UNUSED)
{
    return tx->flow->state;
}

static const struct app_path state_path = { .find = state_of };

/* Its reason code, then the list of a SUBACK. */
static unsigned code_count(const struct mqtt_message *m)
{
    return m->has_code + m->codes.len;
}

static bool get_reason_code(struct app_tx *tx, enum direction d UNUSED, unsigned i,
                            uint64_t *out)
{
    static const struct counted codes = { code_count };
    unsigned at;
    const struct mqtt_message *m = message_with(tx, &codes, i, &at);

    if (m == NULL)
        return false;
    *out = !m->has_code ? m->codes.data[at] : at == 0 ? m->code : m->codes.data[at - 1];
    return true;
}

static const struct app_name flag_bits[] = { { "dup", 8 }, { "retain", 1 }, { NULL, 0 } };
/* Bits as rules know them. "will_retain" and "will" are not where CONNECT has them; rules are
 * written for that. */
static const struct app_name connect_bits[] = {
    { "username", 0x80 }, { "password", 0x40 }, { "will_retain", 0x04 }, { "will", 0x20 },
    { "clean_session", 0x02 }, { NULL, 0 },
};

static const struct app_integer type_integer = {
    .name = "mqtt.type", .doc = "type of a control packet", .bits = 8, .directions = APP_BOTH,
    .multi = true, .lasts = true, .names = mqtt_types,
    .field = APP_FIELD_PART(&messages_path, mqtt_message, header.type, ALWAYS),
};
static const struct app_integer flags_integer = {
    .name = "mqtt.flags", .doc = "dup and retain", .bits = 8, .directions = APP_TS,
    .any_of_many = true, .lasts = true, .bit_names = flag_bits, .get = get_flags,
};
static const struct app_integer connect_flags_integer = {
    .name = "mqtt.connect.flags", .doc = "flags of CONNECT", .bits = 8, .directions = APP_TS,
    .bit_names = connect_bits, .field = APP_FIELD_PART(&connect_path, mqtt_connect, flags, ALWAYS),
};
static const struct app_integer version_integer = {
    .name = "mqtt.protocol_version", .doc = "protocol level", .bits = 8,
    .directions = APP_TS, .field = APP_FIELD_PART(&state_path, mqtt_state, version, ALWAYS),
};
static const struct app_integer reason_code_integer = {
    .name = "mqtt.reason_code", .doc = "reason and return codes", .bits = 8,
    .directions = APP_BOTH, .multi = true, .lasts = true, .get = get_reason_code,
};

const struct app_integer *const mqtt_integers[] = {
    &type_integer, &flags_integer, &connect_flags_integer, &version_integer,
    &reason_code_integer, NULL,
};

/* --- other tests ------------------------------------------------------------------------------ */

static int qos_parse(struct text in, void *arg, struct arena *arena UNUSED, struct err *err)
{
    uint64_t qos;

    if (!text_to_u64(text_trim(in), 2, &qos))
        return err_set(err, "mqtt.qos: expected 0, 1 or 2, found \"%.*s\"", TEXT(in));
    *(uint8_t *)arg = (uint8_t)qos;
    return 0;
}

static bool qos_match(struct app_tx *tx, enum direction d UNUSED, const void *arg)
{
    for (const struct mqtt_message *m = mqtt_tx_of(tx)->first; m != NULL; m = m->next)
        if (m->header.qos == *(const uint8_t *)arg)
            return true;
    return false;
}

static int session_parse(struct text in, void *arg, struct arena *arena UNUSED, struct err *err)
{
    struct text t = text_trim(in);
    bool yes = text_equal(t, "yes") || text_equal(t, "1");

    *(bool *)arg = yes;
    if (!yes && !text_equal(t, "no") && !text_equal(t, "0"))
        return err_set(err, "mqtt.connack.session_present: expected 1 or 0, found \"%.*s\"",
                       TEXT(in));
    return 0;
}

static bool session_match(struct app_tx *tx, enum direction d UNUSED, const void *arg)
{
    for (const struct mqtt_message *m = mqtt_tx_of(tx)->first; m != NULL; m = m->next)
        if (m->header.type == MQTT_CONNACK && !m->truncated &&
            m->session_present == *(const bool *)arg)
            return true;
    return false;
}

#define MESSAGES_SHOWN 8

static bool tell_qos(struct app_tx *tx, enum direction d UNUSED, struct buf *out)
{
    unsigned count = 0;

    for (const struct mqtt_message *m = mqtt_tx_of(tx)->first; m != NULL && count < MESSAGES_SHOWN;
         m = m->next)
        buf_printf(out, "%s%u", count++ > 0 ? ", " : "the value is ", m->header.qos);
    return count > 0;
}

static bool tell_session(struct app_tx *tx, enum direction d UNUSED, struct buf *out)
{
    unsigned count = 0, read = 0;

    for (const struct mqtt_message *m = mqtt_tx_of(tx)->first; m != NULL && read < MESSAGES_SHOWN;
         m = m->next, read++)
        if (m->header.type == MQTT_CONNACK && !m->truncated)
            buf_printf(out, "%s%u", count++ > 0 ? ", " : "the value is ", m->session_present);
    if (count == 0)
        buf_add_string(out, "there is no CONNACK");
    return true;
}

static const struct app_match match_qos = {
    .name = "mqtt.qos", .doc = "quality of service: 0, 1 or 2",
    .syntax = "0|1|2",
    .directions = APP_TS,
    .arg_size = sizeof(uint8_t), .parse = qos_parse, .match = qos_match, .tell = tell_qos,
};
static const struct app_match match_session = {
    .name = "mqtt.connack.session_present", .doc = "flag of CONNACK",
    .syntax = "yes|no",
    .directions = APP_TC,
    .arg_size = sizeof(bool), .parse = session_parse, .match = session_match,
    .tell = tell_session,
};

const struct app_match *const mqtt_matches[] = { &match_qos, &match_session, NULL };
