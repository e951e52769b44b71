/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/core/candidates.c - asks each pattern and each probe alone, by the functions with which flows
 * are recognised and with tables that hold nothing else. So an answer cannot differ from
 * recognition's. */
#include "app/candidates.h"

#include "app/core/detect_tables.h"
#include "app/core/settings.h"

#include <string.h>

struct asking {
    const struct app_conf *conf;
    struct proto_detect_input q;
    unsigned number, patterns;
    app_candidate_fn each;
    void *arg;
};

static void answer(struct asking *a, struct app_candidate *c)
{
    c->number = a->number;
    a->each(a->arg, c);
}

/* --- patterns --------------------------------------------------------------------------------- */

/* The set waits for a confirmation as long as its other patterns may; the confirmation itself knows
 * whether more bytes can help. */
static enum app_probe_result unconfirmed(const struct app_pattern *pattern,
                                         const struct proto_detect_input *q)
{
    if (q->data.len < pattern->confirm_min)
        return APP_PROBE_MORE;
    if (q->data.len > pattern->confirm_max)
        return APP_PROBE_NO;
    return pattern->confirm(bytes_of_slice(q->data), q->direction, q->flow);
}

/* A set of one pattern answers NEVER if the bytes are not there, as its bounds are met. */
static void ask_pattern(struct asking *a, const struct pattern_item *item, bool own)
{
    struct pattern_item one = *item;
    struct app_pattern_set set = { .at = &one, .count = 1, .cap = 1, .floating = 0,
                                   .confirm_max = UINT16_MAX };
    struct app_candidate c = { .proto = item->proto, .pattern = item->pattern };
    enum app_proto_id found = APP_PROTO_UNKNOWN;
    enum pattern_result result;
    bool reversed = false;

    one.next = PATTERN_NONE;
    for (unsigned i = 0; i < ARRAY_LEN(set.first); i++)
        set.first[i] = PATTERN_NONE;
    result = app_pattern_set_match(&set, &a->q, own, &found, &reversed);
    if (result == PATTERN_NEVER)
        return;
    c.answer = result != PATTERN_FOUND ? unconfirmed(item->pattern, &a->q)
               : reversed              ? APP_PROBE_YES_REVERSED
                                       : APP_PROBE_YES;
    answer(a, &c);
}

/* A pattern without case has an item for each case of its first letter, one after the other. */
static void ask_patterns(struct asking *a, enum direction side)
{
    const struct app_pattern_set *set = a->conf->detect.patterns[a->q.transport][side];

    for (size_t i = 0; i < set->count; i++, a->number++) {
        if (i > 0 && set->at[i].pattern == set->at[i - 1].pattern)
            continue;
        ask_pattern(a, &set->at[i], side == a->q.direction);
        a->patterns++;
    }
}

/* --- probes ----------------------------------------------------------------------------------- */

static enum app_probe_result ask_probes(const struct app_detect_tables *tables,
                                        const struct proto_detect_input *q)
{
    struct proto_detect_state state = { .patterns_done = 1 }, other = { 0 };
    bool reversed = false;

    if (app_detect(tables, q, &state, &other, &reversed) != APP_PROTO_UNKNOWN)
        return reversed ? APP_PROBE_YES_REVERSED : APP_PROBE_YES;
    return state.probes_done ? APP_PROBE_NO : APP_PROBE_MORE;
}

static void ask_named(struct asking *a)
{
    const struct app_detect_tables none = { .conf = a->conf };
    uint16_t named = a->q.expected != APP_PROTO_UNKNOWN ? a->q.expected : a->q.other;
    struct app_candidate c = { .proto = app_proto_by_id((enum app_proto_id)named),
                               .by_name = true };

    if (c.proto == NULL || c.proto->probes == NULL)
        return;
    c.answer = ask_probes(&none, &a->q);
    answer(a, &c);
}

static void ask_port(struct asking *a, struct probe_entry *entry)
{
    struct app_detect_tables one = { .conf = a->conf };
    struct app_candidate c = { .proto = entry->proto, .by_source = entry->by_source,
                               .port = entry->by_source ? a->q.source_port : a->q.dest_port };
    struct proto_detect_input q = a->q;

    if (c.port < entry->low || c.port > entry->high)
        return;
    q.other = q.expected = APP_PROTO_UNKNOWN;
    memcpy(one.spans, a->conf->detect.spans, sizeof(one.spans));
    one.probes[q.transport].at = entry;
    one.probes[q.transport].count = 1;
    c.answer = ask_probes(&one, &q);
    answer(a, &c);
}

unsigned app_candidates(const struct app_conf *conf, const struct app_candidates_input *in,
                        app_candidate_fn each, void *arg)
{
    const struct app_detect_tables *tables = &conf->detect;
    struct asking a = { .conf = conf, .each = each, .arg = arg, .q = {
        .data = in->data, .transport = in->is_udp ? TRANSPORT_UDP : TRANSPORT_TCP,
        .direction = in->direction, .flow = in->flow, .source_port = in->client_port,
        .dest_port = in->server_port, .other = in->other, .expected = in->expected,
    } };

    ask_patterns(&a, in->direction);
    if (tables->midstream)
        ask_patterns(&a, OTHER_DIRECTION(in->direction));
    ask_named(&a);
    for (size_t i = 0; i < tables->probes[a.q.transport].count; i++) {
        a.number++;
        ask_port(&a, &tables->probes[a.q.transport].at[i]);
    }
    return a.patterns;
}
