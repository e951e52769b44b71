/* SPDX-License-Identifier: GPL-2.0-or-later */
/* detect/inspect/tx.c - rules on transactions: each direction separately, as it makes progress.
 *
 * A buffer is searched from the step at which it can exist until that step is over; a body until
 * it is complete. A rule that has matched in part, or that may still match, waits in the
 * transaction; a rule that has matched is noted there so that it does not match again. */
#include "app/session.h"
#include "base/array.h"
#include "detect/inspect/address_case.h"
#include "detect/inspect/firewall_run.h"
#include "detect/inspect/part_cost.h"
#include "detect/inspect/rule_cost.h"
#include "flow/flow.h"
#include "flow/vars.h"
#include "match/spm_literal.h"

#define TX_BOTH 2u              /* tx_rule.direction of "=>" rules */
#define FEW 16u                 /* instances of a buffer that are inspected again each time */

/* --- what waits --------------------------------------------------------------------------- */

/* Both directions share detect[0]. Without `make` it may be NULL: no rule waits. */
static struct tx_state *state_of(struct app_tx *tx, bool make)
{
    struct detect_tx *slot = detect_tx(tx);

    if (slot->state == NULL && make)
        slot->state = arena_zalloc(&tx->arena, sizeof(struct tx_state));
    return slot->state;
}

/* 512 bytes: more rules than that rarely wait, and further lines would push out other
 * data. */
void detect_prefetch_tx(const struct app_tx *tx)
{
    PREFETCH(detect_tx(tx)->state);
}

void detect_prefetch_tx_rules(const struct app_tx *tx)
{
    const struct tx_state *s = detect_tx(tx)->state;

    if (s != NULL) {
        PREFETCH_ALL(s->rule, MIN(s->count * sizeof(s->rule[0]), 512u));
        PREFETCH(s->scanned);
    }
}

/* Where a rule is among those of the transaction, or would be. They are sorted: a request can make
 * hundreds wait, and each of them is looked up with each packet. */
static uint32_t state_place(const struct tx_state *s, uint32_t rule, unsigned direction)
{
    uint32_t from = 0, to = s->count;

    while (from < to) {
        uint32_t middle = from + (to - from) / 2;
        const struct tx_rule *at = &s->rule[middle];

        if (at->rule < rule || (at->rule == rule && at->direction < direction))
            from = middle + 1;
        else
            to = middle;
    }
    return from;
}

static struct tx_rule *state_find(struct app_tx *tx, uint32_t rule, unsigned direction)
{
    struct tx_state *s = detect_tx(tx)->state;
    uint32_t at = s != NULL ? state_place(s, rule, direction) : 0;

    return s != NULL && at < s->count && s->rule[at].rule == rule &&
                   s->rule[at].direction == direction ? &s->rule[at] : NULL;
}

/* NULL: the transaction's memory is used up. Then the rule is evaluated from the beginning
 * each time. */
static struct tx_rule *state_add(struct app_tx *tx, uint32_t rule, unsigned direction)
{
    struct tx_state *s = state_of(tx, true);
    uint32_t at;

    if (s == NULL)
        return NULL;
    if (s->count == s->cap) {
        uint32_t cap = s->cap > 0 ? s->cap * 2 : 4;
        struct tx_rule *more = arena_alloc(&tx->arena, cap * sizeof(*more));

        if (more == NULL)
            return NULL;
        if (s->count > 0)
            memcpy(more, s->rule, s->count * sizeof(*more));
        s->rule = more;
        s->cap = cap;
    }
    at = state_place(s, rule, direction);
    memmove(&s->rule[at + 1], &s->rule[at], (s->count++ - at) * sizeof(s->rule[0]));
    s->rule[at] = (struct tx_rule){ .rule = rule, .direction = (uint8_t)direction };
    return &s->rule[at];
}

/* Returns the position up to which a growing buffer was searched. NULL: out of memory; all of it is
 * searched again. */
static uint64_t *scanned_to(struct app_tx *tx, const struct buffer *b, enum direction d)
{
    struct tx_state *s = state_of(tx, true);

    if (s == NULL)
        return NULL;
    for (unsigned i = 0; i < s->scanned_count; i++)
        if (s->scanned[i].buffer == b->id && s->scanned[i].direction == d)
            return &s->scanned[i].to;
    if (s->scanned_count == s->scanned_cap) {
        unsigned cap = s->scanned_cap > 0 ? s->scanned_cap * 2u : 4;
        struct tx_scanned *more = arena_alloc(&tx->arena, cap * sizeof(*more));

        if (more == NULL)
            return NULL;
        if (s->scanned_count > 0)
            memcpy(more, s->scanned, s->scanned_count * sizeof(*more));
        s->scanned = more;
        s->scanned_cap = (uint16_t)cap;
    }
    s->scanned[s->scanned_count] = (struct tx_scanned){ b->id, (uint8_t)d, 0 };
    return &s->scanned[s->scanned_count++].to;
}

/* --- rules that rest ---------------------------------------------------------------------- */

/* A request can make hundreds of rules wait for its body, whose packets may bring a few bytes each,
 * or bytes that rules do not see before there are enough. A rule that waits for new bytes of some
 * buffers, or for the next step, would fail again without them. So it rests until they are there.
 */
#define FEW_RULES 16u           /* are evaluated each time: that costs less than to note it */

static struct tx_rest *rest_of(const struct tx_context *c)
{
    const struct tx_state *s = detect_tx(c->tx)->state;

    return s != NULL ? s->rest[c->direction] : NULL;
}

/* The rule at hand waits for new bytes of this buffer. */
static void note_buffer(struct tx_context *c, const struct buffer *b)
{
    struct tx_rest *rest = c->rests ? rest_of(c) : NULL;

    for (unsigned i = 0; rest != NULL && i < rest->count; i++)
        if (rest->buffer[i] == b)
            return;
    c->rests = rest != NULL && rest->count < ARRAY_LEN(rest->buffer);
    if (c->rests)
        rest->buffer[rest->count++] = b;
}

/* Whether rules that rest may match now. */
static bool has_come(const struct tx_context *c, const struct tx_rest *rest)
{
    struct slice data;

    if (c->done || c->progress != rest->progress)
        return true;
    for (unsigned i = 0; i < rest->count; i++)
        if (inspect_buffer(c->dt, rest->buffer[i],
                           &(struct buffer_source){ c->packet, c->tx, c->direction, 0 }, &data))
            return true;
    return false;
}

/* False: rules that rest go on doing so. */
static bool wake_rules(struct tx_context *c, struct tx_state *s)
{
    struct tx_rest **rest = &s->rest[c->direction];

    if (LIKELY(s->count <= FEW_RULES))
        return true;
    if (*rest == NULL)
        *rest = arena_zalloc(&c->tx->arena, sizeof(**rest));
    else if (!has_come(c, *rest))
        return false;
    if (*rest != NULL)
        **rest = (struct tx_rest){ .progress = c->progress };
    return true;
}

static bool is_evaluated(const struct tx_context *c, const struct tx_rule *r, bool all)
{
    return !r->done && (r->direction == c->direction || r->direction == TX_BOTH) &&
           (all || (r->rests & APP_DIRECTION_BIT(c->direction)) == 0);
}

/* --- searching ---------------------------------------------------------------------------- */

/* Returns only the new bytes of a growing body, with as many bytes before them as a pattern can
 * span. */
static struct slice unscanned(struct tx_context *c, const struct tx_scan *s, unsigned index,
                              struct slice data)
{
    uint64_t start, *to, from;
    uint32_t back = pattern_set_longest(s->set) - 1;
    bool nothing_new;

    if (!s->app->grows || index > 0 || s->buffer->transform_count > 0 || s->app->position == NULL)
        return data;
    to = scanned_to(c->tx, s->buffer, c->direction);
    if (to == NULL)
        return data;
    start = s->app->position(c->tx, c->direction, index);
    from = *to > back ? *to - back : 0;
    nothing_new = *to == start + data.len;
    *to = start + data.len;
    if (from <= start)
        return data;
    if (nothing_new || from >= start + data.len)
        return (struct slice){ data.data, 0 };
    return (struct slice){ data.data + (from - start), data.len - (uint32_t)(from - start) };
}

/* Headers as sent are there until the body ends, and came to a search with each of its packets. */
static bool is_searched(const struct tx_context *c, const struct tx_scan *s, struct slice data)
{
    return s->app->appended && s->buffer->transform_count == 0 &&
           detect_tx(c->tx)->searched_len[c->direction] == data.len;
}

/* What a search has found may have to be evaluated again with the next packet, so only one that
 * found nothing counts. */
static void note_searched(const struct tx_context *c, const struct tx_scan *s, struct slice data,
                          unsigned found_before)
{
    if (s->app->appended && s->buffer->transform_count == 0 && data.len <= UINT16_MAX)
        detect_tx(c->tx)->searched_len[c->direction] =
            c->dt->found.count == found_before ? (uint16_t)data.len : 0;
}

/* Whether no more bytes of the buffer can come. */
static bool is_decided(const struct tx_context *c, const struct app_buffer *app)
{
    return c->done || (c->over > app->progress[c->direction] && !app->grows);
}

/* A rule that asks for another buffer than this one is no candidate. While the buffer may change it
 * remains one, because it then waits in the transaction. */
static void reject_found(struct tx_context *c, const struct tx_scan *s, struct slice data,
                         unsigned from)
{
    const struct detect_plan *plan = c->dt->plan;
    struct candidates *found = &c->dt->found;

    if (s->app->grows || s->app->position != NULL || !is_decided(c, s->app))
        return;
    while (from < found->count) {
        const uint16_t check = plan->mask[found->list[from]].buffer_check;

        if (check != 0 && !buffer_check_fits(&plan->buffer_check[check], data))
            candidates_remove(found, from);
        else
            from++;
    }
}

static bool lasts(const struct app_buffer *app)
{
    return app != NULL && app->multi && app->lasts;
}

/* All instances of a buffer that may have several. Those that last are searched once if they are
 * many: else a mail of thousands of recipients would be searched with each of its packets. */
static void scan(struct tx_context *c, const struct tx_scan *s)
{
    struct buffer_source from = { c->packet, c->tx, c->direction, 0 };
    uint64_t *to = lasts(s->app) ? scanned_to(c->tx, s->buffer, c->direction) : NULL;
    struct slice data;

    if (to != NULL && *to > FEW)
        from.index = (unsigned)*to;
    for (; inspect_buffer(c->dt, s->buffer, &from, &data); from.index++) {
        unsigned found = c->dt->found.count;

        data = unscanned(c, s, from.index, data);
        if (is_searched(c, s, data))
            break;
        pattern_set_scan(s->set, c->dt->hs, data.data, data.len, &c->dt->found);
        note_searched(c, s, data, found);
        if (found < c->dt->found.count)
            reject_found(c, s, data, found);
        if (!s->buffer->multi)
            break;
    }
    if (to != NULL)
        *to = from.index;
}

/* Most buffers are plain ones, and a request is searched in ten of them. The rules are in the group
 * of a direction in which the buffer exists. */
static void scan_plain(struct tx_context *c, const struct tx_scan *s)
{
    struct detect_thread *dt = c->dt;
    const unsigned found = dt->found.count;
    struct slice data;

    if (!app_buffer_get(s->app, c->tx, c->direction, 0, &data))
        return;
    pattern_set_scan(s->set, dt->hs, data.data, data.len, &dt->found);
    if (found < dt->found.count)
        reject_found(c, s, data, found);
}

/* Whether a buffer that was final has changed, as headers do when trailers come. */
static bool comes_again(const struct tx_context *c, const struct app_buffer *app,
                        unsigned decided)
{
    unsigned at = app->again_at[c->direction];

    return app->again != NULL && decided <= at && at <= c->progress &&
           app->again(c->tx, c->direction);
}

/* The next buffer to search, from i on. They are sorted by progress. */
static inline unsigned next_scan(const struct tx_context *c, const struct tx_lists *g, unsigned i,
                                 unsigned decided)
{
    while (i < g->scan_count && g->scan[i].progress < decided && !g->scan[i].app->grows &&
           !comes_again(c, g->scan[i].app, decided))
        i++;
    return i < g->scan_count && g->scan[i].progress > c->progress && !c->done ? g->scan_count : i;
}

/* Pattern sets are large, and most are not in the cache when they are needed: while one is
 * searched, the next two are fetched. */
static void search(struct tx_context *c, const struct tx_lists *g)
{
    const unsigned decided = detect_tx(c->tx)->bits[c->direction] & TX_BITS_STEP;
    unsigned i = next_scan(c, g, 0, decided), next = next_scan(c, g, i + 1, decided), third;

    for (; i < g->scan_count; i = next, next = third) {
        third = next_scan(c, g, next + 1, decided);
        if (third < g->scan_count)
            PREFETCH(g->scan[third].set);
        if (next < g->scan_count)
            pattern_set_fetch(g->scan[next].set);
        if (LIKELY(g->scan[i].is_plain && !c->dt->laps.on))
            scan_plain(c, &g->scan[i]);
        else
            scan(c, &g->scan[i]);
    }
}

/* Found by patterns, rules without a pattern, and those that wait in the transaction. */
static void collect(struct tx_context *c, const struct tx_lists *g)
{
    struct tx_state *state = detect_tx(c->tx)->state;
    const bool all = state == NULL || wake_rules(c, state);

    c->any_waits = state != NULL && state->count > 0;
    search(c, g);
    for (unsigned i = 0; i < g->always_count; i++)
        candidates_add(&c->dt->found, g->always[i]);
    for (uint32_t i = 0; state != NULL && i < state->count; i++)
        if (is_evaluated(c, &state->rule[i], all))
            candidates_add(&c->dt->found, state->rule[i].rule);
}

/* --- one rule ----------------------------------------------------------------------------- */

/* A buffer that does not exist yet may still come. If it cannot, `absent` matches. */
static enum inspect_result list_absent(const struct tx_context *c, const struct rule_list *l,
                             const struct app_buffer *app, bool decided)
{
    if (!decided)
        return INSPECT_PENDING;
    return l->program->absent && !(app->never_absent & APP_DIRECTION_BIT(c->direction))
               ? INSPECT_MATCH : INSPECT_CANT_MATCH;
}

/* Buffers of the packet, as addresses: this packet represents the flow. */
static enum inspect_result packet_list_matches(struct tx_context *c, const struct rule_list *l,
                                     const struct match_input *in)
{
    struct buffer_source from = { c->packet, NULL, c->direction, 0 };
    struct slice data;

    if (!inspect_buffer(c->dt, l->buffer, &from, &data))
        return l->program->absent ? INSPECT_MATCH : INSPECT_CANT_MATCH;
    return inspect_slice(c->dt, l->program, data, in) ? INSPECT_MATCH : INSPECT_CANT_MATCH;
}

/* Only one buffer of a rule is tracked: few rules have more that can have many instances. */
static bool is_tracked(const struct tx_context *c, const struct rule *r, const struct rule_list *l)
{
    for (const struct rule_list *at = r->list; at != NULL; at = at->next)
        if (at->buffer != NULL && lasts(at->buffer->by_proto[c->proto->id]))
            return at == l;
    return false;
}

/* decided: no more data can change the result, so "no match" is final. */
static enum inspect_result list_matches(struct tx_context *c, const struct rule_list *l,
                              const struct match_input *in)
{
    const struct app_buffer *app = l->buffer->by_proto[c->proto->id];
    uint8_t need = app != NULL ? app->progress[c->direction] : 0;
    bool decided = app != NULL && is_decided(c, app), any = false;
    struct buffer_source from = { c->packet, c->tx, c->direction, 0 };
    struct buffer_part part = { .complete = decided };
    bool tracked = lasts(app) && is_tracked(c, in->rule, l);

    if (l->buffer->kind == BUFFER_PACKET)
        return packet_list_matches(c, l, in);
    if (app == NULL)
        return l->program->absent ? INSPECT_MATCH : INSPECT_CANT_MATCH;
    if (c->progress < need && !c->done)
        return INSPECT_PENDING;
    if (tracked && c->seen > FEW) {
        from.index = c->seen;
        any = true;
    }
    for (; inspect_buffer(c->dt, l->buffer, &from, &part.data); from.index++) {
        struct match_input here = *in;

        any = true;
        part.start = app->position != NULL && l->buffer->transform_count == 0
                         ? app->position(c->tx, c->direction, from.index) : 0;
        c->end = MAX(c->end, part.start + part.data.len);
        here.little = app->little != NULL && app->little(c->tx);
        if (inspect_part(c->dt, l->program, &part, &here))
            return INSPECT_MATCH;
        if (!l->buffer->multi)
            break;
    }
    if (tracked)
        c->seen = from.index;
    if (tracked)
        c->rests = false;
    else if (!decided)
        note_buffer(c, l->buffer);
    if (!any)
        return list_absent(c, l, app, decided);
    return decided ? INSPECT_CANT_MATCH : INSPECT_PENDING;
}

/* The payload condition of a rule on transactions: found in the stream when the data came,
 * or in the datagram. */
static enum inspect_result payload_matches(struct tx_context *c, const struct rule_list *l,
                                 const struct match_input *in)
{
    const struct packet *p = c->packet;
    const struct detect_flow *df = p->flow->detect;

    buffer_begin(c->dt, NULL);
    if (p->ip_proto != 6)
        return inspect_slice(c->dt, l->program, (struct slice){ p->payload, p->payload_len }, in)
                   ? INSPECT_MATCH : INSPECT_CANT_MATCH;
    if (df != NULL && stream_has_payload_hit(&df->ds[c->direction], in->rule->shared_payload_match))
        return INSPECT_MATCH;
    c->rests = false;
    return c->done ? INSPECT_CANT_MATCH : INSPECT_PENDING;
}

/* Whether the condition can be evaluated in this direction at all. */
static bool concerns_direction(const struct tx_context *c, const struct rule_list *l)
{
    const struct app_buffer *app;

    if (!(l->directions & APP_DIRECTION_BIT(c->direction)))
        return false;
    app = l->buffer != NULL && l->buffer->kind == BUFFER_TX ? l->buffer->by_proto[c->proto->id]
                                                           : NULL;
    return app == NULL || (app->directions & APP_DIRECTION_BIT(c->direction));
}

/* A test waits for its step; once the step is over, "no" is final, unless it may change
 * any time. */
static enum inspect_result test_passes(struct tx_context *c, const struct rule_test *test,
                             const struct match_input *in)
{
    uint8_t need = test->progress[c->direction];

    if (c->progress < need && !c->done)
        return INSPECT_PENDING;
    test_begin(c->dt, test);
    if (test->match(in, test->arg) != test->negated)
        return INSPECT_MATCH;
    c->rests = false;
    return c->done || (c->over > need && !test->any_time) ? INSPECT_CANT_MATCH
                                                              : INSPECT_PENDING;
}

/* *matched: a bit for each condition. For rules with "=>" those of the other direction
 * must have matched, too. */
static enum inspect_result inspect_rule_parts(struct tx_context *c, const struct rule *r,
                            const struct match_input *in, uint32_t *matched)
{
    enum inspect_result all = INSPECT_MATCH;
    uint32_t bit = 1;

    for (const struct rule_list *l = r->list; l != NULL; l = l->next, bit <<= 1) {
        enum inspect_result result;

        if (*matched & bit)
            continue;
        if (!concerns_direction(c, l)) {
            all = r->flags & RULE_TX_BOTH ? INSPECT_PENDING : INSPECT_CANT_MATCH;
            if (all == INSPECT_CANT_MATCH)
                return INSPECT_CANT_MATCH;
            continue;
        }
        result = l->buffer == NULL ? payload_matches(c, l, in) : list_matches(c, l, in);
        if (result == INSPECT_CANT_MATCH)
            return INSPECT_CANT_MATCH;
        if (result == INSPECT_MATCH)
            *matched |= bit;
        else
            all = INSPECT_PENDING;
    }
    for (unsigned i = 0; i < r->tx_test_count; i++, bit <<= 1) {
        const struct rule_test *test = &r->tx_test[i];
        enum inspect_result result;

        if (*matched & bit)
            continue;
        if (!(test->directions & APP_DIRECTION_BIT(c->direction))) {
            if (!(r->flags & RULE_TX_BOTH))
                return INSPECT_CANT_MATCH;
            all = INSPECT_PENDING;
            continue;
        }
        result = test_passes(c, test, in);
        if (result == INSPECT_CANT_MATCH)
            return INSPECT_CANT_MATCH;
        if (result == INSPECT_MATCH)
            *matched |= bit;
        else
            all = INSPECT_PENDING;
    }
    return all;
}

/* How far the transaction is for rules of the version asked for. */
unsigned tx_step(const struct tx_context *c)
{
    return c->dt->set->suricata_9 ? c->progress : c->over;
}

/* Whether the transaction is one of the kind that the rule's hook belongs to. */
static bool is_of_kind(const struct tx_context *c, const struct rule *r)
{
    return r->hook_kind == 0 ||
           (c->proto->tx_kind != NULL && c->proto->tx_kind(c->tx) + 1 == r->hook_kind);
}

/* Whether the transaction has not reached the rule's hook yet. One that the flow's end cut off
 * never does; one that a gap or the depth disrupted counts as complete, as in Suricata. */
static bool is_before_hook(const struct tx_context *c, const struct rule *r)
{
    return r->hook_in_app && c->progress + 1 < r->hook && !c->tx->unidirectional[c->direction] &&
           !c->tx->flow->disrupted[c->direction];
}

/* A rule with nothing but a hook matches with each packet that brings something while the
 * transaction is at that hook, and once if it is past it by then. */
static bool is_bare_hook_now(const struct tx_context *c, const struct rule *r)
{
    return r->hook_in_app && r->list == NULL && r->tx_test_count == 0 &&
           (c->progress + 1u == r->hook ||
            (r->hook_kind == 0 && tx_step(c) + 1u == r->hook));
}

/* Header, flags and tests; only checked until the rule waits in the transaction. */
static bool rule_may_begin(struct tx_context *c, const struct rule *r,
                           const struct match_input *in)
{
    return is_of_kind(c, r) && rule_header_fits(r, &c->header) &&
           rule_packet_fits(r, &c->header, c->packet) && rule_tests_pass(r, in);
}

/* The payload of a rule that waits for flowbits of transactions is that of the answer only when the
 * answer has begun: until then the server's bytes belong to an earlier transaction. */
static bool answers_earlier(const struct tx_context *c, const struct rule *r)
{
    return r->upstream != NULL && c->direction == TO_CLIENT && c->progress == 0 &&
           !c->tx->unidirectional[TO_CLIENT];
}

/* A rule whose only pattern is on payload is not evaluated before the pattern matches: until then
 * no other condition may match and be stored. */
static bool lacks_payload_hit(struct tx_context *c, const struct rule *r,
                              const struct match_input *in)
{
    if (UNLIKELY(answers_earlier(c, r)))
        return true;
    return c->dt->plan->mask[r->index].needs_payload_hit &&
           payload_matches(c, rule_payload(r), in) != INSPECT_MATCH;
}

/* Whether any of its buffers grows. */
static bool looks_at_bodies(const struct rule *r)
{
    for (const struct rule_list *l = r->list; l != NULL; l = l->next)
        if (l->buffer != NULL && l->buffer->grows)
            return true;
    return false;
}

/* A rule found in a buffer that was final by then is not noted as done: the search will
 * not find it again, unless the buffer comes again, and then it reports again. */
static bool may_match_again(const struct tx_context *c, const struct rule *r)
{
    const struct rule_list *l = r->fast_list;
    const struct app_buffer *app = l != NULL && l->buffer != NULL && l->buffer->kind == BUFFER_TX
                                       ? l->buffer->by_proto[c->proto->id] : NULL;

    return app != NULL && app->again != NULL && c->over > app->progress[c->direction] &&
           !(r->flags & RULE_TX_BOTH) && !looks_at_bodies(r);
}

/* A rule that waits for more of a body looks at the body's window with each packet. With a byte in
 * each packet it could take all steps of detect.inspection-recursion-limit for each byte. So what
 * it takes in a transaction is limited: EVALUATIONS_FREE times all steps, and STEPS_BY_BYTE for
 * each byte of the buffer, which is more than segments of usual size may take. */
#define EVALUATIONS_FREE 16
#define STEPS_BY_BYTE 2

static bool is_used_up(struct tx_context *c, struct tx_rule *state, uint64_t extra_before)
{
    struct program_scratch *program = &c->dt->program;

    state->extra_steps += program->extra_steps - extra_before;
    if (LIKELY(state->extra_steps <= (uint64_t)program->steps_most * EVALUATIONS_FREE +
                                     STEPS_BY_BYTE * c->end))
        return false;
    program->limits |= PROGRAM_STEP_LIMIT;
    return true;
}

/* One candidate. A rule that waits skips the cheap tests: it has passed them before. */
static bool rule_inspect(struct tx_context *c, const struct rule *r)
{
    unsigned direction = r->flags & RULE_TX_BOTH ? TX_BOTH : c->direction;
    struct tx_rule *state = state_find(c->tx, r->index, direction);
    uint32_t matched = state != NULL ? state->matched : 0;
    uint64_t extra = c->dt->program.extra_steps;
    struct match_input in;
    enum inspect_result result;

    if (state != NULL && state->done)
        return false;
    c->end = 0;
    match_input_init(&in, c->dt, c->packet, c->direction, r);
    in.tx = c->tx;
    in.tx_done = c->done;
    c->seen = state != NULL ? state->seen : 0;
    c->rests = true;
    if (state == NULL && (is_before_hook(c, r) || !rule_may_begin(c, r, &in) ||
                          lacks_payload_hit(c, r, &in)))
        return false;
    result = inspect_rule_parts(c, r, &in, &matched);
    if (state == NULL && !is_bare_hook_now(c, r) &&
        ((result == INSPECT_MATCH && !may_match_again(c, r)) ||
         (result == INSPECT_PENDING && (matched != 0 || r->fast_op != NULL || c->seen > FEW))))
        state = state_add(c->tx, r->index, direction);
    if (state != NULL) {
        state->seen = c->seen;
        state->matched = matched;
        state->rests &= (uint8_t)~APP_DIRECTION_BIT(c->direction);
        if (UNLIKELY(rest_of(c) != NULL) && c->rests)
            state->rests |= (uint8_t)APP_DIRECTION_BIT(c->direction);
        state->done = is_used_up(c, state, extra) || result != INSPECT_PENDING;
    }
    if (result != INSPECT_MATCH)
        return false;
    app_tx_alerted(c->tx, r->gid, r->sid);
    if (UNLIKELY(app_tx_was_alerted(c->tx, r->gid, r->sid)) || !rule_matched(c->dt, &in))
        return false;
    alert_queue_add(c->dt, &in, c->tx->id, 0, ALERT_APP_STATE);
    return true;
}

/* For rules of the firewall, which are evaluated in order and not found by patterns. A
 * match is remembered, since later packets of the transaction need the same answer. */
enum inspect_result tx_rule_evaluate(struct tx_context *c, const struct rule *r,
                                     struct match_input *in, bool *before)
{
    struct tx_rule *state = state_find(c->tx, r->index, c->direction);
    uint32_t matched = 0;
    enum inspect_result result;

    *before = state != NULL && state->done;
    if (*before)
        return state->hit ? INSPECT_MATCH : INSPECT_CANT_MATCH;
    match_input_init(in, c->dt, c->packet, c->direction, r);
    in->tx = c->tx;
    in->tx_done = c->done;
    c->seen = 0;
    if (r->app_proto != APP_PROTO_UNKNOWN && !app_proto_matches(r->app_proto, c->proto->id))
        return INSPECT_CANT_MATCH;
    if (!rule_may_begin(c, r, in))
        return INSPECT_CANT_MATCH;
    if (r->list == NULL && r->tx_test_count == 0)
        return is_before_hook(c, r) ? INSPECT_PENDING : INSPECT_MATCH;
    result = inspect_rule_parts(c, r, in, &matched);
    if (result == INSPECT_MATCH && is_before_hook(c, r))
        return INSPECT_PENDING;
    if (result == INSPECT_MATCH && (state = state_add(c->tx, r->index, c->direction)) != NULL)
        state->done = state->hit = true;
    return result;
}

/* Whether bytes may come to a buffer behind its step. */
static bool may_change(const struct app_buffer *app, const struct app_tx *tx, enum direction d)
{
    return app->appended ||
           (app->again != NULL && (app->never_again == NULL || !app->never_again(tx, d)));
}

/* A buffer that is final may have been searched: a rule that was found in it waits, unless it has
 * failed. If it has not been, the pattern is looked for here. */
bool tx_lacks_pattern(struct detect_thread *dt, struct packet *p, struct app_tx *tx,
                      const struct tx_pattern *pattern, enum direction d)
{
    const struct app_proto *proto = tx->flow->proto;
    const struct app_buffer *app = pattern->buffer->by_proto[proto->id];
    struct buffer_source from = { p, tx, d, 0 };
    bool is_final;
    struct slice data;

    if (app == NULL || app->grows || app->multi)
        return false;
    is_final = tx->progress[d] > app->progress[d] && !may_change(app, tx, d);
    if (!is_final && !app_tx_done(tx, d, proto))
        return false;
    if (is_final && (detect_tx(tx)->bits[d] & TX_BITS_STEP) > app->progress[d])
        return state_find(tx, pattern->rule, d) == NULL;
    return !inspect_buffer(dt, pattern->buffer, &from, &data) ||
           spm_find(data.data, data.len, pattern->bytes, pattern->len, pattern->nocase) == NULL;
}

/* --- all of them -------------------------------------------------------------------------- */

/* A rule that waits has passed the conditions of its mask. */
static bool is_waiting(const struct tx_context *c, uint32_t rule)
{
    bool both = c->dt->plan->mask[rule].is_both;

    return c->any_waits && state_find(c->tx, rule, both ? TX_BOTH : c->direction) != NULL;
}

/* Whether a rule cannot match because its payload part was not found. If more data may come, the
 * part may still be found, for a rule that has found something else. */
static bool lacks_payload(const struct tx_context *c, uint32_t rule)
{
    const struct rule_mask *b = &c->dt->plan->mask[rule];

    return b->payload_part != 0 && (c->done || b->needs_payload_hit) && !b->is_both &&
           c->packet->ip_proto == 6 && !candidates_has(&c->dt->payload_parts, b->payload_part) &&
           !is_waiting(c, rule);
}

/* An earlier rule may set the bit for this one, so this is asked again before the rule is
 * evaluated. */
static bool lacks_flowbit(const struct tx_context *c, uint32_t rule)
{
    uint16_t bit = c->dt->plan->mask[rule].flowbit;

    return bit != 0 && !flowbit_is_set(c->packet->flow, bit) && !is_waiting(c, rule);
}

/* Rejects most candidates without reading the rule. A rule on both directions keeps the
 * header of the first, so it is not rejected here. */
static unsigned select_rules(struct tx_context *c)
{
    struct detect_thread *dt = c->dt;
    unsigned n = 0;

    for (unsigned i = 0; i < dt->found.count; i++) {
        uint32_t rule = dt->found.list[i];
        const struct rule_mask *b = &dt->plan->mask[rule];

        if (lacks_payload(c, rule) ||
            !(b->is_both || header_may_fit(c->dt->plan, b->header_id, &c->header)))
            continue;
        if (lacks_flowbit(c, rule))
            dt->selected[n++] = rule;
        else
            select_rule(dt, &n, rule);
    }
    return n;
}

/* Returns early if no rule concerns this protocol and direction. */
static void tx_inspect_rules(struct tx_context *c)
{
    const struct app_group *group = &c->dt->plan->app[c->proto->id][c->direction];
    const struct tx_lists *g = &group->of[address_case(c->dt->plan, &c->header)];
    unsigned selected;

    if (g->scan_count == 0 && g->always_count == 0 && detect_tx(c->tx)->state == NULL)
        return;
    part_begin(c->dt, COST_GROUP, group->name);
    collect(c, g);
    part_begin(c->dt, COST_BUFFER, NULL);
    candidates_fetch_masks(c->dt);
    candidates_sort(&c->dt->found);
    selected = select_rules(c);
    for (unsigned i = 0; i < selected; i++) {
        uint32_t rule = c->dt->selected[i];
        uint64_t started;

        if (lacks_flowbit(c, rule))
            continue;
        started = rule_profile_begin(c->dt);
        rule_profile_end(c->dt, rule, started, rule_inspect(c, c->dt->plan->rule[rule]));
    }
    candidates_clear(&c->dt->found);
    group_end(c->dt);
}

/* A step that only Suricata 9 has is part of the one before: what may come at that one may come
 * until the step is over, too. */
static uint8_t step_of_8(const struct app_proto *proto, uint8_t step)
{
    return (uint8_t)(step - (proto->steps_of_nine >> step & 1));
}

/* False: the firewall has dropped the packet, so nothing more is evaluated. */
static bool tx_inspect_one(struct detect_thread *dt, struct packet *p, struct app_tx *tx,
                           enum direction d)
{
    const struct app_proto *proto = tx->flow->proto;
    struct tx_context c = { .dt = dt, .packet = p, .tx = tx, .proto = proto, .direction = d,
                            .progress = tx->progress[d],
                            .over = step_of_8(proto, tx->progress[d]),
                            .done = app_tx_done(tx, d, proto) ||
                            inspection_is_last(dt->inspection) };
    bool evaluated = !tx->no_inspect[d] && !tx->unidirectional[d] && (!tx->untouched[d] || c.done);
    bool go_on = true;

    header_view_init(&c.header, p, d);
    if (UNLIKELY(dt->set->firewall != NULL)) {
        go_on = firewall_tx(&c);
        evaluated = evaluated && go_on && !detect_is_passed(p);
    }
    if (evaluated)
        tx_inspect_rules(&c);
    detect_tx(tx)->bits[d] = (uint8_t)((detect_tx(tx)->bits[d] & TX_BITS_ACCEPTED) |
                            (c.done ? TX_BITS_DONE | TX_BITS_STEP
                                    : MIN(tx_step(&c), TX_BITS_STEP)));
    return go_on;
}

/* Whether a step has been reached that no packet was inspected at. */
static bool has_moved(const struct detect_thread *dt, const struct app_tx *tx, enum direction d)
{
    unsigned step = dt->set->suricata_9 ? tx->progress[d]
                                        : step_of_8(tx->flow->proto, tx->progress[d]);

    return step > (detect_tx(tx)->bits[d] & TX_BITS_STEP);
}

/* The payload parts that the stream has found, and that are reported with this packet. */
static void collect_payload_parts(struct detect_thread *dt, const struct packet *p,
                                  enum direction d)
{
    const struct stream_dir *ds = p->flow->detect != NULL ? &p->flow->detect->ds[d] : NULL;

    for (unsigned i = 0; ds != NULL && i < ds->hits_done; i++)
        candidates_add(&dt->payload_parts, dt->plan->mask[ds->payload_hits->at[i]].payload_part);
}

/* All transactions of the flow that are not done, oldest first. */
static void inspect_all(struct detect_thread *dt, struct packet *p, enum direction d,
                        bool moved_only)
{
    struct app_flow *af = p->flow->app;
    /* the firewall inspects each of them with each packet; a flush repeats the inspection with its
     * own packet */
    bool last_evaluated = false, seen = !moved_only && dt->set->firewall == NULL &&
                                        p->source != PACKET_STREAM_FLUSH;

    if (af != NULL && af->proto != NULL)
        app_txs_of_direction(af, d);
    for (struct app_tx *tx = af != NULL && af->proto != NULL ? af->due : NULL, *next; tx != NULL;
         tx = next) {
        next = tx->due_next;
        last_evaluated = !(detect_tx(tx)->bits[d] & TX_BITS_DONE) &&
                     (!moved_only || has_moved(dt, tx, d));
        if (last_evaluated && !tx_inspect_one(dt, p, tx, d))
            return;
        if (seen)
            tx->unseen &= (uint8_t)~APP_DIRECTION_BIT(d);
    }
    /* This packet brought nothing that the firewall decides about. */
    if (!last_evaluated)
        firewall_accept(dt);
}

void tx_inspect(struct detect_thread *dt, struct packet *p, enum direction d, bool moved_only)
{
    collect_payload_parts(dt, p, d);
    inspect_all(dt, p, d, moved_only);
    candidates_clear(&dt->payload_parts);
}

/* The memory belongs to the transaction's arena. */
void detect_tx_free(struct app_tx *tx)
{
    detect_tx(tx)->state = NULL;
}

void detect_tx_renew(struct app_tx *tx)
{
    detect_tx(tx)->bits[TO_SERVER] = detect_tx(tx)->bits[TO_CLIENT] = 0;
    detect_tx(tx)->searched_len[TO_SERVER] = detect_tx(tx)->searched_len[TO_CLIENT] = 0;
}

bool detect_tx_inspected(const struct app_tx *tx)
{
    const struct detect_tx *slot = detect_tx(tx);

    for (unsigned d = 0; d < 2; d++)
        if (!(slot->bits[d] & TX_BITS_DONE) && !tx->no_inspect[d] && !tx->unidirectional[d])
            return false;
    return true;
}
