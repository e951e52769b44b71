/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/core/detect_proto.c - which protocol do these bytes speak?
 *
 * Patterns first, as they hold on any port; then the probes whose port the flow has. Each can
 * say yes, never, or "ask again with more bytes"; what has said never is not asked again. With
 * midstream pickup on, client and server may be the wrong way round, so that the other side's
 * patterns and ports are tried as well. */
#include "app/core/detect_tables.h"

#include <string.h>
#include <strings.h>

/* --- patterns --------------------------------------------------------------------------------- */

static bool bytes_equal(const struct pattern_item *item, const uint8_t *data)
{
    if (item->pattern->nocase)
        return strncasecmp((const char *)data, item->pattern->bytes, item->len) == 0;
    return memcmp(data, item->pattern->bytes, item->len) == 0;
}

/* A pattern counts only once all bytes up to its depth are there. */
static bool item_hits(const struct pattern_item *item, struct slice data)
{
    if (data.len < item->depth)
        return false;
    for (unsigned at = item->pattern->offset; at + item->len <= item->depth; at++)
        if (bytes_equal(item, data.data + at))
            return true;
    return false;
}

static enum app_probe_result item_confirm(const struct pattern_item *item,
                                          const struct proto_detect_input *q)
{
    const struct app_pattern *pattern = item->pattern;
    enum app_probe_result result;

    if (q->data.len < pattern->confirm_min)
        return APP_PROBE_MORE;
    result = pattern->confirm(bytes_of_slice(q->data), q->direction, q->flow);
    if (result == APP_PROBE_MORE && q->data.len > pattern->confirm_max)
        return APP_PROBE_NO;
    return result;
}

/* True: this is it. *hit: the bytes were there, whatever the confirmation said. */
static bool item_matches(const struct pattern_item *item, const struct proto_detect_input *q,
                         bool own, bool *hit, bool *reversed)
{
    enum app_probe_result result;

    if (!item_hits(item, q->data))
        return false;
    *hit = true;
    if (item->pattern->confirm == NULL) {
        *reversed = !own;
        return true;
    }
    result = item_confirm(item, q);
    *reversed = result == APP_PROBE_YES_REVERSED;
    return result == APP_PROBE_YES || result == APP_PROBE_YES_REVERSED;
}

enum pattern_result app_pattern_set_match(const struct app_pattern_set *set,
                                          const struct proto_detect_input *q, bool own,
                                          enum app_proto_id *found, bool *reversed)
{
    uint16_t lists[2] = { PATTERN_NONE, set->floating };
    bool hit = false;

    if (set->count == 0)
        return PATTERN_NEVER;
    if (q->data.len > 0)
        lists[0] = set->first[q->data.data[0]];
    for (unsigned l = 0; l < 2; l++) {
        for (uint16_t i = lists[l]; i != PATTERN_NONE; i = set->at[i].next) {
            if (item_matches(&set->at[i], q, own, &hit, reversed)) {
                *found = set->at[i].proto->id;
                return PATTERN_FOUND;
            }
        }
    }
    if (hit)
        return q->data.len >= set->confirm_max ? PATTERN_NEVER : PATTERN_NOT_YET;
    return q->data.len >= set->max_depth ? PATTERN_NEVER : PATTERN_NOT_YET;
}

static enum app_proto_id detect_by_pattern(const struct app_detect_tables *tables,
                                           const struct proto_detect_input *q,
                                           struct proto_detect_state *detect_state, bool *reversed)
{
    struct app_pattern_set *const *sets = tables->patterns[q->transport];
    enum app_proto_id found = APP_PROTO_UNKNOWN;
    enum pattern_result result, other = PATTERN_NEVER;

    result = app_pattern_set_match(sets[q->direction], q, true, &found, reversed);
    if (result != PATTERN_FOUND && tables->midstream)
        other = app_pattern_set_match(sets[OTHER_DIRECTION(q->direction)], q, false, &found,
                                      reversed);
    if (result == PATTERN_FOUND || other == PATTERN_FOUND ||
        (result == PATTERN_NEVER && other == PATTERN_NEVER))
        detect_state->patterns_done = true;
    return found;
}

/* --- probes ----------------------------------------------------------------------------------- */

static bool covers(const struct app_probe *probe, enum direction direction)
{
    return (probe->directions & APP_DIRECTION_BIT(direction)) != 0;
}

static enum app_probe_result run_probe(const struct app_probe *probe,
                                       const struct proto_detect_input *q)
{
    enum app_probe_result result = APP_PROBE_MORE;
    uint16_t max = probe->max;

    if (covers(probe, q->direction))
        result = probe->probe(bytes_of_slice(q->data), q->direction, q->flow);
    else if (probe->max_other != 0)
        max = probe->max_other;
    if (result == APP_PROBE_MORE && max != 0 && q->data.len > max)
        result = APP_PROBE_NO;
    return result;
}

static bool is_yes(enum app_probe_result result)
{
    return result == APP_PROBE_YES || result == APP_PROBE_YES_REVERSED;
}

/* Whatever its ports: what a change of protocol expects, or what the other side speaks.
 * *known: it has a probe; *waits: which wants to see more. */
static enum app_proto_id probe_named(const struct app_detect_tables *tables, uint16_t id,
                                     const struct proto_detect_input *q, bool *known, bool *waits,
                                     bool *reversed)
{
    const struct app_proto_conf *pc = id < APP_PROTO_MAX ? &tables->conf->proto[id] : NULL;

    if (pc == NULL || pc->proto == NULL || !pc->enabled[q->transport])
        return APP_PROTO_UNKNOWN;
    for (const struct app_probe *p = pc->proto->probes; p != NULL && p->probe != NULL; p++) {
        enum app_probe_result result = APP_PROBE_MORE;

        if ((p->transport & TRANSPORT_BIT(q->transport)) == 0)
            continue;
        *known = true;
        if (q->data.len >= p->min)
            result = run_probe(p, q);
        *waits |= result == APP_PROBE_MORE && covers(p, q->direction);
        *reversed = result == APP_PROBE_YES_REVERSED;
        if (is_yes(result))
            return pc->proto->id;
    }
    return APP_PROTO_UNKNOWN;
}

struct probe_round {
    const struct proto_detect_input *q;
    struct proto_detect_state *detect_state;
    uint16_t dest, source;
    unsigned tried;             /* candidates so far; stable from call to call */
    bool reversed;
};

static bool entry_applies(const struct probe_entry *e, const struct probe_round *r,
                          bool by_source)
{
    uint16_t port = by_source ? r->source : r->dest;

    return e->by_source == by_source && port >= e->low && port <= e->high;
}

/* One more candidate. */
static enum app_proto_id try_entry(const struct probe_entry *e, struct probe_round *r)
{
    uint64_t bit = r->tried < DETECT_PROBES_MAX ? UINT64_C(1) << r->tried : 0;
    enum app_probe_result result;

    r->tried++;
    if (bit == 0 || (r->detect_state->probes_failed & bit) != 0 || r->q->data.len < e->probe->min)
        return APP_PROTO_UNKNOWN;
    result = run_probe(e->probe, r->q);
    if (is_yes(result)) {
        r->reversed = result == APP_PROBE_YES_REVERSED;
        return e->proto->id;
    }
    if (result == APP_PROBE_NO)
        r->detect_state->probes_failed |= bit;
    return APP_PROTO_UNKNOWN;
}

static enum app_proto_id try_ports(const struct app_detect_tables *tables, struct probe_round *r)
{
    for (unsigned pass = 0; pass < 2; pass++) {
        for (size_t i = 0; i < tables->probes[r->q->transport].count; i++) {
            const struct probe_entry *e = &tables->probes[r->q->transport].at[i];
            enum app_proto_id found;

            if (!entry_applies(e, r, pass == 1))
                continue;
            found = try_entry(e, r);
            if (found != APP_PROTO_UNKNOWN)
                return found;
        }
    }
    return APP_PROTO_UNKNOWN;
}

static bool all_failed(const struct probe_round *r)
{
    uint64_t all = (UINT64_C(1) << MIN(r->tried, DETECT_PROBES_MAX)) - 1;

    return (r->detect_state->probes_failed & all) == all;
}

static enum app_proto_id detect_by_probe(const struct app_detect_tables *tables,
                                         const struct proto_detect_input *q,
                                         struct proto_detect_state *detect_state, bool *reversed)
{
    struct probe_round r = { .q = q, .detect_state = detect_state, .dest = q->dest_port,
                             .source = q->source_port };
    uint16_t named = q->expected != APP_PROTO_UNKNOWN ? q->expected : q->other;
    bool known = false, waits = false;
    enum app_proto_id found;

    found = probe_named(tables, named, q, &known, &waits, reversed);
    if (found == APP_PROTO_UNKNOWN) {
        found = try_ports(tables, &r);
        *reversed = r.reversed;
    }
    if (found != APP_PROTO_UNKNOWN)
        return found;
    if ((r.tried > 0 || known) && !waits && all_failed(&r))
        detect_state->probes_done = true;
    if (tables->midstream) {
        uint16_t dest = r.dest;

        r.dest = r.source;
        r.source = dest;
        found = try_ports(tables, &r);
        *reversed = r.reversed;
    }
    if (found == APP_PROTO_UNKNOWN && r.tried == 0 && !known)
        detect_state->probes_done = true;
    return found;
}

/* A pattern has told what this side speaks; a probe of the same protocol may now tell it of the
 * other side, where all probes by port had failed. */
static void reopen_other(const struct proto_detect_input *q, struct proto_detect_state *other)
{
    if (other->probes_done && q->other == APP_PROTO_UNKNOWN)
        other->probes_done = false;
}

enum app_proto_id app_detect(const struct app_detect_tables *tables,
                             const struct proto_detect_input *q,
                             struct proto_detect_state *detect_state,
                             struct proto_detect_state *other_state, bool *reversed)
{
    enum app_proto_id found = APP_PROTO_UNKNOWN;

    *reversed = false;
    if (!detect_state->patterns_done) {
        found = detect_by_pattern(tables, q, detect_state, reversed);
        if (found != APP_PROTO_UNKNOWN) {
            reopen_other(q, other_state);
            return found;
        }
    }
    *reversed = false;
    if (!detect_state->probes_done)
        found = detect_by_probe(tables, q, detect_state, reversed);
    return found;
}
