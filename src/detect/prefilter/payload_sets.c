/* SPDX-License-Identifier: GPL-2.0-or-later */
/* detect/prefilter/payload_sets.c - decides where each pattern on payload is searched: near the
 * front or everywhere, on all ports or on the few that its rules name. */
#include "detect/prefilter/payload_sets.h"
#include "match/port.h"

#include <string.h>

/* SMTP, DNS, HTTP, TLS, SMB and the usual proxy. Most traffic is on one of them, so a
 * filter by port would let it through anyway: patterns of rules on these ports are
 * searched in all traffic. */
static const uint16_t busy[] = { 25, 53, 80, 443, 445, 8080 };
/* A rule on more ports than this counts as a rule on any port. */
#define FEW_PORTS 64

bool ports_are_few(const struct port_set *ports)
{
    unsigned count = 0;

    if (ports == NULL || ports->any)
        return false;
    for (uint32_t i = 0; i < ports->count; i++)
        count += ports->range[i].hi - ports->range[i].lo + 1u;
    for (unsigned i = 0; i < ARRAY_LEN(busy); i++)
        if (port_set_has(ports, busy[i]))
            return false;
    return count <= FEW_PORTS;
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

/* Four sets at most: two positions, each with and without the port filter. */
int payload_sets_build(struct payload_sets *sets, const struct payload_pattern *pattern,
                       unsigned count, struct pattern_pool *pool, struct err *err)
{
    struct pattern_set_builder *any[POSITION_COUNT], *few[POSITION_COUNT];
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

        pattern_set_add(goes_by_port(&bits, p->rule) ? few[position] : any[position],
                        p->literal.bytes, p->literal.len, p->literal.nocase, p->rule->index);
        sets->longest = MAX(sets->longest, MIN(p->literal.len, PATTERN_LONG_MAX));
    }
    sets->filter = filter_of(&bits, pool);
    /* Building frees the builder, so all are built, even if one fails. */
    for (unsigned p = 0; p < POSITION_COUNT; p++) {
        result |= pattern_set_build(any[p], pool, &sets->any_port[p], err);
        result |= pattern_set_build(few[p], pool, &sets->few_ports[p], err);
    }
    return result < 0 ? -1 : 0;
}

static bool has(const struct port_filter *filter, unsigned side, uint16_t port)
{
    const uint64_t *page = filter->page[filter->page_of[side][port >> 8]];

    return page[port >> 6 & 3] >> (port & 63) & 1;
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
        (has(filter, DST, payload->dst_port) || has(filter, SRC, payload->src_port)))
        scan(sets->few_ports, scratch, payload->data, out);
}
