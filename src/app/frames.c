/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/frames.c - named stretches of the stream. Made only when some rule or log wants their
 * type; kept until the data they cover have been handed on and seen once. */
#include "app/private.h"
#include "base/lib_memory.h"

#define FRAMES_MAX 1024                     /* per direction, at a time */

static struct frame *frame_at(struct frames *frames, unsigned i)
{
    return (struct frame *)(void *)frames->store.data + i;
}

static struct frame *frame_by_id(struct frames *frames, uint32_t id)
{
    for (unsigned i = frame_count(frames); i > 0; i--)
        if (frame_at(frames, i - 1)->id == id)
            return frame_at(frames, i - 1);
    return NULL;
}

uint32_t app_frame(struct app_flow *af, enum direction direction, unsigned type, uint64_t offset,
                   int64_t len, uint64_t tx_id)
{
    struct app_session *s = app_session_of(af);
    struct frames *frames = s->frames[direction];
    uint32_t wanted = wants_get(&af->thread->conf->want_frames[af->proto->id]);

    if (LIKELY((wanted & 1u << type) == 0) || frame_count(frames) >= FRAMES_MAX)
        return 0;
    if (frames == NULL) {
        frames = s->frames[direction] = lib_calloc(1, sizeof(*frames));
        if (frames == NULL)
            return 0;
    }
    if (frames->store.data == NULL)
        frames->store = app_buf_take(af->thread);
    struct frame frame = { .id = ++frames->next_id, .type = (uint8_t)type, .fresh = true,
                           .offset = offset, .tx_id = tx_id, .len = len };

    buf_add(&frames->store, &frame, sizeof(frame));
    return frame.id;
}

void app_frame_set_length(struct app_flow *af, enum direction direction, uint32_t frame,
                          int64_t len)
{
    struct frame *f = frame != 0 ? frame_by_id(app_session_of(af)->frames[direction], frame)
                                 : NULL;

    if (f == NULL)
        return;
    f->len = len;
    f->fresh = true;
}

void app_frame_set_tx(struct app_flow *af, enum direction direction, uint32_t frame,
                      uint64_t tx_id)
{
    struct frame *f = frame != 0 ? frame_by_id(app_session_of(af)->frames[direction], frame)
                                 : NULL;

    if (f != NULL)
        f->tx_id = tx_id;
}

/* The "stream" frame is the whole of a direction from where this parser took over; its length
 * is known when it ends. */
void app_frames_stream(struct app_session *s, enum direction d, const struct app_input *in)
{
    struct app_flow *af = &s->flow;
    struct frame *first;

    if (s->transport != TRANSPORT_TCP ||
        !af->thread->conf->proto[af->proto->id].has_stream_frame)
        return;
    if (in->start)
        app_frame(af, d, 0, in->offset, in->end ? (int64_t)in->len : -1, APP_FRAME_NO_TX);
    else if (in->end && frame_count(s->frames[d]) > 0) {
        first = frame_at(s->frames[d], 0);
        if (first->type == 0 && first->len < 0)
            first->len = (int64_t)(in->offset + in->len - first->offset);
    }
}

/* Wholly behind what the parser has before it; a datagram's frames live as long as it does. */
static bool frame_is_over(const struct app_session *s, enum direction d, const struct frame *f)
{
    if (s->transport == TRANSPORT_UDP)
        return true;
    return f->len >= 0 && f->offset + (uint64_t)f->len <= s->side[d].offset + s->side[d].len;
}

bool app_frames_wanted(const struct app_flow *af)
{
    return wants_get(&af->thread->conf->any_frames) != 0;
}

bool app_frames_each(const struct app_flow *af, enum direction direction,
                     bool (*visit)(const struct app_frame_view *frame, void *arg), void *arg)
{
    const struct app_session *s = app_session_of(af);
    struct frames *frames = app_session_of(af)->frames[direction];

    for (unsigned i = 0; i < frame_count(frames); i++) {
        const struct frame *f = frame_at(frames, i);
        struct app_frame_view view = { .id = f->id, .type = f->type, .offset = f->offset,
                                       .tx_id = f->tx_id, .len = f->len, .fresh = f->fresh,
                                       .over = frame_is_over(s, direction, f),
                                       .direction = direction };

        if (!visit(&view, arg))
            return false;
    }
    return true;
}

static void prune(struct app_session *s, enum direction d)
{
    struct frames *frames = s->frames[d];
    unsigned kept = 0;

    for (unsigned i = 0; i < frame_count(frames); i++) {
        struct frame *f = frame_at(frames, i);

        if (frame_is_over(s, d, f))
            continue;
        f->fresh = false;
        *frame_at(frames, kept++) = *f;
    }
    frames->store.len = kept * sizeof(struct frame);
    if (kept == 0)
        app_buf_give(s->flow.thread, &frames->store);
}

void app_frames_prune(struct app_session *s)
{
    for (unsigned d = 0; d < 2; d++) {
        struct frames *frames = s->frames[d];

        if (LIKELY(frames == NULL))
            continue;
        if (frames->shown.data != NULL)
            app_buf_give(s->flow.thread, &frames->shown);
        if (frames->store.len > 0)
            prune(s, (enum direction)d);
    }
}

bool app_frames_held(const struct app_flow *af, enum direction direction, struct slice *bytes,
                     uint64_t *offset)
{
    const struct frames *frames = app_session_of(af)->frames[direction];

    if (frames == NULL || frames->shown.data == NULL || frames->shown.len == 0)
        return false;
    *bytes = buf_slice(&frames->shown);
    *offset = frames->shown_offset;
    return true;
}

void app_frames_free(struct app_session *s)
{
    for (unsigned d = 0; d < 2; d++) {
        if (s->frames[d] == NULL)
            continue;
        app_buf_give(s->flow.thread, &s->frames[d]->store);
        app_buf_give(s->flow.thread, &s->frames[d]->shown);
        lib_free(s->frames[d]);
        s->frames[d] = NULL;
    }
}
