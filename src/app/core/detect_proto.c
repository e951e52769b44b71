/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/core/detect_proto.c - detects the protocol of a flow's bytes. Patterns come first because
 * they apply on any port; then the probes for the flow's port. Each returns yes, never, or "more
 * bytes"; one that has returned never is not called again. With midstream pickup, client and server
 * may be exchanged, so the patterns and ports of the other side are tried too. */
#include "app/core/detect_tables.h"
#include "app/core/settings.h"

#include <string.h>
#include <strings.h>

/* --- patterns --------------------------------------------------------------------------------- */

static bool bytes_equal(const struct pattern_item *item, const uint8_t *data)
{
    if (item->pattern->nocase)
        return strncasecmp((const char *)data, item->pattern->bytes, item->len) == 0;
    return memcmp(data, item->pattern->bytes, item->len) == 0;
}

/* A pattern counts only once all bytes up to its depth are there: else the split into segments
 * could decide which of two patterns wins. */
static bool item_hits(const struct pattern_item *item, struct slice data)
{
    if (data.len < item->depth)
        return false;
    for (unsigned at = item->pattern->offset; at + item->len <= item->depth; at++)
        if (bytes_equal(item, data.data + at))
            return true;
    return false;
}

/* A confirmation that cannot decide within confirm_max bytes is a no; without that bound one peer
 * could keep the flow unrecognised, and its bytes buffered, for as long as it likes. */
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

/* True: the flow speaks it. *hit: the bytes matched, even where the confirmation did not agree. */
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

/* The list for the first byte goes before the floating patterns, and each list keeps the order of
 * registration: the first match wins. NEVER only when more bytes could not change the answer. */
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

/* Own side first. The other side's set counts only with midstream; both sets have to answer NEVER
 * before patterns are given up. */
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

/* A probe that does not cover this direction can only return "more": it waits for the other side's
 * bytes, up to max_other of this side's. */
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

/* What came of the probes of one protocol. */
struct named_probes {
    bool known;                 /* it has a probe here */
    bool waits;                 /* one of them wants more bytes */
    bool reversed;
};

/* Tries one protocol on any port: the one that a change of protocol expects, or the one that the
 * other side speaks. */
static enum app_proto_id probe_named(const struct app_detect_tables *tables, uint16_t id,
                                     const struct proto_detect_input *q, struct named_probes *out)
{
    const struct app_proto_conf *pc = id < APP_PROTO_MAX ? &tables->conf->proto[id] : NULL;

    if (pc == NULL || pc->proto == NULL || !pc->enabled[q->transport])
        return APP_PROTO_UNKNOWN;
    for (const struct app_probe *p = pc->proto->probes; p != NULL && p->probe != NULL; p++) {
        enum app_probe_result result = APP_PROBE_MORE;

        if ((p->transport & TRANSPORT_BIT(q->transport)) == 0)
            continue;
        out->known = true;
        if (q->data.len >= p->min)
            result = run_probe(p, q);
        out->waits |= result == APP_PROBE_MORE && covers(p, q->direction);
        out->reversed = result == APP_PROBE_YES_REVERSED;
        if (is_yes(result))
            return pc->proto->id;
    }
    return APP_PROTO_UNKNOWN;
}

/* One walk over the probes of a flow. The bit of a candidate is its index among those that apply,
 * so the order must not change between two packets of a flow; tables never change. */
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

/* Tries one candidate. Beyond DETECT_PROBES_MAX there is no bit to remember a failure in, so such a
 * candidate is never run. */
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

static bool spans_have(const struct probe_spans *spans, uint16_t port)
{
    return (spans->has[port / 64 / 64] >> port / 64 % 64 & 1) != 0;
}

/* Destination ports first, then source ports, as in Suricata. Most ports are no protocol's: one bit
 * tells, in place of a walk over all entries. */
static enum app_proto_id try_ports(const struct app_detect_tables *tables, struct probe_round *r)
{
    for (unsigned pass = 0; pass < 2; pass++) {
        if (!spans_have(&tables->spans[r->q->transport][pass], pass == 0 ? r->dest : r->source))
            continue;
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

/* True also when no candidate has been tried; the callers check that. */
static bool all_failed(const struct probe_round *r)
{
    uint64_t all = (UINT64_C(1) << MIN(r->tried, DETECT_PROBES_MAX)) - 1;

    return (r->detect_state->probes_failed & all) == all;
}

/* The named protocol first, then ports, then with midstream the ports exchanged. probes_done means
 * that no probe that applies can still say yes. */
static enum app_proto_id detect_by_probe(const struct app_detect_tables *tables,
                                         const struct proto_detect_input *q,
                                         struct proto_detect_state *detect_state, bool *reversed)
{
    struct probe_round r = { .q = q, .detect_state = detect_state, .dest = q->dest_port,
                             .source = q->source_port };
    uint16_t named = q->expected != APP_PROTO_UNKNOWN ? q->expected : q->other;
    struct named_probes np = { false, false, false };
    enum app_proto_id found;

    found = probe_named(tables, named, q, &np);
    *reversed = np.reversed;
    if (found == APP_PROTO_UNKNOWN) {
        found = try_ports(tables, &r);
        *reversed = r.reversed;
    }
    if (found != APP_PROTO_UNKNOWN)
        return found;
    if ((r.tried > 0 || np.known) && !np.waits && all_failed(&r))
        detect_state->probes_done = true;
    if (tables->midstream) {
        uint16_t dest = r.dest;

        r.dest = r.source;
        r.source = dest;
        found = try_ports(tables, &r);
        *reversed = r.reversed;
    }
    if (found == APP_PROTO_UNKNOWN && r.tried == 0 && !np.known)
        detect_state->probes_done = true;
    return found;
}

/* A pattern has recognised this side. The other side may have given up on probes by port, but a
 * probe of this very protocol can still recognise it there, so it may try again. */
static void reopen_other(const struct proto_detect_input *q, struct proto_detect_state *other)
{
    if (other->probes_done && q->other == APP_PROTO_UNKNOWN)
        other->probes_done = false;
}

/* Called by the thread that inspects the flow, with all bytes of the direction so far, until it
 * answers or both *_done bits are set. The data is hostile: no pattern or probe reads beyond it. */
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
