/* SPDX-License-Identifier: GPL-2.0-or-later */
/* detect/explain/inspect.c - asks the wanted rules before the engine does, with what the engine is
 * about to inspect, and compares with what came of it. */
#include "detect/explain/notes.h"

#include "app/frames.h"
#include "base/memory/lib_memory.h"
#include "base/system/clock.h"
#include "detect/explain/matched.h"
#include "detect/state/threshold.h"
#include "flow/flow.h"
#include "stream/slot.h"

/* --- one rule, one subject -------------------------------------------------------------------- */

/* Frames are the flow's. */
static bool is_on_tx(const struct rule *r)
{
    return r->type == RULE_APP_TX && (r->list == NULL || r->list->buffer == NULL ||
                                      r->list->buffer->kind != BUFFER_FRAME);
}

static struct seen *seen_of(struct explain *e, const struct wanted *w, const struct subject *s)
{
    const struct packet *p = s->packet;

    if (p->flow == NULL)
        return seen_get(e, w->group, 0, p->number);
    return seen_get(e, w->group, p->flow->id,
                    s->tx != NULL && is_on_tx(w->rule) ? s->tx->id : UINT64_MAX);
}

static void note_held(struct explain *e, struct seen *seen, struct wanted *w)
{
    for (unsigned i = 0; i < e->held_count; i++)
        if (e->held[i].seen == seen)
            return;
    if (e->held_count < ARRAY_LEN(e->held)) {
        e->held[e->held_count].seen = seen;
        e->held[e->held_count++].rule = w;
    }
}

/* Payload that matched in the stream counts for the flow's transactions. */
static uint32_t *held_of(const struct wanted *w, const struct subject *s, struct seen *seen)
{
    unsigned d = w->rule->flags & RULE_TX_BOTH ? 0 : s->direction;
    struct seen *flow;

    if (s->tx == NULL || s->packet->flow == NULL)
        return &seen->held[d];
    flow = map_get(&w->group->seen, (uint64_t[2]){ s->packet->flow->id, UINT64_MAX },
                   2 * sizeof(uint64_t));
    if (flow != NULL && flow != seen)
        for (unsigned i = 0; i < w->list_count && i < 32; i++)
            if (w->trace[i] != NULL && w->trace[i]->list->buffer == NULL)
                seen->held[d] |= flow->held[d] & 1u << i;
    return &seen->held[d];
}

/* What matched because of where the stream ended, or of what was absent, is asked again when the
 * window has grown (inspect/stream.c). */
static bool is_revoked(const struct wanted *w, const struct subject *s, const struct seen *seen)
{
    const struct rule_list *l = rule_payload(w->rule);

    return s->is_stream && seen->distance == 0 && seen->fired == 0 &&
           seen->window == s->window && l != NULL && l->program->revocable;
}

static void ask(struct explain *e, struct wanted *w, struct subject *s)
{
    struct seen *seen = e->summary ? NULL : seen_of(e, w, s);
    uint32_t unsearched = 0;
    bool skipped = s->is_stream && s->inspection->unsampled;    /* no match is held for later */
    unsigned distance;

    if (e->summary)
        w->stopped[rule_first_failure(e, w, s)]++;
    if (seen == NULL)
        return;
    w->group->asked++;
    if (seen->fired > 0 && seen->attempt != NULL)
        return;
    s->is_revoked = is_revoked(w, s, seen);
    distance = rule_evaluate(e, w, s, skipped ? &unsearched : held_of(w, s, seen));
    seen_note(e, w, s, seen, distance);
    if (s->is_stream)
        seen->window = s->window;
    if (distance == 0 && seen->first_held == 0)
        seen->first_held = s->packet->number;
    if (distance == 0)
        note_held(e, seen, w);
}

/* --- what is inspected ------------------------------------------------------------------------ */

/* The data since the last report, as inspect/stream.c has them. */
static struct slice window_of(const struct explain *e, const struct inspection *in,
                              const struct stream_chunk *c, uint64_t *offset)
{
    const struct detect_flow *df = in->flow->detect;
    uint64_t first = c->offset - c->lookbehind, end = c->offset + c->len, size;
    uint64_t from = df != NULL ? stream_dir_from(&df->ds[c->direction]) : 0;

    if (e->set->is_inline) {
        size = MAX(e->set->plan->chunk_size[c->direction], c->len + c->len / 3);
        first = MAX(first, end - MIN(size, end));
    } else {
        first = MAX(first, MIN(from, c->offset));
    }
    *offset = first;
    return (struct slice){ c->data - (c->offset - first), (uint32_t)(end - first) };
}

static bool wants_stream(const struct rule *r)
{
    const struct rule_list *l = rule_payload(r);

    return l != NULL && (is_on_tx(r) || (r->flags & RULE_NEEDS_STREAM));
}

static void ask_chunks(struct explain *e, struct wanted *w, const struct inspection *in)
{
    for (unsigned i = 0; i < in->chunk_count; i++) {
        const struct stream_chunk *c = &in->chunk[i];
        struct subject s = { .inspection = in, .packet = in->packet, .direction = c->direction,
                             .has_payload = true, .is_stream = true };

        if (c->data == NULL || c->len == 0)
            continue;
        s.payload = window_of(e, in, c, &s.window);
        ask(e, w, &s);
    }
}

/* Rules on the stream alone see the packet only if its payload went elsewhere. */
static void ask_packet(struct explain *e, struct wanted *w, const struct inspection *in,
                       enum direction d)
{
    struct packet *p = in->packet;
    bool stream = p->ip_proto == 6 && (w->rule->flags & RULE_NEEDS_STREAM) &&
                  !(w->rule->flags & RULE_NEEDS_PACKET) && (p->flags & PACKET_STREAM_ADDED);
    struct subject s = { .inspection = in, .packet = p, .direction = d,
                         .payload = { p->payload, p->payload_len },
                         .has_payload = !stream && p->payload_len > 0,
                         .is_last = inspection_is_last(in) };

    if (s.is_last && w->rule->type == RULE_PACKET)
        return;                         /* at the end of a flow there is no packet */
    ask(e, w, &s);
}

static void ask_txs(struct explain *e, struct wanted *w, const struct inspection *in,
                    enum direction d)
{
    struct packet *p = in->packet;

    for (struct app_tx *tx = in->flow->app->due; tx != NULL; tx = tx->due_next) {
        struct subject s = { .inspection = in, .packet = p, .direction = d, .tx = tx,
                             .payload = { p->payload, p->payload_len },
                             .has_payload = p->ip_proto != 6 && p->payload_len > 0,
                             .is_last = inspection_is_last(in) };

        ask(e, w, &s);
    }
}

static bool has_txs(const struct inspection *in)
{
    return in->flow != NULL && in->flow->app != NULL && in->flow->app->proto != NULL &&
           in->flow->app->due != NULL;
}

static bool has_had_txs(const struct inspection *in)
{
    return in->flow != NULL && in->flow->app != NULL && in->flow->app->next_tx_id > 0;
}

static void ask_direction(struct explain *e, struct wanted *w, const struct inspection *in,
                          enum direction d)
{
    if (is_on_tx(w->rule) && has_txs(in))
        ask_txs(e, w, in, d);
    else if (is_on_tx(w->rule) && has_had_txs(in))
        return;
    else if (in->packet->src.version != 0 || w->rule->type == RULE_DECODER_EVENT)
        ask_packet(e, w, in, d);
}

/* In a summary of many rules most are turned away by what costs little: numbered headers are
 * compared once for a packet, and the mask of a rule is beside that of the next. */
static bool may_fit(struct explain *e, const struct wanted *w, const struct inspection *in)
{
    const struct rule *r = w->rule;
    const struct rule_mask *mask = &e->set->plan->mask[r->index];

    if (!e->summary)
        return true;
    if (mask->app_proto != APP_PROTO_UNKNOWN &&
        (in->flow == NULL || !app_proto_matches((enum app_proto_id)mask->app_proto,
                                                in->flow->app_proto)))
        return false;
    if (mask->is_tx ? in->chunk_count == 0 && !has_txs(in)
                    : mask->needs_payload && in->packet->payload_len == 0 && in->chunk_count == 0)
        return false;
    for (enum direction d = TO_SERVER; d <= TO_CLIENT; d++)
        if ((r->flags & (d == TO_SERVER ? RULE_TO_SERVER : RULE_TO_CLIENT)) &&
            rule_header_fits(r, &e->view[d]))
            return true;
    return false;
}

#define HEADER_ASKED_MOST 100   /* for each rule: it costs what may_fit() saves */

/* For a rule that is never a candidate: how far its header came. */
static void note_header(struct explain *e, struct wanted *w, const struct inspection *in)
{
    struct subject s = { .inspection = in, .packet = in->packet, .direction = in->direction };
    unsigned failure;

    if (!e->summary || w->header_asked >= HEADER_ASKED_MOST || in->packet->src.version == 0)
        return;
    w->header_asked++;
    failure = rule_header_failure(e, w, &s);
    if (failure < w->count)
        w->header_at = (uint16_t)MAX(w->header_at, failure + 1);
}

static void views_make(struct explain *e, const struct packet *p)
{
    for (enum direction d = TO_SERVER; d <= TO_CLIENT && e->summary; d++) {
        header_view_init(&e->view[d], p, d);
        e->view[d].cache = &e->view[d].own;
    }
}

static void ask_rule(struct explain *e, struct wanted *w, const struct inspection *in, bool chunks)
{
    if (!may_fit(e, w, in)) {
        note_header(e, w, in);
        return;
    }
    if (chunks && in->flow != NULL && in->packet->ip_proto == 6 && wants_stream(w->rule))
        ask_chunks(e, w, in);
    if (!inspection_is_last(in)) {
        ask_direction(e, w, in, in->direction);
        return;
    }
    if (in->last_sides & INSPECT_OWN_SIDE)
        ask_direction(e, w, in, in->direction);
    if (in->last_sides & INSPECT_OTHER_SIDE)
        ask_direction(e, w, in, OTHER_DIRECTION(in->direction));
}

/* --- what came of it -------------------------------------------------------------------------- */

static bool reads_state(const struct rule *r)
{
    return r->flowbits_read > 0 || r->vars_read != 0 || r->uses_shared_state;
}

static void note_alert(struct explain *e, const struct packet *p, const struct packet_alert *a)
{
    struct wanted *w = a->rule->index < e->set->rules.count ? e->by_index[a->rule->index] : NULL;
    struct seen *seen;

    if (w == NULL || w->rule != a->rule)
        return;
    w->group->fired++;
    if (e->summary)
        return;
    seen = p->flow == NULL ? seen_get(e, w->group, 0, p->number)
                           : seen_get(e, w->group, p->flow->id,
                                      is_on_tx(w->rule) && a->tx_id != ALERT_NO_TX ? a->tx_id
                                                                                 : UINT64_MAX);
    if (seen == NULL)
        return;
    if (seen->fired++ == 0)
        seen->first_fired = p->number;
    seen->rule = seen->rule != NULL ? seen->rule : w;
}

/* A threshold counts on with each match, so the latest reason stands. */
static void hold_back(struct explain *e, struct attempt *a, const struct wanted *w,
                      const struct inspection *in)
{
    uint32_t counted = w->rule->threshold != NULL
                           ? threshold_counted(e->set->threshold_state, w->rule, in->packet,
                                               in->direction) : 0;
    char *why;

    if (a->held_back != NULL && counted <= a->counted)
        return;
    why = held_back_make(e, w, in, counted);
    if (why == NULL)
        return;
    lib_free(a->held_back);
    a->held_back = why;
    a->counted = counted;
}

/* Of rules whose conditions all held and that have not fired: why. */
static void note_held_back(struct explain *e, const struct inspection *in)
{
    for (unsigned i = 0; i < e->held_count; i++) {
        struct seen *seen = e->held[i].seen;
        struct attempt *a = seen->attempt;

        if (seen->fired == 0 && a != NULL && seen->distance == 0)
            hold_back(e, a, e->held[i].rule, in);
    }
}

void explain_engine_inspect(const struct explain *e, struct detect_thread *dt,
                            const struct inspection *in)
{
    if (e->matched != NULL)
        matched_inspect(e->matched, dt, in);
    else
        detect_inspect(dt, in);
}

/* Its time is not that of the question. */
static void inspect_timed(struct explain *e, struct detect_thread *dt, const struct inspection *in)
{
    uint64_t begin = clock_ns();

    explain_engine_inspect(e, dt, in);
    e->engine_ns += clock_ns() - begin;
}

/* Counts matches as well, which the engine does not say of rules whose threshold is silent. A
 * profile of the thread's own, if there is one, rests meanwhile. */
static void inspect_counted(struct explain *e, struct detect_thread *dt,
                            const struct inspection *in)
{
    struct rule_profile *own = dt->profile;
    bool was_timed = dt->is_timed;

    if (e->matches != NULL) {
        dt->profile = e->matches;
        dt->is_timed = true;
    }
    inspect_timed(e, dt, in);
    dt->profile = own;
    dt->is_timed = was_timed;
}

/* The question to the rules that the thread runs; NULL: they have none of it. */
static struct explain *explain_of(struct explain *e, const struct ruleset *set)
{
    while (e != NULL && e->set != set)
        e = e->next;
    return e;
}

/* An alert of a hook before the stream came before the inspection. */
static bool is_early(const struct packet_alert *a)
{
    return a->rule->hook == HOOK_PRE_FLOW || a->rule->hook == HOOK_PRE_STREAM;
}

void explain_inspect(struct explain *first, struct detect_thread *dt, const struct inspection *in)
{
    const struct packet *p = in->packet;
    unsigned before = detect_slot(p)->alert_count;
    struct explain *e = explain_of(first, dt->set);

    if (e == NULL || !flow_is_wanted(&e->flow, p)) {
        inspect_timed(first, dt, in);
        return;
    }
    e->packets += !(p->flags & PACKET_PSEUDO) && !inspection_is_last(in);
    e->held_count = 0;
    e->shadow->epoch++;
    e->shadow->inspection = in;
    views_make(e, p);
    for (unsigned i = 0; i < e->wanted_count; i++)
        ask_rule(e, &e->wanted[i], in, true);
    inspect_counted(e, dt, in);
    for (unsigned i = 0; i < detect_slot(p)->alert_count; i++)
        if (i >= before || is_early(&packet_alerts(p)[i]))
            note_alert(e, p, &packet_alerts(p)[i]);
    /* State that other rules have set with this packet counts for those that come after them. */
    e->shadow->epoch++;
    for (unsigned i = 0; i < e->wanted_count; i++)
        if (!e->summary && reads_state(e->wanted[i].rule))
            ask_rule(e, &e->wanted[i], in, false);
    note_held_back(e, in);
}
