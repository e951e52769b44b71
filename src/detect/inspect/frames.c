/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Rules on frames. As with the stream, their bytes are at hand when they come; what matches is
 * reported with the next packet of their direction. A datagram's frames are reported at once. */
#include "base/array.h"
#include "base/lib_memory.h"
#include "detect/detect.h"
#include "detect/inspect/private.h"
#include "flow/flow.h"

#include <string.h>

#define FRAME_HITS_MAX 256
#define FRAME_BYTES_KEPT 4096           /* of one that matched, for its report */

struct frame_context {
    struct detect_thread *dt;
    struct packet *packet;
    enum direction direction;
    struct slice data;          /* what is at hand of the stream or the datagram */
    uint64_t offset;            /* of data */
};

static struct slice frame_bytes(const struct frame_context *c, const struct app_frame_view *f,
                                bool *complete)
{
    uint64_t end = c->offset + c->data.len, from = MAX(f->offset, c->offset);
    uint64_t to = f->len < 0 ? end : f->offset + (uint64_t)f->len;

    *complete = f->len >= 0 && to <= end;
    to = MIN(to, end);
    if (from >= to)
        return (struct slice){ c->data.data, 0 };
    return (struct slice){ c->data.data + (from - c->offset), (uint32_t)(to - from) };
}

static bool has_hit(const struct detect_flow *df, enum direction d, uint32_t rule, uint32_t frame)
{
    for (unsigned i = 0; i < df->frame_hit_count; i++)
        if (df->frame_hit[i].rule == rule && df->frame_hit[i].frame == frame &&
            df->frame_hit[i].direction == d)
            return true;
    return false;
}

static void drop_match(struct frame_hit *hit)
{
    lib_free(hit->match);
    hit->match = NULL;
}

void frames_forget(struct detect_flow *df)
{
    for (unsigned i = 0; i < df->frame_hit_count; i++)
        drop_match(&df->frame_hit[i]);
    df->frame_hit_count = 0;
}

/* The stream's bytes are gone when the match is reported, and maybe the frame is, too. */
static struct frame_match *keep_match(const struct frame_context *c,
                                      const struct app_frame_view *f, struct slice bytes,
                                      bool complete)
{
    uint32_t len = MIN(bytes.len, FRAME_BYTES_KEPT);
    struct frame_match *m = lib_malloc(sizeof(*m) + len);

    if (m == NULL)
        return NULL;
    *m = (struct frame_match){ .frame = *f, .complete = complete, .len = len,
                               .type = c->packet->flow->app->proto->frames[f->type],
                               .length = (uint32_t)(c->offset + c->data.len - f->offset) };
    memcpy(m->data, bytes.data, len);
    return m;
}

const struct frame_match *detect_frame_match(const struct flow *flow,
                                             const struct packet_alert *alert)
{
    const struct detect_flow *df = flow != NULL ? flow->detect : NULL;

    if (df == NULL || alert->frame_id == 0)
        return NULL;
    for (unsigned i = 0; i < df->frame_hit_count; i++)
        if (df->frame_hit[i].frame == alert->frame_id && df->frame_hit[i].reported &&
            df->frame_hit[i].match != NULL && df->frame_hit[i].rule == alert->rule->index)
            return df->frame_hit[i].match;
    return NULL;
}

/* Reported ones are kept to tell what is known, until room is needed. */
static void add_hit(struct detect_flow *df, struct frame_hit hit)
{
    if (df->frame_hit_count == FRAME_HITS_MAX) {
        unsigned kept = 0;

        for (unsigned i = 0; i < df->frame_hit_count; i++)
            if (df->frame_hit[i].reported)
                drop_match(&df->frame_hit[i]);
            else
                df->frame_hit[kept++] = df->frame_hit[i];
        df->frame_hit_count = (uint16_t)kept;
        if (kept == FRAME_HITS_MAX) {
            drop_match(&hit);
            return;
        }
    }
    if (df->frame_hit_count == df->frame_hit_cap) {
        unsigned cap = df->frame_hit_cap > 0 ? df->frame_hit_cap * 2u : 8;
        struct frame_hit *more = lib_realloc(df->frame_hit, cap * sizeof(*more));

        if (more == NULL) {
            drop_match(&hit);
            return;
        }
        df->frame_hit = more;
        df->frame_hit_cap = (uint16_t)cap;
    }
    df->frame_hit[df->frame_hit_count++] = hit;
}

static bool lists_match(struct frame_context *c, const struct app_frame_view *f,
                        struct slice bytes, bool complete, const struct match_input *in)
{
    uint64_t start = c->offset > f->offset ? c->offset - f->offset : 0;

    for (const struct rule_list *l = in->rule->list; l != NULL; l = l->next) {
        struct slice data = bytes;

        if (l->buffer == NULL || l->buffer->kind != BUFFER_FRAME ||
            l->buffer->frame_type != f->type)
            return false;
        if (l->buffer->transform_count > 0)
            data = inspect_transform(c->dt, l->buffer, data, &c->dt->slot[l->buffer->id].data);
        if (!inspect_slice(c->dt, l->program, data, start, complete, in))
            return false;
    }
    return true;
}

static void frame_rule(struct frame_context *c, const struct app_frame_view *f,
                       struct slice bytes, bool complete, const struct rule *r)
{
    struct detect_flow *df = detect_flow_get(c->dt, c->packet->flow);
    struct header_view h;
    struct match_input in;

    header_view_init(&h, c->packet, c->direction);
    if (df == NULL || has_hit(df, c->direction, r->index, f->id) || !rule_header_fits(r, &h))
        return;
    match_input_init(&in, c->dt, c->packet, c->direction, r);
    if (lists_match(c, f, bytes, complete, &in))
        add_hit(df, (struct frame_hit){ .rule = r->index, .frame = f->id, .tx_id = f->tx_id,
                                        .match = keep_match(c, f, bytes, complete),
                                        .direction = (uint8_t)c->direction });
}

static bool frame_visit(const struct app_frame_view *f, void *arg)
{
    struct frame_context *c = arg;
    struct detect_thread *dt = c->dt;
    const struct app_group *g = &dt->plan->app[c->packet->flow->app->proto->id][c->direction];
    bool complete;
    struct slice bytes = frame_bytes(c, f, &complete);

    if (bytes.len == 0)
        return true;
    for (unsigned i = 0; i < g->frame_scan_count; i++) {
        const struct buffer *b = g->frame_scan[i].buffer;
        struct slice data = bytes;

        if (b->frame_type != f->type)
            continue;
        if (b->transform_count > 0)
            data = inspect_transform(dt, b, data, &dt->slot[b->id].data);
        pattern_set_scan(g->frame_scan[i].set, dt->hs, data.data, data.len, &dt->found);
    }
    for (unsigned i = 0; i < g->frame_always_count; i++)
        candidates_add(&dt->found, g->frame_always[i]);
    candidates_sort(&dt->found);
    for (unsigned i = 0; i < dt->found.count; i++)
        frame_rule(c, f, bytes, complete, dt->plan->rule[dt->found.list[i]]);
    candidates_clear(&dt->found);
    return true;
}

static bool has_rules(const struct detect_thread *dt, const struct app_flow *af, enum direction d)
{
    const struct app_group *g;

    if (af == NULL || af->proto == NULL)
        return false;
    g = &dt->plan->app[af->proto->id][d];
    return g->frame_scan_count > 0 || g->frame_always_count > 0;
}

void frames_inspect_data(struct detect_thread *dt, struct packet *p)
{
    struct app_flow *af = p->flow->app;
    struct frame_context c = { .dt = dt, .packet = p };

    for (unsigned i = 0; i < p->chunk_count; i++) {
        const struct stream_chunk *chunk = &p->chunk[i];

        c.direction = chunk->direction;
        if (chunk->kind != CHUNK_DATA || !has_rules(dt, af, c.direction))
            continue;
        c.data = (struct slice){ chunk->data - chunk->before, chunk->len + chunk->before };
        c.offset = chunk->offset - chunk->before;
        app_frames_each(af, c.direction, frame_visit, &c);
    }
    for (c.direction = TO_SERVER; c.direction <= TO_CLIENT; c.direction++)
        if (has_rules(dt, af, c.direction) &&
            app_frames_held(af, c.direction, &c.data, &c.offset))
            app_frames_each(af, c.direction, frame_visit, &c);
    c.direction = packet_direction(p);
    if (p->ip_proto != 17 || p->payload_len == 0 || !has_rules(dt, af, c.direction))
        return;
    c.data = (struct slice){ p->payload, p->payload_len };
    c.offset = 0;
    app_frames_each(af, c.direction, frame_visit, &c);
}

void frames_report(struct detect_thread *dt, struct packet *p, enum direction d)
{
    struct detect_flow *df = p->flow->detect;

    for (unsigned i = 0; df != NULL && i < df->frame_hit_count; i++) {
        struct frame_hit *hit = &df->frame_hit[i];
        const struct rule *r;
        struct match_input in;

        if (hit->direction != d)
            continue;
        if (hit->reported) {
            drop_match(hit);            /* with an earlier packet, which is rendered */
            continue;
        }
        hit->reported = true;
        r = dt->plan->rule[hit->rule];
        if (!rule_packet_fits(r, p))
            continue;
        match_input_init(&in, dt, p, d, r);
        if (rule_tests_pass(r, &in) && rule_matched(dt, &in))
            alert_queue_add(dt, &in, hit->tx_id, hit->frame, ALERT_APP_STATE);
    }
}
