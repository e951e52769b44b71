/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/proto/http2/http2.c - HTTP/2 (RFC 9113): the declaration, and the split of a direction's
 * bytes into frames. Frames are buffered until complete, except DATA, whose content goes on as it
 * comes. */
#include "app/proto.h"
#include "app/proto/http2/body.h"
#include "app/proto/http2/buffers.h"
#include "app/proto/http2/events.h"
#include "app/proto/http2/frame.h"
#include "app/proto/http2/state.h"
#include "app/proto/http2/tx.h"
#include "base/memory/lib_memory.h"

#include <string.h>

#define MAGIC "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"    /* the client's preface, RFC 9113 section 3.4 */
#define MAGIC_SIZE (sizeof(MAGIC) - 1)
#define PROBE_LENGTH_MAX 16384          /* initial SETTINGS_MAX_FRAME_SIZE */
#define HANDLED_MAX 65536               /* longer frames are an event, and skipped unless DATA */

#define FRAME_LIST(E)         \
    E(FRAME_STREAM, "stream") \
    E(FRAME_HDR, "hdr")       \
    E(FRAME_DATA, "data")     \
    E(FRAME_PDU, "pdu")
enum { FRAME_LIST(APP_ENUM_ID) };

const struct app_name h2_events[] = { H2_EVENT_LIST(APP_EVENT_ROW) { NULL, 0 } };

/* --- recognition ------------------------------------------------------------------------------ */

/* A server starts with SETTINGS, of which only ACK (1) is a defined flag. */
static enum app_probe_result http2_probe(struct bytes in, enum direction d UNUSED,
                                         const struct flow *flow UNUSED)
{
    struct h2_frame f;

    if (!h2_frame_take(&in, &f))
        return APP_PROBE_MORE;
    if (f.reserved || f.length > PROBE_LENGTH_MAX || (f.flags & 0xfe) != 0 ||
        f.type != H2_SETTINGS)
        return APP_PROBE_NO;
    return APP_PROBE_YES;
}

/* --- connections ------------------------------------------------------------------------------ */

/* After an upgrade the HTTP/1 request becomes stream 1. */
static bool http2_open(struct app_flow *af)
{
    if (!h2_inflaters_open(af))
        return false;
    if (app_previous(af) != NULL && app_previous(af)->proto->id == APP_PROTO_http1)
        h2_upgrade(af);
    return true;
}

static void http2_close(struct app_flow *af)
{
    struct h2_state *st = af->state;

    h2_inflaters_close(st);
    lib_free(st->many);
    for (unsigned d = 0; d < 2; d++)
        buf_fini(&st->block[d].data);
}

/* --- DATA frames ------------------------------------------------------------------------------ */

static void finish_data(struct app_flow *af, enum direction d, struct h2_data *data)
{
    struct h2_tx *t = h2_tx_find(af, data->stream);

    data->active = false;
    if (data->over && t != NULL)
        h2_body_end(t, d);
}

/* Consumes a part of the current DATA frame. The padding's length is its first byte (RFC 9113
 * section 6.1). Invalid padding counts as content. */
static enum parse_status take_data(struct app_flow *af, struct app_input *in)
{
    struct h2_data *data = &((struct h2_state *)af->state)->data[in->direction];
    struct h2_tx *t = h2_tx_find(af, data->stream);
    struct bytes b = app_input_bytes(in);
    struct slice content;

    in->consumed = 0;
    if (in->len == 0)
        return PARSE_OK;
    if (t != NULL)
        app_tx_mark(&t->tx);
    if (data->padded) {
        uint8_t padding = take_u8(&b);

        data->padded = false;
        data->content--;
        if (padding <= data->content) {
            data->padding = padding;
            data->content -= padding;
        }
    }
    content = take_slice(&b, MIN(bytes_left(&b), data->content));
    data->content -= content.len;
    if (t != NULL && !h2_body_data(t, in->direction, content))
        return PARSE_STOP;
    if (data->content == 0) {
        struct slice padding = take_slice(&b, MIN(bytes_left(&b), data->padding));

        data->padding -= padding.len;
    }
    in->consumed = in->len - (uint32_t)bytes_left(&b);
    if (data->content == 0 && data->padding == 0)
        finish_data(af, in->direction, data);
    return PARSE_OK;
}

/* DATA on stream 0 is a protocol error (RFC 9113 section 6.1): an event, and the content is
 * dropped. */
static bool begin_data(struct app_flow *af, enum direction d, const struct h2_frame *f,
                       uint64_t *tx_id)
{
    struct h2_data *data = &((struct h2_state *)af->state)->data[d];
    struct h2_tx *t = h2_tx_for(af, f->stream, H2_DATA);

    if (t == NULL)
        return false;
    *tx_id = t->tx.id;
    h2_frame_count(t, d, H2_DATA);
    if (f->length >= HANDLED_MAX)
        app_tx_event(&t->tx, H2_LONG_FRAME_DATA);
    if (f->stream == 0) {
        app_tx_event(&t->tx, H2_DATA_STREAM_ZERO);
        h2_tx_global(t, d);
    } else if (!h2_body_data(t, d, (struct slice){ 0 })) {
        return false;
    }
    *data = (struct h2_data){
        .active = true, .stream = f->stream, .content = f->length,
        .padded = (f->flags & H2_FLAG_PADDED) != 0 && f->length > 0,
        .over = (f->flags & H2_FLAG_END_STREAM) != 0 && f->stream != 0,
    };
    if (f->length == 0)
        finish_data(af, d, data);
    return true;
}

/* --- frames ----------------------------------------------------------------------------------- */

/* Frames in the sense of the frame keyword. */
static void name_frames(struct app_flow *af, const struct app_input *in,
                        const struct h2_frame *f, uint64_t tx_id)
{
    app_frame(af, in->direction, FRAME_HDR, in->offset, H2_FRAME_HEADER, tx_id);
    app_frame(af, in->direction, FRAME_DATA, in->offset + H2_FRAME_HEADER, f->length, tx_id);
    app_frame(af, in->direction, FRAME_PDU, in->offset, (int64_t)H2_FRAME_HEADER + f->length,
              tx_id);
}

/* A long frame other than DATA: no buffering, only an event. */
static bool pass_over(struct app_flow *af, enum direction d, const struct h2_frame *f,
                      uint64_t *tx_id)
{
    struct h2_tx *t = h2_tx_for(af, f->stream, f->type);

    if (t == NULL)
        return false;
    *tx_id = t->tx.id;
    h2_frame_count(t, d, f->type);
    app_tx_event(&t->tx, H2_LONG_FRAME_DATA);
    if (f->stream == 0)
        h2_tx_global(t, d);
    ((struct h2_state *)af->state)->skip[d] = f->length;
    return true;
}

/* Parses one frame. If a frame with an error cannot get a transaction, the parser stops. */
static enum parse_status parse_frame(struct app_flow *af, struct app_input *in)
{
    struct bytes b = app_input_bytes(in);
    uint64_t tx_id = APP_FRAME_NO_TX;
    struct slice payload;
    struct h2_frame f;
    bool ok = true;

    in->consumed = 0;
    in->need = H2_FRAME_HEADER;
    if (!h2_frame_take(&b, &f))
        return in->len > 0 ? PARSE_MORE : PARSE_OK;
    in->consumed = H2_FRAME_HEADER;
    if (f.type == H2_DATA) {
        ok = begin_data(af, in->direction, &f, &tx_id);
    } else if (f.length >= HANDLED_MAX) {
        ok = pass_over(af, in->direction, &f, &tx_id);
    } else {
        in->consumed += f.length;
        payload = take_slice(&b, f.length);
        if (b.failed) {
            in->consumed = 0;
            in->need = H2_FRAME_HEADER + f.length;
            return PARSE_MORE;
        }
        /* An acknowledgement of settings carries nothing. */
        if (f.length > 0 || f.type != H2_SETTINGS)
            ok = h2_frame_parse(af, in->direction, &f, payload, &tx_id);
    }
    name_frames(af, in, &f, tx_id);
    app_trigger_raw_inspection(af, in->direction);
    return ok ? PARSE_OK : PARSE_STOP;
}

/* The client's preface. Without it the flow was picked up midstream: an event, and frames. */
static enum parse_status take_magic(struct app_flow *af, struct app_input *in)
{
    struct h2_state *st = af->state;

    in->consumed = 0;
    in->need = MAGIC_SIZE;
    if (in->len < MAGIC_SIZE)
        return in->len > 0 ? PARSE_MORE : PARSE_OK;
    st->magic_done = true;
    if (memcmp(in->data, MAGIC, MAGIC_SIZE) == 0)
        in->consumed = MAGIC_SIZE;
    else
        app_event(af, TO_SERVER, H2_INVALID_CLIENT_MAGIC);
    return in->consumed > 0 ? PARSE_OK : parse_frame(af, in);
}

/* Files of streams that did not end. */
static void end_direction(struct app_flow *af, enum direction d)
{
    for (struct app_tx *tx = af->first; tx != NULL; tx = tx->next)
        app_files_leave(tx, d);
}

/* Entry point. `bytes` counts what the connection has paid for headers. */
static enum parse_status http2_parse(struct app_flow *af, struct app_input *in)
{
    struct h2_state *st = af->state;
    uint32_t *skip = &st->skip[in->direction];
    enum parse_status status;

    if (in->len > 0 && *skip > 0) {
        in->consumed = MIN(*skip, in->len);
        *skip -= in->consumed;
        status = PARSE_OK;
    } else if (in->direction == TO_SERVER && !st->magic_done) {
        status = take_magic(af, in);
    } else if (st->data[in->direction].active) {
        status = take_data(af, in);
    } else {
        status = parse_frame(af, in);
    }
    st->bytes += in->consumed;
    if (in->end && in->consumed == in->len)
        end_direction(af, in->direction);
    return status;
}

/* --- the declaration -------------------------------------------------------------------------- */

/* Keys below app-layer.protocols.http2. */
static int http2_configure(const struct conf_node *node, const struct conf_node *root UNUSED,
                           void *settings, struct err *err UNUSED)
{
    struct h2_settings *s = settings;

    s->max_streams = (uint32_t)conf_u64_range(node, "max-streams", 4096, 1, UINT32_MAX);
    s->max_table_size = (uint32_t)conf_u64_range(node, "max-table-size", 65536, 0, UINT32_MAX);
    s->max_reassembly = (uint32_t)conf_u64_range(node, "max-reassembly-size", 102400, 1,
                                                 UINT32_MAX);
    s->max_frames = (uint32_t)conf_u64_range(node, "max-frames", 65536, 1, UINT32_MAX);
    s->bomb_limit = conf_size(node, "compression-bomb-limit", 1u << 20);
    s->body_expansion = (uint32_t)conf_u64_range(node, "max-body-expansion", 100, 0, 1u << 20);
    s->max_header_list = conf_size(node, "max-header-list-size", 256u << 10);
    s->header_expansion = (uint32_t)conf_u64_range(node, "max-header-expansion", 64, 1,
                                                   UINT32_MAX);
    s->header_log = (uint32_t)conf_u64_range(node, "max-header-log", 4, 1, UINT32_MAX);
    return 0;
}

/* Bytes from the flow's start, or, of a longer connection, the state. */
static const struct app_handover_ops handover = { .limit = 32u << 10, .prelude = h2_prelude,
                                                  .adopt = h2_adopt };

/* Suricata 9's kinds of transactions. Each frame on stream 0 is a global one. */
static unsigned tx_kind(const struct app_tx *tx)
{
    return ((const struct h2_tx *)tx)->stream == 0;
}

#define STREAM_STATES(side)                                                                      \
    (const struct app_name[]){                                                                   \
        { side "_started", H2_STARTED }, { side "_headers", H2_OPEN }, { side "_data", H2_BODY }, \
        { side "_closed", H2_CLOSED }, { side "_complete", H2_COMPLETE }, { NULL, 0 } }
#define GLOBAL_STATES(side)                                                                      \
    (const struct app_name[]){                                                                   \
        { side "_started", H2_STARTED }, { side "_complete", H2_COMPLETE }, { NULL, 0 } }

static const struct app_tx_kind tx_kinds[] = {
    { "stream", { STREAM_STATES("request"), STREAM_STATES("response") } },
    { "global", { GLOBAL_STATES("request"), GLOBAL_STATES("response") } },
    { NULL, { NULL, NULL } },
};

/* The members that http2 and doh2 share. */
#define H2_MEMBERS                                                                               \
    .transports = APP_TCP,                                                                       \
    .state_size = sizeof(struct h2_state),                                                       \
    .tx_size = sizeof(struct h2_tx),                                                             \
    .tx_limit = UINT16_MAX,             /* max-streams is the limit that is set up */            \
    .open = http2_open,                                                                          \
    .close = http2_close,                                                                        \
    .parse = http2_parse,                                                                        \
    .handover = &handover,                                                                       \
    .tx_close = http2_tx_close,                                                                  \
    .progress_done = { H2_COMPLETE, H2_COMPLETE },                                               \
    .steps_of_nine = 1u << H2_CLOSED,                                                            \
    .tx_kinds = tx_kinds,                                                                        \
    .tx_kind = tx_kind,                                                                          \
    .events = h2_events,                                                                         \
    .frames = (const char *const[]){ FRAME_LIST(APP_ENUM_TEXT) NULL },                           \
    .matches = h2_matches,                                                                       \
    .file_directions = APP_BOTH,                                                                 \
    .frames_count_from_one = true,                                                               \
    .marks_tx = true

const struct app_proto app_http2 = {
    .id = APP_PROTO_http2,
    .name = "http2",
    .reports = &h2_reports,
    .also = { APP_PROTO_ANY_http, APP_PROTO_doh2 },
    .inspect_both_dirs = true,
    .patterns = (const struct app_pattern[]){
        { .transport = APP_TCP, .directions = APP_TS, .bytes = "PRI * HTTP/2.0\r\n" },
        { .bytes = NULL } },
    .probes = (const struct app_probe[]){
        { .transport = APP_TCP, .directions = APP_TC, .ports = "80", .min = H2_FRAME_HEADER,
          .max = MAGIC_SIZE, .probe = http2_probe },
        { .probe = NULL } },
    .settings_size = sizeof(struct h2_settings),
    .configure = http2_configure,
    .buffers = h2_buffers,
    .integers = h2_integers,
    .logs = h2_logs,
    .alert_metadata = http2_alert_metadata,
    .unnamed_files = true,
    H2_MEMBERS,
};

const struct app_proto app_doh2 = {
    .id = APP_PROTO_doh2,
    .name = "doh2",
    .reports = &doh2_reports,
    .also = { APP_PROTO_http2, APP_PROTO_dns },
    .subprotocol_of = APP_PROTO_http2,
    .buffers = doh2_buffers,
    .integers = doh2_integers,
    .logs = doh2_logs,
    .alert_metadata = doh2_alert_metadata,
    H2_MEMBERS,
};
