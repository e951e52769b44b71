/* SPDX-License-Identifier: GPL-2.0-or-later */
/* detect/prefilter/payload_sets.c - decides where each pattern on payload is searched: near the
 * front or everywhere, on all ports or on the few that its rules name. */
#include "detect/prefilter/payload_sets.h"
#include "match/port.h"

/* SMTP, DNS, HTTP, TLS, SMB and the usual proxy. Most traffic is on one of them, so a
 * filter by port would let it through anyway: patterns of rules on these ports are
 * searched in all traffic. */
static const uint16_t busy[] = { 25, 53, 80, 443, 445, 8080 };
/* A rule on more ports than this counts as a rule on any port. */
#define FEW_PORTS 64

/* True if traffic on these ports is rare enough for a separate set. `any` and a missing set are
 * not. */
static bool is_few(const struct port_set *set)
{
    unsigned count = 0;

    if (set == NULL || set->any)
        return false;
    for (uint32_t i = 0; i < set->count; i++)
        count += set->range[i].hi - set->range[i].lo + 1u;
    for (unsigned i = 0; i < ARRAY_LEN(busy); i++)
        if (port_set_has(set, busy[i]))
            return false;
    return count <= FEW_PORTS;
}

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
 * on many. Makes the filter on first use; the caller of payload_sets_build() frees it. */
static bool goes_by_port(struct payload_sets *sets, const struct rule *r)
{
    bool dst = is_few(r->dst_port);

    if (!dst && !is_few(r->src_port))
        return false;
    if (sets->filter == NULL)
        sets->filter = xcalloc(1, sizeof(*sets->filter));
    filter_add(dst ? sets->filter->dst : sets->filter->src, dst ? r->dst_port : r->src_port);
    return true;
}

/* Four sets at most: two positions, each with and without the port filter. */
int payload_sets_build(struct payload_sets *sets, const struct payload_pattern *pattern,
                       unsigned count, struct pattern_pool *pool, struct err *err)
{
    struct pattern_set_builder *any[POSITION_COUNT], *few[POSITION_COUNT];
    int result = 0;

    *sets = (struct payload_sets){ .longest = 0 };
    for (unsigned p = 0; p < POSITION_COUNT; p++) {
        any[p] = pattern_set_builder_new();
        few[p] = pattern_set_builder_new();
    }
    for (unsigned i = 0; i < count; i++) {
        const struct payload_pattern *p = &pattern[i];
        enum payload_position position = p->in_front ? POSITION_FRONT : POSITION_ANYWHERE;

        pattern_set_add(goes_by_port(sets, p->rule) ? few[position] : any[position],
                        p->literal.bytes, p->literal.len, p->literal.nocase, p->rule->index);
        sets->longest = MAX(sets->longest, MIN(p->literal.len, PATTERN_LONG_MAX));
    }
    /* Building frees the builder, so all are built, even if one fails. */
    for (unsigned p = 0; p < POSITION_COUNT; p++) {
        result |= pattern_set_build(any[p], pool, &sets->any_port[p], err);
        result |= pattern_set_build(few[p], pool, &sets->few_ports[p], err);
    }
    return result < 0 ? -1 : 0;
}

/* A bit for each of the 65,536 ports. */
static bool has(const uint64_t *bits, uint16_t port)
{
    return bits[port >> 6] >> (port & 63) & 1;
}

/* Patterns that can only be near the front are searched in the first PAYLOAD_FRONT bytes. */
static void scan(struct pattern_set *const *set, struct hs_scratch *scratch, struct slice data,
                 struct candidates *out)
{
    if (set[POSITION_FRONT] != NULL)
        pattern_set_scan(set[POSITION_FRONT], scratch, data.data, MIN(data.len, PAYLOAD_FRONT),
                         out);
    if (set[POSITION_ANYWHERE] != NULL)
        pattern_set_scan(set[POSITION_ANYWHERE], scratch, data.data, data.len, out);
}

void payload_sets_scan(const struct payload_sets *sets, struct hs_scratch *scratch,
                       const struct sent_payload *payload, struct candidates *out)
{
    const struct port_filter *filter = sets->filter;

    scan(sets->any_port, scratch, payload->data, out);
    if (filter != NULL &&
        (has(filter->dst, payload->dst_port) || has(filter->src, payload->src_port)))
        scan(sets->few_ports, scratch, payload->data, out);
}
