/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/proto/modbus/modbus.c - Modbus/TCP: messages off the stream, and requests paired with
 * responses. */
#include "app/proto/modbus/modbus.h"

#include "app/proto.h"

#define FLOOD 500                   /* requests without a response */

struct modbus_settings { uint32_t flood; };

struct modbus_state {
    uint32_t skip[2];               /* of a message with an invalid length */
    bool flooded;
};

/* --- transactions --------------------------------------------------------------------------- */

/* At `flood` open transactions the parser stops, with an event, until some are answered. */
static struct modbus_tx *tx_new(struct app_flow *af)
{
    const struct modbus_settings *s = af->settings;
    struct modbus_state *st = af->state;
    struct modbus_tx *t;

    if (af->tx_count < s->flood)
        st->flooded = false;
    if (st->flooded)
        return NULL;
    t = modbus_tx_of(app_tx_new(af));
    if (t != NULL && af->tx_count > s->flood) {
        app_tx_event(&t->tx, MODBUS_FLOODED);
        st->flooded = true;
    }
    return t;
}

/* A response whose read or write data are wrong is one event: a mismatch. */
static void events_of(struct modbus_tx *t, const struct modbus_message *m, enum direction d)
{
    static const struct { uint8_t error; enum modbus_event event; } events[] = {
        { ERROR_FUNCTION, MODBUS_INVALID_FUNCTION_CODE }, { ERROR_VALUE, MODBUS_INVALID_VALUE },
        { ERROR_LENGTH, MODBUS_INVALID_LENGTH },
        { ERROR_EXCEPTION, MODBUS_INVALID_EXCEPTION_CODE },
        { ERROR_PROTOCOL, MODBUS_INVALID_PROTOCOL_ID },
    };

    if (d == TO_CLIENT && (m->access & (ACCESS_READ | ACCESS_WRITE)) &&
        (m->errors & (ERROR_LENGTH | ERROR_VALUE))) {
        app_tx_event(&t->tx, MODBUS_VALUE_MISMATCH);
        return;
    }
    for (unsigned i = 0; i < sizeof(events) / sizeof(events[0]); i++)
        if (m->errors & events[i].error)
            app_tx_event(&t->tx, events[i].event);
}

/* Open transactions with the same numbers, whose data are compared with a message's. */
#define CANDIDATES_MOST 16

/* Of transactions that have this message and lack the one of direction `missing`. */
static uint64_t key_of(const struct modbus_message *m, enum direction missing)
{
    return (uint64_t)m->transaction << 32 | (uint64_t)m->unit << 16 | (uint64_t)m->function << 8 |
           missing;
}

/* The oldest match wins. */
static struct modbus_tx *tx_find(struct app_flow *af, enum direction d, struct modbus_message *m)
{
    struct app_tx *tx = app_tx_by_key(af, key_of(m, d));

    for (unsigned i = 0; tx != NULL && i < CANDIDATES_MOST; i++, tx = app_tx_next_by_key(tx))
        if (modbus_match(m, modbus_tx_of(tx)->message[OTHER_DIRECTION(d)]))
            return modbus_tx_of(tx);
    return NULL;
}

/* A response ends both directions. Data are copied, because the message borrows from the stream. */
static bool add_message(struct app_flow *af, enum direction d, struct modbus_message *m)
{
    struct modbus_tx *t = tx_find(af, d, m);
    bool alone = t == NULL;

    if (alone)
        t = tx_new(af);
    if (t == NULL)
        return false;
    events_of(t, m, d);
    if (alone && d == TO_CLIENT)
        app_tx_event(&t->tx, MODBUS_UNSOLICITED_RESPONSE);
    if (m->data.len > 0)
        m->data = arena_slice(&t->tx.arena, m->data);
    t->message[d] = arena_copy(&t->tx.arena, m, sizeof(*m));
    app_tx_key_drop(&t->tx);
    if (t->message[d] != NULL && t->message[OTHER_DIRECTION(d)] == NULL)
        app_tx_key(&t->tx, key_of(m, OTHER_DIRECTION(d)));
    if (d == TO_CLIENT)
        t->tx.progress[TO_SERVER] = t->tx.progress[TO_CLIENT] = 1;
    return true;
}

/* --- messages ------------------------------------------------------------------------------- */

/* The MBAP header without the unit. False: too short. */
static bool take_header(struct bytes *in, struct modbus_message *m)
{
    *m = (struct modbus_message){ .transaction = take_be16(in) };
    m->protocol = take_be16(in);
    m->length = take_be16(in);
    m->function = MODBUS_UNKNOWN;
    if (m->protocol != 0)
        m->errors |= ERROR_PROTOCOL;
    return !in->failed;
}

/* Length counts unit, function and data. */
static bool length_is_valid(const struct modbus_message *m)
{
    return m->length >= MODBUS_LENGTH_MIN && m->length <= MODBUS_LENGTH_MAX;
}

/* An invalid length still gives the next message's position: the body is skipped. */
static enum parse_status modbus_parse(struct app_flow *af, struct app_input *in)
{
    struct modbus_state *st = af->state;
    struct bytes bytes = app_input_bytes(in);
    enum direction d = in->direction;
    struct modbus_message m;

    if (in->len == 0)
        return PARSE_OK;
    if (st->skip[d] > 0) {
        in->consumed = MIN(st->skip[d], in->len);
        st->skip[d] -= in->consumed;
        return PARSE_OK;
    }
    in->consumed = 0;
    in->need = MODBUS_HEADER_LEN;
    if (!take_header(&bytes, &m))
        return PARSE_MORE;
    if (!length_is_valid(&m)) {
        m.errors |= ERROR_LENGTH;
        st->skip[d] = m.length;
        in->consumed = MODBUS_HEADER_LEN;
        return add_message(af, d, &m) ? PARSE_OK : PARSE_STOP;
    }
    in->need = MODBUS_HEADER_LEN + m.length;
    if (!bytes_have(&bytes, m.length))
        return PARSE_MORE;
    modbus_parse_body(&m, take_sub(&bytes, m.length),
                      d == TO_SERVER ? MODBUS_CLIENT : MODBUS_SERVER);
    in->consumed = in->need;
    return add_message(af, d, &m) ? PARSE_OK : PARSE_STOP;
}

/* Either side may have sent it: a message without errors and with a known function. */
static enum app_probe_result modbus_probe(struct bytes in, enum direction d UNUSED,
                                          const struct flow *flow UNUSED)
{
    struct modbus_message m;

    if (!take_header(&in, &m))
        return APP_PROBE_MORE;
    if (!length_is_valid(&m))
        return APP_PROBE_NO;
    if (!bytes_have(&in, m.length))
        return APP_PROBE_MORE;
    modbus_parse_body(&m, take_sub(&in, m.length), MODBUS_ANYONE);
    return m.errors == 0 && m.function != MODBUS_UNKNOWN ? APP_PROBE_YES : APP_PROBE_NO;
}

/* --- declaration ---------------------------------------------------------------------------- */

/* request-flood: at most FLOOD, because lookups walk the open transactions. */
static int modbus_configure(const struct conf_node *node, const struct conf_node *root UNUSED,
                            void *settings, struct err *err UNUSED)
{
    const char *text = conf_string(node, "request-flood", NULL);
    struct modbus_settings *s = settings;
    uint64_t n;

    s->flood = FLOOD;
    if (text == NULL)
        return 0;
    if (text_to_u64(text_of(text), FLOOD, &n) && n > 0)
        s->flood = (uint32_t)n;
    else
        conf_warning(conf_find(node, "request-flood"),
                     "modbus: request-flood: expected a number from 1 to %u, found \"%s\"", FLOOD,
                     text);
    return 0;
}

static const struct app_name events[] = { MODBUS_EVENT_LIST(APP_EVENT_ROW) { NULL, 0 } };

const struct app_proto app_modbus = {
    .id = APP_PROTO_modbus,
    .name = "modbus",
    .raw_on_tx_end = true,
    .inspect_both_dirs = true,
    .transports = APP_TCP,
    .off_by_default = true,
    .probes = (const struct app_probe[]){
        { .transport = APP_TCP, .directions = APP_BOTH, .ports = "502",
          .max = MODBUS_HEADER_LEN + MODBUS_LENGTH_MAX, .probe = modbus_probe },
        { .probe = NULL } },
    .settings_size = sizeof(struct modbus_settings),
    .configure = modbus_configure,
    .state_size = sizeof(struct modbus_state),
    .tx_size = sizeof(struct modbus_tx),
    .tx_limit = 2 * FLOOD,
    .marks_tx = true,
    .parse = modbus_parse,
    .progress_done = { 1, 1 },
    .events = events,
    .matches = (const struct app_match *const[]){ &modbus_keyword, NULL },
    .logs = (const struct app_log *const[]){ &modbus_log, NULL },
    .alert_metadata = modbus_alert_metadata,
};
