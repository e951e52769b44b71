/* SPDX-License-Identifier: GPL-2.0-or-later */
/* detect/inspect/frames.c - rules on frames. A packet of the frame's direction makes rules inspect
 * the data since the last inspection: in steps of FRAME_STEP bytes, and at the end of the frame. In
 * IPS mode they inspect each segment, together with the bytes before it. */
#include "app/frames.h"
#include "base/array.h"
#include "detect/inspect/part_cost.h"
#include "detect/inspect/rule_cost.h"
#include "flow/flow.h"
#include "stream/stream.h"

/* Bytes; the number is Suricata's (app-layer-frames.c). */
#define FRAME_STEP 2500
#define FRAME_PARTS 16                     /* between gaps */

/* One call of frames_inspect(); on the stack. */
struct frame_context {
    struct detect_thread *dt;
    struct packet *packet;
    struct app_flow *app;
    enum direction direction;
    bool eof;                               /* nothing more will come */
    struct buffer_part part[FRAME_PARTS];
    unsigned part_count;
};

/* --- what of it is looked at ---------------------------------------------------------------- */

/* The stream offset of the frame's end. A frame of unknown length has none yet. */
static uint64_t end_of(const struct app_frame_view *f)
{
    return f->len < 0 ? UINT64_MAX : f->offset + (uint64_t)f->len;
}

/* The oldest byte that is still kept, also for rules on the stream that wait for more
 * data. */
static uint64_t base_of(const struct frame_context *c)
{
    const struct detect_flow *df = c->packet->flow->detect;
    uint64_t base = 0;
    struct slice first;

    (void)app_frames_part(c->app, c->direction, 0, &first, &base);
    if (df != NULL && df->ds[c->direction].uninspected > 0)
        base = MIN(base, stream_dir_from(&df->ds[c->direction]));
    return base;
}

/* Whether rules inspect the frame now: at its end, or when a step's worth of new data has
 * come. In IPS mode with each segment, because the segment is about to leave. */
static bool is_due(const struct frame_context *c, const struct app_frame_view *f)
{
    uint64_t edge = app_frames_edge(c->app, c->direction, false);
    bool complete = end_of(f) <= edge;

    if (edge <= f->offset)
        return false;
    if (c->eof || complete || c->dt->is_inline)
        return true;
    return edge >= f->inspected + FRAME_STEP && edge - base_of(c) >= FRAME_STEP;
}

/* Adds the part of `data` that is in the frame, not inspected yet, and before `until`.
 * offset: the stream offset of data. */
static void add_part(struct frame_context *c, const struct app_frame_view *f, struct slice data,
                     uint64_t offset, uint64_t until)
{
    uint64_t from = MAX(offset, f->offset + f->inspected);
    uint64_t to = MIN(MIN(offset + data.len, until), end_of(f));

    if (from >= to)
        return;
    c->part[c->part_count++] = (struct buffer_part){
        .data = { data.data + (from - offset), (uint32_t)(to - from) },
        .start = from - f->offset, .complete = to == end_of(f) };
}

/* Data are in one part between gaps. UDP frames are in the packet's datagram. */
static void collect_parts(struct frame_context *c, const struct app_frame_view *f)
{
    uint64_t until = app_frames_edge(c->app, c->direction, !c->eof), offset;
    struct slice data;

    c->part_count = 0;
    if (c->packet->ip_proto == 17) {
        add_part(c, f, (struct slice){ c->packet->payload, c->packet->payload_len }, 0,
                 UINT64_MAX);
        return;
    }
    for (unsigned i = 0; c->part_count < FRAME_PARTS &&
                         app_frames_part(c->app, c->direction, i, &data, &offset); i++)
        add_part(c, f, data, offset, until);
}

/* In IPS mode the last FRAME_STEP bytes are inspected again with the next segment. */
static void note_inspected(const struct frame_context *c, const struct app_frame_view *f)
{
    const struct buffer_part *last = &c->part[c->part_count - 1];
    uint64_t to = last->start + last->data.len;

    if (!last->complete && c->dt->is_inline)
        to = to > FRAME_STEP ? to - FRAME_STEP : 0;
    if (to > f->inspected)
        app_frame_set_inspected(c->app, c->direction, f->id, to);
}

/* --- rules ---------------------------------------------------------------------------------- */

/* All conditions of the rule must match in the same part. */
static bool lists_match(struct frame_context *c, const struct app_frame_view *f,
                        const struct buffer_part *part, const struct match_input *in)
{
    for (const struct rule_list *l = in->rule->list; l != NULL; l = l->next) {
        struct buffer_part seen = *part;

        if (l->buffer == NULL || l->buffer->kind != BUFFER_FRAME ||
            l->buffer->frame_type != f->type)
            return false;
        buffer_begin(c->dt, l->buffer);
        if (l->buffer->transform_count > 0)
            seen.data = inspect_transform(c->dt, l->buffer, seen.data,
                                          &c->dt->slot[l->buffer->id].transformed);
        if (!inspect_part(c->dt, l->program, &seen, in))
            return false;
    }
    return true;
}

static bool any_part_matches(struct frame_context *c, const struct app_frame_view *f,
                             const struct match_input *in)
{
    for (unsigned i = 0; i < c->part_count; i++)
        if (lists_match(c, f, &c->part[i], in))
            return true;
    return false;
}

/* A rule may match again in a later part of the same frame. */
static bool frame_rule(struct frame_context *c, const struct app_frame_view *f,
                       const struct rule *r)
{
    struct header_view h;
    struct match_input in;

    header_view_init(&h, c->packet, c->direction);
    if (!rule_header_fits(r, &h) || !rule_packet_fits(r, &h, c->packet))
        return false;
    match_input_init(&in, c->dt, c->packet, c->direction, r);
    if (!rule_tests_pass(r, &in) || !any_part_matches(c, f, &in) || !rule_matched(c->dt, &in))
        return false;
    alert_queue_add(c->dt, &in, f->tx_id, f->id, ALERT_APP_STATE);
    return true;
}

/* Patterns of rules on this type of frame, and the rules without a pattern. */
static void search(struct frame_context *c, const struct app_frame_view *f,
                   const struct app_group *g)
{
    struct detect_thread *dt = c->dt;

    for (unsigned i = 0; i < g->frame_scan_count; i++) {
        const struct buffer *b = g->frame_scan[i].buffer;

        for (unsigned k = 0; b->frame_type == f->type && k < c->part_count; k++) {
            struct slice data = c->part[k].data;

            buffer_begin(dt, b);
            if (b->transform_count > 0)
                data = inspect_transform(dt, b, data, &dt->slot[b->id].transformed);
            pattern_set_scan(g->frame_scan[i].set, dt->hs, data.data, data.len, &dt->found);
        }
    }
    for (unsigned i = 0; i < g->frame_always_count; i++)
        candidates_add(&dt->found, g->frame_always[i]);
}

/* Called for each frame; true: go on with the next. */
static bool frame_visit(const struct app_frame_view *f, void *arg)
{
    struct frame_context *c = arg;
    struct detect_thread *dt = c->dt;

    if (c->packet->ip_proto == 6 && !is_due(c, f))
        return true;
    collect_parts(c, f);
    if (c->part_count == 0)
        return true;
    part_begin(dt, COST_GROUP, dt->plan->app[c->app->proto->id][c->direction].name);
    search(c, f, &dt->plan->app[c->app->proto->id][c->direction]);
    part_begin(dt, COST_BUFFER, NULL);
    candidates_sort(&dt->found);
    for (unsigned i = 0; i < dt->found.count; i++) {
        uint32_t rule = dt->found.list[i];
        uint64_t started = rule_profile_begin(dt);

        rule_profile_end(dt, rule, started, frame_rule(c, f, dt->plan->rule[rule]));
    }
    candidates_clear(&dt->found);
    group_end(dt);
    note_inspected(c, f);
    return true;
}

/* Returns early for nearly all packets: most rulesets have no rules on frames. */
void frames_inspect(struct detect_thread *dt, struct packet *p, enum direction d)
{
    struct app_flow *af = p->flow->app;
    struct frame_context c = { .dt = dt, .packet = p, .app = af, .direction = d };
    const struct app_group *g;

    if (LIKELY(!app_frames_any(af, d)) || af->proto == NULL)
        return;
    g = &dt->plan->app[af->proto->id][d];
    if (g->frame_scan_count == 0 && g->frame_always_count == 0)
        return;
    c.eof = (p->flags & PACKET_PSEUDO) != 0 || stream_is_closed(p);
    app_frames_each(af, d, frame_visit, &c);
}
