/* SPDX-License-Identifier: GPL-2.0-or-later */
/* output/eve/frame.c - `frame`: a record for each frame, when all of it has come or nothing more
 * will. Shows the bytes that are at hand then. */
#include "output/eve/frame.h"

#include <string.h>

#include "base/array.h"

struct frame_settings {
    uint32_t payload_size;
};

struct frame_log {
    struct render *render;
    const struct eve *eve;
    const struct frame_settings *settings;
    struct packet *packet;
};

static void *frame_configure(const struct conf_node *node, const struct eve *eve,
                             struct err *err UNUSED)
{
    struct frame_settings *s = xcalloc(1, sizeof(*s));
    struct app_wants wants = { 0 };

    s->payload_size = (uint32_t)conf_size(node, "payload-buffer-size", 4096);
    memset(wants.frames, 0xff, sizeof(wants.frames));
    app_wants_add(eve->request->app, &wants);
    return s;
}

void eve_frame_object(struct json *j, const struct eve_frame *f)
{
    const struct app_frame_view *view = f->view;

    json_object(j, "frame");
    json_string(j, "type", f->type);
    json_u64(j, "id", view->id);
    json_string(j, "direction", view->direction == TO_SERVER ? "toserver" : "toclient");
    if (!f->is_udp)
        json_u64(j, "stream_offset", view->offset);
    json_u64(j, "length", view->len >= 0 ? (uint64_t)view->len : f->length);
    if (f->data.len > 0) {
        json_base64(j, "payload", f->data.data, f->data.len);
        json_printable(j, "payload_printable", f->data.data, f->data.len);
        json_bool(j, "complete", f->complete);
    }
    if (view->tx_id != APP_FRAME_NO_TX)
        json_u64(j, "tx_id", view->tx_id);
    json_object_end(j);
}

/* --- records of its own ----------------------------------------------------------------------- */

static struct slice overlap(struct slice data, uint64_t offset, const struct app_frame_view *view)
{
    uint64_t from = MAX(view->offset, offset), end = offset + data.len;
    uint64_t to = view->len < 0 ? end : MIN(end, view->offset + (uint64_t)view->len);

    if (from >= to)
        return (struct slice){ 0 };
    return (struct slice){ .data = data.data + (from - offset), .len = (uint32_t)(to - from) };
}

static struct slice bytes_at_hand(const struct packet *p, const struct app_frame_view *view)
{
    struct slice found = { 0 };
    uint64_t offset;

    if (packet_is_udp(p))
        return overlap((struct slice){ p->payload, p->payload_len }, 0, view);
    if (app_frames_held(p->flow->app, view->direction, &found, &offset))
        found = overlap(found, offset, view);
    for (unsigned i = 0; i < p->chunk_count && found.len == 0; i++) {
        const struct stream_chunk *c = &p->chunk[i];

        if (c->kind == CHUNK_DATA && c->direction == view->direction)
            found = overlap((struct slice){ c->data - c->before, c->len + c->before },
                            c->offset - c->before, view);
    }
    return found;
}

static bool frame_visit(const struct app_frame_view *view, void *arg)
{
    struct frame_log *log = arg;
    struct packet *p = log->packet;
    struct eve_frame f = { .view = view, .complete = view->over, .is_udp = packet_is_udp(p) };
    struct json j;

    if (!view->over && (p->flags & PACKET_FLOW_END) == 0)
        return true;
    f.type = p->flow->app->proto->frames[view->type];
    f.data = bytes_at_hand(p, view);
    f.data.len = MIN(f.data.len, log->settings->payload_size);
    f.length = f.data.len;
    eve_begin(log->render, log->eve, &j, p,
              view->direction == TO_SERVER ? EVE_TO_SERVER : EVE_TO_CLIENT, "frame", EVE_NO_TX);
    eve_app_proto(&j, p->flow);
    eve_frame_object(&j, &f);
    eve_end(log->render, log->eve, &j, p);
    return true;
}

static bool frame_wants(const struct packet *p)
{
    return p->flow != NULL && p->flow->app != NULL && p->flow->app->proto != NULL &&
           p->flow->app->proto->frames != NULL;
}

static void frame_packet(struct render *r, const struct eve *eve, void *settings,
                         struct packet *p)
{
    struct frame_log log = { .render = r, .eve = eve, .settings = settings, .packet = p };

    for (enum direction d = TO_SERVER; d <= TO_CLIENT; d++)
        (void)app_frames_each(p->flow->app, d, frame_visit, &log);
}

const struct eve_type eve_type_frame = {
    .name = "frame",
    .configure = frame_configure,
    .wants = frame_wants,
    .packet = frame_packet,
};
