/* SPDX-License-Identifier: GPL-2.0-or-later */
/* detect/inspect/stream.c - rules on the raw stream.
 *
 * Data arrive with the packet that acknowledges them, which has the other direction, and are
 * searched at once. Alerts are raised with the next packet of the data's own direction, if there
 * are enough data or a module requests it (see README.md). Data between two such packets are one
 * window, and a rule alerts once per window. */
#include "detect/inspect/address_case.h"
#include "detect/inspect/alert_once.h"
#include "detect/inspect/look_back.h"
#include "detect/inspect/part_cost.h"
#include "detect/inspect/rule_cost.h"
#include "base/array.h"
#include "base/memory/lib_memory.h"
#include "detect/compile/renumber.h"
#include "detect/state/packet_facts.h"
#include "detect/state/tag.h"
#include "detect/state/threshold.h"
#include "flow/flow.h"
#include "flow/flow_export.h"
#include "stream/stream.h"


/* Per list of a direction. Further matches are lost, which bounds memory for a flow. */
#define STREAM_RULES_MAX 1024

/* Made with the first data that rules inspect. Without memory the flow is not inspected. */
struct detect_flow *detect_flow_get(struct flow *f)
{
    if (f->detect == NULL)
        f->detect = lib_calloc(1, sizeof(*f->detect));
    return f->detect;
}

struct stream_ext *stream_ext_get(struct stream_dir *ds)
{
    if (ds->ext == NULL)
        ds->ext = lib_calloc(1, sizeof(*ds->ext));
    return ds->ext;
}

static void ext_free(struct stream_ext *ext)
{
    if (ext == NULL)
        return;
    buf_fini(&ext->retained);
    buf_fini(&ext->captured);
    buf_fini(&ext->window);
    lib_free(ext->recent);
    lib_free(ext->earlier);
    lib_free(ext->alerted);
    lib_free(ext);
}

/* Prefetches before the packet is inspected. The lists need the flow's state first, so they have a
 * separate call. */
void detect_prefetch_flow(const struct flow *flow)
{
    PREFETCH_ALL(flow->detect, sizeof(struct detect_flow));
}

void detect_prefetch_lists(const struct flow *flow)
{
    const struct detect_flow *df = flow->detect;

    for (unsigned d = 0; df != NULL && d < 2; d++) {
        PREFETCH(df->ds[d].pending_alerts);
        PREFETCH(df->ds[d].pending_rules);
        PREFETCH(df->ds[d].payload_hits);
    }
}

/* The sets of a chunk, if the flow has been asked for its addresses before. */
static const struct payload_sets *sets_ahead(const struct detect_plan *plan, const struct flow *f,
                                             enum direction d)
{
    const struct header_cache *cache =
        &f->detect->cache[(d == TO_CLIENT) != flow_is_swapped(f)];
    unsigned sender = (unsigned)(cache->matched >> HEADER_ID_SENDER & 1);
    unsigned receiver = (unsigned)(cache->matched >> HEADER_ID_RECEIVER & 1);

    return plan->group[TRANSPORT_TCP][d].stream[sender * 2 + receiver][f->app_proto];
}

/* Flows of other protocols and addresses have other tables, which have left the caches meanwhile. A
 * wrong guess costs no more than the time. */
void detect_prefetch_chunks(struct detect_thread *dt, const struct packet *p)
{
    const struct stream_slot *s = stream_slot((struct packet *)p);
    const struct payload_sets *sets;

    if (s->chunk_count == 0 || p->flow == NULL || p->flow->detect == NULL)
        return;
    sets = sets_ahead(dt->plan, p->flow, (enum direction)s->chunk[0].direction);
    if (sets == NULL || sets == dt->chunk_sets || sets->any_port[POSITION_ANYWHERE] == NULL)
        return;
    dt->chunk_sets = sets;
    pattern_set_fetch(sets->any_port[POSITION_ANYWHERE]);
}

/* When the flow is removed. */
void detect_flow_free(struct flow *f)
{
    struct detect_flow *df = f->detect;

    threshold_flow_free(f);
    tag_flow_free(f);
    packet_facts_free(f);
    if (df == NULL)
        return;
    for (unsigned d = 0; d < 2; d++) {
        lib_free(df->ds[d].pending_alerts);
        lib_free(df->ds[d].pending_rules);
        lib_free(df->ds[d].payload_hits);
        ext_free(df->ds[d].ext);
    }
    f->detect = NULL;
    lib_free(df);
}

/* Bytes of a direction between two reports; more captures are lost. */
#define CAPTURED_MAX 4096

/* Precedes each capture in stream_ext.captured; the key and the text follow. */
struct stream_capture { uint32_t rule, id, kind, key_len, len; };

static void captures_clear(struct stream_dir *ds)
{
    if (UNLIKELY(ds->ext != NULL))
        buf_clear(&ds->ext->captured);
}

/* Keeps the order. The first `first` of the list become fewer like the others. */
static unsigned renumber(struct stream_rules *s, const uint32_t *renumbered, unsigned first)
{
    unsigned n = 0, firsts = 0, kept = 0;

    if (s == NULL)
        return 0;
    for (unsigned i = 0; i < s->count; i++) {
        uint32_t now = renumbered != NULL ? renumbered[s->at[i]] : RULE_ABSENT;

        if (now == RULE_ABSENT)
            continue;
        firsts += i < first;
        kept += i < s->kept;
        s->at[n++] = now;
    }
    s->count = (uint16_t)n;
    s->kept = (uint16_t)kept;
    return firsts;
}

static void captures_renumber(struct buf *captured, const uint32_t *renumbered)
{
    struct stream_capture head;

    if (renumbered == NULL) {
        buf_clear(captured);
        return;
    }
    for (size_t at = 0; at + sizeof(head) <= captured->len;
         at += sizeof(head) + head.key_len + head.len) {
        memcpy(&head, captured->data + at, sizeof(head));
        if (head.rule != RULE_ABSENT)
            head.rule = renumbered[head.rule];
        memcpy(captured->data + at, &head, sizeof(head));
    }
}

static void ext_renumber(struct stream_ext *ext, const uint32_t *renumbered)
{
    stream_rules_clear(ext->recent);
    stream_rules_clear(ext->earlier);
    alert_once_clear(ext->alerted);
    captures_renumber(&ext->captured, renumbered);
    if (renumbered == NULL)
        buf_clear(&ext->window);
}

void stream_renumber(struct detect_flow *df, const uint32_t *renumbered)
{
    df->cache[0] = df->cache[1] = (struct header_cache){ 0 };
    for (unsigned d = 0; d < 2; d++) {
        struct stream_dir *ds = &df->ds[d];

        renumber(ds->pending_alerts, renumbered, 0);
        renumber(ds->pending_rules, renumbered, 0);
        ds->hits_done = (uint16_t)renumber(ds->payload_hits, renumbered, ds->hits_done);
        ds->searched_as = STREAM_NOT_SEARCHED;
        if (UNLIKELY(ds->ext != NULL))
            ext_renumber(ds->ext, renumbered);
    }
}

/* Lists are short, so a plain search is fast. */
static bool first_have(const struct stream_rules *s, unsigned count, uint32_t rule)
{
    for (unsigned i = 0; i < count; i++)
        if (s->at[i] == rule)
            return true;
    return false;
}

bool stream_rules_has(const struct stream_rules *s, uint32_t rule)
{
    return first_have(s, stream_rules_count(s), rule);
}

bool stream_has_payload_hit(const struct stream_dir *ds, uint32_t rule)
{
    return first_have(ds->payload_hits, ds->hits_done, rule);
}

/* These hits belonged to the transactions of this report; later data belong to others. */
void stream_payload_hits_done(struct stream_dir *ds)
{
    struct stream_rules *s = ds->payload_hits;

    s->count = (uint16_t)(s->count - ds->hits_done);
    s->kept = (uint16_t)(s->kept - MIN(s->kept, ds->hits_done));
    memmove(s->at, s->at + ds->hits_done, s->count * sizeof(s->at[0]));
    ds->hits_done = 0;
}

bool stream_rules_push(struct stream_rules **list, uint32_t rule)
{
    struct stream_rules *s = *list;
    unsigned count = stream_rules_count(s), cap;

    if (count == STREAM_RULES_MAX)
        return false;
    if (s == NULL || count == s->cap) {
        cap = count > 0 ? count * 2u + 2 : 6;       /* with its head a size that allocators have */
        s = lib_realloc(s, sizeof(*s) + cap * sizeof(s->at[0]));
        if (s == NULL)
            return false;
        if (*list == NULL)
            s->kept = 0;
        *list = s;
        s->cap = (uint16_t)cap;
    }
    s->at[count] = rule;
    s->count = (uint16_t)(count + 1);
    return true;
}

/* The window so far: data since the last report that are still kept. Inline, each segment
 * is inspected when it comes, with data before it whether reported or not: the sender
 * chooses the segments, and small ones must not hide anything. */
static struct slice window_of(const struct detect_thread *dt, const struct stream_chunk *c,
                              const struct stream_dir *ds)
{
    uint64_t first = c->offset - c->lookbehind, end = c->offset + c->len, inline_size;

    if (dt->is_inline) {
        inline_size = MAX(dt->plan->chunk_size[c->direction], c->len + c->len / 3);
        first = MAX(first, end - MIN(inline_size, end));
    } else {
        first = MAX(first, MIN(stream_dir_from(ds), c->offset));
    }
    return (struct slice){ c->data - (c->offset - first),
                           c->len + (uint32_t)(c->offset - first) };
}

/* Rules that need no evaluation for this chunk. */
static void decided_add(struct candidates *decided, const struct stream_rules *s)
{
    for (unsigned i = 0; i < stream_rules_count(s); i++)
        candidates_add(decided, s->at[i]);
}

/* Before the protocol is known all rules are evaluated; then only its own. */
static bool proto_may_fit(uint8_t app_proto, const struct flow *f)
{
    return app_proto == APP_PROTO_UNKNOWN || f->app_proto == APP_PROTO_UNKNOWN ||
           app_proto == f->app_proto || app_proto_matches(app_proto, f->app_proto);
}

/* Rejects most candidates without reading the rule. */
static bool is_out(const struct detect_thread *dt, const struct packet *p,
                   struct header_view *h, uint32_t rule)
{
    const struct rule_mask *b = &dt->plan->mask[rule];

    return candidates_has(&dt->decided, rule) || !proto_may_fit(b->app_proto, p->flow) ||
           !header_may_fit(dt->plan, b->header_id, h);
}

/* --- what matches capture ------------------------------------------------------------------- */

/* Matches are reported later, when the data may be gone, so captures are copied. */
static void COLD captures_keep(const struct program_scratch *s, struct stream_dir *ds,
                               uint32_t rule)
{
    struct stream_ext *ext = stream_ext_get(ds);

    for (unsigned i = 0; ext != NULL && i < s->capture_count; i++) {
        const struct pending_capture *c = &s->capture[i];
        const struct stream_capture head = { rule, c->id, c->kind, c->key_len, c->len };

        if (ext->captured.len + sizeof(head) + c->key_len + c->len > CAPTURED_MAX ||
            !buf_reserve(&ext->captured, sizeof(head) + c->key_len + c->len))
            break;
        buf_add(&ext->captured, &head, sizeof(head));
        buf_add(&ext->captured, s->text.data + c->key_at, c->key_len);
        buf_add(&ext->captured, s->text.data + c->at, c->len);
    }
}

void stream_captures_take(struct detect_thread *dt, const struct stream_dir *ds, uint32_t rule)
{
    struct stream_capture head;
    struct bytes in;

    if (LIKELY(ds->ext == NULL))
        return;
    in = bytes_of_slice(buf_slice(&ds->ext->captured));
    while (bytes_have(&in, sizeof(head))) {
        memcpy(&head, take_bytes(&in, sizeof(head)), sizeof(head));
        struct slice key = take_slice(&in, head.key_len), text = take_slice(&in, head.len);

        if (head.rule == rule)
            program_capture(&dt->program, (uint8_t)head.kind, head.id, key, text);
    }
}

/* A stretch of one direction's stream that rules inspect together; on the stack. */
struct window_context {
    struct detect_thread *dt;
    struct packet *packet;
    struct stream_dir *ds;
    enum direction direction;
    struct buffer_part window;  /* never complete: more data may follow */
    struct slice tail;          /* its first bytes, if another process has inspected them */
    struct header_view header;
};

/* --- flows of another process --------------------------------------------------------------- */

/* The window that ends with the flow's last packet here. */
void stream_keep_tail(const struct detect_thread *dt, struct flow *f, enum direction d)
{
    struct stream_dir *ds = &f->detect->ds[d];
    uint64_t len = dt->is_inline ? MIN(ds->to, (uint64_t)dt->plan->chunk_size[d])
                                 : ds->uninspected;
    struct stream_ext *ext = len > 0 && !ds->off ? stream_ext_get(ds) : NULL;

    if (ext != NULL)
        ext->tail = MAX(ext->tail, (uint32_t)MIN(len, (uint64_t)FLOW_TAIL_MAX));
}

uint32_t detect_tail(const struct flow *f, enum direction d)
{
    return f->detect != NULL && f->detect->ds[d].ext != NULL ? f->detect->ds[d].ext->tail : 0;
}

/* The tail, all that has come since, and the chunk. The first time all of it is searched. False:
 * the window no longer reaches so far back. */
static COLD bool join_tail(struct window_context *c, const struct stream_chunk *chunk,
                           struct stream_chunk *out)
{
    struct flow *f = c->packet->flow;
    struct flow_tail *tail = flow_tail(f, c->direction);
    size_t fresh = tail->bytes.len - tail->old;

    if ((c->dt->is_inline && fresh >= c->dt->plan->chunk_size[c->direction]) ||
        !buf_add(&tail->bytes, chunk->data, chunk->len)) {
        flow_tail_drop(f, c->direction);
        return false;
    }
    *out = *chunk;
    out->len = fresh == 0 ? (uint32_t)tail->bytes.len : chunk->len;
    out->offset -= out->len - chunk->len;
    out->lookbehind = (uint32_t)tail->bytes.len - out->len;
    out->data = tail->bytes.data + out->lookbehind;
    c->window.data = buf_slice(&tail->bytes);
    c->tail = (struct slice){ tail->bytes.data, tail->old };
    return true;
}

static bool matches_from(const struct window_context *c, const struct rule *r, uint32_t from)
{
    const struct buffer_part part = { .data = { c->tail.data + from, c->tail.len - from } };
    struct match_input in;

    match_input_init(&in, c->dt, c->packet, c->direction, r);
    buffer_begin(c->dt, NULL);
    return inspect_part(c->dt, r->payload, &part, &in);
}

/* What is in the tail, the other process has found. So the rule gets the shortest part of the
 * window before which all of that lies; its end may belong to another match. */
static COLD struct buffer_part behind_old_matches(const struct window_context *c,
                                                  const struct rule *r)
{
    struct buffer_part part = c->window;
    uint32_t matches = 0, behind = c->tail.len;

    if (!matches_from(c, r, 0))
        return part;
    while (behind - matches > 1) {
        uint32_t middle = matches + (behind - matches) / 2;

        if (matches_from(c, r, middle))
            matches = middle;
        else
            behind = middle;
    }
    part.data.data += behind;
    part.data.len -= behind;
    return part;
}

/* Whether a match of this part of the payload can matter. Bytes behind the only transaction may
 * belong to a further one, which is not there yet: they are inspected again with the bytes that
 * make it. */
static bool may_count(const struct window_context *c, const struct rule_mask *b)
{
    const struct app_flow *af = c->packet->flow->app;
    const struct part_patterns *patterns = &c->dt->plan->part_patterns[b->payload_part];

    if (af == NULL || af->proto == NULL || af->first == NULL || af->first != af->last)
        return true;
    for (unsigned i = 0; i < patterns->count; i++)
        if (!tx_lacks_pattern(c->dt, c->packet, af->first, &patterns->at[i], c->direction))
            return true;
    return false;
}

/* A rule that is only a pattern needs its number and mask alone. Others run their program. A rule
 * whose pattern was found but which does not match yet is tried again with more data. */
static void rule_on_window(struct window_context *c, uint32_t rule)
{
    struct detect_thread *dt = c->dt;
    struct stream_dir *ds = c->ds;
    const struct rule_mask *b = &dt->plan->mask[rule];
    const struct rule *r = dt->plan->rule[rule];
    struct buffer_part window = c->window;
    struct match_input in;

    if (!header_is_known(b->header_id, &c->header) && !rule_header_fits(r, &c->header))
        return;
    if (!b->is_pattern || dt->is_inline || UNLIKELY(c->tail.len > 0)) {
        if (r->payload == NULL)
            return;
        if (b->needs_tx_pattern && !may_count(c, b)) {
            if (b->is_found_once)       /* a further transaction may begin in this window */
                stream_rules_push(&ds->pending_rules, rule);
            return;
        }
        if (UNLIKELY(c->tail.len > 0))
            window = behind_old_matches(c, r);
        match_input_init(&in, dt, c->packet, c->direction, r);
        buffer_begin(dt, NULL);
        if (!inspect_part(dt, r->payload, &window, &in)) {
            look_back_missed(ds, r);
            if (b->is_found_once)       /* others are looked for in each window */
                stream_rules_push(&ds->pending_rules, rule);
            return;
        }
        if (UNLIKELY(dt->program.capture_count > 0) && !b->is_tx)
            captures_keep(&dt->program, ds, rule);
    }
    stream_rules_push(b->is_tx ? &ds->payload_hits : &ds->pending_alerts, rule);
}

/* select_rule() starts to fetch the rule into the cache. */
static unsigned select_rules(struct detect_thread *dt, const struct packet *p,
                             struct header_view *h)
{
    unsigned n = 0;

    for (unsigned i = 0; i < dt->found.count; i++)
        if (!is_out(dt, p, h, dt->found.list[i]))
            select_rule(dt, &n, dt->found.list[i]);
    return n;
}

/* Bytes of the window that were searched for anchored literals when they came. What was found waits
 * in pending_rules. A protocol that is not known yet stands for all. */
static uint32_t searched_before(const struct window_context *c, const struct stream_chunk *chunk)
{
    const struct stream_dir *ds = c->ds;
    uint32_t before = chunk != NULL ? c->window.data.len - chunk->len : 0;

    if (c->dt->is_inline || chunk == NULL || chunk->kind != CHUNK_DATA ||
        before != ds->uninspected || (ds->ext != NULL && ds->ext->window.len > 0) ||
        (ds->searched_as != APP_PROTO_UNKNOWN && ds->searched_as != c->packet->flow->app_proto))
        return 0;
    return before;
}

static void collect_anchored(struct window_context *c, const struct stream_chunk *chunk)
{
    const struct anchored_lists *lists =
        &c->dt->plan->group[TRANSPORT_TCP][c->direction].stream_anchored;
    const struct flow *f = c->packet->flow;
    uint32_t searched = searched_before(c, chunk);

    c->ds->searched_as = (uint8_t)f->app_proto;
    for (unsigned i = 0; i < lists->count; i++) {
        const struct anchored_section *s = &lists->section[i];

        if (section_may_fit(c->dt->plan, s, &c->header) && proto_may_fit(s->app_proto, f))
            anchored_section_collect(s, c->window.data, searched, &c->dt->found);
    }
}

/* In IPS mode: adds rules whose pattern was found in older data of the window, and stores those
 * found now, with the offset up to which that is valid. The lower 32 bits are enough, because
 * offsets are near each other. */
static void recent_join(struct detect_thread *dt, struct stream_dir *ds, uint64_t start,
                        uint64_t end)
{
    struct stream_ext *ext = dt->found.count > 0 ? stream_ext_get(ds) : ds->ext;
    struct stream_rules *recent;
    unsigned retained = 0;

    if (ext == NULL)
        return;
    recent = ext->recent;
    for (unsigned i = 0; i + 1 < stream_rules_count(recent); i += 2) {
        uint32_t rule = recent->at[i], until = recent->at[i + 1];

        if ((int32_t)(until - (uint32_t)start) <= 0 || candidates_has(&dt->found, rule))
            continue;
        recent->at[retained++] = rule;
        recent->at[retained++] = until;
    }
    if (recent != NULL)
        recent->count = (uint16_t)retained;
    for (unsigned i = 0; i < dt->found.count; i++) {
        if (stream_rules_count(ext->recent) + 2 > STREAM_RULES_MAX ||
            !stream_rules_push(&ext->recent, dt->found.list[i]))
            break;
        if (!stream_rules_push(&ext->recent, (uint32_t)end))
            ext->recent->count--;
    }
    for (unsigned i = 0; i < retained; i += 2)
        candidates_add(&dt->found, ext->recent->at[i]);
}

/* The window has grown: what matched because of where it ended, or because of bytes that were not
 * there, is evaluated again. Not the first ones of the list, which belong to an earlier window.
 * Returns how many were. */
static unsigned reconsider(struct window_context *c, struct stream_rules *matched, unsigned first)
{
    struct detect_thread *dt = c->dt;
    unsigned retained = MAX(first, matched->kept), evaluated = 0;

    for (unsigned i = retained; i < matched->count; i++) {
        const struct rule *r = dt->plan->rule[matched->at[i]];
        bool still = true;

        if (r->payload != NULL && r->payload->revocable) {
            struct match_input in;

            match_input_init(&in, dt, c->packet, c->direction, r);
            still = inspect_part(dt, r->payload, &c->window, &in);
            evaluated++;
        }
        if (still) {
            matched->at[retained++] = matched->at[i];
            continue;
        }
        look_back_missed(c->ds, r);
        if (dt->plan->mask[r->index].is_found_once)
            stream_rules_push(&c->ds->pending_rules, r->index);
    }
    matched->count = (uint16_t)retained;
    return evaluated;
}

/* Adds rules whose pattern is in the chunk, which the window ends with. */
static void scan_chunk(struct window_context *c, const struct stream_chunk *chunk)
{
    struct detect_thread *dt = c->dt;
    const struct transport_group *g = &dt->plan->group[TRANSPORT_TCP][c->direction];
    const struct payload_sets *sets =
        g->stream[address_case(dt->plan, &c->header)][c->packet->flow->app_proto];
    /* A pattern may begin in bytes that have been searched already. */
    uint32_t back = sets != NULL && sets->longest > 0 ? sets->longest - 1 : 0;
    struct sent_payload fresh = { .src_port = c->header.src_port, .dst_port = c->header.dst_port };

    back = MIN(back, c->window.data.len - chunk->len);
    fresh.data = (struct slice){ chunk->data - back, chunk->len + back };
    buffer_begin(dt, NULL);
    dt->chunk_sets = sets;
    if (sets != NULL && !(c->packet->flags & PACKET_NO_PAYLOAD_INSPECT))
        payload_sets_scan(sets, dt->hs, &fresh, &dt->found);
    part_begin(dt, COST_BUFFER, NULL);
}

/* Adds all other candidates. chunk NULL: it has been searched. */
static void collect(struct window_context *c, const struct stream_chunk *chunk)
{
    struct detect_thread *dt = c->dt;
    const struct transport_group *g = &dt->plan->group[TRANSPORT_TCP][c->direction];
    const struct header_view *h = &c->header;
    struct slice window = c->window.data;

    collect_anchored(c, chunk);
    if (dt->is_inline && chunk != NULL)
        recent_join(dt, c->ds, chunk->offset + chunk->len - window.len,
                    chunk->offset + chunk->len);
    port_lists_collect(&g->stream_non_prefilter, h->src_port, h->dst_port, window, &dt->found);
    for (unsigned i = 0; i < stream_rules_count(c->ds->pending_rules); i++)
        candidates_add(&dt->found, c->ds->pending_rules->at[i]);
    stream_rules_clear(c->ds->pending_rules);
    candidates_fetch_masks(dt);
    candidates_sort(&dt->found);
}

/* Runs the candidates' programs. What matched before is only evaluated again if more data can end
 * the match. Returns how many programs ran. */
static unsigned evaluate(struct window_context *c)
{
    struct detect_thread *dt = c->dt;
    struct stream_dir *ds = c->ds;
    unsigned selected, again = 0;

    if (UNLIKELY(stream_rules_count(ds->pending_alerts) > 0))
        again = reconsider(c, ds->pending_alerts, 0);
    if (stream_rules_count(ds->payload_hits) > ds->hits_done)
        again += reconsider(c, ds->payload_hits, ds->hits_done);
    decided_add(&dt->decided, ds->pending_alerts);
    decided_add(&dt->decided, ds->payload_hits);
    selected = select_rules(dt, c->packet, &c->header);
    for (unsigned i = 0; i < selected; i++) {
        uint32_t rule = dt->selected[i];
        uint64_t started = rule_profile_begin(dt);

        rule_on_window(c, rule);
        rule_profile_end(dt, rule, started, false);   /* a match counts where it is reported */
    }
    candidates_clear(&dt->found);
    candidates_clear(&dt->decided);
    return selected + again;
}

/* --- small segments ------------------------------------------------------------------------- */

/* Each chunk has its rules evaluated on all of the window. With segments of one byte that would be
 * the square of the window. So after some evaluations the next one waits until the window has grown
 * by an eighth, or is reported. Then the result is the same, because only the window that is
 * reported counts. The bytes are copied, because the stream may release them before. */
#define EVALUATIONS_FREE 4
#define WINDOW_GROWTH 8

static bool is_small(const struct window_context *c, const struct stream_chunk *chunk)
{
    return chunk->kind == CHUNK_DATA && !c->dt->is_inline &&
           chunk->len < c->window.data.len / WINDOW_GROWTH;
}

static bool may_wait(const struct window_context *c, const struct stream_chunk *chunk)
{
    const struct stream_ext *ext = c->ds->ext;

    return ext != NULL && ext->evaluations >= EVALUATIONS_FREE && is_small(c, chunk) &&
           c->tail.len == 0 &&
           chunk->offset + chunk->len - ext->evaluated_to < c->window.data.len / WINDOW_GROWTH;
}

/* Stores the rules that were found. False: there is no space, so they are evaluated now. */
static bool wait_for_more(struct window_context *c, const struct stream_chunk *chunk)
{
    struct stream_ext *ext = c->ds->ext;
    struct candidates *found = &c->dt->found;
    struct slice more = { chunk->data, chunk->len };

    if (ext->window.len == 0)
        more = c->window.data;
    for (unsigned i = 0; i < found->count; i++)
        if (!stream_rules_has(c->ds->pending_rules, found->list[i]) &&
            !stream_rules_push(&c->ds->pending_rules, found->list[i]))
            return false;
    if (!buf_add(&ext->window, more.data, more.len)) {
        buf_clear(&ext->window);
        return false;
    }
    candidates_clear(found);
    return true;
}

static void count_evaluation(const struct window_context *c, const struct stream_chunk *chunk)
{
    struct stream_ext *ext = is_small(c, chunk) ? stream_ext_get(c->ds) : NULL;

    if (ext == NULL)
        return;
    ext->evaluations++;
    ext->evaluated_to = chunk->offset + chunk->len;
}

/* Evaluates what waited, before the window is reported or ends with a gap. */
void stream_catch_up(struct detect_thread *dt, struct packet *p, enum direction d)
{
    struct stream_dir *ds = &p->flow->detect->ds[d];
    struct window_context w = { .dt = dt, .packet = p, .ds = ds, .direction = d };

    if (LIKELY(ds->ext == NULL || ds->ext->window.len == 0))
        return;
    w.window.data = buf_slice(&ds->ext->window);
    header_view_init(&w.header, p, d);
    collect(&w, NULL);
    (void)evaluate(&w);
    buf_clear(&ds->ext->window);
}

/* One chunk. */
static void chunk_inspect(struct detect_thread *dt, struct packet *p,
                          const struct stream_chunk *c, struct stream_dir *ds)
{
    struct window_context w = { .dt = dt, .packet = p, .ds = ds, .direction = c->direction };
    struct stream_chunk joined;

    if (UNLIKELY(flow_tail(p->flow, c->direction) != NULL) && c->kind == CHUNK_DATA &&
        join_tail(&w, c, &joined))
        c = &joined;
    else
        w.window.data = window_of(dt, c, ds);
    header_view_init(&w.header, p, c->direction);
    scan_chunk(&w, c);
    if (UNLIKELY(may_wait(&w, c)) && wait_for_more(&w, c))
        return;
    collect(&w, c);
    if (evaluate(&w) > 0)
        count_evaluation(&w, c);
    if (UNLIKELY(ds->ext != NULL) && c->kind == CHUNK_DATA)
        buf_clear(&ds->ext->window);
}

static void chunk_data(struct detect_thread *dt, struct packet *p, const struct stream_chunk *c,
                       struct stream_dir *ds)
{
    part_begin(dt, COST_GROUP, dt->plan->group[TRANSPORT_TCP][c->direction].name);
    chunk_inspect(dt, p, c, ds);
    group_end(dt);
}

/* Whether a transaction has just ended, which makes the data up to here worth a report. */
static bool tx_has_finished(const struct flow *f, enum direction d)
{
    const struct app_tx *tx;

    if (f->app->proto == NULL || !f->app->proto->raw_on_tx_end)
        return false;
    for (tx = f->app->due; tx != NULL; tx = tx->due_next)
        if (app_tx_done(tx, d, f->app->proto) && !(detect_tx(tx)->bits[d] & TX_BITS_DONE))
            return true;
    return false;
}

/* The parser may request inspection. Transactions also end with their connection, without a further
 * byte. */
static void note_complete(struct flow *f)
{
    struct app_flow *af = f->app;

    if (af == NULL || f->detect == NULL)
        return;
    for (enum direction d = TO_SERVER; d <= TO_CLIENT; d++) {
        f->detect->ds[d].flush |= af->raw_triggered[d] || tx_has_finished(f, d);
        af->raw_triggered[d] = false;
    }
}

/* True if payload is no longer inspected while the parser continues, as with encrypted data: each
 * direction is inspected once more, then its stream is ignored. If the parser has stopped as well,
 * the stream is inspected like that of an unknown protocol. */
static bool is_closing_raw(const struct flow *f)
{
    return (f->switched_off & FLOW_NO_PAYLOAD_INSPECTION) && f->app != NULL && !f->app->stopped;
}

/* Whether no rule inspects this direction any more. */
static bool is_off(const struct packet *p, const struct stream_dir *ds)
{
    const struct flow *f = p->flow;

    if (f->switched_off & FLOW_NO_PAYLOAD_INSPECTION)
        return ds->off && is_closing_raw(f);
    return (p->flags & PACKET_NO_PAYLOAD_INSPECT) != 0;
}

/* A new window begins here. The stream module may release data before it, except inline,
 * where windows overlap. The value crosses threads, so the store is atomic. */
static void report_up_to(const struct detect_thread *dt, struct flow *f, enum direction d,
                         uint64_t to)
{
    f->detect->ds[d].to = to;
    f->detect->ds[d].uninspected = 0;
    if (UNLIKELY(f->detect->ds[d].ext != NULL))
        f->detect->ds[d].ext->evaluations = 0;
    if (!dt->is_inline) {
        flow_tail_drop(f, d);
        if (f->swap == 0)
            __atomic_store_n(&f->raw_progress[d], to, __ATOMIC_RELAXED);
    }
}

static void keep_all(struct stream_rules *matched)
{
    if (matched != NULL)
        matched->kept = matched->count;
}

/* Nothing follows the data before a gap, so what matched where they end stays matched. */
static void window_ends(const struct detect_thread *dt, struct flow *f, enum direction d)
{
    keep_all(f->detect->ds[d].pending_alerts);
    keep_all(f->detect->ds[d].payload_hits);
    report_up_to(dt, f, d, f->detect->ds[d].to);
}

/* Data up to `end` have come; the window reaches from the last report to here. */
static void come_to(struct stream_dir *ds, uint64_t end)
{
    ds->uninspected = (uint32_t)MIN(end - stream_dir_from(ds), (uint64_t)UINT32_MAX);
    ds->to = end;
}

/* Between two searched parts of a sampled flow: the window ends as before a gap, so that the stream
 * module can release the data. */
static COLD void pass_over(struct detect_thread *dt, struct packet *p,
                           const struct stream_chunk *c)
{
    struct stream_dir *ds = &p->flow->detect->ds[c->direction];

    if (c->kind == CHUNK_REINSPECT)
        return;
    stream_catch_up(dt, p, c->direction);
    come_to(ds, c->offset + c->len);
    window_ends(dt, p->flow, c->direction);
}

void stream_inspect_chunks(struct detect_thread *dt)
{
    const struct inspection *in = dt->inspection;
    struct packet *p = in->packet;

    for (unsigned i = 0; i < in->chunk_count; i++) {
        const struct stream_chunk *c = &in->chunk[i];
        enum direction d = c->direction;
        struct detect_flow *df;

        p->flow->detect_flags |= DETECT_UPDATED(d);
        if (UNLIKELY(dt->alert_payload_size > 0) && c->kind != CHUNK_REINSPECT)
            alert_payload_add(dt, p, c);
        if (!dt->plan->group[TRANSPORT_TCP][d].has_stream)
            continue;
        df = detect_flow_get(p->flow);
        if (df != NULL && UNLIKELY(in->unsampled))
            pass_over(dt, p, c);
        if (df == NULL || is_off(p, &df->ds[d]))
            continue;
        if (c->kind != CHUNK_GAP && c->len > 0)
            chunk_data(dt, p, c, &df->ds[d]);
        if (c->kind == CHUNK_REINSPECT)
            continue;
        if (c->kind == CHUNK_GAP)
            stream_catch_up(dt, p, d);
        come_to(&df->ds[d], c->offset + c->len);
        df->ds[d].flush |= c->depth_reached;
        if (c->kind == CHUNK_GAP)
            window_ends(dt, p->flow, d);
    }
    if (in->chunk_count > 0 || (p->flags & (PACKET_END_TO_SERVER | PACKET_END_TO_CLIENT)) != 0)
        note_complete(p->flow);
}


bool stream_is_due(const struct detect_thread *dt, enum direction d)
{
    const struct packet *p = dt->inspection->packet;
    const struct stream_dir *ds;

    if (p->flow == NULL || p->flow->detect == NULL || !(p->flags & PACKET_STREAM_OPEN))
        return false;
    ds = &p->flow->detect->ds[d];
    if (is_off(p, ds) && LIKELY(!dt->inspection->unsampled))
        return false;
    if (ds->uninspected == 0)
        return stream_rules_count(ds->pending_alerts) > 0;
    return dt->is_inline || ds->flush || is_closing_raw(p->flow) ||
           inspection_is_last(dt->inspection) || stream_is_closing(p) ||
           ds->uninspected >= dt->plan->chunk_size[d];
}

/* Requests inspection of the stream with the next packet of each direction. */
void detect_flush_stream(struct flow *flow)
{
    if (flow->detect == NULL)
        return;
    flow->detect->ds[TO_SERVER].flush = true;
    flow->detect->ds[TO_CLIENT].flush = true;
}

/* Stops the raw inspection of a direction that had data or pending alerts: nothing later counts. */
void stream_stop_raw(const struct packet *p, enum direction d, bool was_due)
{
    struct detect_flow *df = p->flow->detect;

    if (df != NULL && (was_due || p->payload_len > 0) && is_closing_raw(p->flow))
        df->ds[d].off = true;
}

/* Captures and matches have been used; the next window starts empty. */
void stream_mark_reported(const struct detect_thread *dt, struct flow *f, enum direction d)
{
    struct stream_dir *ds = &f->detect->ds[d];

    look_back(dt, f, d);
    report_up_to(dt, f, d, ds->to);
    ds->flush = false;
    ds->hits_done = (uint16_t)stream_rules_count(ds->payload_hits);
    stream_rules_clear(ds->pending_alerts);
    stream_rules_clear(ds->pending_rules);
    captures_clear(ds);
}
