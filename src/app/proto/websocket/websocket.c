/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/proto/websocket/websocket.c - WebSocket, RFC 6455, with permessage-deflate, RFC 7692.
 *
 * Each frame is a transaction. The last frame of a fragmented message has the payload of all its
 * frames. */
#include "app/proto/websocket/message.h"

#include "app/lib/log_text.h"
#include "app/log.h"
#include "app/proto.h"
#include "app/reports.h"
#include "app/rules.h"

#define MAX_PAYLOAD 0xffff  /* default of max-payload-size, as in Suricata */
#define MAX_PAYLOAD_LIMIT (16u << 20)
#define HEADER_MAX 14 /* bytes: 2, a length of 8, a mask of 4 (RFC 6455 section 5.2) */
/* The upper half of the first byte: FIN, RSV1, and RSV2 with RSV3. */
enum { FLAG_FIN = 0x80, FLAG_COMPRESSED = 0x40, FLAG_RESERVED = 0x30, FLAGS = 0xf0 };
enum { OPCODE = 0x0f, OPCODE_CONTROL = 8 }; /* lower half; control frames from 8 on */
/* The second byte; 126 and 127 announce a longer length. */
enum { MASKED = 0x80, LEN = 0x7f, LEN_16 = 126, LEN_64 = 127 };
#define WS_EVENT_LIST(E)                                    \
    E(SKIP_END_OF_PAYLOAD, "skip_end_of_payload")           \
    E(REASSEMBLY_LIMIT_REACHED, "reassembly_limit_reached")

enum ws_event { WS_EVENT_NONE, WS_EVENT_LIST(APP_EVENT_ID) };
#define FRAME_LIST(E)         \
    E(FRAME_STREAM, "stream") \
    E(FRAME_HEADER, "header") \
    E(FRAME_PDU, "pdu")       \
    E(FRAME_DATA, "data")
enum ws_frame { FRAME_LIST(APP_ENUM_ID) };

struct ws_settings { uint32_t max_payload; };   /* bytes of a frame and of a message */

/* `payload` lies in the arena, unmasked. What it inflates to is in `text`. */
struct ws_tx {
    struct app_tx tx;
    uint8_t flags, opcode;
    bool masked;
    uint32_t mask;
    struct slice payload;
    struct ws_text text;            /* empty: the payload is not compressed, or stays packed */
};

/* Owned by the flow; arrays by direction. */
struct ws_state {
    struct ws_message message[2];
    uint64_t skip[2];               /* bytes of the current payload beyond the limit */
    uint64_t rested;                /* id of the first transaction that no rest has seen */
};

/* The header of a frame. */
struct ws_header {
    uint8_t flags, opcode;
    bool masked;
    uint32_t mask;
    uint64_t len;                   /* of the payload */
    uint32_t size;                  /* of the header itself */
};

static struct ws_tx *ws_tx_of(const struct app_tx *tx)
{
    return (struct ws_tx *)(uintptr_t)tx;
}

/* --- frames --------------------------------------------------------------------------------- */

/* RFC 6455 section 5.2. A length that could have been written shorter is accepted. False:
 * incomplete. */
static bool take_header(struct bytes *in, struct ws_header *h)
{
    const uint8_t *start = in->next;
    uint8_t first = take_u8(in), second = take_u8(in);

    h->flags = first & FLAGS;
    h->opcode = first & OPCODE;
    h->masked = (second & MASKED) != 0;
    h->len = second & LEN;
    if (h->len == LEN_16)
        h->len = take_be16(in);
    else if (h->len == LEN_64)
        h->len = take_be64(in);
    h->mask = h->masked ? take_be32(in) : 0;
    h->size = (uint32_t)(in->next - start);
    return !in->failed;
}

/* Copies the payload to the arena and removes the mask (RFC 6455 section 5.3). */
static struct slice unmask(struct arena *arena, const struct ws_header *h, struct slice raw)
{
    const uint8_t key[4] = { (uint8_t)(h->mask >> 24), (uint8_t)(h->mask >> 16),
                             (uint8_t)(h->mask >> 8), (uint8_t)h->mask };
    uint8_t *out;

    if (raw.len == 0)
        return raw;
    out = arena_copy(arena, raw.data, raw.len);
    if (out == NULL)
        return (struct slice){ 0 };
    for (uint32_t i = 0; h->masked && i < raw.len; i++)
        out[i] ^= key[i & 3];
    return (struct slice){ out, raw.len };
}

/* Frames for rules: header, payload and both. `len` is what the parser keeps of the payload. */
static void frames(struct app_flow *af, const struct app_input *in, const struct ws_header *h,
                   uint32_t len, uint64_t tx_id)
{
    app_frame(af, in->direction, FRAME_HEADER, in->offset, h->size, tx_id);
    app_frame(af, in->direction, FRAME_PDU, in->offset, (int64_t)h->size + len, tx_id);
    app_frame(af, in->direction, FRAME_DATA, in->offset + h->size, len, tx_id);
}

/* Adds the frame to its message. The last frame of a message gets the complete payload, inflated.
 * Control frames can come between the frames of a message and are never part of it (RFC 6455
 * section 5.4). A message of one frame does not use the buffer. */
static void follow_message(struct ws_tx *t, struct ws_message *m, uint32_t limit)
{
    bool fin = (t->flags & FLAG_FIN) != 0, compressed = (t->flags & FLAG_COMPRESSED) != 0;
    bool complete = fin && !ws_message_is_started(m);

    if (t->opcode < OPCODE_CONTROL && !complete) {
        if (!ws_message_add(m, t->payload, compressed, limit))
            app_tx_event(&t->tx, REASSEMBLY_LIMIT_REACHED);
        if (!fin)
            return;
        t->payload = ws_message_take(m, &t->tx.arena, &compressed);
    }
    /* RSV1 counts on a control frame, too, although RFC 7692 section 6 does not allow it there. */
    if (compressed && fin && !ws_inflate(m, t->tx.flow, t->payload, limit, &t->text))
        app_tx_event(&t->tx, REASSEMBLY_LIMIT_REACHED);
}

/* `raw` is the payload up to the limit; the rest is skipped later and causes an event now. False:
 * too many transactions. */
static bool add_frame(struct app_flow *af, const struct app_input *in, const struct ws_header *h,
                      struct slice raw)
{
    const struct ws_settings *s = af->settings;
    struct ws_state *st = af->state;
    struct ws_tx *t = ws_tx_of(app_tx_new(af));

    if (t == NULL)
        return false;
    frames(af, in, h, raw.len, t->tx.id);
    t->flags = h->flags;
    t->opcode = h->opcode;
    t->masked = h->masked;
    t->mask = h->mask;
    t->payload = unmask(&t->tx.arena, h, raw);
    if (h->len > raw.len) {
        st->skip[in->direction] = h->len - raw.len;
        app_tx_event(&t->tx, SKIP_END_OF_PAYLOAD);
    }
    follow_message(t, &st->message[in->direction], s->max_payload);
    t->tx.progress[in->direction] = 1;
    t->tx.unidirectional[OTHER_DIRECTION(in->direction)] = true;
    return true;
}

/* One frame, or a piece of a payload to skip. The claimed length can be 2^64 - 1, so it is compared
 * with the limit before the parser waits for anything. */
static enum parse_status websocket_parse(struct app_flow *af, struct app_input *in)
{
    const struct ws_settings *s = af->settings;
    struct ws_state *st = af->state;
    struct bytes bytes = app_input_bytes(in);
    struct ws_header h;
    uint32_t len;

    if (in->len == 0)
        return PARSE_OK;
    if (st->skip[in->direction] > 0) {
        in->consumed = (uint32_t)MIN(st->skip[in->direction], (uint64_t)in->len);
        st->skip[in->direction] -= in->consumed;
        return PARSE_OK;
    }
    in->consumed = 0;
    if (!take_header(&bytes, &h))
        return PARSE_MORE;
    len = (uint32_t)MIN(h.len, (uint64_t)s->max_payload);
    if (!bytes_have(&bytes, len)) {
        in->need = h.size + len;
        return PARSE_MORE;
    }
    in->consumed = h.size + len;
    return add_frame(af, in, &h, take_slice(&bytes, len)) ? PARSE_OK : PARSE_STOP;
}

/* Called only after HTTP has agreed on an upgrade, so a weak check is enough: RSV2 and RSV3 are 0
 * unless an extension uses them (RFC 6455 section 5.2). */
static enum app_probe_result websocket_probe(struct bytes in, enum direction d UNUSED,
                                             const struct flow *flow UNUSED)
{
    uint8_t first = take_u8(&in);

    if (in.failed)
        return APP_PROBE_MORE;
    return (first & FLAG_RESERVED) == 0 ? APP_PROBE_YES : APP_PROBE_NO;
}

/* --- memory --------------------------------------------------------------------------------- */

/* After each packet. Of open transactions, each is looked at once. */
static void websocket_rest(struct app_flow *af)
{
    struct ws_state *st = af->state;

    for (struct app_tx *tx = af->last; tx != NULL && tx->id >= st->rested; tx = tx->prev)
        ws_text_rest(&ws_tx_of(tx)->text, af);
    st->rested = af->next_tx_id;
    for (enum direction d = TO_SERVER; d <= TO_CLIENT; d++)
        ws_message_rest(&st->message[d]);
}

static void websocket_tx_close(struct app_tx *tx)
{
    ws_text_fini(&ws_tx_of(tx)->text, tx->flow);
}

/* The payload as rules and alerts see it. */
static struct slice payload_of(struct app_tx *tx)
{
    struct slice text = ws_text_get(&ws_tx_of(tx)->text, tx->flow);

    return text.len > 0 ? text : ws_tx_of(tx)->payload;
}

/* --- rules ---------------------------------------------------------------------------------- */

/* RFC 6455 section 11.8. */
static const struct app_name opcodes[] = {
    { "continuation", 0 }, { "text", 1 }, { "binary", 2 }, { "close", 8 }, { "ping", 9 },
    { "pong", 10 }, { NULL, 0 },
};
static const struct app_name flag_bits[] = {
    { "fin", FLAG_FIN }, { "comp", FLAG_COMPRESSED }, { NULL, 0 },
};

static bool get_payload(struct app_tx *tx, enum direction d UNUSED, unsigned index,
                        struct slice *out)
{
    *out = payload_of(tx);
    if (out->data == NULL)
        out->data = (const uint8_t *)"";
    return index == 0;
}

static const struct app_buffer payload_buffer = {
    .name = "websocket.payload", .doc = "payload, unmasked and unpacked", .directions = APP_BOTH,
    .progress = { 1, 1 }, .get = get_payload,
};
static const struct app_integer opcode_integer = {
    .name = "websocket.opcode", .doc = "what kind of frame", .bits = 8, .directions = APP_BOTH,
    .names = opcodes, .field = APP_FIELD(ws_tx, opcode, ALWAYS),
};
static const struct app_integer flags_integer = {
    .name = "websocket.flags", .doc = "flags of the frame", .bits = 8, .directions = APP_BOTH,
    .bit_names = flag_bits, .field = APP_FIELD(ws_tx, flags, ALWAYS),
};
static const struct app_integer mask_integer = {
    .name = "websocket.mask", .doc = "masking key", .bits = 32, .directions = APP_BOTH,
    .field = APP_FIELD_WITH(ws_tx, mask, masked),
};

/* --- logs ----------------------------------------------------------------------------------- */

/* NULL: a reserved opcode. */
static const char *opcode_name(uint8_t opcode)
{
    for (const struct app_name *n = opcodes; n->name != NULL; n++)
        if (n->value == opcode)
            return n->name;
    return NULL;
}

/* The payload is not in records, only in alerts that ask for it. */
static bool websocket_log(struct json *j, struct app_tx *tx, enum direction d UNUSED,
                          const void *conf UNUSED)
{
    const struct ws_tx *t = ws_tx_of(tx);
    const char *name = opcode_name(t->opcode);

    json_bool(j, "fin", t->flags & FLAG_FIN);
    if (t->masked)
        json_u64(j, "mask", t->mask);
    if (name != NULL)
        json_string(j, "opcode", name);
    else
        json_printf(j, "opcode", "unknown-%u", t->opcode);
    return true;
}

static void websocket_alert_metadata(struct json *j, struct app_tx *tx)
{
    json_object(j, "websocket");
    websocket_log(j, tx, TO_SERVER, NULL);
    json_object_end(j);
}

/* `what`: the forms of the payload that the configuration requires. */
static void websocket_alert_contents(struct json *j, struct app_tx *tx, unsigned what)
{
    const struct slice payload = payload_of(tx);

    json_object(j, "websocket");
    websocket_log(j, tx, TO_SERVER, NULL);
    if (what & APP_CONTENTS_PRINTABLE)
        json_lossy(j, "payload_printable", payload);
    if (what & APP_CONTENTS_BASE64)
        json_base64(j, "payload_base64", payload.data, payload.len);
    json_object_end(j);
}

static const struct app_log eve = {
    .conf_name = "websocket", .event_type = "websocket", .key = "websocket",
    .progress = { 1, 1 }, .as_packet = true, .log = websocket_log,
};

/* --- declaration ---------------------------------------------------------------------------- */

/* A size that is not valid is a warning and leaves the default. */
static int websocket_configure(const struct conf_node *node, const struct conf_node *root UNUSED,
                               void *settings, struct err *err UNUSED)
{
    const char *text = conf_string(node, "max-payload-size", NULL);
    struct ws_settings *s = settings;
    uint64_t size;

    s->max_payload = MAX_PAYLOAD;
    if (text == NULL)
        return 0;
    if (text_to_size(text_of(text), &size) && size > 0 && size <= MAX_PAYLOAD_LIMIT)
        s->max_payload = (uint32_t)size;
    else
        conf_warning(conf_find(node, "max-payload-size"),
                     "websocket: max-payload-size: expected a size up to 16 MiB, found \"%s\"",
                     text);
    return 0;
}

/* The messages own heap memory, which the engine does not know. */
static void websocket_close(struct app_flow *af)
{
    struct ws_state *st = af->state;

    ws_message_fini(&st->message[TO_SERVER]);
    ws_message_fini(&st->message[TO_CLIENT]);
}

static const struct app_name events[] = { WS_EVENT_LIST(APP_EVENT_ROW) { NULL, 0 } };

/* As Suricata has them. */
static const struct app_reports reports = {
    .progress = (const struct app_report_progress[]){
        { "websocket.payload", APP_BOTH, 0 }, { NULL, 0, 0 } },
};

const struct app_proto app_websocket = {
    .id = APP_PROTO_websocket,
    .name = "websocket",
    .reports = &reports,
    .raw_on_tx_end = true,
    .transports = APP_TCP,
    .probes = (const struct app_probe[]){
        { .transport = APP_TCP, .directions = APP_BOTH, .max = 16, .probe = websocket_probe },
        { .probe = NULL } },
    .settings_keys = "max-payload-size",
    .settings_size = sizeof(struct ws_settings),
    .configure = websocket_configure,
    .state_size = sizeof(struct ws_state),
    .tx_size = sizeof(struct ws_tx),
    .tx_close = websocket_tx_close,
    .close = websocket_close,
    .rest = websocket_rest,
    .parse = websocket_parse,
    /* Bytes: one frame with the largest payload that can be configured. */
    .buffer_limit = MAX_PAYLOAD_LIMIT + HEADER_MAX,
    .progress_done = { 1, 1 },
    .events = events,
    .frames = (const char *const[]){ FRAME_LIST(APP_ENUM_TEXT) NULL },
    .buffers = (const struct app_buffer *const[]){ &payload_buffer, NULL },
    .integers = (const struct app_integer *const[]){ &opcode_integer, &flags_integer,
                                                     &mask_integer, NULL },
    .logs = (const struct app_log *const[]){ &eve, NULL },
    .alert_metadata = websocket_alert_metadata,
    .alert_contents_key = "websocket-payload",
    .alert_contents = websocket_alert_contents,
};
