/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What alerts show of the stream: from where rules or the parser have not had it all on.
 *
 * With each packet of a direction goes what both have had by then. A rule that matches in the
 * stream, or in what a parser made of it, so shows the data since the report before. Where the
 * stream keeps acknowledged data, to compare copies with, alerts show those too. */
#include "detect/inspect/private.h"
#include "base/lib_memory.h"
#include "flow/flow.h"
#include "stream/stream.h"

#define KEPT_MAX (64u << 10)            /* and what alerts show; what comes then is left out */

static uint32_t shown_len(const struct stream_extra *extra)
{
    return (uint32_t)extra->kept.len - extra->gone;
}

static bool takes_more(const struct detect_thread *dt, const struct stream_extra *extra,
                       const struct stream_chunk *c)
{
    return extra->to == c->offset && shown_len(extra) < KEPT_MAX + dt->stream_keep;
}

/* A gap shows as a remark. Only where the last one is is known later. */
static void add_gap(struct stream_extra *extra, uint32_t len)
{
    if (extra->gap > 0)
        extra->from = extra->to - MIN(extra->to, shown_len(extra));
    extra->gap = len;
    extra->gap_at = shown_len(extra);
    buf_printf(&extra->kept, "[%u bytes missing]", len);
    extra->gap_text = shown_len(extra) - extra->gap_at;
}

void COLD stream_keep_chunk(struct detect_thread *dt, struct packet *p,
                            const struct stream_chunk *c)
{
    struct detect_flow *df = detect_flow_get(p->flow);
    struct stream_extra *extra;

    if (df == NULL || c->len == 0)
        return;
    extra = stream_extra_get(&df->side[c->direction]);
    if (extra == NULL)
        return;
    if (extra->kept.len == 0)
        extra->from = extra->to = c->offset;
    if (!takes_more(dt, extra, c))
        return;
    extra->to += c->len;
    if (c->kind == CHUNK_GAP)
        add_gap(extra, c->len);
    else
        buf_add(&extra->kept, c->data, c->len);
}

struct slice stream_kept(const struct detect_thread *dt, const struct flow *f, enum direction d,
                         uint32_t *gap)
{
    const struct stream_extra *extra;

    *gap = 0;
    if (dt->stream_keep == 0 || f == NULL || f->detect == NULL || f->detect->side[d].extra == NULL)
        return (struct slice){ NULL, 0 };
    extra = f->detect->side[d].extra;
    *gap = extra->gap;
    return (struct slice){ extra->kept.data + extra->gone, shown_len(extra) };
}

/* The rest moves to the front when that is not the most of it: with each packet a little goes. */
static void drop_shown(struct stream_extra *extra, uint64_t n)
{
    extra->gone += (uint32_t)MIN(n, shown_len(extra));
    if (extra->gone < extra->kept.len / 2)
        return;
    buf_drop_front(&extra->kept, extra->gone);
    extra->gone = 0;
}

static void drop_to(struct stream_extra *extra, uint64_t left)
{
    uint64_t n = left > extra->from ? left - extra->from : 0;

    if (left >= extra->to) {
        buf_clear(&extra->kept);
        extra->gap = extra->gone = 0;
        return;
    }
    if (extra->gap > 0 && n > extra->gap_at) {
        if (n < (uint64_t)extra->gap_at + extra->gap)
            return;                     /* within it */
        n = n - extra->gap + extra->gap_text;
        extra->gap = 0;
    } else if (extra->gap > 0) {
        extra->gap_at -= (uint32_t)n;
    }
    drop_shown(extra, n);
    extra->from = MAX(left, extra->from);
}

/* Up to where rules have had it; where none looks, as if one did. */
static uint64_t rules_had(const struct detect_thread *dt, const struct packet *p, enum direction d,
                          uint64_t parsed)
{
    struct stream_side *side = &p->flow->detect->side[d];
    struct stream_extra *extra = side->extra;

    if (dt->plan->group[TRANSPORT_TCP][d].has_stream)
        return stream_side_from(side);
    if (side->flush || stream_is_closing(p) || extra->to - extra->had >= dt->plan->chunk_size[d]) {
        extra->had = parsed;
        side->flush = false;
    }
    return extra->had;
}

static uint32_t shown_before(const struct detect_thread *dt, const struct app_flow *af,
                             enum direction d)
{
    if (dt->is_inline)
        return dt->plan->chunk_size[d];
    if (af == NULL || af->proto == NULL || af->stopped || af->proto->shows_before == NULL)
        return 0;
    return af->proto->shows_before(af, d);
}

void COLD detect_forget_shown(struct detect_thread *dt, struct packet *p)
{
    enum direction d = packet_direction(p);
    struct flow *f = p->flow;
    struct stream_extra *extra;
    uint64_t parsed, had, left;
    uint32_t before;

    if (f->detect == NULL || !(p->flags & PACKET_STREAM_OPEN))
        return;
    extra = f->detect->side[d].extra;
    if (extra == NULL || extra->kept.len == 0)
        return;
    parsed = extra->to - (f->app != NULL ? MIN(extra->to, app_untaken(f->app, d)) : 0);
    had = rules_had(dt, p, d, parsed);
    before = shown_before(dt, f->app, d);
    left = MIN(parsed, had > before ? had - before : 0);
    drop_to(extra, left - MIN(left, p->stream_history[d]));
}
