/* SPDX-License-Identifier: GPL-2.0-or-later */
/* detect/compile/compile.c - turns parsed rules into the plan: puts each rule into the
 * group and the prefilter in which inspection looks for it. The loading thread runs this;
 * afterwards the plan is read-only. */
#include "detect/compile/compile.h"
#include "base/system/directories.h"
#include "base/report/log.h"
#include "detect/state/dataset.h"
#include "detect/rule/program.h"
#include "detect/state/part_costs.h"
#include "detect/state/profile.h"
#include "match/hs.h"
#include "match/port.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef ARRAY_OF(uint32_t) id_array;

typedef ARRAY_OF(struct anchored_entry) entry_array;

typedef ARRAY_OF(const struct rule *) rule_array;

/* The rules with a fast pattern in one buffer. */
struct scan_builder {
    const struct buffer *buffer;
    rule_array rules;
};
typedef ARRAY_OF(struct scan_builder) scan_array;

typedef ARRAY_OF(struct payload_pattern) pattern_array;

/* Rules about packets of one transport and direction. `non_prefilter` rules are looked for
 * by port, `anchored` ones by a literal at a fixed position; all others by a pattern. */
struct group_builder {
    pattern_array payload, stream;
    id_array events, addresses;
    entry_array non_prefilter, payload_non_prefilter, stream_non_prefilter, payload_anchored,
        stream_anchored;
    scan_array packet_scans;
};

/* Rules about one protocol and direction; the `always` ones have no pattern. */
struct app_builder {
    scan_array scans, frame_scans;
    id_array always, frame_always;
};

/* Lives for one ruleset_compile(). */
struct compiler {
    struct ruleset *set;
    struct detect_plan *plan;
    struct group_builder group[TRANSPORT_COUNT][2];
    struct app_builder app[APP_PROTO_COUNT][2];
    uint8_t *cases;                     /* address_cases_of() each rule, by its index */
    struct err *err;
};

/* IANA's protocol numbers of transports, in the order of their enum. */
static const uint8_t ip_protos[] = { 6, 17, 1, 58, 132 };

/* Other protocols share one group. */
enum transport transport_of(uint8_t ip_proto)
{
    switch (ip_proto) {
    case 6:   return TRANSPORT_TCP;
    case 17:  return TRANSPORT_UDP;
    case 1:   return TRANSPORT_ICMP;
    case 58:  return TRANSPORT_ICMPV6;
    case 132: return TRANSPORT_SCTP;
    default:  return TRANSPORT_OTHER;
    }
}

/* Whether it names a protocol without a transport of its own. */
static bool names_other(const struct rule *r)
{
    uint8_t named[sizeof(r->ip_proto)];
    unsigned any = 0;

    memcpy(named, r->ip_proto, sizeof(named));
    for (unsigned i = 0; i < ARRAY_LEN(ip_protos); i++)
        named[ip_protos[i] >> 3] &= (uint8_t)~(1u << (ip_protos[i] & 7));
    for (unsigned i = 0; i < sizeof(named); i++)
        any |= named[i];
    return any != 0;
}

/* Rules about "ip" concern every transport and are in all of their groups. */
static bool concerns(const struct rule *r, enum transport t)
{
    if (t < ARRAY_LEN(ip_protos))
        return rule_has_ip_proto(r, ip_protos[t]);
    if (t == TRANSPORT_NONE)
        return r->link != RULE_LINK_ANY && rule_has_ip_proto(r, 0);
    if (r->link == RULE_LINK_ARP)
        return false;
    return names_other(r);
}

static bool in_direction(const struct rule *r, unsigned d)
{
    return r->flags & (d == TO_SERVER ? RULE_TO_SERVER : RULE_TO_CLIENT);
}

/* The id of a pattern is the rule's index: a hit names the candidate directly. */
static void pattern_add(struct pattern_set_builder *b, const struct rule *r)
{
    struct literal_pattern p = rule_fast_literal(r);

    pattern_set_add(b, p.bytes, p.len, p.nocase, r->index);
}

/* A ruleset names few buffers per protocol, so a list is enough. */
static void scan_add(scan_array *scans, const struct buffer *buffer, const struct rule *r)
{
    size_t i = 0;

    while (i < scans->count && scans->at[i].buffer != buffer)
        i++;
    if (i == scans->count)
        ARRAY_PUSH(scans, (struct scan_builder){ .buffer = buffer });
    ARRAY_PUSH(&scans->at[i].rules, r);
}

static void scans_free(scan_array *scans)
{
    for (size_t i = 0; i < scans->count; i++)
        ARRAY_FREE(&scans->at[i].rules);
    ARRAY_FREE(scans);
}

/* The patterns of the rules that can match in some of these cases. */
static int build_scan_set(struct compiler *c, const struct scan_builder *from, unsigned cases,
                          struct pattern_set **out)
{
    struct pattern_set_builder *b = pattern_set_builder_new();

    for (size_t i = 0; i < from->rules.count; i++)
        if (c->cases[from->rules.at[i]->index] & cases)
            pattern_add(b, from->rules.at[i]);
    return pattern_set_build(b, c->plan->patterns, out, c->err);
}

/* --- rules about packets and streams ------------------------------------------------------ */

/* A short pattern would stop the scan so often that another way is cheaper: a list by port
 * or, for a rule about any port, a literal at a known position. */
static void add_non_prefilter(entry_array *by_port, entry_array *anchored, const struct rule *r)
{
    ARRAY_PUSH(rule_is_on_any_port(r) ? anchored : by_port,
               (struct anchored_entry){ r, rule_anchored_literal(r) });
}

/* A rule may be in the set of the stream and in that of the packet. Rules on transactions
 * search their payload part in the stream only. */
static void place_payload_rule(struct group_builder *b, struct rule *r, enum transport t)
{
    bool tx = r->type == RULE_APP_TX;
    bool stream = tx || (t == TRANSPORT_TCP && (r->flags & RULE_NEEDS_STREAM));
    bool packet = !tx && (!stream || (r->flags & RULE_NEEDS_PACKET));
    struct literal_pattern p = rule_payload_literal(r);

    if (p.len > 0) {
        r->flags |= RULE_PAYLOAD_PATTERN;
        if (stream)
            ARRAY_PUSH(&b->stream, (struct payload_pattern){ .literal = p, .rule = r });
        if (packet)
            ARRAY_PUSH(&b->payload, rule_packet_pattern(r));
        return;
    }
    if (stream)
        add_non_prefilter(&b->stream_non_prefilter, &b->stream_anchored, r);
    if (packet)
        add_non_prefilter(&b->payload_non_prefilter, &b->payload_anchored, r);
}

/* The transaction part of a rule is placed by place_tx_rule(). */
static void place_in_group(struct group_builder *b, struct rule *r, enum transport t)
{
    const struct buffer *fast = r->fast_list != NULL ? r->fast_list->buffer : NULL;

    switch ((enum rule_type)r->type) {
    case RULE_IP_ONLY:
        ARRAY_PUSH(&b->addresses, r->index);
        return;
    case RULE_DECODER_EVENT:
        ARRAY_PUSH(&b->events, r->index);
        return;
    case RULE_APP_TX:
        /* The stream is searched for its payload part, and the flow remembers the match. */
        if (t == TRANSPORT_TCP && (r->flags & RULE_NEEDS_PAYLOAD) &&
            r->shared_payload_match == r->index)
            place_payload_rule(b, r, t);
        return;
    default:
        break;
    }
    if (fast != NULL && fast->kind == BUFFER_PACKET)
        scan_add(&b->packet_scans, fast, r);
    else if (r->flags & RULE_NEEDS_PAYLOAD)
        place_payload_rule(b, r, t);
    else
        ARRAY_PUSH(&b->non_prefilter, (struct anchored_entry){ .rule = r });
}

static void place_packet_rule(struct compiler *c, struct rule *r)
{
    for (unsigned t = 0; t < TRANSPORT_COUNT; t++)
        for (unsigned d = 0; d < 2 && concerns(r, t); d++)
            if (in_direction(r, d))
                place_in_group(&c->group[t][d], r, t);
}

/* --- rules about transactions and frames -------------------------------------------------- */

/* rule_finish() has rejected rules that mix frames with other buffers. */
static bool is_frame_rule(const struct rule *r)
{
    for (const struct rule_list *l = r->list; l != NULL; l = l->next)
        if (l->buffer != NULL && l->buffer->kind == BUFFER_FRAME)
            return true;
    return false;
}

/* True if the rule can inspect something in this protocol. */
static bool fits_proto(const struct rule *r, unsigned id)
{
    if (r->app_proto != APP_PROTO_UNKNOWN &&
        !app_proto_matches(r->app_proto, (enum app_proto_id)id))
        return false;
    for (const struct rule_list *l = r->list; l != NULL; l = l->next) {
        if (l->buffer == NULL)
            continue;
        if (l->buffer->kind == BUFFER_TX && l->buffer->by_proto[id] == NULL)
            return false;
        if (l->buffer->kind == BUFFER_FRAME && l->buffer->frame_proto != id)
            return false;
    }
    return true;
}

/* A buffer may exist in one direction with one protocol and in both with another. */
static bool list_in(const struct rule_list *l, unsigned id, unsigned d)
{
    if (!(l->directions & APP_DIRECTION_BIT(d)))
        return false;
    return l->buffer->kind != BUFFER_TX || l->buffer->by_proto[id] == NULL ||
           (l->buffer->by_proto[id]->directions & APP_DIRECTION_BIT(d));
}

/* False: one of its conditions is about the other direction alone. A rule over both waits for that
 * one. */
static bool can_match_in(const struct rule *r, unsigned id, unsigned d)
{
    if (r->flags & RULE_TX_BOTH)
        return true;
    for (const struct rule_list *l = r->list; l != NULL; l = l->next)
        if (l->buffer == NULL ? !(l->directions & APP_DIRECTION_BIT(d)) : !list_in(l, id, d))
            return false;
    for (unsigned i = 0; i < r->tx_test_count; i++)
        if (!(r->tx_test[i].directions & APP_DIRECTION_BIT(d)))
            return false;
    return true;
}

/* A rule without a pattern in this protocol and direction is a candidate for every
 * transaction. */
static void place_tx_rule(struct compiler *c, const struct rule *r)
{
    bool frame = is_frame_rule(r);

    for (unsigned id = 0; id < APP_PROTO_COUNT; id++) {
        if (app_proto_by_id((enum app_proto_id)id) == NULL || !fits_proto(r, id))
            continue;
        for (unsigned d = 0; d < 2; d++) {
            struct app_builder *b = &c->app[id][d];

            if (!in_direction(r, d) && !(r->flags & RULE_TX_BOTH))
                continue;
            if ((r->flags & RULE_TX_BOTH) && d == TO_CLIENT && r->fast_op != NULL)
                continue;       /* begins with the request, then waits for the response */
            if (!frame && !can_match_in(r, id, d))
                continue;
            if (r->fast_op == NULL || !list_in(r->fast_list, id, d))
                ARRAY_PUSH(frame ? &b->frame_always : &b->always, r->index);
            else
                scan_add(frame ? &b->frame_scans : &b->scans, r->fast_list->buffer, r);
        }
    }
}

/* Parsers keep the content of files only for protocols and directions in which a rule
 * inspects it. Files are large: without this, any rule on one buffer of files would cost
 * memory everywhere. */
static void require_contents(struct ruleset *set, const struct rule *r)
{
    for (const struct rule_list *l = r->list; l != NULL; l = l->next) {
        if (l->buffer == NULL || l->buffer->kind != BUFFER_TX)
            continue;
        for (unsigned id = 0; id < APP_PROTO_COUNT; id++) {
            const struct app_buffer *app = l->buffer->by_proto[id];

            if (app == NULL || !(app->files & APP_FILE_CONTENT) || !fits_proto(r, id))
                continue;
            for (unsigned d = 0; d < 2; d++)
                if (list_in(l, id, d) && (in_direction(r, d) || (r->flags & RULE_TX_BOTH)))
                    set->required.file_content[id] |= (uint8_t)APP_DIRECTION_BIT(d);
        }
    }
}

/* --- the plan ----------------------------------------------------------------------------- */

/* Moves the array to the ruleset's arena. */
static void ids_take(struct compiler *c, const uint32_t **at, unsigned *count, id_array *from)
{
    *at = arena_copy(&c->set->arena, from->at, from->count * sizeof(from->at[0]));
    *count = (unsigned)from->count;
    ARRAY_FREE(from);
}

/* Inspection walks the scans in the order in which a transaction makes progress. The id
 * breaks ties, so that the plan does not depend on qsort(). */
static int by_progress(const void *a, const void *b)
{
    const struct tx_scan *x = a, *y = b;

    return x->progress != y->progress ? x->progress - y->progress
                                      : x->buffer->id - y->buffer->id;
}

/* Of a buffer with transforms the bytes are computed once for a packet. */
static bool is_plain(const struct buffer *b, const struct app_buffer *app)
{
    return app != NULL && b->transform_count == 0 && !b->multi && !app->multi && !app->grows &&
           !app->appended && app->position == NULL;
}

static struct tx_scan tx_scan_on(const struct buffer *b, unsigned id, unsigned d,
                                 struct pattern_set *set)
{
    const struct app_buffer *app = b->kind == BUFFER_TX ? b->by_proto[id] : NULL;

    return (struct tx_scan){ .buffer = b, .app = app, .set = set,
                             .progress = app != NULL ? app->progress[d] : 0,
                             .is_plain = is_plain(b, app) };
}

/* The cases in which each rule of a list can match. */
static uint8_t *cases_of(const struct compiler *c, const uint32_t *rule, size_t count)
{
    uint8_t *bits = xcalloc(count + 1, 1);

    for (size_t i = 0; i < count; i++)
        bits[i] = c->cases[rule[i]];
    return bits;
}

static void choose_lists(const struct compiler *c, const rule_array *rules,
                         struct case_lists *lists)
{
    uint8_t *bits = xcalloc(rules->count + 1, 1);

    for (size_t i = 0; i < rules->count; i++)
        bits[i] = c->cases[rules->at[i]->index];
    case_lists_choose(lists, bits, (unsigned)rules->count);
    free(bits);
}

/* Adds the scan of a buffer to the lists of the cases in which some rule can match. */
static int build_tx_scan(struct compiler *c, const struct scan_builder *from, unsigned id,
                         unsigned d)
{
    struct app_group *g = &c->plan->app[id][d];
    struct pattern_set *set[ADDRESS_CASES] = { NULL };
    struct case_lists lists;

    choose_lists(c, &from->rules, &lists);
    for (unsigned i = 0; i < ADDRESS_CASES; i++) {
        struct tx_lists *of = &g->of[i];

        if (lists.of[i] == i && build_scan_set(c, from, lists.mask[i], &set[i]) < 0)
            return -1;
        set[i] = set[lists.of[i]];
        if (set[i] != NULL)
            of->scan[of->scan_count++] = tx_scan_on(from->buffer, id, d, set[i]);
    }
    return 0;
}

static int build_tx_scans(struct compiler *c, struct app_builder *b, unsigned id, unsigned d)
{
    struct app_group *g = &c->plan->app[id][d];
    size_t most = b->scans.count;
    int result = 0;

    for (unsigned i = 0; i < ADDRESS_CASES; i++)
        g->of[i].scan = xcalloc(most, sizeof(*g->of[i].scan));
    for (size_t i = 0; i < most && result == 0; i++)
        result = build_tx_scan(c, &b->scans.at[i], id, d);
    for (unsigned i = 0; i < ADDRESS_CASES; i++)
        if (g->of[i].scan_count > 1)
            qsort(g->of[i].scan, g->of[i].scan_count, sizeof(*g->of[i].scan), by_progress);
    scans_free(&b->scans);
    return result;
}

/* Rules on frames are few, so all cases have the same. */
static int build_frame_scans(struct compiler *c, struct app_builder *b, unsigned id, unsigned d)
{
    struct app_group *g = &c->plan->app[id][d];
    int result = 0;

    g->frame_scan_count = (unsigned)b->frame_scans.count;
    g->frame_scan = xcalloc(g->frame_scan_count, sizeof(*g->frame_scan));
    for (unsigned i = 0; i < g->frame_scan_count && result == 0; i++) {
        struct pattern_set *set;

        result = build_scan_set(c, &b->frame_scans.at[i], ADDRESS_CASES_ALL, &set);
        g->frame_scan[i] = tx_scan_on(b->frame_scans.at[i].buffer, id, d, set);
    }
    if (g->frame_scan_count > 1)
        qsort(g->frame_scan, g->frame_scan_count, sizeof(*g->frame_scan), by_progress);
    scans_free(&b->frame_scans);
    return result;
}

/* Divides the rules without a pattern by cases. */
static void build_always(struct compiler *c, id_array *from, struct app_group *g)
{
    uint8_t *bits = cases_of(c, from->at, from->count);
    struct case_lists lists;

    case_lists_choose(&lists, bits, (unsigned)from->count);
    for (unsigned i = 0; i < ADDRESS_CASES; i++) {
        id_array some = { 0 };

        for (size_t k = 0; k < from->count && lists.of[i] == i; k++)
            if (bits[k] & lists.mask[i])
                ARRAY_PUSH(&some, from->at[k]);
        if (lists.of[i] == i)
            ids_take(c, &g->of[i].always, &g->of[i].always_count, &some);
        g->of[i].always = g->of[lists.of[i]].always;
        g->of[i].always_count = g->of[lists.of[i]].always_count;
    }
    free(bits);
    ARRAY_FREE(from);
}

static int build_app(struct compiler *c, unsigned id, unsigned d)
{
    struct app_builder *b = &c->app[id][d];
    struct app_group *g = &c->plan->app[id][d];

    if (build_tx_scans(c, b, id, d) < 0 || build_frame_scans(c, b, id, d) < 0)
        return -1;
    build_always(c, &b->always, g);
    ids_take(c, &g->frame_always, &g->frame_always_count, &b->frame_always);
    /* data of a frame arrive in parts, like those of the stream */
    c->plan->any_stream |= g->frame_scan_count > 0 || g->frame_always_count > 0;
    return 0;
}

/* A protocol gets its own set if that saves at least this many patterns. Each set costs memory and
 * build time. */
#define OWN_SET 32

/* A rule about "http" names http1 and http2. */
static bool is_named(const struct rule *r, unsigned id)
{
    return r->app_proto != APP_PROTO_UNKNOWN &&
           app_proto_matches(r->app_proto, (enum app_proto_id)id);
}

/* Counts the patterns on the stream of rules that name a protocol, in total and by protocol. */
struct stream_names {
    unsigned total, of[APP_PROTO_COUNT];
};

static void count_names(const pattern_array *all, struct stream_names *names)
{
    *names = (struct stream_names){ 0 };
    for (size_t i = 0; i < all->count; i++) {
        names->total += all->at[i].rule->app_proto != APP_PROTO_UNKNOWN;
        for (unsigned id = 0; id < APP_PROTO_COUNT; id++)
            names->of[id] += is_named(all->at[i].rule, id);
    }
}

static int add_stream_set(struct compiler *c, const pattern_array *from, struct transport_group *g)
{
    return payload_sets_build(&g->stream_sets[g->stream_set_count++], from->at,
                              (unsigned)from->count, c->plan->patterns, c->err);
}

/* Returns an earlier protocol that no rule names either, because it has the same set; `id`
 * when there is none. */
static unsigned same_as(const struct stream_names *names, unsigned id)
{
    unsigned like = 0;

    if (names->of[id] > 0)
        return id;
    while (like < id && (names->of[like] > 0 || like == APP_PROTO_UNKNOWN))
        like++;
    return like;
}

/* Builds the set of patterns that may match in streams of this protocol: those of rules
 * that name it or no protocol at all. */
static int build_stream_of(struct compiler *c, const pattern_array *all, unsigned id,
                           struct transport_group *g)
{
    pattern_array some = { 0 };
    int result;

    for (size_t i = 0; i < all->count; i++)
        if (all->at[i].rule->app_proto == APP_PROTO_UNKNOWN || is_named(all->at[i].rule, id))
            ARRAY_PUSH(&some, all->at[i]);
    result = add_stream_set(c, &some, g);
    ARRAY_FREE(&some);
    return result;
}

/* Builds one set with all patterns, for streams whose protocol is unknown. Protocols that no
 * rule names share a set, and each protocol that saves enough gets its own. */
static int build_stream_case(struct compiler *c, const pattern_array *all,
                             struct transport_group *g, const struct payload_sets **stream)
{
    struct payload_sets *of_all = &g->stream_sets[g->stream_set_count];
    struct stream_names names;

    count_names(all, &names);
    if (add_stream_set(c, all, g) < 0)
        return -1;
    for (unsigned id = 0; id < APP_PROTO_COUNT; id++) {
        unsigned like = same_as(&names, id);

        stream[id] = &g->stream_sets[g->stream_set_count];
        if (id == APP_PROTO_UNKNOWN || names.total - names.of[id] < OWN_SET)
            stream[id] = of_all;
        else if (like < id)
            stream[id] = stream[like];
        else if (build_stream_of(c, all, id, g) < 0)
            return -1;
    }
    return 0;
}

static void choose_pattern_lists(const struct compiler *c, const pattern_array *all,
                                 struct case_lists *lists)
{
    uint8_t *bits = xcalloc(all->count + 1, 1);

    for (size_t i = 0; i < all->count; i++)
        bits[i] = c->cases[all->at[i].rule->index];
    case_lists_choose(lists, bits, (unsigned)all->count);
    free(bits);
}

/* The patterns of rules that can match in some of these cases. */
static pattern_array patterns_in(const struct compiler *c, const pattern_array *all,
                                 unsigned cases)
{
    pattern_array some = { 0 };

    for (size_t i = 0; i < all->count; i++)
        if (c->cases[all->at[i].rule->index] & cases)
            ARRAY_PUSH(&some, all->at[i]);
    return some;
}

static int build_stream(struct compiler *c, const pattern_array *all, struct transport_group *g)
{
    struct case_lists lists;

    if (all->count == 0)
        return 0;
    g->stream_sets = xcalloc(ADDRESS_CASES * (APP_PROTO_COUNT + 1), sizeof(*g->stream_sets));
    choose_pattern_lists(c, all, &lists);
    for (unsigned i = 0; i < ADDRESS_CASES; i++) {
        pattern_array some;
        int result;

        if (lists.of[i] != i) {
            memcpy(g->stream[i], g->stream[lists.of[i]], sizeof(g->stream[i]));
            continue;
        }
        some = patterns_in(c, all, lists.mask[i]);
        result = build_stream_case(c, &some, g, g->stream[i]);
        ARRAY_FREE(&some);
        if (result < 0)
            return -1;
    }
    return 0;
}

static int build_payload(struct compiler *c, const pattern_array *all, struct transport_group *g)
{
    struct case_lists lists;

    choose_pattern_lists(c, all, &lists);
    for (unsigned i = 0; i < ADDRESS_CASES; i++) {
        pattern_array some = patterns_in(c, all, lists.of[i] == i ? lists.mask[i] : 0);
        int result = lists.of[i] != i ? 0
                                      : payload_sets_build(&g->payload_sets[i], some.at,
                                                           (unsigned)some.count,
                                                           c->plan->patterns, c->err);

        ARRAY_FREE(&some);
        if (result < 0)
            return -1;
        g->payload[i] = &g->payload_sets[lists.of[i]];
    }
    return 0;
}

static int build_packet_scans(struct compiler *c, struct group_builder *b,
                              struct transport_group *g)
{
    int result = 0;

    g->packet_scan = xcalloc(b->packet_scans.count, sizeof(*g->packet_scan));
    g->packet_scan_count = (unsigned)b->packet_scans.count;
    for (unsigned i = 0; i < g->packet_scan_count && result == 0; i++) {
        g->packet_scan[i].buffer = b->packet_scans.at[i].buffer;
        result = build_scan_set(c, &b->packet_scans.at[i], ADDRESS_CASES_ALL,
                                &g->packet_scan[i].set);
    }
    scans_free(&b->packet_scans);
    return result;
}

/* Arrays of the builder are freed as soon as their list is built, because both together
 * are the peak of the load's memory. */
static int build_group(struct compiler *c, struct group_builder *b, struct transport_group *g)
{
    if (build_payload(c, &b->payload, g) < 0 || build_stream(c, &b->stream, g) < 0)
        return -1;
    port_lists_build(&g->non_prefilter, b->non_prefilter.at, (unsigned)b->non_prefilter.count);
    port_lists_build(&g->stream_non_prefilter, b->stream_non_prefilter.at,
                     (unsigned)b->stream_non_prefilter.count);
    g->has_stream = b->stream.count > 0 || b->stream_non_prefilter.count > 0 ||
                    b->stream_anchored.count > 0;
    ARRAY_FREE(&b->stream_non_prefilter);
    c->plan->any_stream |= g->has_stream;
    for (unsigned i = 0; i < g->stream_set_count; i++)
        c->plan->stream_before = MAX(c->plan->stream_before, g->stream_sets[i].longest);
    ARRAY_FREE(&b->payload);
    ARRAY_FREE(&b->stream);
    port_lists_build(&g->payload_non_prefilter, b->payload_non_prefilter.at,
                     (unsigned)b->payload_non_prefilter.count);
    anchored_lists_build(&g->payload_anchored, b->payload_anchored.at,
                         (unsigned)b->payload_anchored.count);
    anchored_lists_build(&g->stream_anchored, b->stream_anchored.at,
                         (unsigned)b->stream_anchored.count);
    ARRAY_FREE(&b->non_prefilter);
    ARRAY_FREE(&b->payload_non_prefilter);
    ARRAY_FREE(&b->payload_anchored);
    ARRAY_FREE(&b->stream_anchored);
    ids_take(c, &g->event_rule, &g->event_rule_count, &b->events);
    return build_packet_scans(c, b, g);
}

static bool has_same_addresses(const struct group_builder *x, const struct group_builder *y)
{
    return x->addresses.count == y->addresses.count &&
           (x->addresses.count == 0 ||
            memcmp(x->addresses.at, y->addresses.at,
                   x->addresses.count * sizeof(x->addresses.at[0])) == 0);
}

static const struct address_lists *addresses_of(struct compiler *c, unsigned group)
{
    const struct group_builder *b = &c->group[group / 2][group % 2];
    struct address_lists *lists;

    for (unsigned i = 0; i < group; i++)
        if (has_same_addresses(&c->group[i / 2][i % 2], b))
            return c->plan->group[i / 2][i % 2].addresses;
    lists = &c->plan->address_lists[c->plan->address_list_count++];
    address_lists_build(lists, c->plan->rule, b->addresses.at, (unsigned)b->addresses.count,
                        &c->set->arena);
    return lists;
}

static void build_addresses(struct compiler *c)
{
    for (unsigned i = 0; i < TRANSPORT_COUNT * 2; i++)
        c->plan->group[i / 2][i % 2].addresses = addresses_of(c, i);
    for (unsigned i = 0; i < TRANSPORT_COUNT * 2; i++)
        ARRAY_FREE(&c->group[i / 2][i % 2].addresses);
}

static int build_all(struct compiler *c)
{
    build_addresses(c);
    for (unsigned t = 0; t < TRANSPORT_COUNT; t++)
        for (unsigned d = 0; d < 2; d++)
            if (build_group(c, &c->group[t][d], &c->plan->group[t][d]) < 0)
                return -1;
    for (unsigned id = 0; id < APP_PROTO_COUNT; id++)
        for (unsigned d = 0; d < 2; d++)
            if (build_app(c, id, d) < 0)
                return -1;
    return 0;
}

/* The directory for compiled databases of Hyperscan; false: the cache is off. Keys and the
 * age of seven days are Suricata's. Old files are deleted when rules are loaded. */
static bool cache_dir(const struct conf_node *conf, char *out, size_t size)
{
    const char *dir = conf_string(conf, "detect.sgh-mpm-caching-path", NULL);
    const char *data = conf_string(conf, "default-data-dir", IDS_STATEDIR);

    if (!conf_bool(conf, "detect.sgh-mpm-caching", dir != NULL))
        return false;
    snprintf(out, size, "%s%s", dir != NULL ? dir : data, dir != NULL ? "" : "/cache/sgh");
    (void)directories_make(out, 0755);
    hs_cache_prune(out, conf_duration_ms(conf, "detect.sgh-mpm-caching-max-age", 604800000) / 1000);
    return true;
}

/* The defaults are Suricata's. "mpm-algo: hs" uses Hyperscan; every other value means our
 * own matcher. */
static struct detect_plan *plan_new(const struct ruleset *set)
{
    const struct conf_node *conf = set->conf;
    struct detect_plan *plan = xcalloc(1, sizeof(*plan));
    bool use_hs = strcmp(conf_string(conf, "mpm-algo", "auto"), "hs") == 0;
    char dir[4096];

    plan->patterns = pattern_pool_new(use_hs, use_hs && cache_dir(conf, dir, sizeof(dir)) ? dir
                                                                                         : NULL);
    plan->step_limit = (uint32_t)conf_u64(conf, "detect.inspection-recursion-limit", 3000);
    plan->work_by_byte = (uint32_t)MIN(conf_u64(conf, "detect.work-by-byte", 4), UINT16_MAX);
    plan->guess_tx = conf_bool(conf, "detect.guess-applayer-tx", false);
    plan->alert_once = conf_bool(conf, "detect.alert-once", false);
    plan->guess_limit = (uint8_t)MIN(conf_u64(conf, "detect.stream-tx-log-limit", 4), UINT8_MAX);
    plan->chunk_size[TO_SERVER] =
        (unsigned)conf_size(conf, "stream.reassembly.toserver-chunk-size", 2560);
    plan->chunk_size[TO_CLIENT] =
        (unsigned)conf_size(conf, "stream.reassembly.toclient-chunk-size", 2560);
    return plan;
}

bool rule_looks_at_body(const struct rule *r)
{
    for (const struct rule_list *l = r->list; l != NULL; l = l->next)
        if (l->buffer != NULL && l->buffer->kind == BUFFER_TX &&
            buffer_declared(l->buffer)->flushes)
            return true;
    return false;
}

/* Whether its payload part goes with a body. */
static bool looks_back(const struct rule *r)
{
    return r->type == RULE_APP_TX && rule_payload(r) != NULL && rule_looks_at_body(r);
}

/* Stream reassembly compares repeated data only if a rule requires it. */
static bool asks_for_overlap(const struct rule *r)
{
    for (unsigned i = 0; i < r->test_count; i++)
        if (keyword_event(r->test[i].keyword, r->test[i].arg) ==
            EVENT_STREAM_REASSEMBLY_OVERLAP_DIFFERENT_DATA)
            return true;
    return false;
}

static void find_cases(struct compiler *c)
{
    struct detect_plan *plan = c->plan;

    address_cases_init(&plan->cases, plan->rule, plan->rule_count);
    c->cases = xcalloc(plan->rule_count + 1u, sizeof(*c->cases));
    for (unsigned i = 0; i < plan->rule_count; i++)
        c->cases[i] = (uint8_t)address_cases_of(&plan->cases, plan->rule[i]);
}

/* For reports of what groups cost. */
static void groups_name(struct ruleset *set)
{
    static const char *const transports[TRANSPORT_COUNT] = {
        [TRANSPORT_TCP] = "tcp", [TRANSPORT_UDP] = "udp", [TRANSPORT_ICMP] = "icmp",
        [TRANSPORT_ICMPV6] = "icmpv6", [TRANSPORT_SCTP] = "sctp", [TRANSPORT_OTHER] = "other",
        [TRANSPORT_NONE] = "link",
    };
    static const char *const ways[] = { [TO_SERVER] = "to_server", [TO_CLIENT] = "to_client" };

    for (enum direction d = TO_SERVER; d <= TO_CLIENT; d++) {
        for (unsigned t = 0; t < TRANSPORT_COUNT; t++)
            set->plan->group[t][d].name = arena_printf(&set->arena, "%s %s", transports[t],
                                                       ways[d]);
        for (unsigned id = 0; id < APP_PROTO_COUNT; id++)
            set->plan->app[id][d].name =
                arena_printf(&set->arena, "%s %s", app_proto_name((enum app_proto_id)id), ways[d]);
    }
}

/* The order matters: indexes first (patterns are known by them), then types, then fast
 * patterns, then shared payload parts. -1 leaves a plan that ruleset_plan_free() can free. */
int ruleset_compile(struct ruleset *set, const struct ruleset *previous, struct err *err)
{
    struct compiler *c = xcalloc(1, sizeof(*c));
    int result;

    c->set = set;
    c->err = err;
    c->plan = set->plan = plan_new(set);
    if (previous != NULL && previous->plan != NULL)
        pattern_pool_continue(c->plan->patterns, previous->plan->patterns);
    rules_order(set);
    c->plan->rule = set->rules.at;
    c->plan->rule_count = (unsigned)set->rules.count;
    set->profile = profile_new(c->plan->rule_count);
    set->costs = costs_new(c->plan->rule_count);
    c->plan->any_rules = set->rules.count > 0;
    for (size_t i = 0; i < set->rules.count; i++)
        c->plan->any_link |= concerns(set->rules.at[i], TRANSPORT_NONE);
    for (size_t i = 0; i < set->rules.count; i++) {
        rule_classify(set->rules.at[i]);
        set->rules.at[i]->looks_back = looks_back(set->rules.at[i]);
        c->plan->looks_back |= set->rules.at[i]->looks_back;
    }
    rules_follow_tx(set);
    for (size_t i = 0; i < set->rules.count; i++)
        rule_select_fast_pattern(set->rules.at[i]);
    rules_number_headers(set);
    rules_share_payload_matches(set);
    find_cases(c);
    for (size_t i = 0; i < set->rules.count; i++) {
        struct rule *r = set->rules.at[i];
        const struct rule_list *payload = rule_payload(r);

        r->payload = payload != NULL ? payload->program : NULL;
        c->plan->any_overlap |= asks_for_overlap(r);
        require_contents(set, r);
        if (r->flags & RULE_FIREWALL)
            continue;           /* inspected one by one: compile/firewall.h */
        place_packet_rule(c, r);
        if (r->type == RULE_APP_TX)
            place_tx_rule(c, r);
    }
    rule_masks_build(c->plan, &set->arena);
    buffer_checks_build(c->plan, &set->arena);
    result = build_all(c);
    pattern_pool_continue(c->plan->patterns, NULL);
    c->plan->buffer_count = buffer_count(set);
    if (c->plan->any_rules) {
        groups_name(set);
        set->parts = part_costs_new(c->plan->buffer_count);
    }
    free(c->cases);
    free(c);
    return result;
}

/* Safe on a plan that was built in part. The last user of the ruleset calls it
 * (ruleset_unref). */
void ruleset_plan_free(struct ruleset *set)
{
    struct detect_plan *plan = set->plan;

    buffer_registry_free(set);
    dataset_table_free(set->datasets);
    set->datasets = NULL;
    if (plan == NULL)
        return;
    for (unsigned t = 0; t < TRANSPORT_COUNT; t++)
        for (unsigned d = 0; d < 2; d++) {
            struct transport_group *g = &plan->group[t][d];

            port_lists_fini(&g->non_prefilter);
            port_lists_fini(&g->payload_non_prefilter);
            port_lists_fini(&g->stream_non_prefilter);
            anchored_lists_fini(&g->payload_anchored);
            anchored_lists_fini(&g->stream_anchored);
            free(g->stream_sets);
            free(g->packet_scan);
        }
    for (unsigned id = 0; id < APP_PROTO_COUNT; id++)
        for (unsigned d = 0; d < 2; d++) {
            for (unsigned i = 0; i < ADDRESS_CASES; i++)
                free(plan->app[id][d].of[i].scan);
            free(plan->app[id][d].frame_scan);
        }
    pattern_pool_free(plan->patterns);
    free(plan);
    set->plan = NULL;
}

/* The stream module reassembles nothing unless a ruleset, parser or output requires it. */
bool ruleset_looks_at_streams(const struct ruleset *set)
{
    return set->plan != NULL && set->plan->any_stream;
}

bool ruleset_looks_at_overlap(const struct ruleset *set)
{
    return set->plan != NULL && set->plan->any_overlap;
}
