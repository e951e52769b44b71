/* SPDX-License-Identifier: GPL-2.0-or-later */
/* detect/prefilter/address_lists.c - cuts the IPv4 space at the boundaries of all ranges, so that
 * one look-up finds every rule that an address is in. */
#include "detect/prefilter/address_lists.h"
#include "base/array.h"
#include "base/text/bytes.h"
#include "base/containers/map.h"
#include "match/address.h"

#include <stdlib.h>
#include <string.h>

/* A side that names half of IPv4 or more, as `!10.0.0.0/8` does, hardly narrows the search, and its
 * rule would be in nearly every list. */
#define LOW_SELECTIVITY (1ull << 31)       /* addresses: half of them all */

typedef ARRAY_OF(uint32_t) id_array;

/* The start of a rule's range, or the first address after it. `at` has 64 bits because the address
 * after 255.255.255.255 needs 33. */
struct edge { uint64_t at; uint32_t rule; bool begins; };
typedef ARRAY_OF(struct edge) edge_array;

/* IPv4 addresses that a side of a rule names. The ranges of a set do not overlap
 * (address_set), so they can be added up. `any` is all of IPv4. */
static uint64_t coverage(const struct address_set *set)
{
    uint64_t sum = 0;

    if (set == NULL || set->any)
        return 1ull << 32;
    for (uint32_t i = 0; i < set->v4_count; i++)
        sum += (uint64_t)set->v4[i].hi - set->v4[i].lo + 1;
    return sum;
}

/* Whether a side can match an IPv6 address at all. */
static bool has_v6(const struct address_set *set)
{
    return set == NULL || set->any || set->v6_count > 0;
}

static void add_edges(edge_array *edges, const struct address_set *set, uint32_t rule)
{
    for (uint32_t i = 0; i < set->v4_count; i++) {
        ARRAY_PUSH(edges, (struct edge){ set->v4[i].lo, rule, true });
        ARRAY_PUSH(edges, (struct edge){ (uint64_t)set->v4[i].hi + 1, rule, false });
    }
}

/* At equal addresses ends come before starts, so that ranges which touch do not count twice. */
static int by_position(const void *a, const void *b)
{
    const struct edge *x = a, *y = b;

    if (x->at != y->at)
        return x->at < y->at ? -1 : 1;
    return x->begins - y->begins;
}

/* Moves the array to the arena. */
static void ids_take(struct arena *arena, struct rule_ids *out, id_array *from)
{
    out->at = arena_copy(arena, from->at, from->count * sizeof(from->at[0]));
    out->count = (unsigned)from->count;
    ARRAY_FREE(from);
}

/* While the ranges of one side are built. */
struct ranges_builder {
    struct arena *arena;
    ARRAY_OF(struct address_range) ranges;
    ARRAY_OF(struct rule_ids) lists;    /* list 0 is empty */
    struct map known;                   /* rules to the number of their list */
};

/* Returns the number of the list with these rules. Most parts of the address space have the same
 * rules as an earlier part, and share its list. */
static uint32_t list_for(struct ranges_builder *b, const id_array *active)
{
    size_t size = active->count * sizeof(*active->at);
    uintptr_t at;

    if (active->count == 0)
        return 0;
    at = (uintptr_t)map_get(&b->known, active->at, size);
    if (at != 0)
        return (uint32_t)at;
    at = b->lists.count;
    ARRAY_PUSH(&b->lists, (struct rule_ids){ arena_copy(b->arena, active->at, size),
                                             (unsigned)active->count });
    map_put(&b->known, active->at, size, (void *)at);
    return (uint32_t)at;
}

/* `active` stays sorted by rule, so that equal sets of rules have equal bytes, which is
 * how list_for() finds them. */
static void active_change(id_array *active, const struct edge *e)
{
    size_t i = 0;

    while (i < active->count && active->at[i] < e->rule)
        i++;
    if (e->begins) {
        ARRAY_PUSH(active, 0);
        memmove(active->at + i + 1, active->at + i,
                (active->count - 1 - i) * sizeof(*active->at));
        active->at[i] = e->rule;
    } else if (i < active->count && active->at[i] == e->rule) {
        active->count--;
        memmove(active->at + i, active->at + i + 1, (active->count - i) * sizeof(*active->at));
    }
}

/* As many slots as parts, so that an address is found in a few steps; more would take caches. */
#define SLOT_BITS_MAX 14

static void slots_build(struct address_ranges *p, struct arena *arena)
{
    uint32_t *slot, part = 0, slots;

    while (p->slot_bits < SLOT_BITS_MAX && 1u << p->slot_bits < p->count)
        p->slot_bits++;
    slots = 1u << p->slot_bits;
    p->slot = slot = arena_alloc(arena, (slots + 1) * sizeof(*slot));
    for (uint64_t i = 0; i < slots; i++) {
        while (part + 1 < p->count && p->at[part + 1].lo <= i << (32 - p->slot_bits))
            part++;
        slot[i] = part;
    }
    slot[slots] = p->count - 1;
}

/* Walks all edges from the lowest address up, with the rules that cover the current one in
 * `active`. An edge at 2^32 ends the walk: no address is left. */
static void ranges_build(struct address_ranges *p, edge_array *edges, struct arena *arena)
{
    struct ranges_builder b = { .arena = arena };
    id_array active = { 0 };

    if (edges->count == 0)
        return;
    qsort(edges->at, edges->count, sizeof(*edges->at), by_position);
    ARRAY_PUSH(&b.lists, (struct rule_ids){ 0 });
    ARRAY_PUSH(&b.ranges, (struct address_range){ 0, 0 });
    for (size_t i = 0; i < edges->count; ) {
        uint64_t at = edges->at[i].at;
        uint32_t list;

        for (; i < edges->count && edges->at[i].at == at; i++)
            active_change(&active, &edges->at[i]);
        if (at > UINT32_MAX)
            break;
        list = list_for(&b, &active);
        if (b.ranges.at[b.ranges.count - 1].lo == at)
            b.ranges.at[b.ranges.count - 1].list = list;
        else if (b.ranges.at[b.ranges.count - 1].list != list)
            ARRAY_PUSH(&b.ranges, (struct address_range){ (uint32_t)at, list });
    }
    p->at = arena_copy(arena, b.ranges.at, b.ranges.count * sizeof(b.ranges.at[0]));
    p->count = (unsigned)b.ranges.count;
    p->list = arena_copy(arena, b.lists.at, b.lists.count * sizeof(b.lists.at[0]));
    slots_build(p, arena);
    ARRAY_FREE(&b.ranges);
    ARRAY_FREE(&b.lists);
    ARRAY_FREE(&active);
    map_fini(&b.known);
}

/* Each rule goes to the side that names fewer addresses. IPv6 has no ranges here: each
 * rule that can match an IPv6 packet is a candidate for all of them, and inspection checks
 * the addresses. */
void address_lists_build(struct address_lists *lists, struct rule *const *rule,
                         const uint32_t *ids, unsigned count, struct arena *arena)
{
    edge_array src = { 0 }, dst = { 0 };
    id_array any_v4 = { 0 }, v6 = { 0 };

    for (unsigned i = 0; i < count; i++) {
        const struct rule *r = rule[ids[i]];
        uint64_t by_src = coverage(r->src), by_dst = coverage(r->dst);

        if (has_v6(r->src) && has_v6(r->dst))
            ARRAY_PUSH(&v6, ids[i]);
        if (MIN(by_src, by_dst) >= LOW_SELECTIVITY)
            ARRAY_PUSH(&any_v4, ids[i]);
        else if (by_src <= by_dst)
            add_edges(&src, r->src, ids[i]);
        else
            add_edges(&dst, r->dst, ids[i]);
    }
    ranges_build(&lists->src, &src, arena);
    ranges_build(&lists->dst, &dst, arena);
    ids_take(arena, &lists->any_v4, &any_v4);
    ids_take(arena, &lists->v6, &v6);
    ARRAY_FREE(&src);
    ARRAY_FREE(&dst);
}

/* Binary search within a slot. The first part begins at address 0, so each address is in one. */
static void ranges_collect(const struct address_ranges *p, const struct ip *ip,
                           struct candidates *out)
{
    uint32_t address = get_be32(ip->b), lo, hi;
    const uint32_t *slot;

    if (p->count == 0)
        return;
    slot = &p->slot[(uint64_t)address >> (32 - p->slot_bits)];
    lo = slot[0];
    hi = slot[1] + 1;
    while (hi - lo > 1) {
        uint32_t mid = lo + (hi - lo) / 2;

        if (p->at[mid].lo <= address)
            lo = mid;
        else
            hi = mid;
    }
    rule_ids_add(&p->list[p->at[lo].list], out);
}

/* The thread that inspects the packet calls this. Both addresses have the same version. */
void address_lists_collect(const struct address_lists *lists, const struct ip *src,
                           const struct ip *dst, struct candidates *out)
{
    if (src->version != 4) {
        rule_ids_add(&lists->v6, out);
        return;
    }
    rule_ids_add(&lists->any_v4, out);
    ranges_collect(&lists->src, src, out);
    ranges_collect(&lists->dst, dst, out);
}
