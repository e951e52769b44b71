/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/proto/mqtt/mqtt.h - MQTT 3.1, 3.1.1 and 5: messages and transactions.
 *
 * A transaction is a message that opens an exchange, and all that answer it by packet identifier
 * (CONNECT and CONNACK, PUBLISH up to PUBCOMP). Its direction is that of the first message. All
 * parts of a message are in the transaction's arena. */
#ifndef APP_MQTT_MQTT_H
#define APP_MQTT_MQTT_H

#include "app/log.h"
#include "app/rules.h"

#define MQTT_TYPE_LIST(E)              \
    E(MQTT_UNASSIGNED, "unassigned")   \
    E(MQTT_CONNECT, "connect")         \
    E(MQTT_CONNACK, "connack")         \
    E(MQTT_PUBLISH, "publish")         \
    E(MQTT_PUBACK, "puback")           \
    E(MQTT_PUBREC, "pubrec")           \
    E(MQTT_PUBREL, "pubrel")           \
    E(MQTT_PUBCOMP, "pubcomp")         \
    E(MQTT_SUBSCRIBE, "subscribe")     \
    E(MQTT_SUBACK, "suback")           \
    E(MQTT_UNSUBSCRIBE, "unsubscribe") \
    E(MQTT_UNSUBACK, "unsuback")       \
    E(MQTT_PINGREQ, "pingreq")         \
    E(MQTT_PINGRESP, "pingresp")       \
    E(MQTT_DISCONNECT, "disconnect")   \
    E(MQTT_AUTH, "auth")
enum mqtt_type { MQTT_TYPE_LIST(APP_ENUM_ID) };
extern const struct app_name mqtt_types[];      /* lower case; NULL-ended */

#define MQTT_EVENT_LIST(E)                                 \
    E(MQTT_MISSING_CONNECT, "missing_connect")             \
    E(MQTT_MISSING_PUBLISH, "missing_publish")             \
    E(MQTT_MISSING_SUBSCRIBE, "missing_subscribe")         \
    E(MQTT_MISSING_UNSUBSCRIBE, "missing_unsubscribe")     \
    E(MQTT_DOUBLE_CONNECT, "double_connect")               \
    E(MQTT_UNINTRODUCED_MESSAGE, "unintroduced_message")   \
    E(MQTT_INVALID_QOS_LEVEL, "invalid_qos_level")         \
    E(MQTT_MISSING_MSG_ID, "missing_msg_id")               \
    E(MQTT_UNASSIGNED_MSG_TYPE, "unassigned_msg_type")     \
    E(MQTT_TOO_MANY_TRANSACTIONS, "too_many_transactions") \
    E(MQTT_MALFORMED_TRAFFIC, "malformed_traffic")         \
    E(MQTT_TOO_MANY_MESSAGES, "too_many_messages")

enum mqtt_event { MQTT_EVENT_NONE, MQTT_EVENT_LIST(APP_EVENT_ID) };

struct mqtt_header {
    uint8_t type, qos;
    bool dup, retain;
    uint32_t length;                    /* of what follows the header */
    uint8_t size;                       /* of the header itself: 2 to 5 */
};

struct mqtt_topic {
    struct slice name;
    uint8_t qos;
};

#define MQTT_CONNECT_USERNAME      0x80
#define MQTT_CONNECT_PASSWORD      0x40
#define MQTT_CONNECT_WILL_RETAIN   0x20
#define MQTT_CONNECT_WILL          0x04
#define MQTT_CONNECT_CLEAN_SESSION 0x02

struct mqtt_connect {
    struct slice protocol, client_id, will_topic, will_message, username, password;
    struct slice will_properties;
    uint8_t version, flags;
};

struct mqtt_message {
    struct mqtt_message *next;
    struct mqtt_header header;
    bool truncated;                     /* longer than max-msg-length: nothing but the header */
    bool has_id, has_code, session_present;
    uint16_t id;
    uint8_t code;
    struct mqtt_connect *connect;       /* CONNECT only */
    struct slice topic, payload;        /* PUBLISH */
    struct slice codes;                 /* SUBACK, UNSUBACK: one byte a topic */
    struct mqtt_topic *topics;          /* SUBSCRIBE, UNSUBSCRIBE */
    uint32_t topic_count;
    struct slice properties;            /* well-formed */
};

#define MQTT_NO_ID      (-1)
#define MQTT_CONNECT_ID 0x10000         /* packet identifiers have 16 bits */

/* Progress of an exchange, in the direction that opened it. */
enum { MQTT_OPEN = 1, MQTT_COMPLETE };

struct mqtt_tx {
    struct app_tx tx;
    int32_t id;                         /* waits for answers with this identifier */
    enum direction direction;
    bool complete;
    uint32_t count;
    struct mqtt_message *first, *last;
};
static inline struct mqtt_tx *mqtt_tx_of(const struct app_tx *tx)
{
    return (struct mqtt_tx *)(uintptr_t)tx;
}

struct mqtt_settings {
    uint32_t max_message, max_messages;
    uint32_t max_subscribe, max_unsubscribe;    /* topics shown to rules; 0: all */
};

struct mqtt_state {
    uint8_t version;                    /* of the last CONNECT */
    bool connected;                     /* a CONNACK has come */
    uint64_t skip[2];                   /* of a message that is too long */
};

#define MQTT_FRAME_LIST(E)         \
    E(MQTT_FRAME_STREAM, "stream") \
    E(MQTT_FRAME_PDU, "pdu")       \
    E(MQTT_FRAME_HEADER, "header") \
    E(MQTT_FRAME_DATA, "data")
enum { MQTT_FRAME_LIST(APP_ENUM_ID) };

/* message.c. -1: more bytes are needed; 0: not one; else its size. */
int mqtt_header_parse(struct bytes in, struct mqtt_header *out);
/* body: all of it. False: malformed. Its header must be set. */
bool mqtt_message_parse(struct slice body, uint8_t version, struct arena *arena,
                        struct mqtt_message *out);

/* One property after the other, false at the end. */
enum mqtt_property_kind { MQTT_NUMBER, MQTT_TEXT, MQTT_BINARY, MQTT_PAIR, MQTT_UNKNOWN };
struct mqtt_property {
    const char *name;                   /* as EVE calls it */
    enum mqtt_property_kind kind;
    uint32_t number;
    struct slice text, value;           /* value: of a pair */
};
bool mqtt_take_property(struct bytes *in, struct mqtt_property *out);

extern const struct app_buffer *const mqtt_buffers[];
extern const struct app_integer *const mqtt_integers[];
extern const struct app_match *const mqtt_matches[];
extern const struct app_log *const mqtt_logs[];
void mqtt_alert_metadata(struct json *j, struct app_tx *tx);

#endif
