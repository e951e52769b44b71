/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/proto/mqtt/mqtt.c - MQTT: detection, messages off the stream, and the transaction of each. */
#include "app/proto/mqtt/mqtt.h"

#include "app/proto.h"

#define BUFFER_LIMIT (16u << 20)          /* bytes; max-msg-length is cut to it */

const struct app_name mqtt_types[] = { MQTT_TYPE_LIST(APP_ENUM_ROW) { NULL, 0 } };

static const struct app_name events[] = { MQTT_EVENT_LIST(APP_EVENT_ROW) { NULL, 0 } };

/* max_message leaves room for a fixed header of 5 bytes, because the parser waits for header and
 * content together. A limit of 0 topics is valid. */
static int mqtt_configure(const struct conf_node *node, const struct conf_node *root UNUSED,
                          void *settings, struct err *err UNUSED)
{
    struct mqtt_settings *s = settings;

    /* The default is 1 MiB. */
    s->max_message = (uint32_t)MIN(conf_size(node, "max-msg-length", 1u << 20), BUFFER_LIMIT - 5);
    s->max_messages = (uint32_t)conf_u64_range(node, "max-messages", 1024, 1, UINT32_MAX);
    s->max_subscribe = (uint32_t)conf_u64_range(node, "subscribe-topic-match-limit", 100, 0,
                                                UINT32_MAX);
    s->max_unsubscribe = (uint32_t)conf_u64_range(node, "unsubscribe-topic-match-limit", 100, 0,
                                                  UINT32_MAX);
    return 0;
}

/* Two bytes decide little: it is trusted on its port only. */
static enum app_probe_result mqtt_probe(struct bytes in, enum direction direction UNUSED,
                                        const struct flow *flow UNUSED)
{
    struct mqtt_header h;
    int size = mqtt_header_parse(in, &h);

    if (size < 0)
        return APP_PROBE_MORE;
    return size > 0 && h.type != MQTT_UNASSIGNED && h.qos <= 2 ? APP_PROBE_YES : APP_PROBE_NO;
}

/* --- transactions ----------------------------------------------------------------------------- */

/* A complete transaction takes no more messages, even with its identifier. */
static void complete(struct mqtt_tx *t)
{
    t->complete = true;
    t->tx.awaits_other = false;
    t->id = MQTT_NO_ID;
    app_tx_key_drop(&t->tx);
    t->tx.progress[t->direction] = MQTT_COMPLETE;
}

/* It belongs to the side that opened it, see README.md. */
static struct mqtt_tx *new_tx(struct app_flow *af, enum direction direction)
{
    struct mqtt_tx *t = (struct mqtt_tx *)app_tx_new(af);

    if (t == NULL)
        return NULL;
    t->id = MQTT_NO_ID;
    t->direction = direction;
    t->tx.progress[direction] = MQTT_OPEN;
    app_trigger_raw_inspection(af, direction);
    t->tx.unidirectional[OTHER_DIRECTION(direction)] = true;
    t->tx.awaits_other = true;
    return t;
}

/* Messages form a list in order of arrival; `count` is compared with max-messages. */
static void append(struct mqtt_tx *t, struct mqtt_message *m)
{
    if (t->last != NULL)
        t->last->next = m;
    else
        t->first = m;
    t->last = m;
    t->count++;
}

static void set_id(struct mqtt_tx *t, int32_t id)
{
    t->id = id;
    app_tx_key(&t->tx, (uint64_t)id);
}

/* The open exchange with this identifier. */
static struct mqtt_tx *waiting(struct app_flow *af, int32_t id)
{
    struct app_tx *tx = app_tx_by_key(af, (uint64_t)id);

    return tx != NULL ? mqtt_tx_of(tx) : NULL;
}

/* The identifier of the exchange that a message continues. */
static int32_t awaited_id(const struct mqtt_message *m)
{
    switch ((enum mqtt_type)m->header.type) {
    case MQTT_CONNACK:
        return MQTT_CONNECT_ID;
    case MQTT_PUBACK: case MQTT_PUBREC: case MQTT_PUBREL: case MQTT_PUBCOMP:
    case MQTT_SUBACK: case MQTT_UNSUBACK:
        return m->id;
    default:
        return MQTT_NO_ID;
    }
}

/* A message that starts an exchange. QoS 0 has no response (MQTT 5.0 section 4.3). */
static void opened(struct mqtt_tx *t, const struct mqtt_message *m)
{
    if (m->header.qos == 0)
        complete(t);
    else if (m->header.qos > 2)
        app_tx_event(&t->tx, MQTT_INVALID_QOS_LEVEL);
    else if (m->has_id)
        set_id(t, m->id);
    else
        app_tx_event(&t->tx, MQTT_MISSING_MSG_ID);
}

/* A response without its request is a transaction with an event. */
static void unasked(struct mqtt_tx *t, unsigned event)
{
    app_tx_event(&t->tx, event);
    complete(t);
}

/* The first message of a transaction. Anything before CONNACK is an event. */
static void begin(struct mqtt_state *st, struct mqtt_tx *t, const struct mqtt_message *m)
{
    switch ((enum mqtt_type)m->header.type) {
    case MQTT_CONNECT:
        st->version = m->connect->version;
        set_id(t, MQTT_CONNECT_ID);
        if (st->connected)
            app_tx_event(&t->tx, MQTT_DOUBLE_CONNECT);
        return;
    case MQTT_CONNACK:
        unasked(t, MQTT_MISSING_CONNECT);
        return;
    case MQTT_UNASSIGNED:
        unasked(t, MQTT_UNASSIGNED_MSG_TYPE);
        return;
    case MQTT_PUBLISH: case MQTT_SUBSCRIBE: case MQTT_UNSUBSCRIBE:
        opened(t, m);
        break;
    case MQTT_PUBACK: case MQTT_PUBREC: case MQTT_PUBREL: case MQTT_PUBCOMP:
        unasked(t, MQTT_MISSING_PUBLISH);
        break;
    case MQTT_SUBACK:
        unasked(t, MQTT_MISSING_SUBSCRIBE);
        break;
    case MQTT_UNSUBACK:
        unasked(t, MQTT_MISSING_UNSUBSCRIBE);
        break;
    case MQTT_PINGREQ: case MQTT_PINGRESP: case MQTT_DISCONNECT: case MQTT_AUTH:
        complete(t);
        break;
    }
    if (!st->connected)
        app_tx_event(&t->tx, MQTT_UNINTRODUCED_MESSAGE);
}

/* PUBREC and PUBREL are in the middle of a QoS 2 exchange; all other responses end theirs. */
static bool is_middle(const struct mqtt_header *h)
{
    return h->type == MQTT_PUBREC || h->type == MQTT_PUBREL;
}

/* Adds a response to its exchange. The first CONNACK marks the flow as connected, whatever its
 * return code. */
static void add_ack(struct app_flow *af, struct mqtt_tx *t, struct mqtt_message *m)
{
    struct mqtt_state *st = af->state;

    append(t, m);
    if (!is_middle(&m->header))
        complete(t);
    if (m->header.type == MQTT_CONNACK)
        st->connected = true;
}

/* A hostile peer may repeat PUBREL without end: beyond max-messages nothing is kept. */
static bool is_full(const struct mqtt_settings *settings, const struct mqtt_tx *t,
                    const struct mqtt_header *h)
{
    return is_middle(h) && t->count >= settings->max_messages;
}

/* --- parsing ---------------------------------------------------------------------------------- */

/* The identifier of a response is needed before its transaction is known. It comes first in these
 * messages. */
static struct mqtt_tx *find_acknowledged(struct app_flow *af, const struct mqtt_header *h,
                                struct slice body)
{
    struct mqtt_message peek = { .header = *h };
    struct bytes in = bytes_of_slice(body);
    int32_t id;

    peek.id = take_be16(&in);
    id = awaited_id(&peek);
    return id == MQTT_NO_ID ? NULL : waiting(af, id);
}

/* False: malformed, or too many transactions. */
static bool add_message(struct app_flow *af, enum direction direction,
                        const struct mqtt_header *h, struct slice body)
{
    const struct mqtt_state *st = af->state;
    struct mqtt_tx *t = find_acknowledged(af, h, body);
    bool is_new = t == NULL;
    struct mqtt_message *m;

    if (is_new)
        t = new_tx(af, direction);
    if (t == NULL)
        return false;
    if (!is_new && is_full(af->settings, t, h)) {
        app_tx_event(&t->tx, MQTT_TOO_MANY_MESSAGES);
        return true;
    }
    m = arena_zalloc(&t->tx.arena, sizeof(*m));
    if (m == NULL)
        return false;
    m->header = *h;
    if (!mqtt_message_parse(body, st->version, &t->tx.arena, m)) {
        if (is_new)
            app_tx_discard(&t->tx);
        return false;
    }
    if (!is_new) {
        add_ack(af, t, m);
        return true;
    }
    append(t, m);
    begin(af->state, t, m);
    return true;
}

/* A message longer than max-msg-length is skipped. Its record always goes from server to client, as
 * users of EVE know it. */
static enum parse_status too_long(struct app_flow *af, struct app_input *in,
                                  const struct mqtt_header *h)
{
    struct mqtt_state *st = af->state;
    struct mqtt_tx *t = new_tx(af, TO_CLIENT);
    struct mqtt_message *m;

    app_frame(af, in->direction, MQTT_FRAME_PDU, in->offset + in->consumed, 0,
              APP_FRAME_NO_TX);
    in->consumed += h->size;
    st->skip[in->direction] = h->length;
    if (t == NULL)
        return PARSE_STOP;
    m = arena_zalloc(&t->tx.arena, sizeof(*m));
    if (m == NULL)
        return PARSE_STOP;
    m->header = *h;
    m->truncated = true;
    append(t, m);
    complete(t);
    return PARSE_OK;
}

/* The parser stops, because message boundaries are lost. */
static enum parse_status malformed(struct app_flow *af, enum direction direction)
{
    struct mqtt_tx *t = new_tx(af, direction);

    if (t != NULL)
        unasked(t, MQTT_MALFORMED_TRAFFIC);
    return PARSE_STOP;
}

/* Header and data frames start at the beginning of the input, also for the second message in it:
 * rules are written for that. */
static void make_frames(struct app_flow *af, const struct app_input *in,
                        const struct mqtt_header *h)
{
    enum direction d = in->direction;

    app_frame(af, d, MQTT_FRAME_PDU, in->offset + in->consumed, h->size + (int64_t)h->length,
              APP_FRAME_NO_TX);
    app_frame(af, d, MQTT_FRAME_HEADER, in->offset, 2, APP_FRAME_NO_TX);
    app_frame(af, d, MQTT_FRAME_DATA, in->offset + 2, h->length, APP_FRAME_NO_TX);
}

/* One message after the consumed bytes. */
static enum parse_status parse_message(struct app_flow *af, struct app_input *in, struct bytes b)
{
    const struct mqtt_settings *settings = af->settings;
    struct mqtt_header h;
    int size = mqtt_header_parse(b, &h);

    if (size == 0)
        return malformed(af, in->direction);
    if (size > 0 && h.length > settings->max_message)
        return too_long(af, in, &h);
    if (size < 0 || bytes_left(&b) < h.size + h.length) {
        in->need = size < 0 ? 0 : h.size + h.length;
        return PARSE_MORE;
    }
    take_skip(&b, h.size);
    make_frames(af, in, &h);
    in->consumed += h.size + h.length;
    return add_message(af, in->direction, &h, take_slice(&b, h.length)) ?
           PARSE_OK : malformed(af, in->direction);
}

/* The input can hold many messages and the end of one to skip. Each step works on what the earlier
 * ones have left. */
static enum parse_status mqtt_parse(struct app_flow *af, struct app_input *in)
{
    struct mqtt_state *st = af->state;
    uint64_t *skip = &st->skip[in->direction];
    enum parse_status status = PARSE_OK;
    struct bytes b = app_input_bytes(in);

    in->consumed = 0;
    while (status == PARSE_OK && in->consumed < in->len) {
        b.next = in->data + in->consumed;
        if (*skip > 0) {
            uint32_t n = (uint32_t)MIN(*skip, bytes_left(&b));

            in->consumed += n;
            *skip -= n;
        } else {
            status = parse_message(af, in, b);
        }
    }
    return status;
}

const struct app_proto app_mqtt = {
    .id = APP_PROTO_mqtt,
    .name = "mqtt",
    .transports = APP_TCP,
    .inspect_both_dirs = true,
    .probes = (const struct app_probe[]){
        { .transport = APP_TCP, .directions = APP_BOTH, .ports = "1883", .max = 16,
          .probe = mqtt_probe },
        { .probe = NULL } },
    .settings_size = sizeof(struct mqtt_settings),
    .configure = mqtt_configure,
    .state_size = sizeof(struct mqtt_state),
    .tx_size = sizeof(struct mqtt_tx),
    .tx_limit = 1024,   /* open transactions of a flow */
    .too_many_tx_event = MQTT_TOO_MANY_TRANSACTIONS,
    .buffer_limit = BUFFER_LIMIT,
    .marks_tx = true,
    .parse = mqtt_parse,
    .progress_done = { MQTT_COMPLETE, MQTT_COMPLETE },
    .events = events,
    .frames = (const char *const[]){ MQTT_FRAME_LIST(APP_ENUM_TEXT) NULL },
    .buffers = mqtt_buffers,
    .integers = mqtt_integers,
    .matches = mqtt_matches,
    .logs = mqtt_logs,
    .alert_metadata = mqtt_alert_metadata,
};
