/* SPDX-License-Identifier: GPL-2.0-or-later */
/* detect/explain/matched.c - where the conditions of a rule have matched.
 *
 * After an alert the rule's programs run once more, with probes, on what they have matched. Data of
 * a stream are those that the alert shows; a buffer may be gone by then, and then the alert is
 * silent about its conditions. */
#include "detect/explain/matched.h"

#include <stdlib.h>

#include "base/memory/lib_memory.h"
#include "base/report/json.h"
#include "detect/explain/private.h"
#include "detect/rule/alert.h"
#include "detect/rule/rule_block.h"
#include "flow/flow.h"

/* Memory for the programs of rules that have alerted, of a set and a thread: about 10,000. */
#define TRACES_MAX (64u << 20)

/* The rules of a set that have alerted in this thread. */
struct matched_set {
    struct matched_set *next;
    struct ruleset *set;                /* referenced */
    struct arena arena;
    struct wanted **by_index;           /* NULL: not yet */
};

struct matched {
    struct matched_set *sets;           /* with tenants several */
    struct explain explain;             /* of it the thread and the scratch alone */
    struct buf text;
};

/* --- rules ---------------------------------------------------------------------------------- */

/* NULL: no memory. */
static struct matched_set *set_of(struct matched *m, struct ruleset *set)
{
    struct matched_set *s = m->sets;

    while (s != NULL && s->set != set)
        s = s->next;
    if (s != NULL)
        return s;
    s = lib_calloc(1, sizeof(*s));
    if (s == NULL)
        return NULL;
    s->by_index = lib_calloc(set->rules.count + 1, sizeof(struct wanted *));
    if (s->by_index == NULL) {
        lib_free(s);
        return NULL;
    }
    s->set = ruleset_ref(set);
    arena_init(&s->arena, 64 * 1024, TRACES_MAX);
    s->next = m->sets;
    m->sets = s;
    return s;
}

/* Made with the rule's first alert; NULL: no memory. Steps that change a set or run a script are
 * left out. */
static struct wanted *traces_of(struct matched_set *s, const struct rule *r)
{
    struct wanted *w = s != NULL ? s->by_index[r->index] : NULL;
    unsigned n = 0;

    if (s == NULL || w != NULL)
        return w;
    w = arena_zalloc(&s->arena, sizeof(*w));
    if (w == NULL)
        return NULL;
    for (const struct rule_list *l = r->list; l != NULL; l = l->next)
        n++;
    w->rule = r;
    w->trace = arena_zalloc(&s->arena, (n + 1) * sizeof(*w->trace));
    if (w->trace == NULL)
        return NULL;
    rule_read_operations(r);
    for (const struct rule_list *l = r->list; l != NULL; l = l->next)
        w->trace[w->list_count++] = trace_new(&s->arena, l, TRACE_CHANGES_SETS | TRACE_ONCE);
    s->by_index[r->index] = w;
    return w;
}

/* --- the data of a stream ------------------------------------------------------------------- */

/* The stretch of a stream's retained data that was one window. */
struct window {
    struct slice data;
    uint32_t at;                        /* in what the alert shows */
    uint64_t offset;                    /* in the stream */
};

/* Where a byte of the stream is in what is retained. The text of a gap stands for its bytes. */
static uint64_t retained_at(const struct stream_ext *ext, uint64_t offset)
{
    uint64_t at = offset - MIN(ext->from, offset);

    if (ext->gap == 0 || at < (uint64_t)ext->gap_at + ext->gap)
        return at;
    return at - ext->gap + ext->gap_text;
}

/* `from`: up to where rules had inspected the stream before this packet. Inline, windows overlap:
 * then it is all that is retained. A gap ends a window, so there may be two: the first is the one
 * behind the gap, whose data are newer. Alerts of the one before it may have waited for a packet.
 * Returns how many. */
static unsigned windows_of(const struct detect_thread *dt, const struct flow *f, enum direction d,
                           uint64_t from, struct window out[2])
{
    struct slice retained;
    const struct stream_ext *ext;
    uint64_t behind = 0;
    unsigned n = 0;
    uint32_t gap;

    retained = alert_payload_get(dt, f, d, &gap);
    if (retained.len == 0)
        return 0;
    ext = f->detect->ds[d].ext;
    from = dt->is_inline ? ext->from : MAX(from, ext->from);
    if (ext->gap > 0)
        behind = ext->from + ext->gap_at + ext->gap;
    out[n].offset = MAX(from, behind);
    out[n].at = (uint32_t)MIN(retained_at(ext, out[n].offset), retained.len);
    out[n].data = (struct slice){ retained.data + out[n].at, retained.len - out[n].at };
    n++;
    if (ext->gap == 0 || ext->gap_at == 0)
        return n;
    out[n].offset = from < behind - ext->gap ? from : ext->from;
    out[n].at = (uint32_t)(out[n].offset - ext->from);
    out[n].data = (struct slice){ retained.data + out[n].at, ext->gap_at - out[n].at };
    return n + 1;
}

/* --- places --------------------------------------------------------------------------------- */

static uint32_t start_of(const struct trace *t, unsigned step)
{
    return step > 0 ? t->end[step - 1] : 0;
}

/* The bytes of the number that was read. */
static bool number_place(const struct trace *t, unsigned step, uint32_t *at, uint32_t *len)
{
    const struct rule_op *op = t->op[step];
    struct step s = { .flags = op->flags, .kind = op->kind, .byte = op->byte };
    uint64_t vars[BYTE_VARS_MAX], value;
    struct program_run run = { .data = t->data.data, .len = t->data.len, .little = t->little,
                               .at = start_of(t, step), .vars = vars };
    uint32_t end;

    memcpy(vars, t->vars, sizeof(vars));
    if (!byte_extract_value(&s, &run, &value, &end))
        return false;
    *len = MIN(op->flags & OP_NBYTES_VAR ? (uint32_t)vars[op->byte.nbytes] : op->byte.nbytes, end);
    *at = end - *len;
    return *len > 0;
}

/* False: the step has no bytes of its own, as a content that must be absent, or a length. */
static bool step_place(const struct trace *t, unsigned step, uint32_t *at, uint32_t *len)
{
    const struct rule_op *op = t->op[step];

    if (op->flags & OP_NEGATED)
        return false;
    switch ((enum op_kind)op->kind) {
    case OP_CONTENT:
        *len = MIN(op->content.len, t->end[step]);
        *at = t->end[step] - *len;
        return true;
    case OP_PCRE:
        *at = MIN(t->pcre_from[step] - MIN(1u, t->pcre_from[step]), t->end[step]);
        *len = t->end[step] - *at;
        return true;
    case OP_BYTE_TEST:
    case OP_BYTE_JUMP:
    case OP_BYTE_EXTRACT:
    case OP_BYTE_MATH:
        return number_place(t, step, at, len);
    case OP_CALL:                       /* dataset, entropy ...: of all that is there */
        *at = 0;
        *len = t->data.len;
        return *len > 0;
    default:
        return false;
    }
}

/* `window`: NULL unless the data are a stream's. */
static void places_write(const struct trace *t, const struct window *window, struct json *j)
{
    const struct buffer *b = t->list->buffer;
    uint32_t at, len;

    for (unsigned i = 0; i < t->count; i++) {
        if (!step_place(t, i, &at, &len))
            continue;
        json_object(j, NULL);
        json_string(j, "buffer", b != NULL ? b->name : "payload");
        if (b != NULL && b->multi)
            json_u64(j, "index", t->index);
        json_string(j, "keyword", t->op[i]->keyword != NULL ? t->op[i]->keyword->name : "");
        json_u64(j, "offset", t->start + at + (window != NULL ? window->at : 0));
        json_u64(j, "length", len);
        if (window != NULL)
            json_u64(j, "stream_offset", window->offset + at);
        json_object_end(j);
    }
    if (t->decoded != NULL && t->decoded->is_there)
        places_write(t->decoded, NULL, j);
}

/* --- alerts --------------------------------------------------------------------------------- */

/* One alert, and what was inspected. */
struct occasion {
    struct matched *m;
    struct detect_thread *dt;
    const struct inspection *inspection;
    const struct packet_alert *alert;
    uint64_t from[2];                   /* of each direction: see window_of() */
};

/* Payload of a stream is looked for where the alert has it. */
static bool is_of_stream(const struct occasion *o, const struct rule_list *l)
{
    return l->buffer == NULL && o->inspection->packet->ip_proto == 6 &&
           (o->alert->flags & (ALERT_STREAM | ALERT_APP_STATE));
}

static bool holds(const struct occasion *o, struct wanted *w, unsigned list, struct subject *s,
                  struct slice payload)
{
    s->payload = payload;
    s->has_payload = payload.len > 0;
    return rule_list_holds(&o->m->explain, w, s, list) && w->trace[list]->passed;
}

static void list_write(const struct occasion *o, struct wanted *w, unsigned list,
                       struct subject *s, struct json *j)
{
    struct trace *t = w->trace[list];
    struct window window[2];
    unsigned count;

    if (t == NULL)
        return;
    s->is_stream = is_of_stream(o, t->list);
    if (!s->is_stream) {
        if (holds(o, w, list, s, (struct slice){ s->packet->payload, s->packet->payload_len }))
            places_write(t, NULL, j);
        return;
    }
    count = windows_of(o->dt, o->inspection->flow, s->direction, o->from[s->direction], window);
    for (unsigned i = 0; i < count; i++) {
        if (holds(o, w, list, s, window[i].data)) {
            places_write(t, &window[i], j);
            return;
        }
    }
}

static struct app_tx *tx_of(const struct flow *f, uint64_t id)
{
    return id == ALERT_NO_TX || f == NULL || f->app == NULL ? NULL : app_tx_find(f->app, id);
}

/* Members of the context: those it has, and ours. False: nothing of the rule has a place. */
static bool context_write(const struct occasion *o, struct wanted *w, struct json *j)
{
    const struct inspection *in = o->inspection;
    const struct alert_extra *had = o->alert->extra;
    struct subject s = { .inspection = in, .packet = in->packet, .tx = tx_of(in->flow,
                         o->alert->tx_id), .frame_id = o->alert->frame_id,
                         .direction = packet_alert_side(in->packet, o->alert),
                         .is_last = inspection_is_last(in) };
    size_t before;

    json_object(j, NULL);
    if (had != NULL && had->context.len > 0)
        json_raw(j, NULL, (const char *)had->context.data, had->context.len);
    json_array(j, "matched");
    before = j->out->len;
    for (unsigned i = 0; i < w->list_count; i++)
        list_write(o, w, i, &s, j);
    json_array_end(j);
    return j->out->len > before + 1 && !j->out->failed;
}

/* The alert lives until the thread's next packet, as does the arena. */
static void add_places(const struct occasion *o, struct packet_alert *a)
{
    struct wanted *w = traces_of(set_of(o->m, o->dt->set), a->rule);
    struct alert_extra extra = a->extra != NULL ? *a->extra : (struct alert_extra){ 0 };
    struct buf *text = &o->m->text;
    const struct alert_extra *more;
    struct json j;

    if (w == NULL)
        return;
    buf_clear(text);
    json_init(&j, text);
    if (!context_write(o, w, &j))
        return;
    extra.context = arena_slice(&o->dt->alert_context,
                                (struct slice){ text->data + 1, (uint32_t)text->len - 1 });
    more = extra.context.len > 0 ? arena_copy(&o->dt->alert_context, &extra, sizeof(extra)) : NULL;
    if (more != NULL)
        a->extra = more;
}

static void note_from(struct occasion *o, const struct flow *f)
{
    for (enum direction d = TO_SERVER; d <= TO_CLIENT; d++)
        o->from[d] = f != NULL && f->detect != NULL ? stream_dir_from(&f->detect->ds[d]) : 0;
}

/* An alert of a hook before the stream, which has not been here yet. Its rule may be one of a set
 * that the thread does not run (tenants, a reload). */
static bool waits_for_places(const struct detect_thread *dt, const struct packet_alert *a)
{
    const struct rule *r = a->rule;

    return (r->hook == HOOK_PRE_FLOW || r->hook == HOOK_PRE_STREAM) && a->extra == NULL &&
           r->index < dt->set->rules.count && dt->plan->rule[r->index] == r;
}

void matched_inspect(struct matched *m, struct detect_thread *dt, const struct inspection *in)
{
    struct occasion o = { .m = m, .dt = dt, .inspection = in };
    struct packet *p = in->packet;
    unsigned before = detect_slot(p)->alert_count;
    bool timed;

    note_from(&o, in->flow);
    detect_inspect(dt, in);
    if (LIKELY(detect_slot(p)->alert_count == 0))
        return;
    timed = dt->laps.on;
    dt->laps.on = false;                /* buffers are read again: that is no cost of rules */
    m->explain.shadow = dt;
    program_scratch_set_steps(&m->explain.scratch, 2 * MIN(dt->program.steps_most, UINT32_MAX / 2));
    for (unsigned i = 0; i < detect_slot(p)->alert_count; i++) {
        struct inspection side = *in;

        o.alert = &packet_alerts(p)[i];
        if (i < before && !waits_for_places(dt, o.alert))
            continue;
        if (o.alert->flags & ALERT_REVERSED)
            side.direction = OTHER_DIRECTION(in->direction);
        o.inspection = dt->inspection = &side;
        add_places(&o, &packet_alerts(p)[i]);
    }
    dt->inspection = in;
    dt->laps.on = timed;
}

/* --- life ----------------------------------------------------------------------------------- */

struct matched *matched_new(void)
{
    struct matched *m = xcalloc(1, sizeof(*m));

    program_scratch_init(&m->explain.scratch, 0);
    return m;
}

void matched_clear(struct matched *m)
{
    while (m->sets != NULL) {
        struct matched_set *s = m->sets;

        m->sets = s->next;
        ruleset_unref(s->set);
        lib_free(s->by_index);
        arena_fini(&s->arena);
        lib_free(s);
    }
}

void matched_free(struct matched *m)
{
    if (m == NULL)
        return;
    matched_clear(m);
    program_scratch_fini(&m->explain.scratch);
    buf_fini(&m->text);
    free(m);
}
