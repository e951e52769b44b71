/* SPDX-License-Identifier: GPL-2.0-or-later */
/* output/eve/frame.c - the record type `frame`: one record per application-layer frame,
 * when all of it has arrived or nothing more will. It shows the bytes that are available
 * then. */
#include "output/eve/frame.h"

#include <string.h>

#include "app/conf.h"
#include "app/parser.h"
#include "app/proto.h"
#include "base/array.h"
#include "output/output_private.h"
#include "stream/stream.h"

struct frame_settings {         /* read-only while packets flow */
    uint32_t payload_size;
    uint8_t mark;               /* of a frame's logged */
};

/* The argument of frame_visit(). */
struct frame_log {
    struct render *render;
    const struct eve *eve;
    const struct frame_settings *settings;
    struct packet *packet;
};

/* Parsers record frames of all kinds once an output wants them. */
static void *frame_configure(const struct conf_node *node, const struct eve *eve,
                             struct err *err)
{
    struct frame_settings *s = xcalloc(1, sizeof(*s));
    struct app_required_features required = { 0 };

    s->mark = (uint8_t)(1u << eve_mark(&eve->marks->frames, 8, "frames", err));
    s->payload_size = (uint32_t)conf_size(node, "payload-buffer-size", 4096);
    memset(required.frames, 0xff, sizeof(required.frames));
    app_require(eve->request->app, &required);
    return s;
}

/* --- the object ------------------------------------------------------------------------------- */

#define DATAGRAM_BYTES 256 /* Suricata shows no more of UDP */

/* The bytes shown so far: at most `limit` in `out`. */
struct shown {
    struct buf *out;
    uint32_t limit;
    uint64_t to;                /* in the stream: so far */
};

static bool has_space(const struct shown *s)
{
    return s->out->len < s->limit;
}

/* A hole is shown as text, so that offsets after it can be understood. */
static void show_missing(struct shown *s, uint64_t until)
{
    if (until > s->to && has_space(s))
        buf_printf(s->out, "[%llu bytes missing]", (unsigned long long)(until - s->to));
}

/* Adds the bytes of one part that belong to the frame and are new. */
static void show_part(struct shown *s, struct slice data, uint64_t offset, uint64_t end)
{
    uint64_t from = MAX(s->to, offset), to = MIN(end, offset + data.len);

    if (from >= to || !has_space(s))
        return;
    show_missing(s, from);
    if (has_space(s))
        buf_add(s->out, data.data + (from - offset), MIN(to - from, s->limit - s->out->len));
    s->to = to;
}

/* The stream may have holes; its parts come in order. */
static void show_stream(struct shown *s, const struct app_flow *af,
                        const struct app_frame_view *frame, uint64_t end, bool complete)
{
    struct slice data;
    uint64_t offset;

    for (unsigned i = 0; app_frames_part(af, frame->direction, i, &data, &offset); i++)
        show_part(s, data, offset, end);
    if (complete)
        show_missing(s, end);
}

/* A frame of a datagram never exceeds it. */
static void show_datagram(struct shown *s, const struct packet *p,
                          const struct app_frame_view *frame)
{
    s->limit = DATAGRAM_BYTES;
    show_part(s, (struct slice){ p->payload, p->payload_len }, 0,
               frame->len >= 0 ? frame->offset + (uint64_t)frame->len : UINT64_MAX);
}

static void frame_bytes(struct json *j, const struct buf *bytes, bool complete)
{
    if (bytes->len == 0)
        return;
    json_base64(j, "payload", bytes->data, bytes->len);
    json_printable(j, "payload_printable", bytes->data, bytes->len);
    json_bool(j, "complete", complete);
}

/* Returns how far the sender has sent, acknowledged or not. Beyond 2 GiB the difference of sequence
 * numbers is meaningless, so the stream's edge counts. */
static uint64_t sent(const struct packet *p, enum direction d)
{
    uint64_t edge = app_frames_edge(p->flow->app, d, false);
    uint32_t bytes = stream_slot(p)->sent[d] - 1;        /* the SYN */

    return edge <= INT32_MAX && bytes <= INT32_MAX ? MAX(edge, bytes) : edge;
}

/* In frames, and only there, transactions of some have always been counted from 1. */
static uint64_t tx_shown(const struct app_proto *proto, uint64_t tx_id)
{
    return proto->frames_count_from_one ? tx_id + 1 : tx_id;
}

/* Also used for alerts on frames. A frame of unknown length extends to the end of the data. */
void eve_frame_object(struct render *r, struct json *j, const struct packet *p,
                      const struct app_frame_view *frame, uint32_t limit)
{
    const struct app_flow *af = p->flow->app;
    bool udp = packet_is_udp(p);
    uint64_t edge = udp ? p->payload_len : app_frames_edge(af, frame->direction, false);
    uint64_t end = frame->len >= 0 ? frame->offset + (uint64_t)frame->len : edge;
    bool complete = frame->len < 0 ? udp : end <= (udp ? edge : sent(p, frame->direction));
    /* One byte less than configured: Suricata keeps it for a NUL. */
    struct shown s = { .out = &r->scratch, .limit = MAX(limit, 1u) - 1, .to = frame->offset };

    buf_clear(s.out);
    if (udp)
        show_datagram(&s, p, frame);
    else
        show_stream(&s, af, frame, end, complete);
    s.out->len = MIN(s.out->len, s.limit);
    json_object(j, "frame");
    json_string(j, "type", af->proto->frames[frame->type]);
    json_u64(j, "id", frame->id);
    json_string(j, "direction", frame->direction == TO_SERVER ? "toserver" : "toclient");
    if (!udp)
        json_u64(j, "stream_offset", frame->offset);
    json_u64(j, "length", end - frame->offset);
    frame_bytes(j, s.out, complete);
    if (frame->tx_id != APP_FRAME_NO_TX)
        json_u64(j, "tx_id", tx_shown(af->proto, frame->tx_id));
    json_object_end(j);
}

/* --- frame records ---------------------------------------------------------------------------- */

#define SHOWN_EARLY 2500        /* bytes after which a frame is logged before its end */

/* A frame without an end would otherwise be logged only with the flow's. */
static bool is_due(const struct inspection *in, const struct app_frame_view *frame)
{
    const struct packet *p = in->packet;

    return frame->over || inspection_ends_flow(in) || stream_is_closed(p) ||
           app_frames_edge(p->flow->app, frame->direction, true) >= frame->offset + SHOWN_EARLY;
}

/* Returns true to go on with the next frame. */
static bool frame_visit(const struct app_frame_view *frame, void *arg)
{
    struct frame_log *log = arg;
    struct packet *p = log->packet;
    struct json j;

    if ((frame->logged & log->settings->mark) != 0 || !is_due(log->render->inspection, frame))
        return true;
    if (eve_is_left_out(log->render, p)) {
        app_frame_set_logged(p->flow->app, frame->direction, frame->id, log->settings->mark);
        return true;
    }
    eve_begin(log->render, log->eve, &j, p,
              (struct eve_head){ frame->direction == TO_SERVER ? EVE_TO_SERVER : EVE_TO_CLIENT,
                                 "frame", EVE_NO_TX });
    json_string(&j, "app_proto", app_proto_name(p->flow->app_proto));
    eve_frame_object(log->render, &j, p, frame, log->settings->payload_size);
    eve_end_limited(log->render, log->eve, &j, p);
    app_frame_set_logged(p->flow->app, frame->direction, frame->id, log->settings->mark);
    return true;
}

static bool frame_condition(const struct packet *p)
{
    return p->flow != NULL && p->flow->app != NULL && p->flow->app->proto != NULL &&
           p->flow->app->proto->frames != NULL;
}

/* A packet brings data of one direction; the last one of a flow ends the frames of both. */
static void frame_packet(struct render *r, const struct eve *eve, void *settings,
                         struct packet *p)
{
    struct frame_log log = { .render = r, .eve = eve, .settings = settings, .packet = p };

    for (enum direction d = TO_SERVER; d <= TO_CLIENT; d++)
        if (packet_direction(p) == d || inspection_ends_flow(r->inspection))
            (void)app_frames_each(p->flow->app, d, frame_visit, &log);
}

const struct eve_type eve_type_frame = {
    .name = "frame",
    .configure = frame_configure,
    .condition = frame_condition,
    .packet = frame_packet,
};
