/* SPDX-License-Identifier: GPL-2.0-or-later */
/* detect/state/threshold.c - how often a rule that matches may alert. Counts by flow are
 * on the flow; all others are in a table that threads share, and counts there follow the
 * order of packets. */
#include "detect/state/threshold.h"

#include "base/memory/lib_memory.h"
#include "detect/state/shard_table.h"
#include "flow/flow.h"
#include "sequencer/sequencer.h"

#include <stdlib.h>

/* Survives reloads (struct rule_state). */
struct threshold_table {
    struct shard_table *shared;
};

/* The count, in an entry of the shared table or in the flow's list. */
struct threshold_state {
    uint64_t since_us;
    uint64_t rate_since_us;     /* rate_filter: the new action applies since; 0: it does not */
    uint32_t count;
    uint32_t next;              /* backoff: the count that alerts */
};
_Static_assert(sizeof(struct threshold_state) <= SHARD_VALUE_SIZE, "state fits an entry");

/* Identified by number and revision: a new revision of a rule counts from 0. */
struct flow_threshold {
    struct flow_threshold *next;
    uint32_t sid, gid, rev;
    struct threshold_state state;
    uint16_t port[2];           /* unique_on: a flow has no more */
    uint8_t port_count;
};

/* detect.thresholds.memcap is Suricata's key; 16 MB by default. */
struct threshold_table *threshold_table_new(const struct conf_node *root)
{
    struct threshold_table *table = malloc(sizeof(*table));

    if (table == NULL)
        return NULL;
    table->shared =
        shard_table_new(conf_size_or_default(root, "detect.thresholds.memcap", 16 << 20));
    if (table->shared == NULL) {
        free(table);
        return NULL;
    }
    return table;
}

void threshold_table_free(struct threshold_table *table)
{
    if (table == NULL)
        return;
    shard_table_free(table->shared);
    free(table);
}

struct shard_table *threshold_table_shared(struct threshold_table *table)
{
    return table->shared;
}

static struct flow_threshold *flow_thresholds(const struct flow *flow)
{
    return flow->ext != NULL ? flow->ext->thresholds : NULL;
}

/* When the flow ends. */
void threshold_flow_free(struct flow *flow)
{
    struct flow_threshold *t = flow_thresholds(flow);

    if (t != NULL)
        flow->ext->thresholds = NULL;
    while (t != NULL) {
        struct flow_threshold *next = t->next;

        lib_free(t);
        t = next;
    }
}

/* --- counting --------------------------------------------------------------------------------- */

static uint64_t seconds_us(uint32_t seconds)
{
    return seconds * UINT64_C(1000000);
}

/* Stops at the largest count instead of wrapping. */
static uint32_t backoff_next(uint32_t now, uint32_t multiplier)
{
    uint32_t next;

    return __builtin_mul_overflow(now, multiplier, &next) ? UINT32_MAX : next;
}

/* Returns the result of rate_filter's new_action. */
static enum threshold_result rate_result(const struct threshold_spec *spec)
{
    switch ((enum threshold_action)spec->new_action) {
    case RATE_ALERT: return THRESHOLD_TO_ALERT;
    case RATE_DROP: return THRESHOLD_DROP;
    case RATE_REJECT: return THRESHOLD_REJECT;
    case RATE_PASS: return THRESHOLD_PASS;
    case RATE_KEEP: break;
    }
    return THRESHOLD_ALERT;
}

/* The first match of a period; for backoff the first of all. */
static enum threshold_result start_counting(const struct threshold_spec *spec,
                                            struct threshold_state *s, uint64_t now_us)
{
    *s = (struct threshold_state){ .since_us = now_us, .count = 1, .next = spec->count };
    switch ((enum threshold_type)spec->type) {
    case THRESHOLD_LIMIT:
    case THRESHOLD_RATE:
        return THRESHOLD_ALERT;
    case THRESHOLD_EVERY:
    case THRESHOLD_BOTH:
        return spec->count == 1 ? THRESHOLD_ALERT : THRESHOLD_NO_MATCH;
    case THRESHOLD_BACKOFF:
        if (spec->count != 1)
            return THRESHOLD_NO_MATCH;
        s->next = backoff_next(1, spec->multiplier);
        return THRESHOLD_ALERT;
    case THRESHOLD_FILTER:
    case THRESHOLD_SUPPRESS:
        break;
    }
    return THRESHOLD_NO_MATCH;
}

/* The same when an earlier period has ended. The match that ends a rate_filter's new
 * action is not counted, as in Suricata. */
static enum threshold_result start_again(const struct threshold_spec *spec,
                                         struct threshold_state *s, uint64_t now_us)
{
    if (spec->type != THRESHOLD_RATE || s->rate_since_us == 0)
        return start_counting(spec, s, now_us);
    s->rate_since_us = 0;
    return THRESHOLD_ALERT;
}

/* The new action applies for `timeout` seconds from the match that exceeded the rate.
 * Seconds are compared without their fractions, as in Suricata. */
static enum threshold_result count_rate(const struct threshold_spec *spec,
                                        struct threshold_state *s, uint64_t now_us, bool in_time)
{
    if (s->rate_since_us != 0) {
        if (now_us / 1000000 <= s->rate_since_us / 1000000 + spec->timeout)
            return rate_result(spec);
        s->rate_since_us = 0;
        return THRESHOLD_ALERT;
    }
    if (!in_time) {
        s->since_us = now_us;
        s->count = 1;
        return THRESHOLD_ALERT;
    }
    if (++s->count <= spec->count)
        return THRESHOLD_ALERT;
    s->rate_since_us = now_us;
    return rate_result(spec);
}

/* Alerts at count, count * multiplier, and so on. */
static enum threshold_result count_backoff(const struct threshold_spec *spec,
                                           struct threshold_state *s)
{
    if (s->count == UINT32_MAX || ++s->count != s->next)
        return THRESHOLD_SILENT;
    s->next = backoff_next(s->next, spec->multiplier);
    return THRESHOLD_ALERT;
}

/* A later match. THRESHOLD_SILENT: the rule matched without an alert, and its other
 * actions happen. THRESHOLD_NO_MATCH: as if it had not matched. */
static enum threshold_result count_match(const struct threshold_spec *spec,
                                         struct threshold_state *s, uint64_t now_us)
{
    bool in_time = now_us <= s->since_us + seconds_us(spec->seconds);

    if (spec->type == THRESHOLD_BACKOFF)
        return count_backoff(spec, s);
    if (spec->type == THRESHOLD_RATE)
        return count_rate(spec, s, now_us, in_time);
    if (!in_time) {
        s->since_us = now_us;
        s->count = 1;
        return spec->type == THRESHOLD_LIMIT ||
               (spec->type == THRESHOLD_BOTH && spec->count == 1) ? THRESHOLD_ALERT :
               THRESHOLD_NO_MATCH;
    }
    s->count++;
    switch ((enum threshold_type)spec->type) {
    case THRESHOLD_LIMIT:
        return s->count <= spec->count ? THRESHOLD_ALERT : THRESHOLD_SILENT;
    case THRESHOLD_EVERY:
        if (s->count < spec->count)
            return THRESHOLD_NO_MATCH;
        s->count = 0;
        return THRESHOLD_ALERT;
    case THRESHOLD_BOTH:
        return s->count == spec->count ? THRESHOLD_ALERT :
               s->count > spec->count ? THRESHOLD_SILENT : THRESHOLD_NO_MATCH;
    case THRESHOLD_FILTER:
        return s->count > spec->count ? THRESHOLD_ALERT : THRESHOLD_NO_MATCH;
    default:
        return THRESHOLD_ALERT;
    }
}

/* --- shared counts and counts of flows -------------------------------------------------------- */

/* by_rule has no address in its key, so there is one count for the rule. */
static void fill_key(struct shard_key *key, const struct threshold_spec *spec,
                     const struct rule *rule, struct packet_ends ends)
{
    *key = (struct shard_key){ .id = { rule->sid, rule->gid, rule->rev }, .kind = spec->track };
    switch ((enum threshold_track)spec->track) {
    case TRACK_SRC: shard_key_address(key, ends.src); break;
    case TRACK_DST: shard_key_address(key, ends.dst); break;
    case TRACK_BOTH: shard_key_pair(key, ends.src, ends.dst); break;
    default: break;
    }
}

/* A limit that is reached stays so for its period. Matches of earlier packets that other
 * threads have yet to inspect add to the count and change no answer. */
static bool is_reached(const struct threshold_spec *spec, const struct threshold_state *s,
                       uint64_t latest_us)
{
    bool stays = spec->type == THRESHOLD_LIMIT || spec->type == THRESHOLD_BOTH ||
                 spec->type == THRESHOLD_FILTER;

    if (spec->unique_on != UNIQUE_NONE && s->count <= spec->count)
        return false;               /* the next match may be of a port that was counted before */
    return stays && s->count >= spec->count && latest_us <= s->since_us + seconds_us(spec->seconds);
}

/* Counts a match of a limit that is reached already, without waiting in sequence. These
 * are most matches of rules with a limit. */
static bool count_reached(struct threshold_table *table, const struct threshold_spec *spec,
                          const struct shard_key *key, const struct packet *p,
                          enum threshold_result *result)
{
    uint64_t latest_us = seqno_latest_us(p->seqno);
    struct shard_ref ref = shard_table_get(table->shared, key, latest_us, false);
    bool reached = ref.value != NULL && is_reached(spec, ref.value, latest_us);

    if (reached)
        *result = count_match(spec, ref.value, p->time_us);
    shard_table_release(&ref);
    return reached;
}

/* --- different ports, not matches --------------------------------------------------------- */

/* Whether the period that the state counts is over. */
static bool is_over(const struct threshold_spec *spec, const struct threshold_state *s,
                    uint64_t now_us)
{
    return now_us > s->since_us + seconds_us(spec->seconds);
}

static enum threshold_result unique_result(const struct threshold_spec *spec, uint32_t count)
{
    return count > spec->count ? THRESHOLD_ALERT : THRESHOLD_NO_MATCH;
}

static uint16_t unique_port(const struct threshold_spec *spec, struct packet_ends ends)
{
    return spec->unique_on == UNIQUE_SRC_PORT ? ends.src_port : ends.dst_port;
}

/* Each counted port has an entry that knows its period. There are no more than `count` + 1 for a
 * host and period, because the count then alerts whatever the port. A port that finds no space
 * counts each time, as in Suricata. */
static bool port_is_new(struct threshold_table *table, const struct threshold_spec *spec,
                        struct shard_key key, uint16_t port, const struct threshold_state *s)
{
    struct shard_ref ref;
    uint64_t *since;
    bool new = true;

    key.kind = (uint8_t)(TRACK_PORT + spec->track);
    key.b[0] = (uint8_t)(port >> 8);
    key.b[1] = (uint8_t)port;
    ref = shard_table_get(table->shared, &key, s->since_us, true);
    since = ref.value;
    if (since != NULL) {
        new = ref.fresh || *since != s->since_us;
        *since = s->since_us;
        *ref.ends_us = s->since_us + seconds_us(spec->seconds);
    }
    shard_table_release(&ref);
    return new;
}

/* Adds to the host's count, which begins again when its period is over. *out is a copy, as the
 * lock of one shard must be released before that of another is taken. False: the table is full. */
static bool count_host(struct threshold_table *table, const struct threshold_spec *spec,
                       const struct shard_key *key, const struct packet *p,
                       struct threshold_state *out)
{
    struct shard_ref ref = shard_table_get(table->shared, key, p->time_us, true);
    struct threshold_state *s = ref.value;

    if (s != NULL) {
        if (ref.fresh || is_over(spec, s, p->time_us))
            *s = (struct threshold_state){ .since_us = p->time_us };
        s->count += out->count;
        *ref.ends_us = s->since_us + seconds_us(spec->seconds);
        *out = *s;
    }
    shard_table_release(&ref);
    return s != NULL;
}

/* The caller has waited for earlier packets, so no other thread changes these entries meanwhile. */
static enum threshold_result count_ports(struct threshold_table *table,
                                         const struct threshold_spec *spec,
                                         const struct shard_key *key, const struct packet *p,
                                         uint16_t port)
{
    struct threshold_state s = { .count = 0 };

    if (!count_host(table, spec, key, p, &s))
        return THRESHOLD_NO_MATCH;
    if (s.count <= spec->count && port_is_new(table, spec, *key, port, &s)) {
        s.count = 1;
        if (!count_host(table, spec, key, p, &s))
            return THRESHOLD_NO_MATCH;
    }
    return unique_result(spec, s.count);
}

/* The same for a flow, which has two ports at most. */
static enum threshold_result count_ports_of_flow(const struct threshold_spec *spec,
                                                 struct flow_threshold *t, const struct packet *p,
                                                 uint16_t port)
{
    unsigned i = 0;

    if (t->port_count == 0 || is_over(spec, &t->state, p->time_us)) {
        t->state = (struct threshold_state){ .since_us = p->time_us };
        t->port_count = 0;
    }
    while (i < t->port_count && t->port[i] != port)
        i++;
    if (i == t->port_count && i < ARRAY_LEN(t->port)) {
        t->port[t->port_count++] = port;
        t->state.count++;
    }
    return unique_result(spec, t->state.count);
}

/* --- the table and the flow --------------------------------------------------------------- */

/* Waits for earlier packets that other threads have yet to inspect, if they may count for the same
 * key. A table that might be full ties all keys together. */
static void wait_in_sequence(struct threshold_table *table, const struct threshold_spec *spec,
                             const struct shard_key *key, const struct packet *p,
                             struct packet_ends ends)
{
    bool by_host = spec->track == TRACK_SRC || spec->track == TRACK_DST ||
                   spec->track == TRACK_BOTH;

    if (!by_host || spec->unique_on != UNIQUE_NONE || !shard_table_has_space(table->shared, key))
        packet_seq_wait(p);
    else
        packet_seq_wait_hosts(p, spec->track == TRACK_DST ? ends.dst : ends.src,
                              spec->track == TRACK_BOTH ? ends.dst : NULL);
}

/* When the table is full the match gives no alert. */
static enum threshold_result count_shared(struct threshold_table *table,
                                          const struct threshold_spec *spec,
                                          const struct rule *rule, const struct packet *p,
                                          enum direction d)
{
    enum threshold_result result = THRESHOLD_NO_MATCH;
    struct shard_key key;
    struct shard_ref ref;
    struct threshold_state *s;

    fill_key(&key, spec, rule, packet_ends(p, d));
    if (sequencer_slot(p)->handle != NULL && count_reached(table, spec, &key, p, &result))
        return result;
    wait_in_sequence(table, spec, &key, p, packet_ends(p, d));
    if (spec->unique_on != UNIQUE_NONE)
        return count_ports(table, spec, &key, p, unique_port(spec, packet_ends(p, d)));
    ref = shard_table_get(table->shared, &key, p->time_us, true);
    s = ref.value;
    if (s != NULL) {
        result = ref.fresh ? start_again(spec, s, p->time_us) : count_match(spec, s, p->time_us);
        *ref.ends_us = s->since_us + seconds_us(spec->seconds);
        if (s->rate_since_us != 0)
            *ref.ends_us = MAX(*ref.ends_us, s->rate_since_us + seconds_us(spec->timeout) +
                               seconds_us(1));
    }
    shard_table_release(&ref);
    return result;
}

/* NULL without memory. */
static struct flow_threshold *flow_threshold_new(struct flow *flow, const struct rule *rule)
{
    struct flow_threshold *t;

    if (flow_ext_make(flow) == NULL || (t = lib_calloc(1, sizeof(*t))) == NULL)
        return NULL;
    t->sid = rule->sid;
    t->gid = rule->gid;
    t->rev = rule->rev;
    t->next = flow->ext->thresholds;
    flow->ext->thresholds = t;
    return t;
}

/* Only the flow's thread gets here, so there is no lock. */
static enum threshold_result count_in_flow(const struct threshold_spec *spec,
                                           const struct rule *rule, const struct packet *p,
                                           enum direction d)
{
    struct flow_threshold *t = p->flow != NULL ? flow_thresholds(p->flow) : NULL;
    bool first;

    if (p->flow == NULL)
        return THRESHOLD_NO_MATCH;
    while (t != NULL && (t->sid != rule->sid || t->gid != rule->gid || t->rev != rule->rev))
        t = t->next;
    first = t == NULL;
    if (first && (t = flow_threshold_new(p->flow, rule)) == NULL)
        return THRESHOLD_NO_MATCH;
    if (spec->unique_on != UNIQUE_NONE)
        return count_ports_of_flow(spec, t, p, unique_port(spec, packet_ends(p, d)));
    return first ? start_counting(spec, &t->state, p->time_us)
                 : count_match(spec, &t->state, p->time_us);
}

/* The rule still matches and acts; only its alert is suppressed. */
static enum threshold_result suppress(const struct threshold_spec *spec, struct packet_ends ends)
{
    bool hit = (spec->track != TRACK_DST && address_set_has(spec->addresses, ends.src)) ||
               (spec->track != TRACK_SRC && address_set_has(spec->addresses, ends.dst));

    return hit ? THRESHOLD_SILENT : THRESHOLD_ALERT;
}

/* "threshold, count 1" alerts each time, so nothing is counted. */
static enum threshold_result apply_one(struct threshold_table *table,
                                       const struct threshold_spec *spec, const struct rule *rule,
                                       const struct packet *p, enum direction d)
{
    if (spec->type == THRESHOLD_SUPPRESS)
        return suppress(spec, packet_ends(p, d));
    if (spec->type == THRESHOLD_EVERY && spec->count == 1)
        return THRESHOLD_ALERT;
    return spec->track == TRACK_FLOW ? count_in_flow(spec, rule, p, d) :
           count_shared(table, spec, rule, p, d);
}

/* All specs of the rule must let the alert pass. Packets without IP have no address to
 * count by. */
enum threshold_result threshold_apply(struct threshold_table *state, const struct rule *rule,
                                      const struct packet *p, enum direction d)
{
    enum threshold_result result = THRESHOLD_ALERT;

    if (p->src.version == 0)
        return THRESHOLD_ALERT;
    for (const struct threshold_spec *s = rule->threshold; s != NULL; s = s->next) {
        result = apply_one(state, s, rule, p, d);
        if (result == THRESHOLD_SILENT || result == THRESHOLD_NO_MATCH)
            break;
    }
    return result;
}

/* --- explanations ----------------------------------------------------------------------------- */

static uint32_t counted_in_flow(const struct rule *rule, const struct packet *p)
{
    const struct flow_threshold *t = p->flow != NULL ? flow_thresholds(p->flow) : NULL;

    while (t != NULL && (t->sid != rule->sid || t->gid != rule->gid || t->rev != rule->rev))
        t = t->next;
    return t != NULL ? t->state.count : 0;
}

uint32_t threshold_counted(struct threshold_table *state, const struct rule *rule,
                           const struct packet *p, enum direction d)
{
    const struct threshold_spec *spec = rule->threshold;
    const struct threshold_state *s;
    struct shard_key key;
    struct shard_ref ref;
    uint32_t count;

    while (spec != NULL && spec->type == THRESHOLD_SUPPRESS)
        spec = spec->next;
    if (spec == NULL || p->src.version == 0)
        return 0;
    if (spec->track == TRACK_FLOW)
        return counted_in_flow(rule, p);
    fill_key(&key, spec, rule, packet_ends(p, d));
    ref = shard_table_get(state->shared, &key, p->time_us, false);
    s = ref.value;
    count = s != NULL && !ref.fresh ? s->count : 0;
    shard_table_release(&ref);
    return count;
}
