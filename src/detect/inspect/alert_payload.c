/* SPDX-License-Identifier: GPL-2.0-or-later */
/* detect/inspect/alert_payload.c - the stream data that alerts show: data that rules or the parser
 * have not completely inspected. After each packet of a direction, data that both have inspected
 * are released. So an alert on the stream, or on the parser's output, shows the data since the last
 * inspection. If the stream keeps acknowledged data to compare copies with, alerts show those
 * too. */
#include "app/frames.h"
#include "base/memory/lib_memory.h"
#include "detect/inspect/inspect_private.h"
#include "detect/inspect/look_back.h"
#include "flow/flow.h"
#include "stream/stream.h"

/* Bytes of a direction. An attacker could otherwise fill memory by never completing a
 * request. */
#define RETAINED_LIMIT (64u << 10)  /* beyond the data that alerts show; later data are dropped */

/* Bytes before `released` are waiting to be moved out. */
static uint32_t shown_len(const struct stream_ext *ext)
{
    return (uint32_t)ext->retained.len - ext->released;
}

/* After data that were not kept nothing more is, until all has been released: what alerts
 * show must not have holes. */
static bool takes_more(const struct detect_thread *dt, const struct stream_ext *ext,
                       const struct stream_chunk *c)
{
    return ext->to == c->offset && shown_len(ext) < RETAINED_LIMIT + dt->alert_payload_size;
}

/* Alerts show a gap as a text, as Suricata does. Positions are only known for the last
 * gap, so an older one becomes plain text. */
static void add_gap(struct stream_ext *ext, uint32_t len)
{
    if (ext->gap > 0)
        ext->from = ext->to - MIN(ext->to, shown_len(ext));
    ext->gap = len;
    ext->gap_at = shown_len(ext);
    buf_printf(&ext->retained, "[%u bytes missing]", len);
    ext->gap_text = shown_len(ext) - ext->gap_at;
}

void COLD alert_payload_add(struct detect_thread *dt, struct packet *p,
                            const struct stream_chunk *c)
{
    struct detect_flow *df = detect_flow_get(p->flow);
    struct stream_ext *ext;

    if (df == NULL || c->len == 0)
        return;
    ext = stream_ext_get(&df->ds[c->direction]);
    if (ext == NULL)
        return;
    if (ext->retained.len == 0)
        ext->from = ext->to = c->offset;
    if (!takes_more(dt, ext, c))
        return;
    ext->to += c->len;
    if (c->kind == CHUNK_GAP)
        add_gap(ext, c->len);
    else
        buf_add(&ext->retained, c->data, c->len);
}

struct slice alert_payload_get(const struct detect_thread *dt, const struct flow *f,
                               enum direction d, uint32_t *gap)
{
    const struct stream_ext *ext;

    *gap = 0;
    if (dt->alert_payload_size == 0 || f == NULL || f->detect == NULL ||
        f->detect->ds[d].ext == NULL)
        return (struct slice){ NULL, 0 };
    ext = f->detect->ds[d].ext;
    *gap = ext->gap;
    return (struct slice){ ext->retained.data + ext->released, shown_len(ext) };
}

/* The flow ended without an acknowledgment of so many bytes at the end of these data. */
uint32_t alert_payload_never_acked(const struct inspection *in)
{
    uint64_t to = in->flow->detect->ds[in->direction].ext->to, from = to;

    for (unsigned i = 0; i < in->chunk_count; i++)
        if (in->chunk[i].never_acked && in->chunk[i].direction == in->direction)
            from = MIN(from, in->chunk[i].offset);
    return (uint32_t)(to - from);
}

/* Moves the rest to the front only when that is less than half: each packet releases a
 * little, and moving for each would cost too much. */
static void drop_shown(struct stream_ext *ext, uint64_t n)
{
    ext->released += (uint32_t)MIN(n, shown_len(ext));
    if (ext->released < ext->retained.len / 2)
        return;
    buf_drop_front(&ext->retained, ext->released);
    ext->released = 0;
}

/* Releases data before stream offset `left`. After the gap, positions in the buffer are shifted by
 * the difference between the gap and its text. */
static void drop_to(struct stream_ext *ext, uint64_t left)
{
    uint64_t n = left > ext->from ? left - ext->from : 0;

    if (left >= ext->to) {
        buf_clear(&ext->retained);
        ext->gap = ext->released = 0;
        return;
    }
    if (ext->gap > 0 && n > ext->gap_at) {
        if (n < (uint64_t)ext->gap_at + ext->gap)
            return;                     /* within it */
        n = n - ext->gap + ext->gap_text;
        ext->gap = 0;
    } else if (ext->gap > 0) {
        ext->gap_at -= (uint32_t)n;
    }
    drop_shown(ext, n);
    ext->from = MAX(left, ext->from);
}

/* The offset up to which rules have inspected the stream. Without rules on streams, the
 * offset at which one would have, so that alerts show the same data with any ruleset. */
static uint64_t rules_had(const struct detect_thread *dt, const struct packet *p, enum direction d,
                          uint64_t parsed)
{
    struct stream_dir *ds = &p->flow->detect->ds[d];
    struct stream_ext *ext = ds->ext;

    if (dt->plan->group[TRANSPORT_TCP][d].has_stream)
        return stream_dir_from(ds);
    if (ds->flush || stream_is_closing(p) || ext->to - ext->had >= dt->plan->chunk_size[d]) {
        ext->had = parsed;
        ds->flush = false;
    }
    return ext->had;
}

/* Bytes that stay before that offset, since inline windows overlap and some parsers report
 * late. */
static uint32_t payload_lookbehind(const struct detect_thread *dt, const struct app_flow *af,
                             enum direction d)
{
    if (dt->is_inline)
        return dt->plan->chunk_size[d];
    return look_back_by(af, d);
}

void COLD detect_clear_alert_payload(struct detect_thread *dt, struct packet *p)
{
    enum direction d = packet_direction(p);
    struct flow *f = p->flow;
    struct stream_ext *ext;
    uint64_t parsed, had, left;
    uint32_t before;

    if (f->detect == NULL || !(p->flags & PACKET_STREAM_OPEN))
        return;
    ext = f->detect->ds[d].ext;
    if (ext == NULL || ext->retained.len == 0)
        return;
    parsed = ext->to - (f->app != NULL ? MIN(ext->to, app_untaken(f->app, d)) : 0);
    had = rules_had(dt, p, d, parsed);
    before = payload_lookbehind(dt, f->app, d);
    left = MIN(parsed, had > before ? had - before : 0);
    drop_to(ext, left - MIN(left, stream_slot(p)->history[d]));
}
