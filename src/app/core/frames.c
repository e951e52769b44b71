/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/core/frames.c - named stretches of the stream. A parser's call makes one only when some rule
 * or log wants its type. It is kept, with the bytes it covers, until a packet of its own direction
 * comes after its end: with that packet rules and logs look at it. */
#include "app/core/frames.h"

#include "app/core/detect_proto.h"
#include "app/core/session.h"
#include "app/core/settings.h"
#include "app/core/thread.h"
#include "app/frames.h"
#include "base/memory/lib_memory.h"
#include "stream/stream.h"

#include <string.h>

#define FRAMES_MAX 1024 /* per direction, at a time: a bound against hostile streams */
#define WINDOW 2500                         /* bytes kept of a frame that has not ended */
/* Per direction. When the bytes kept exceed it, the older half goes. */
#define RETAINED_LIMIT (256u << 10)

/* `store` holds struct frame back to back; the pointer is only good until the next buf_add(). */
static struct frame *frame_at(struct frames *frames, unsigned i)
{
    return (struct frame *)(void *)frames->store.data + i;
}

/* Ids ascend, and a segment may bring a thousand frames whose ids rules and logs pass one by one.
 * So they are searched for by halves, the newest first: parsers set the length of the frame that
 * they created last. Differences to the oldest id stay right where ids begin again at 0. */
static struct frame *frame_by_id(struct frames *frames, uint32_t id)
{
    unsigned from = 0, to = frame_count(frames);
    uint32_t wanted;

    if (to == 0 || frame_at(frames, to - 1)->id == id)
        return to > 0 ? frame_at(frames, to - 1) : NULL;
    wanted = id - frame_at(frames, 0)->id;
    while (from < to) {
        unsigned middle = from + (to - from) / 2;
        uint32_t at = frame_at(frames, middle)->id - frame_at(frames, 0)->id;

        if (at == wanted)
            return frame_at(frames, middle);
        if (at < wanted)
            from = middle + 1;
        else
            to = middle;
    }
    return NULL;
}

/* --- the bytes ---------------------------------------------------------------------------- */

static void retained_clear(struct app_session *s, struct frames *frames)
{
    frames->part_count = 0;
    if (frames->retained.data != NULL)
        app_buf_release(s->flow.thread, &frames->retained);
}

/* A part is a run of bytes without a gap; the bytes of all parts lie in `retained` one after
 * another, in stream order. */
static void drop_part(struct frames *frames)
{
    buf_drop_front(&frames->retained, frames->part[0].len);
    frames->part_count--;
    memmove(&frames->part[0], &frames->part[1],
            frames->part_count * sizeof(frames->part[0]));
}

static void drop_before(struct frames *frames, uint64_t offset)
{
    while (frames->part_count > 0) {
        struct frame_part *first = &frames->part[0];

        if (first->offset >= offset)
            return;
        if (first->offset + first->len > offset) {
            buf_drop_front(&frames->retained, offset - first->offset);
            first->len -= (uint32_t)(offset - first->offset);
            first->offset = offset;
            return;
        }
        drop_part(frames);
    }
}

/* Appends bytes at a stream offset. A new part begins after a gap. When there are too many parts,
 * the oldest is freed, and rules see that frame without its beginning. */
static void keep(struct app_session *s, struct frames *frames, uint64_t offset,
                 struct slice data)
{
    struct frame_part *last = frames->part_count > 0
                                   ? &frames->part[frames->part_count - 1] : NULL;

    if (data.len == 0)
        return;
    if (frames->retained.data == NULL)
        frames->retained = app_buf_take(s->flow.thread, 0);
    if (!buf_reserve(&frames->retained, data.len))
        return;
    if (last != NULL && last->offset + last->len == offset) {
        last->len += data.len;
    } else {
        if (frames->part_count == FRAME_PARTS_MAX)
            drop_part(frames);
        frames->part[frames->part_count++] = (struct frame_part){ offset, data.len };
    }
    buf_add(&frames->retained, data.data, data.len);
    if (UNLIKELY(frames->retained.len > RETAINED_LIMIT))
        drop_before(frames, offset + data.len - RETAINED_LIMIT / 2);
}

/* A frame may begin before the bytes that are kept: in the parser's buffered bytes, which have no
 * gap up to their end. Those replace the kept bytes. */
static void keep_pending(struct app_session *s, struct frames *frames, enum direction d,
                         uint64_t offset)
{
    const struct app_dir *ds = app_dir_of(s, d);
    uint64_t from = MAX(offset, ds->offset), end = ds->offset + ds->len, skip;

    if (end > from + RETAINED_LIMIT)
        from = end - RETAINED_LIMIT / 2;    /* keep() would drop the rest, for each frame again */
    skip = from - ds->offset;
    if (skip >= ds->len || (frames->part_count > 0 && frames->part[0].offset <= from))
        return;
    frames->part_count = 0;
    frames->retained.len = 0;
    keep(s, frames, from, (struct slice){ ds->data + skip, ds->len - (uint32_t)skip });
}

/* Called with each chunk, before the parser; costs nothing while the direction has no frames. */
void app_frames_data(struct app_session *s, enum direction d, uint64_t offset, struct slice data)
{
    struct frames *frames = frames_of(s, d);

    if (UNLIKELY(frame_count(frames) > 0))
        keep(s, frames, offset, data);
}

bool app_frames_part(const struct app_flow *af, enum direction direction, unsigned index,
                      struct slice *data, uint64_t *offset)
{
    const struct frames *frames = frames_of(app_session_of(af), direction);
    uint32_t at = 0;

    if (frames == NULL || index >= frames->part_count)
        return false;
    for (unsigned i = 0; i < index; i++)
        at += frames->part[i].len;
    *data = (struct slice){ frames->retained.data + at, frames->part[index].len };
    *offset = frames->part[index].offset;
    return true;
}

/* The stream offset up to which the direction is parsed, or up to which it has arrived. */
uint64_t app_frames_edge(const struct app_flow *af, enum direction direction, bool parsed)
{
    const struct app_dir *ds = app_dir_of(app_session_of(af), direction);

    return ds->offset + (parsed ? 0 : ds->len);
}

/* --- the frames --------------------------------------------------------------------------- */

/* Few flows have frames, so the memory is only taken with the first one. */
static COLD struct frames *frames_make(struct app_flow *af, enum direction d)
{
    struct app_ext *ext = app_ext_make(af);

    if (ext == NULL)
        return NULL;
    ext->frames[d] = lib_calloc(1, sizeof(*ext->frames[d]));
    return ext->frames[d];
}

/* Returns the frame's id for later calls; 0 when no rule or log wants the type, when there are too
 * many, or without memory. All setters accept 0 and ids of frames that are gone. */
uint32_t app_frame(struct app_flow *af, enum direction direction, unsigned type, uint64_t offset,
                   int64_t len, uint64_t tx_id)
{
    struct app_session *s = app_session_of(af);
    struct frames *frames = frames_of(s, direction);
    uint32_t required = required_get(&af->thread->conf->required_frames[af->proto->id]);

    if (LIKELY((required & 1u << type) == 0) || frame_count(frames) >= FRAMES_MAX)
        return 0;
    if (s->replaying)                   /* the other process has had them */
        return 0;
    if (frames == NULL && (frames = frames_make(af, direction)) == NULL)
        return 0;
    if (frames->store.data == NULL)
        frames->store = app_buf_take(af->thread, 0);
    struct frame frame = { .id = ++frames->next_id, .type = (uint8_t)type, .offset = offset,
                           .tx_id = tx_id, .len = len };

    if (!buf_add(&frames->store, &frame, sizeof(frame)))
        return 0;
    if (s->transport == TRANSPORT_TCP)
        keep_pending(s, frames, direction, offset);
    return frame.id;
}

static struct frame *frame_of(const struct app_flow *af, enum direction d, uint32_t id)
{
    struct frames *frames = frames_of(app_session_of(af), d);

    return id != 0 && frames != NULL ? frame_by_id(frames, id) : NULL;
}

void app_frame_set_length(struct app_flow *af, enum direction direction, uint32_t frame,
                          int64_t len)
{
    struct frame *f = frame_of(af, direction, frame);

    if (f != NULL)
        f->len = len;
}

void app_frame_set_tx(struct app_flow *af, enum direction direction, uint32_t frame,
                      uint64_t tx_id)
{
    struct frame *f = frame_of(af, direction, frame);

    if (f != NULL)
        f->tx_id = tx_id;
}

void app_frame_set_inspected(struct app_flow *af, enum direction direction, uint32_t frame,
                             uint64_t bytes)
{
    struct frame *f = frame_of(af, direction, frame);

    if (f != NULL)
        f->inspected = bytes;
}

void app_frame_set_logged(struct app_flow *af, enum direction direction, uint32_t frame,
                          uint8_t bits)
{
    struct frame *f = frame_of(af, direction, frame);

    if (f != NULL)
        f->logged |= bits;
}

/* The "stream" frame is a whole direction from where this parser took over; its length becomes
 * known when the direction ends. Protocols declare it as type 0. */
void app_frames_stream(struct app_session *s, enum direction d, const struct app_input *in)
{
    struct app_flow *af = &s->flow;
    struct frame *first;

    if (s->transport != TRANSPORT_TCP ||
        !af->thread->conf->proto[af->proto->id].has_stream_frame)
        return;
    if (in->start)
        app_frame(af, d, 0, in->offset, in->end ? (int64_t)in->len : -1, APP_FRAME_NO_TX);
    else if (in->end && frame_count(frames_of(s, d)) > 0) {
        first = frame_at(frames_of(s, d), 0);
        if (first->type == 0 && first->len < 0)
            first->len = (int64_t)(in->offset + in->len - first->offset);
    }
}

/* True when all of it has arrived. Frames of a datagram end with the datagram. */
static bool frame_is_over(const struct app_session *s, enum direction d, const struct frame *f)
{
    if (s->transport == TRANSPORT_UDP)
        return true;
    return f->len >= 0 && f->offset + (uint64_t)f->len <= s->ds[d].offset + s->ds[d].len;
}

bool app_frames_required(const struct app_flow *af)
{
    return required_get(&af->thread->conf->any_frames) != 0;
}

static struct app_frame_view view_of(const struct app_session *s, enum direction d,
                                     const struct frame *f)
{
    return (struct app_frame_view){ .id = f->id, .type = f->type, .offset = f->offset,
                                    .tx_id = f->tx_id, .len = f->len,
                                    .inspected = f->inspected, .logged = f->logged,
                                    .over = frame_is_over(s, d, f), .direction = d };
}

/* Oldest first. False when visit() has stopped the walk. visit() may set fields by id, but must not
 * make frames. */
bool app_frames_each(const struct app_flow *af, enum direction direction,
                     bool (*visit)(const struct app_frame_view *frame, void *arg), void *arg)
{
    const struct app_session *s = app_session_of(af);

    for (unsigned i = 0; i < frame_count(frames_of(s, direction)); i++) {
        struct app_frame_view view = view_of(s, direction, frame_at(frames_of(s, direction), i));

        if (!visit(&view, arg))
            return false;
    }
    return true;
}

/* Bytes that have arrived and that the parser has not taken. */
uint32_t app_untaken(const struct app_flow *af, enum direction direction)
{
    return app_dir_of(app_session_of(af), direction)->len;
}

bool app_frames_any(const struct app_flow *af, enum direction direction)
{
    return frame_count(frames_of(app_session_of(af), direction)) > 0;
}

bool app_frame_find(const struct app_flow *af, enum direction direction, uint32_t frame,
                    struct app_frame_view *out)
{
    const struct frame *f = frame_of(af, direction, frame);

    if (f == NULL)
        return false;
    *out = view_of(app_session_of(af), direction, f);
    return true;
}

/* --- their end ---------------------------------------------------------------------------- */

/* The lowest offset at which rules or logs may still look at this frame. */
static uint64_t left_edge(const struct app_session *s, enum direction d, const struct frame *f)
{
    uint64_t parsed = s->ds[d].offset;

    return parsed > f->offset + WINDOW ? parsed - WINDOW : f->offset;
}

/* Frees frames that are over and bytes that no other frame covers. Compacts in place, so ids and
 * order do not change. */
static void prune(struct app_session *s, enum direction d, bool all)
{
    struct frames *frames = frames_of(s, d);
    uint64_t edge = app_frames_edge(&s->flow, d, false);
    unsigned retained = 0;

    for (unsigned i = 0; !all && i < frame_count(frames); i++) {
        struct frame *f = frame_at(frames, i);

        if (frame_is_over(s, d, f))
            continue;
        edge = MIN(edge, left_edge(s, d, f));
        *frame_at(frames, retained++) = *f;
    }
    frames->store.len = retained * sizeof(struct frame);
    if (retained == 0) {
        app_buf_release(s->flow.thread, &frames->store);
        retained_clear(s, frames);
    } else {
        drop_before(frames, edge);
    }
}

/* Called after rules and logs. They read a frame only with packets of its own direction, so other
 * packets do not end it, except the flow's last. */
void app_frames_prune(struct app_session *s, const struct inspection *in)
{
    bool last = inspection_ends_flow(in);

    for (enum direction d = TO_SERVER; d <= TO_CLIENT; d++) {
        if (LIKELY(frame_count(frames_of(s, d)) == 0))
            continue;
        if (last || in->direction == d)
            prune(s, d, last || (s->transport == TRANSPORT_TCP && stream_is_closed(in->packet)));
    }
}

void app_frames_free(struct app_session *s)
{
    for (unsigned d = 0; d < 2; d++) {
        struct frames *frames = frames_of(s, d);

        if (frames == NULL)
            continue;
        app_buf_release(s->flow.thread, &frames->store);
        app_buf_release(s->flow.thread, &frames->retained);
        lib_free(frames);
        s->flow.ext->frames[d] = NULL;
    }
}
