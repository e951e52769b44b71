/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/proto/rfb/rfb.c - the handshake of RFB (VNC, RFC 6143): versions, security, initialization.
 *
 * A flow has one transaction. The two sides alternate, so one step serves both. Data of the wrong
 * side end the parsing: without knowing the step, later bytes have no meaning. */
#include "app/log.h"
#include "app/proto.h"
#include "app/rules.h"

#include "app/lib/log_text.h"

#define RFB_EVENT_LIST(E)                                             \
    E(RFB_UNIMPLEMENTED_SECURITY_TYPE, "unimplemented_security_type") \
    E(RFB_UNKNOWN_SECURITY_RESULT, "unknown_security_result")         \
    E(RFB_MALFORMED_MESSAGE, "malformed_message")                     \
    E(RFB_CONFUSED_STATE, "confused_state")

enum rfb_event { RFB_EVENT_NONE, RFB_EVENT_LIST(APP_EVENT_ID) };

/* The step is the message that comes next. Steps follow RFC 6143 sections 7.1 to 7.3: both
 * versions; the list of security types and the client's selection (in version 3.3 the server's
 * decision instead); for VNC authentication challenge, response and result; the initialization of
 * both sides.
 *
 * REASON: a text why the server refuses. SKIP: the end; all further input is ignored. */
enum step {
    SERVER_VERSION, CLIENT_VERSION, SECURITY_TYPES, SERVER_SECURITY, SELECTION, CHALLENGE,
    RESPONSE, RESULT, REASON, CLIENT_INIT, SERVER_INIT, SKIP,
};

/* Three digits each, as text. */
struct rfb_version {
    struct slice major, minor;
};

/* Text lies in the arena. Fields are valid only when their has_ flag is set; the pixel format
 * belongs to has_server_init. */
struct rfb_tx {
    struct app_tx tx;
    struct rfb_version server, client;
    bool has_security, has_result, has_client_init, has_server_init, shared;
    uint32_t security, result;
    struct slice challenge, response, reason, name;
    uint16_t width, height, red_max, green_max, blue_max;
    uint8_t bits_per_pixel, depth, red_shift, green_shift, blue_shift;
    bool big_endian, true_color;
};

/* Owned by the flow. */
struct rfb_state {
    enum step step;
    struct rfb_tx *tx;                  /* NULL before the first message and after its removal */
};

#define FRAME_LIST(E)         \
    E(FRAME_STREAM, "stream") \
    E(FRAME_PDU, "pdu")
enum { FRAME_LIST(APP_ENUM_ID) };

static struct rfb_tx *rfb_tx_of(const struct app_tx *tx)
{
    return (struct rfb_tx *)(uintptr_t)tx;
}

/* The state lives longer than the transaction. */
static void rfb_tx_close(struct app_tx *tx)
{
    struct rfb_state *st = tx->flow->state;

    st->tx = NULL;
}

/* Both sides at once: the handshake is one exchange. */
static void complete(struct rfb_state *st)
{
    if (st->tx != NULL)
        st->tx->tx.progress[TO_SERVER] = st->tx->tx.progress[TO_CLIENT] = 1;
}

/* --- steps ------------------------------------------------------------------------------------ */

/* Result of a step: the next one, an event (0: none), and whether the transaction is complete. */
struct outcome {
    enum step next;
    uint8_t event;
    bool completes;
};

/* Which side sends the message of a step. */
static const enum direction sender[] = {
    [SERVER_VERSION] = TO_CLIENT, [CLIENT_VERSION] = TO_SERVER, [SECURITY_TYPES] = TO_CLIENT,
    [SERVER_SECURITY] = TO_CLIENT, [SELECTION] = TO_SERVER, [CHALLENGE] = TO_CLIENT,
    [RESPONSE] = TO_SERVER, [RESULT] = TO_CLIENT, [REASON] = TO_CLIENT,
    [CLIENT_INIT] = TO_SERVER, [SERVER_INIT] = TO_CLIENT,
};

/* "RFB 003.008\n" (RFC 6143 section 7.1.1): 12 bytes. The digits are not checked. */
static bool take_version(struct bytes *in, struct rfb_version *out, struct arena *arena)
{
    struct slice s = take_slice(in, 12);

    if (in->failed || memcmp(s.data, "RFB ", 4) != 0 || s.data[7] != '.' || s.data[11] != '\n')
        return false;
    out->major = app_text_utf8(arena, (struct slice){ s.data + 4, 3 });
    out->minor = app_text_utf8(arena, (struct slice){ s.data + 8, 3 });
    return true;
}

/* The version is the client's, which is no later than the server's. */
static bool is_version(const struct rfb_tx *t, const char *minor)
{
    return slice_is(t->client.major, "003") && slice_is(t->client.minor, minor);
}

/* Types: 0 invalid, 1 none, 2 VNC authentication (RFC 6143 section 7.1.2). All others are unknown
 * to this parser. After none SecurityResult follows since version 3.8, ClientInit before it
 * (RFC 6143 appendix A). Suricata takes the next message for ClientInit in any version. */
static struct outcome security_chosen(struct rfb_tx *t, uint32_t type, bool by_server)
{
    struct outcome bad = { SKIP, RFB_UNIMPLEMENTED_SECURITY_TYPE, by_server };

    if (type > 2 || (type == 0 && !by_server)) {
        if (!by_server) {
            t->has_security = true;
            t->security = type;
        }
        return bad;
    }
    t->has_security = true;
    t->security = type;
    if (type == 1)
        return (struct outcome){ .next = is_version(t, "008") ? RESULT : CLIENT_INIT };
    return (struct outcome){ .next = type == 0 ? REASON : CHALLENGE };
}

/* SecurityResult (RFC 6143 section 7.1.3): 0 OK, 1 failed, with a reason. */
static struct outcome result(struct rfb_tx *t, uint32_t status)
{
    if (status > 1)
        return (struct outcome){ SKIP, RFB_UNKNOWN_SECURITY_RESULT, true };
    if (status == 1)
        return (struct outcome){ .next = REASON };
    t->has_result = true;
    t->result = status;
    return (struct outcome){ .next = CLIENT_INIT };
}

/* ServerInit (RFC 6143 section 7.3.2) with the pixel format (section 7.4). step_size() has waited
 * for all of it, the name included. */
static void server_init(struct rfb_tx *t, struct bytes *in)
{
    t->width = take_be16(in);
    t->height = take_be16(in);
    t->bits_per_pixel = take_u8(in);
    t->depth = take_u8(in);
    t->big_endian = take_u8(in);
    t->true_color = take_u8(in);
    t->red_max = take_be16(in);
    t->green_max = take_be16(in);
    t->blue_max = take_be16(in);
    t->red_shift = take_u8(in);
    t->green_shift = take_u8(in);
    t->blue_shift = take_u8(in);
    take_skip(in, 3);   /* padding */
    t->name = take_slice(in, take_be32(in));
    t->has_server_init = !in->failed;
    t->name = app_text_copy(&t->tx.arena, t->name);
}

/* Parses the message of the current step. The caller has checked its size, so reads do not fail. */
static struct outcome take_step(struct rfb_state *st, struct bytes *in)
{
    struct rfb_tx *t = st->tx;
    struct arena *arena = &t->tx.arena;
    const struct outcome malformed = { SKIP, RFB_MALFORMED_MESSAGE, true };
    struct slice s;

    switch (st->step) {
    case SERVER_VERSION:
        return take_version(in, &t->server, arena) ? (struct outcome){ .next = CLIENT_VERSION } :
               malformed;
    case CLIENT_VERSION:
        if (!take_version(in, &t->client, arena))
            return malformed;
        /* In version 3.3 the server chooses. */
        return (struct outcome){ .next = is_version(t, "003") ? SERVER_SECURITY :
                                         SECURITY_TYPES };
    case SECURITY_TYPES:
        s = take_slice(in, take_u8(in));
        /* No types: the server refuses, and the reason follows. */
        return (struct outcome){ .next = s.len == 0 ? REASON : SELECTION };
    case SERVER_SECURITY:
        return security_chosen(t, take_be32(in), true);
    case SELECTION:
        return security_chosen(t, take_u8(in), false);
    case CHALLENGE:
        /* 16 bytes each way (RFC 6143 section 7.2.2). */
        t->challenge = app_text_copy(arena, take_slice(in, 16));
        return (struct outcome){ .next = RESPONSE };
    case RESPONSE:
        t->response = app_text_copy(arena, take_slice(in, 16));
        return (struct outcome){ .next = RESULT };
    case RESULT:
        return result(t, take_be32(in));
    case REASON:
        t->reason = app_text_utf8(arena, take_slice(in, take_be32(in)));
        return (struct outcome){ .next = SKIP };
    case CLIENT_INIT:
        t->shared = take_u8(in);
        t->has_client_init = !in->failed;
        return (struct outcome){ .next = SERVER_INIT };
    case SERVER_INIT:
        server_init(t, in);
        return (struct outcome){ .next = SKIP, .completes = true };
    case SKIP:
        break;
    }
    return (struct outcome){ .next = SKIP };
}

/* Returns how many bytes the current message has. If the message contains a length, returns first
 * the part up to and with that length. A length is the sender's, up to 4 GiB; `buffer_limit` ends
 * the wait. */
static uint32_t step_size(enum step step, struct bytes in)
{
    switch (step) {
    case SERVER_VERSION: case CLIENT_VERSION: return 12;
    case SECURITY_TYPES: return 1u + peek_u8(&in);
    case SERVER_SECURITY: case RESULT: return 4;
    case SELECTION: case CLIENT_INIT: return 1;
    case CHALLENGE: case RESPONSE: return 16;
    case REASON: {
        uint32_t n = take_be32(&in);

        return in.failed ? 4 : (uint32_t)MIN(4u + (uint64_t)n, UINT32_MAX);
    }
    case SERVER_INIT: {
        take_skip(&in, 20);
        uint32_t n = take_be32(&in);

        return in.failed ? 24 : (uint32_t)MIN(24u + (uint64_t)n, UINT32_MAX);
    }
    case SKIP: break;
    }
    return 0;
}

/* The transaction may be gone already. */
static void finish_step(struct rfb_state *st, struct outcome o)
{
    st->step = o.next;
    if (st->tx == NULL)
        return;
    if (o.event != 0)
        app_tx_event(&st->tx->tx, o.event);
    if (o.completes)
        complete(st);
}

/* One message. Without a transaction there is no place for its content, so the parser stops
 * reading. */
static enum parse_status parse_step(struct app_flow *af, struct app_input *in)
{
    struct rfb_state *st = af->state;
    struct bytes b = app_input_bytes(in);
    uint32_t size = step_size(st->step, b);

    in->consumed = 0;
    if (in->len < size) {
        in->need = size;
        return PARSE_MORE;
    }
    if (st->step == SERVER_VERSION && st->tx == NULL) {
        st->tx = (struct rfb_tx *)app_tx_new(af);
        if (st->tx == NULL)
            return PARSE_STOP;
    }
    if (st->tx == NULL) {
        st->step = SKIP;
        return PARSE_OK;
    }
    if (st->step != REASON)
        app_frame(af, in->direction, FRAME_PDU, in->offset, size, APP_FRAME_NO_TX);
    in->consumed = size;
    app_trigger_raw_inspection(af, in->direction);
    finish_step(st, take_step(st, &b));
    return PARSE_OK;
}

/* Once the step is SKIP, input is accepted and ignored: the flow stays RFB. */
static enum parse_status rfb_parse(struct app_flow *af, struct app_input *in)
{
    struct rfb_state *st = af->state;

    if (in->len == 0 || st->step == SKIP)
        return PARSE_OK;
    if (in->direction != sender[st->step]) {
        finish_step(st, (struct outcome){ SKIP, RFB_CONFUSED_STATE, true });
        return PARSE_OK;
    }
    return parse_step(af, in);
}

/* --- rules ------------------------------------------------------------------------------------ */

/* Names for `rfb.secresult`; 2 has two spellings. */
static const struct app_name results[] = {
    { "ok", 0 }, { "fail", 1 }, { "toomany", 2 }, { "too_many", 2 }, { "unknown", 3 }, { NULL, 0 },
};
static const struct app_buffer name_buffer = {
    .name = "rfb.name", .doc = "name of the desktop", .directions = APP_TC,
    .field = APP_FIELD(rfb_tx, name, FILLED),
};
static const struct app_integer security_integer = {
    .name = "rfb.sectype", .doc = "type of security", .bits = 32, .directions = APP_TS,
    .field = APP_FIELD_WITH(rfb_tx, security, has_security),
};
static const struct app_integer result_integer = {
    .name = "rfb.secresult", .doc = "result of security", .bits = 32, .directions = APP_TC,
    .names = results, .field = APP_FIELD_WITH(rfb_tx, result, has_result),
};

/* --- log -------------------------------------------------------------------------------------- */

/* No object before the version is known. */
static void log_version(struct json *j, const char *key, const struct rfb_version *v)
{
    if (v->major.len == 0)
        return;
    json_object(j, key);
    json_slice(j, "major", v->major);
    json_slice(j, "minor", v->minor);
    json_object_end(j);
}

/* Challenge and response exist only for VNC authentication. A failed result shows as its absence
 * and a reason. */
static void log_authentication(struct json *j, const struct rfb_tx *t)
{
    json_object(j, "authentication");
    if (t->has_security)
        json_u64(j, "security_type", t->security);
    if (t->has_security && t->security == 2) {
        json_object(j, "vnc");
        if (t->challenge.len > 0)
            json_hex(j, "challenge", t->challenge.data, t->challenge.len);
        if (t->response.len > 0)
            json_hex(j, "response", t->response.data, t->response.len);
        json_object_end(j);
    }
    if (t->has_result)
        json_string(j, "security_result", "OK");
    json_object_end(j);
}

/* Everything of ServerInit. */
static void log_framebuffer(struct json *j, const struct rfb_tx *t)
{
    json_object(j, "framebuffer");
    json_u64(j, "width", t->width);
    json_u64(j, "height", t->height);
    json_slice(j, "name", t->name);
    json_object(j, "pixel_format");
    json_u64(j, "bits_per_pixel", t->bits_per_pixel);
    json_u64(j, "depth", t->depth);
    json_bool(j, "big_endian", t->big_endian);
    json_bool(j, "true_color", t->true_color);
    json_u64(j, "red_max", t->red_max);
    json_u64(j, "green_max", t->green_max);
    json_u64(j, "blue_max", t->blue_max);
    json_u64(j, "red_shift", t->red_shift);
    json_u64(j, "green_shift", t->green_shift);
    json_u64(j, "blue_shift", t->blue_shift);
    json_object_end(j);
    json_object_end(j);
}

/* Fields appear as far as the handshake went. */
static bool rfb_log(struct json *j, struct app_tx *tx, enum direction d UNUSED,
                    const void *conf UNUSED)
{
    const struct rfb_tx *t = rfb_tx_of(tx);

    log_version(j, "server_protocol_version", &t->server);
    log_version(j, "client_protocol_version", &t->client);
    log_authentication(j, t);
    if (t->reason.len > 0)
        json_slice(j, "server_security_failure_reason", t->reason);
    if (t->has_client_init)
        json_bool(j, "screen_shared", t->shared);
    if (t->has_server_init)
        log_framebuffer(j, t);
    return true;
}

static void rfb_alert_metadata(struct json *j, struct app_tx *tx)
{
    json_object(j, "rfb");
    rfb_log(j, tx, TO_SERVER, NULL);
    json_object_end(j);
}

static const struct app_log eve_rfb = {
    .as_packet = true,
    .conf_name = "rfb", .event_type = "rfb", .key = "rfb", .progress = { 1, 1 }, .log = rfb_log,
};

static const struct app_name events[] = { RFB_EVENT_LIST(APP_EVENT_ROW) { NULL, 0 } };

const struct app_proto app_rfb = {
    .id = APP_PROTO_rfb,
    .name = "rfb",
    .transports = APP_TCP,
    .inspect_both_dirs = true,
    .patterns = (const struct app_pattern[]){
        { .transport = APP_TCP, .directions = APP_BOTH, .bytes = "RFB ", .nocase = true },
        { .bytes = NULL } },
    .state_size = sizeof(struct rfb_state),
    .tx_size = sizeof(struct rfb_tx),
    .buffer_limit = 1u << 20,   /* bytes; limits a name or reason that the parser waits for */
    .parse = rfb_parse,
    .tx_close = rfb_tx_close,
    .progress_done = { 1, 1 },
    .events = events,
    .frames = (const char *const[]){ FRAME_LIST(APP_ENUM_TEXT) NULL },
    .buffers = (const struct app_buffer *const[]){ &name_buffer, NULL },
    .integers = (const struct app_integer *const[]){ &security_integer, &result_integer, NULL },
    .logs = (const struct app_log *const[]){ &eve_rfb, NULL },
    .alert_metadata = rfb_alert_metadata,
};
