/* SPDX-License-Identifier: GPL-2.0-or-later */
/* detect/prefilter/payload_sets.c - decides where each pattern on payload is searched: near the
 * front or everywhere, on all ports or on the few that its rules name, always or
 * after a test of the ports and the front. */
#include "detect/prefilter/payload_sets.h"
#include "base/array.h"
#include "match/port.h"

#include <stdlib.h>
#include <string.h>

/* SMTP, DNS, HTTP, TLS, SMB and the usual proxy. Most traffic is on one of them, so a
 * filter by port would let it through anyway: patterns of rules on these ports are
 * searched in all traffic. */
static const uint16_t busy[] = { 25, 53, 80, 443, 445, 8080 };
/* A rule on more ports than this counts as a rule on any port. */
#define FEW_PORTS 64

static bool ports_are_named(const struct port_set *ports)
{
    unsigned count = 0;

    if (ports == NULL || ports->any)
        return false;
    for (uint32_t i = 0; i < ports->count; i++)
        count += ports->range[i].hi - ports->range[i].lo + 1u;
    return count <= FEW_PORTS;
}

bool ports_are_few(const struct port_set *ports)
{
    if (!ports_are_named(ports))
        return false;
    for (unsigned i = 0; i < ARRAY_LEN(busy); i++)
        if (port_set_has(ports, busy[i]))
            return false;
    return true;
}

enum { SRC, DST };

/* One bit for each of the 65,536 ports, while a filter is built. */
struct port_bits { uint64_t of[2][1024]; bool any; };

/* The filter of the few ports is the union of what their rules name: a packet that passes
 * it may be searched for patterns of rules on other ports. Inspection checks the rule's
 * own ports. */
static void filter_add(uint64_t *bits, const struct port_set *set)
{
    for (uint32_t i = 0; i < set->count; i++)
        for (unsigned port = set->range[i].lo; port <= set->range[i].hi; port++)
            bits[port >> 6] |= 1ull << (port & 63);
}

/* The destination ports decide, else the source ports. False: the rule is on any port or
 * on many. */
static bool goes_by_port(struct port_bits *bits, const struct rule *r)
{
    bool dst = ports_are_few(r->dst_port);

    if (!dst && !ports_are_few(r->src_port))
        return false;
    bits->any = true;
    filter_add(bits->of[dst ? DST : SRC], dst ? r->dst_port : r->src_port);
    return true;
}

static bool is_empty(const uint64_t *page)
{
    return (page[0] | page[1] | page[2] | page[3]) == 0;
}

/* NULL: no rule goes by its ports. */
static const struct port_filter *filter_of(const struct port_bits *bits, struct pattern_pool *pool)
{
    struct port_filter *filter;
    uint16_t pages = 1;

    if (!bits->any)
        return NULL;
    for (unsigned i = 0; i < 2 * 256; i++)
        pages += !is_empty(&bits->of[i / 256][i % 256 * 4]);
    filter = pattern_pool_alloc(pool, sizeof(*filter) + pages * sizeof(filter->page[0]));
    pages = 1;
    for (unsigned i = 0; i < 2 * 256; i++) {
        const uint64_t *page = &bits->of[i / 256][i % 256 * 4];

        if (is_empty(page))
            continue;
        memcpy(filter->page[pages], page, sizeof(filter->page[0]));
        filter->page_of[i / 256][i % 256] = pages++;
    }
    return filter;
}

/* --- conditions ----------------------------------------------------------------------------- */

/* Bodies over HTTP are the most frequent long payloads. A test for this port would hardly ever
 * exclude one. */
#define WEB_PORT 80
/* A comparison costs about 10 instructions, the conditions together a tenth of the search that they
 * may save. Rules with further conditions count as rules without one. */
#define CONDITION_COST_MAX 100

/* Patterns without a condition are searched one by one. More of them would cost about as much as a
 * search for hundreds. */
#define UNCONDITIONAL_MAX 4

/* The patterns for the complete payload, on any port, while sets are built. */
struct condition_builder {
    ARRAY_OF(struct anchored_literal) conditions;
    ARRAY_OF(const struct payload_pattern *) unconditional;
    const struct literal_pattern *different[UNCONDITIONAL_MAX + 1];   /* of these; or too many */
    unsigned different_count;
    struct port_bits ports;
    unsigned cost;
};

static bool is_same_condition(const struct anchored_literal *a, const struct anchored_literal *b)
{
    return a->len == b->len && a->nocase == b->nocase && a->from == b->from && a->to == b->to &&
           memcmp(a->bytes, b->bytes, a->len) == 0;
}

/* One place to compare, not a range to search. */
static bool is_at_one_place(const struct anchored_literal *l)
{
    return l->to - l->from == l->len;
}

/* In comparisons: a range is searched in steps of 32 bytes and more. */
static unsigned condition_cost(const struct anchored_literal *l)
{
    return is_at_one_place(l) ? 1 : 4 + (l->to - l->from) / 32;
}

/* False: the pattern has no condition, or there is no room for another one. */
static bool condition_add(struct condition_builder *b, const struct anchored_literal *condition)
{
    if (condition->len == 0)
        return false;
    for (size_t i = 0; i < b->conditions.count; i++)
        if (is_same_condition(&b->conditions.at[i], condition))
            return true;
    if (b->cost + condition_cost(condition) > CONDITION_COST_MAX)
        return false;
    b->cost += condition_cost(condition);
    ARRAY_PUSH(&b->conditions, *condition);
    return true;
}

static bool ports_exclude_most(const struct port_set *ports)
{
    return ports_are_named(ports) && !port_set_has(ports, WEB_PORT);
}

/* One look-up tests the ports of all rules. */
static bool port_condition_add(struct condition_builder *b, const struct rule *r)
{
    bool dst = ports_exclude_most(r->dst_port);

    if (!dst && !ports_exclude_most(r->src_port))
        return false;
    b->ports.any = true;
    filter_add(b->ports.of[dst ? DST : SRC], dst ? r->dst_port : r->src_port);
    return true;
}

static bool is_same_pattern(const struct literal_pattern *a, const struct literal_pattern *b)
{
    return a->len == b->len && a->nocase == b->nocase && memcmp(a->bytes, b->bytes, a->len) == 0;
}

static void unconditional_add(struct condition_builder *b, const struct payload_pattern *p)
{
    unsigned i = 0;

    ARRAY_PUSH(&b->unconditional, p);
    while (i < b->different_count && !is_same_pattern(b->different[i], &p->literal))
        i++;
    if (i == b->different_count && i <= UNCONDITIONAL_MAX)
        b->different[b->different_count++] = &p->literal;
}

static void conditional_add(struct condition_builder *b, const struct payload_pattern *p)
{
    if (!port_condition_add(b, p->rule) && !condition_add(b, &p->condition))
        unconditional_add(b, p);
}

/* The cheap ones come first. */
static const struct anchored_literal *conditions_of(const struct condition_builder *b,
                                                    struct pattern_pool *pool)
{
    size_t size = b->conditions.count * sizeof(struct anchored_literal);
    struct anchored_literal *condition = pattern_pool_alloc(pool, size);
    unsigned n = 0;

    for (unsigned range = 0; range < 2; range++)
        for (size_t i = 0; i < b->conditions.count; i++)
            if (is_at_one_place(&b->conditions.at[i]) == (range == 0))
                condition[n++] = b->conditions.at[i];
    return condition;
}

static int conditions_build(struct payload_sets *sets, const struct condition_builder *b,
                            struct pattern_pool *pool, struct err *err)
{
    struct pattern_set_builder *unconditional;

    if (sets->any_port[POSITION_ANYWHERE] == NULL ||
        pattern_set_count(sets->any_port[POSITION_ANYWHERE]) <= UNCONDITIONAL_MAX ||
        b->different_count > UNCONDITIONAL_MAX)
        return 0;
    sets->has_conditions = true;
    sets->condition_ports = filter_of(&b->ports, pool);
    sets->condition = conditions_of(b, pool);
    sets->condition_count = (unsigned)b->conditions.count;
    unconditional = pattern_set_builder_new();
    pattern_set_search_singly(unconditional);
    for (size_t i = 0; i < b->unconditional.count; i++) {
        const struct payload_pattern *p = b->unconditional.at[i];

        pattern_set_add(unconditional, p->literal.bytes, p->literal.len, p->literal.nocase,
                        p->rule->index);
    }
    return pattern_set_build(unconditional, pool, &sets->unconditional, err);
}

/* --- sets ----------------------------------------------------------------------------------- */

static bool has_both(struct pattern_set *const set[POSITION_COUNT])
{
    return set[POSITION_FRONT] != NULL && set[POSITION_ANYWHERE] != NULL;
}

/* All patterns of two sets in one; none if one of the two is empty. */
static int joined_build(struct payload_sets *sets, const struct payload_pattern *pattern,
                        unsigned count, struct pattern_pool *pool, struct err *err)
{
    struct pattern_set_builder *any = pattern_set_builder_new(), *few = pattern_set_builder_new();
    int result;

    for (unsigned i = 0; i < count; i++) {
        const struct payload_pattern *p = &pattern[i];
        bool by_port = ports_are_few(p->rule->dst_port) || ports_are_few(p->rule->src_port);

        if (has_both(by_port ? sets->few_ports : sets->any_port))
            pattern_set_add(by_port ? few : any, p->literal.bytes, p->literal.len,
                            p->literal.nocase, p->rule->index);
    }
    result = pattern_set_build(any, pool, &sets->any_port_joined, err);
    return pattern_set_build(few, pool, &sets->few_ports_joined, err) | result;
}

/* Seven sets at most: two positions and both in one, each with and without the port filter, and the
 * patterns without a condition. */
int payload_sets_build(struct payload_sets *sets, const struct payload_pattern *pattern,
                       unsigned count, struct pattern_pool *pool, struct err *err)
{
    struct pattern_set_builder *any[POSITION_COUNT], *few[POSITION_COUNT];
    struct condition_builder conditions = { .cost = 0 };
    struct port_bits bits = { .any = false };
    int result = 0;

    *sets = (struct payload_sets){ .longest = 0 };
    for (unsigned p = 0; p < POSITION_COUNT; p++) {
        any[p] = pattern_set_builder_new();
        few[p] = pattern_set_builder_new();
    }
    for (unsigned i = 0; i < count; i++) {
        const struct payload_pattern *p = &pattern[i];
        enum payload_position position = p->in_front ? POSITION_FRONT : POSITION_ANYWHERE;
        bool by_port = goes_by_port(&bits, p->rule);

        pattern_set_add(by_port ? few[position] : any[position], p->literal.bytes, p->literal.len,
                        p->literal.nocase, p->rule->index);
        if (!by_port && !p->in_front)
            conditional_add(&conditions, p);
        sets->longest = MAX(sets->longest, MIN(p->literal.len, PATTERN_LONG_MAX));
    }
    sets->filter = filter_of(&bits, pool);
    /* Building frees the builder, so all are built, even if one fails. */
    for (unsigned p = 0; p < POSITION_COUNT; p++) {
        result |= pattern_set_build(any[p], pool, &sets->any_port[p], err);
        result |= pattern_set_build(few[p], pool, &sets->few_ports[p], err);
    }
    result |= joined_build(sets, pattern, count, pool, err);
    result |= conditions_build(sets, &conditions, pool, err);
    ARRAY_FREE(&conditions.conditions);
    ARRAY_FREE(&conditions.unconditional);
    return result < 0 ? -1 : 0;
}

static bool has(const struct port_filter *filter, unsigned side, uint16_t port)
{
    const uint64_t *page = filter->page[filter->page_of[side][port >> 8]];

    return page[port >> 6 & 3] >> (port & 63) & 1;
}

static bool is_on(const struct port_filter *filter, const struct sent_payload *payload)
{
    return filter != NULL && (has(filter, DST, payload->dst_port) ||
                              has(filter, SRC, payload->src_port));
}

/* Whether no rule with a condition can match. A short payload is not tested. */
static bool none_can_match(const struct payload_sets *sets, const struct sent_payload *payload)
{
    if (!sets->has_conditions || payload->data.len < CONDITION_WORTH ||
        is_on(sets->condition_ports, payload))
        return false;
    for (unsigned i = 0; i < sets->condition_count; i++)
        if (anchored_literal_matches(&sets->condition[i], payload->data))
            return false;
    return true;
}

/* Patterns that can only be near the front are searched in the first PAYLOAD_FRONT bytes. */
static void scan_front(struct pattern_set *set, struct hs_scratch *scratch, struct slice data,
                       struct candidates *out)
{
    if (set != NULL)
        pattern_set_scan(set, scratch, data.data, MIN(data.len, PAYLOAD_FRONT), out);
}

static void scan_all(struct pattern_set *set, struct hs_scratch *scratch, struct slice data,
                     struct candidates *out)
{
    if (set != NULL)
        pattern_set_scan(set, scratch, data.data, data.len, out);
}

/* A payload of this length is searched without a test, and all of it is its front. */
static void scan_short(const struct payload_sets *sets, struct hs_scratch *scratch,
                       const struct sent_payload *payload, struct candidates *out)
{
    if (sets->any_port_joined != NULL) {
        scan_all(sets->any_port_joined, scratch, payload->data, out);
    } else {
        scan_all(sets->any_port[POSITION_FRONT], scratch, payload->data, out);
        scan_all(sets->any_port[POSITION_ANYWHERE], scratch, payload->data, out);
    }
    if (!is_on(sets->filter, payload))
        return;
    if (sets->few_ports_joined != NULL) {
        scan_all(sets->few_ports_joined, scratch, payload->data, out);
    } else {
        scan_all(sets->few_ports[POSITION_FRONT], scratch, payload->data, out);
        scan_all(sets->few_ports[POSITION_ANYWHERE], scratch, payload->data, out);
    }
}

void payload_sets_scan(const struct payload_sets *sets, struct hs_scratch *scratch,
                       const struct sent_payload *payload, struct candidates *out)
{
    struct slice data = payload->data;
    struct pattern_set *anywhere;

    if (data.len <= PAYLOAD_FRONT) {
        scan_short(sets, scratch, payload, out);
        return;
    }
    anywhere = none_can_match(sets, payload) ? sets->unconditional
                                             : sets->any_port[POSITION_ANYWHERE];
    scan_front(sets->any_port[POSITION_FRONT], scratch, data, out);
    scan_all(anywhere, scratch, data, out);
    if (!is_on(sets->filter, payload))
        return;
    scan_front(sets->few_ports[POSITION_FRONT], scratch, data, out);
    scan_all(sets->few_ports[POSITION_ANYWHERE], scratch, data, out);
}

_Static_assert(CONDITION_WORTH > PAYLOAD_FRONT, "a short payload meets no condition");
