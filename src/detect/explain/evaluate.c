/* SPDX-License-Identifier: GPL-2.0-or-later */
/* detect/explain/evaluate.c - all conditions of a rule on one subject. The engine stops at the
 * first that fails; here the rest is asked too, so that of several subjects the nearest is
 * known. */
#include <limits.h>
#include <string.h>

#include "app/frames.h"
#include "detect/explain/notes.h"
#include "flow/flow.h"
#include "match/address.h"
#include "match/port.h"
#include "match/spm_literal.h"

/* How far away a failure is: the more, the less likely the condition holds by chance. A content
 * that is not there at all weighs more than a wrong port, and that more than something that is
 * there and should not be, since what is excluded is hardly ever there by chance. */
enum { WEIGHT_EXCLUDED = 1, WEIGHT_NEAR = 2, WEIGHT_PART = 4, WEIGHT_FAR = 6,
       WEIGHT_NOT_THERE = 8 };

struct evaluation {
    struct explain *e;
    struct wanted *w;
    const struct subject *s;
    struct header_view header;
    struct match_input in;
    uint32_t *held;
    bool proto_fits;            /* tests rely on the headers that the rule's protocol has */
};

/* --- header, flow, tests ---------------------------------------------------------------------- */

static bool is_inspected(const struct subject *s)
{
    const struct packet *p = s->packet;

    if ((p->flags & PACKET_NO_INSPECT) ||
        (p->flow != NULL && (p->flow->action & (ACTION_DROP | ACTION_PASS))))
        return false;
    if (s->is_stream)
        return !s->inspection->unsampled;
    return !s->has_payload || p->payload_len == 0 ||
           !(p->flags & (PACKET_STREAM_NO_APP | PACKET_NO_PAYLOAD_INSPECT));
}

static bool port_fits(const struct evaluation *v, const struct port_set *set, uint16_t port)
{
    return (v->header.ip_proto == 6 || v->header.ip_proto == 17 || v->header.ip_proto == 132) &&
           !v->header.fragment && port_set_has(set, port);
}

static bool app_fits(const struct evaluation *v)
{
    const struct subject *s = v->s;
    enum app_proto_id wanted = (enum app_proto_id)v->w->rule->app_proto;

    if (s->tx != NULL)
        return app_proto_matches(wanted, s->tx->flow->proto->id);
    return s->packet->flow != NULL && app_proto_matches(wanted, s->packet->flow->app_proto);
}

static bool header_part_fits(const struct evaluation *v, const struct condition *c)
{
    const struct rule *r = v->w->rule;
    const struct header_view *h = &v->header;
    uint32_t way = v->s->direction == TO_SERVER ? RULE_TO_SERVER : RULE_TO_CLIENT;

    switch ((enum part)c->part) {
    case PART_INSPECTED: return is_inspected(v->s);
    case PART_PROTO:     return rule_has_ip_proto(r, h->ip_proto) &&
                                (r->ip_version == 0 || h->src->version == r->ip_version);
    case PART_SRC:       return address_set_has(r->src, h->src);
    case PART_DST:       return address_set_has(r->dst, h->dst);
    case PART_SRC_PORT:  return port_fits(v, r->src_port, h->src_port);
    case PART_DST_PORT:  return port_fits(v, r->dst_port, h->dst_port);
    case PART_DIRECTION: return r->flags & way;
    case PART_FLOW:      return rule_packet_fits(r, h, v->s->packet);
    case PART_APP:       return app_fits(v);
    default:             return true;
    }
}

static bool test_passes(struct evaluation *v, const struct rule_test *test)
{
    return test->match(&v->in, test->arg) != test->negated;
}

/* The test of the protocol itself needs none. */
static bool may_ask(const struct evaluation *v, const struct rule_test *test)
{
    return v->proto_fits || strcmp(test->keyword->name, "ip_proto") == 0;
}

/* Tests on a transaction are for one with the protocol's own state. */
static bool tx_test_passes(struct evaluation *v, const struct rule_test *test)
{
    const struct subject *s = v->s;

    return s->tx != NULL && (test->directions & APP_DIRECTION_BIT(s->direction)) &&
           (s->tx->progress[s->direction] >= test->progress[s->direction] || s->is_last ||
            app_tx_done(s->tx, s->direction, s->tx->flow->proto)) &&
           test_passes(v, test);
}

static void note_outcome(struct finding *f, bool passes, unsigned weight)
{
    *f = (struct finding){ .outcome = passes ? OUTCOME_PASS : OUTCOME_FAIL,
                           .weight = passes ? 0 : (uint8_t)weight };
}

/* --- lists ------------------------------------------------------------------------------------ */

static bool run_on(struct evaluation *v, struct trace *t, struct slice data)
{
    v->in.little = t->little;
    t->data = data;
    return trace_run(t, &v->e->scratch, &v->in);
}

static unsigned step_weight(const struct trace *t, unsigned step)
{
    const struct rule_op *op = t->op[step];
    uint32_t at, len;

    if ((op->flags & OP_NEGATED) || op->kind == OP_ABSENT)
        return WEIGHT_EXCLUDED;
    if (op->kind == OP_ISDATAAT)
        return WEIGHT_NEAR;
    if (op->kind != OP_CONTENT)
        return WEIGHT_PART;
    switch (content_nearness(t, step, &at, &len)) {
    case NEAR_PART: return WEIGHT_PART;
    case NEAR_NOT:  return WEIGHT_FAR;
    default:        return WEIGHT_NEAR;
    }
}

/* A rule on both sides of a transaction has lists of either. */
static enum direction list_side(const struct evaluation *v, const struct trace *t,
                                const struct app_buffer *app)
{
    enum direction d = v->s->direction;
    unsigned sides = t->list->directions & app->directions;

    if ((v->w->rule->flags & RULE_TX_BOTH) && !(sides & APP_DIRECTION_BIT(d)))
        return OTHER_DIRECTION(d);
    return d;
}

/* How far the last run is from matching. */
static unsigned trace_distance(const struct trace *t)
{
    unsigned rest = t->only_culprit ? 0 : t->count - MIN(t->culprit + 1, t->count);

    return t->culprit < t->count ? step_weight(t, t->culprit) + rest * WEIGHT_PART : UINT_MAX;
}

/* Of several instances the one that matches, or comes nearest. */
static bool run_instances(struct evaluation *v, struct trace *t, const struct app_buffer *app,
                          enum direction side)
{
    const struct subject *s = v->s;
    const struct buffer *b = t->list->buffer;
    struct buffer_source from = { s->packet, s->tx, side, 0 };
    unsigned best = 0, nearest = UINT_MAX;
    struct slice data;

    t->little = app->little != NULL && app->little(s->tx);
    for (; inspect_buffer(v->e->shadow, b, &from, &data); from.index++) {
        unsigned distance;

        t->index = from.index;
        t->start = app->position != NULL && b->transform_count == 0
                       ? app->position(s->tx, side, from.index) : 0;
        if (run_on(v, t, data))
            return true;
        if (!b->multi)
            break;
        distance = trace_distance(t);
        if (distance < nearest) {
            nearest = distance;
            best = from.index;
        }
    }
    if (t->index != best && t->is_there) {
        from.index = t->index = best;
        if (inspect_buffer(v->e->shadow, b, &from, &data))
            (void)run_on(v, t, data);
    }
    return false;
}

static bool tx_list_passes(struct evaluation *v, struct trace *t)
{
    const struct subject *s = v->s;
    const struct app_buffer *app;
    enum direction side;
    bool done, decided;
    uint8_t need;

    if (s->tx == NULL)
        return false;
    app = t->list->buffer->by_proto[s->tx->flow->proto->id];
    if (app == NULL)
        return t->list->program->absent && app_fits(v);
    side = list_side(v, t, app);
    done = s->is_last || app_tx_done(s->tx, side, s->tx->flow->proto);
    need = app->progress[side];
    decided = done || (s->tx->progress[side] > need && !app->grows);
    if (!(t->list->directions & app->directions & APP_DIRECTION_BIT(side)) ||
        (s->tx->progress[side] < need && !done))
        return false;
    t->complete = decided;
    if (run_instances(v, t, app, side))
        return true;
    return !t->is_there && decided && t->list->program->absent &&
           !(app->never_absent & APP_DIRECTION_BIT(side));
}

struct frame_walk { struct evaluation *v; struct trace *t; bool passed; };

/* Frames of a stream between gaps, as far as they have come; those of a datagram are in it. */
static bool visit_frame(const struct app_frame_view *f, void *arg)
{
    struct frame_walk *w = arg;
    const struct subject *s = w->v->s;
    struct slice data = { s->packet->payload, s->packet->payload_len };
    uint64_t offset = 0, end = f->len < 0 ? UINT64_MAX : f->offset + (uint64_t)f->len;

    if (f->type != w->t->list->buffer->frame_type || (s->frame_id != 0 && s->frame_id != f->id))
        return true;
    for (unsigned i = 0; s->packet->ip_proto == 17
                             ? i == 0 : app_frames_part(s->packet->flow->app, s->direction, i,
                                                        &data, &offset); i++) {
        uint64_t from = MAX(offset, f->offset), to = MIN(offset + data.len, end);

        if (from >= to)
            continue;
        w->t->start = from - f->offset;
        w->t->complete = to == end;
        data = (struct slice){ data.data + (from - offset), (uint32_t)(to - from) };
        if (w->t->list->buffer->transform_count > 0)
            data = inspect_transform(w->v->e->shadow, w->t->list->buffer, data,
                                     &w->v->e->shadow->slot[w->t->list->buffer->id].transformed);
        w->passed = run_on(w->v, w->t, data);
        if (w->passed)
            return false;
    }
    return true;
}

static bool frame_list_passes(struct evaluation *v, struct trace *t)
{
    struct frame_walk walk = { v, t, false };
    const struct flow *f = v->s->packet->flow;

    if (f == NULL || f->app == NULL || f->app->proto == NULL ||
        f->app->proto->id != t->list->buffer->frame_proto)
        return false;
    app_frames_each(f->app, v->s->direction, visit_frame, &walk);
    return walk.passed;
}

/* What has matched in the stream is kept with the flow. */
static bool payload_passes(struct evaluation *v, struct trace *t, unsigned list)
{
    const struct subject *s = v->s;
    bool matched;

    if (!s->has_payload)
        return false;
    t->complete = !s->is_stream;
    matched = run_on(v, t, s->payload);
    if (matched && s->is_stream && list < 32)
        *v->held |= 1u << list;
    else if (s->is_revoked && list < 32)
        *v->held &= ~(1u << list);
    return matched;
}

static bool packet_list_passes(struct evaluation *v, struct trace *t)
{
    struct buffer_source from = { v->s->packet, NULL, v->s->direction, 0 };
    struct slice data;

    t->complete = true;
    if (!v->proto_fits)
        return false;
    if (!inspect_buffer(v->e->shadow, t->list->buffer, &from, &data))
        return t->list->program->absent;
    return run_on(v, t, data);
}

static bool list_passes(struct evaluation *v, struct trace *t, unsigned list)
{
    t->is_there = t->passed = t->only_culprit = false;
    t->reached = t->culprit = t->index = 0;
    t->start = 0;
    t->little = false;
    if (t->list->buffer == NULL)
        return payload_passes(v, t, list);
    switch ((enum buffer_kind)t->list->buffer->kind) {
    case BUFFER_PACKET: return packet_list_passes(v, t);
    case BUFFER_TX:     return tx_list_passes(v, t);
    case BUFFER_FRAME:  return frame_list_passes(v, t);
    default:            return false;
    }
}

/* Findings for the steps of the list's programs, from what the traces say. */
static void note_step(const struct wanted *w, unsigned i, const struct trace *failed)
{
    const struct condition *c = &w->condition[i];
    struct finding *f = &w->finding[i];
    const struct trace *t = c->trace;

    *f = (struct finding){ 0 };
    if (t == failed && c->step == t->culprit)
        note_outcome(f, false, step_weight(t, c->step));
    else if (c->step < t->reached || (t == failed && t->only_culprit))
        f->outcome = OUTCOME_PASS;
    else if (t == failed)
        f->weight = WEIGHT_PART;        /* not asked: it may fail as well */
}

static void list_evaluate(struct evaluation *v, unsigned list)
{
    struct wanted *w = v->w;
    struct trace *t = w->trace[list], *failed;
    bool passes, earlier = false, by_held;

    if (t == NULL)
        return;
    passes = list_passes(v, t, list);
    by_held = v->s->tx != NULL || t->list->buffer == NULL;
    if (passes && v->s->tx != NULL && list < 32)
        *v->held |= 1u << list;
    if (!passes && by_held && list < 32 && (*v->held >> list & 1))
        passes = earlier = true;
    failed = passes ? NULL : trace_of_failure(t);
    for (unsigned i = 0; i < w->count; i++) {
        if (w->condition[i].part != PART_STEP || w->condition[i].list != list)
            continue;
        if (passes)
            w->finding[i] = (struct finding){ .outcome = OUTCOME_PASS, .earlier = earlier };
        else if (!t->is_there)
            w->finding[i] = (struct finding){
                .outcome = w->condition[i].step == 0 ? OUTCOME_FAIL : OUTCOME_NOT_ASKED,
                .weight = WEIGHT_NOT_THERE };
        else
            note_step(w, i, failed);
    }
}

static bool fast_pattern_there(const struct rule *r, const struct trace *t)
{
    const struct literal_pattern p = rule_fast_literal(r);

    return t->data.len >= p.len &&
           spm_find(t->data.data, t->data.len, (const uint8_t *)p.bytes, p.len, p.nocase) != NULL;
}

/* --- the rule --------------------------------------------------------------------------------- */

/* "flags:!S", "flowbits:isnotset,x", "!10.0.0.0/8" */
static unsigned text_weight(const char *text)
{
    const char *colon = strchr(text, ':');
    const char *value = colon != NULL && *text != '!' ? colon + 1 : text;

    value += strspn(value, " ");
    return *value == '!' || strncmp(value, "isnotset", 8) == 0 || strncmp(value, "not_", 4) == 0
               ? WEIGHT_EXCLUDED : WEIGHT_NEAR;
}

static unsigned test_weight(const struct condition *c)
{
    return c->test->negated ? WEIGHT_EXCLUDED : text_weight(c->text);
}

/* A packet of which the protocol is known says more about the flow than its first, and so does one
 * whose payload the stream has refused. */
static bool is_protocol_known(const struct subject *s)
{
    const struct flow *f = s->packet->flow;

    return f != NULL && (f->app_proto != APP_PROTO_UNKNOWN || stream_has_refused(s->packet));
}

/* Steps have their findings from their lists; late tests wait until all else holds. */
static void condition_evaluate(struct evaluation *v, unsigned i, bool all_pass)
{
    const struct condition *c = &v->w->condition[i];
    struct finding *f = &v->w->finding[i];

    switch ((enum part)c->part) {
    case PART_STEP:
        break;
    case PART_TEST:
        *f = (struct finding){ .weight = WEIGHT_NEAR };
        if (may_ask(v, c->test))
            note_outcome(f, test_passes(v, c->test), test_weight(c));
        break;
    case PART_TX_TEST:
        note_outcome(f, tx_test_passes(v, c->test),
                     v->s->tx != NULL ? test_weight(c) : WEIGHT_NOT_THERE);
        break;
    case PART_LATE_TEST:
        *f = (struct finding){ 0 };
        if (all_pass && !c->silent)
            note_outcome(f, test_passes(v, c->test), test_weight(c));
        break;
    case PART_APP:
        note_outcome(f, header_part_fits(v, c), is_protocol_known(v->s) ? WEIGHT_FAR
                                                                        : WEIGHT_FAR + 1);
        break;
    default:
        note_outcome(f, header_part_fits(v, c),
                     c->part == PART_FLOW ? WEIGHT_NEAR : text_weight(c->text));
    }
}

static void evaluation_begin(struct evaluation *v)
{
    const struct subject *s = v->s;

    header_view_init(&v->header, s->packet, s->direction);
    v->header.cache = &v->header.own;
    match_input_init(&v->in, v->e->shadow, s->packet, s->direction, v->w->rule);
    v->in.tx = s->tx;
    v->in.tx_done = subject_is_over(s);
    v->in.stream_due = s->is_stream;
    v->proto_fits = rule_has_ip_proto(v->w->rule, s->packet->ip_proto);
}

static bool condition_holds(struct evaluation *v, const struct condition *c)
{
    switch ((enum part)c->part) {
    case PART_STEP:      return true;
    case PART_TEST:      return may_ask(v, c->test) && test_passes(v, c->test);
    case PART_TX_TEST:   return tx_test_passes(v, c->test);
    case PART_LATE_TEST: return c->silent || test_passes(v, c->test);
    default:             return header_part_fits(v, c);
    }
}

/* The condition where the list fails; w->count: nowhere. Payload with a transaction of a stream was
 * matched with the stream, if at all. */
static unsigned list_failure(struct evaluation *v, unsigned list)
{
    struct wanted *w = v->w;
    struct trace *t = w->trace[list], *failed;
    unsigned first = w->count;

    if (t == NULL || (t->list->buffer == NULL && v->s->tx != NULL && !v->s->has_payload) ||
        list_passes(v, t, list))
        return w->count;
    failed = trace_of_failure(t);
    for (unsigned i = w->count; i-- > 0;) {
        const struct condition *c = &w->condition[i];

        if (c->part != PART_STEP || c->list != list)
            continue;
        if (c->is_fast && (!t->is_there || !fast_pattern_there(w->rule, t)))
            return i;
        if (c->trace == failed && c->step == MIN(failed->reached, failed->count - 1))
            first = i;
    }
    return first;
}

static unsigned lists_failure(struct evaluation *v)
{
    struct wanted *w = v->w;
    unsigned fast = 0, failure = w->count;

    while (fast < w->list_count &&
           (w->trace[fast] == NULL || w->trace[fast]->list != w->rule->fast_list))
        fast++;
    if (fast < w->list_count)
        failure = list_failure(v, fast);
    for (unsigned i = 0; i < w->list_count && failure == w->count; i++)
        failure = i != fast ? list_failure(v, i) : w->count;
    return failure;
}

unsigned rule_first_failure(struct explain *e, struct wanted *w, const struct subject *s)
{
    uint32_t held = 0;
    struct evaluation v = { .e = e, .w = w, .s = s, .held = &held };
    bool lists_asked = false;

    evaluation_begin(&v);
    for (unsigned i = 0; i < w->count; i++) {
        if (!lists_asked && w->condition[i].part >= PART_STEP) {
            unsigned failure = lists_failure(&v);

            if (failure < w->count)
                return failure;
            lists_asked = true;
        }
        if (!condition_holds(&v, &w->condition[i]))
            return i;
    }
    return w->count;
}

unsigned rule_header_failure(struct explain *e, struct wanted *w, const struct subject *s)
{
    uint32_t held = 0;
    struct evaluation v = { .e = e, .w = w, .s = s, .held = &held };

    evaluation_begin(&v);
    for (unsigned i = 0; i < w->count && w->condition[i].part <= PART_APP; i++)
        if (w->condition[i].part != PART_INSPECTED && !header_part_fits(&v, &w->condition[i]))
            return i;
    return w->count;
}

bool rule_list_holds(struct explain *e, struct wanted *w, const struct subject *s, unsigned list)
{
    uint32_t held = 0;
    struct evaluation v = { .e = e, .w = w, .s = s, .held = &held };

    evaluation_begin(&v);
    return list_passes(&v, w->trace[list], list);
}

unsigned rule_evaluate(struct explain *e, struct wanted *w, const struct subject *s,
                       uint32_t *held)
{
    struct evaluation v = { .e = e, .w = w, .s = s, .held = held };
    unsigned distance = 0;

    evaluation_begin(&v);
    for (unsigned i = 0; i < w->list_count; i++)
        list_evaluate(&v, i);
    for (unsigned i = 0; i < w->count; i++) {
        condition_evaluate(&v, i, distance == 0);
        distance += w->finding[i].weight;
    }
    return MIN(distance, (unsigned)UINT16_MAX - 1);
}
