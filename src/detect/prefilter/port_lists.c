/* SPDX-License-Identifier: GPL-2.0-or-later */
/* detect/prefilter/port_lists.c - rules by port. Ports that the same rules name share a list. */
#include "detect/prefilter/port_lists.h"
#include "base/array.h"
#include "base/containers/map.h"
#include "match/port.h"
#include "match/spm_literal.h"

#include <stdlib.h>
#include <string.h>

typedef ARRAY_OF(uint32_t) id_array;

/* The payload is asked for its first two bytes. */
static bool is_anywhere(const struct anchored_literal *l)
{
    return l->len >= 2 && !anchored_literal_is_bounded(l);
}

/* from: indexes of entries. Rules with a literal go to `placed` or `anywhere`: the payload is
 * checked before the rule becomes a candidate. The others are candidates for each packet on the
 * port. */
static void rules_take(struct port_rules *out, const struct anchored_entry *entry,
                       const id_array *from)
{
    *out = (struct port_rules){ 0 };
    out->plain.at = xcalloc(from->count + 1, sizeof(*out->plain.at));
    out->placed = xcalloc(from->count + 1, sizeof(*out->placed));
    out->anywhere = xcalloc(from->count + 1, sizeof(*out->anywhere));
    for (size_t i = 0; i < from->count; i++) {
        const struct anchored_entry *e = &entry[from->at[i]];
        const struct placed_rule placed = { e->literal, e->rule->index };

        if (anchored_literal_is_bounded(&e->literal))
            out->placed[out->placed_count++] = placed;
        else if (is_anywhere(&e->literal))
            out->anywhere[out->anywhere_count++] = placed;
        else
            out->plain.at[out->plain.count++] = e->rule->index;
    }
}

/* Marks each port at which a range begins or has just ended. Between two marks the rules
 * are the same. */
static void mark_edges(uint8_t *edge, const struct port_set *set)
{
    for (uint32_t i = 0; i < set->count; i++) {
        edge[set->range[i].lo] = 1;
        if (set->range[i].hi < UINT16_MAX)
            edge[set->range[i].hi + 1] = 1;
    }
}

/* The entries whose rule names this port, in the order of `ids`. */
static void rules_at(const struct anchored_entry *entry, const id_array *ids, bool dst,
                     uint16_t port, id_array *out)
{
    for (size_t i = 0; i < ids->count; i++) {
        const struct rule *r = entry[ids->at[i]].rule;

        if (port_set_has(dst ? r->dst_port : r->src_port, port))
            ARRAY_PUSH(out, ids->at[i]);
    }
}

/* The class of the ports with just these rules. Ports far from each other may share one. */
static uint16_t class_for(struct port_classes *c, const struct anchored_entry *entry,
                          struct map *known, const id_array *ids)
{
    uintptr_t at = (uintptr_t)map_get(known, ids->at, ids->count * sizeof(*ids->at));

    if (at != 0)
        return (uint16_t)at;
    c->list = xrealloc(c->list, (c->count + 1) * sizeof(*c->list));
    rules_take(&c->list[c->count], entry, ids);
    map_put(known, ids->at, ids->count * sizeof(*ids->at), (void *)(uintptr_t)c->count);
    return (uint16_t)c->count++;
}

/* Keeps each different page once. There are at most 256 pages, so a page number fits a
 * byte, and comparing each with all before it costs little. */
static void pages_fold(struct port_classes *c, const uint16_t *class_of)
{
    unsigned count = 0;

    c->page = xcalloc(ARRAY_LEN(c->page_of), sizeof(*c->page));
    for (unsigned i = 0; i < ARRAY_LEN(c->page_of); i++) {
        const uint16_t *here = class_of + i * PORTS_A_PAGE;
        unsigned like = 0;

        while (like < count && memcmp(c->page[like], here, sizeof(*c->page)) != 0)
            like++;
        if (like == count)
            memcpy(c->page[count++], here, sizeof(*c->page));
        c->page_of[i] = (uint8_t)like;
    }
    c->page = xrealloc(c->page, count * sizeof(*c->page));
}

/* Looks up the rules at each mark only, not at each of the 65,536 ports. dst: by the
 * rule's destination ports, else by its source ports. */
static void classes_build(struct port_classes *c, const struct anchored_entry *entry,
                          const id_array *ids, bool dst)
{
    uint8_t *edge;
    uint16_t *class_of;
    struct map known = { 0 };
    uint16_t class = 0;

    if (ids->count == 0)
        return;
    edge = xcalloc(65536, 1);
    class_of = xcalloc(65536, sizeof(*class_of));
    c->list = xcalloc(1, sizeof(*c->list));
    c->count = 1;
    for (size_t i = 0; i < ids->count; i++)
        mark_edges(edge, dst ? entry[ids->at[i]].rule->dst_port : entry[ids->at[i]].rule->src_port);
    edge[0] = 1;
    for (unsigned port = 0; port < 65536; port++) {
        if (edge[port]) {
            id_array here = { 0 };

            rules_at(entry, ids, dst, (uint16_t)port, &here);
            class = here.count > 0 ? class_for(c, entry, &known, &here) : 0;
            ARRAY_FREE(&here);
        }
        class_of[port] = class;
    }
    pages_fold(c, class_of);
    free(class_of);
    map_fini(&known);
    free(edge);
}

/* --- literals anywhere -------------------------------------------------------------------- */

/* Of 64 bits the one for a pair; case is ignored. */
static unsigned pair_bit(const uint8_t *at)
{
    return (ascii_lower(at[0]) * 0x25u + ascii_lower(at[1])) & 63;
}

/* Literals that begin alike share a bucket. */
static int by_literal(const void *a, const void *b)
{
    const struct anchored_literal *x = *(const struct anchored_literal *const *)a;
    const struct anchored_literal *y = *(const struct anchored_literal *const *)b;

    return memcmp(x->bytes, y->bytes, sizeof(x->bytes));
}

static struct pair_set *pairs_build(const struct anchored_entry *entry, unsigned count)
{
    ARRAY_OF(const struct anchored_literal *) literals = { 0 };
    struct pair_set *pairs = NULL;

    for (unsigned i = 0; i < count; i++)
        if (is_anywhere(&entry[i].literal))
            ARRAY_PUSH(&literals, &entry[i].literal);
    if (literals.count > 0) {
        qsort(literals.at, literals.count, sizeof(literals.at[0]), by_literal);
        pairs = xcalloc(1, sizeof(*pairs));
        pair_set_init(pairs);
    }
    for (size_t i = 0; i < literals.count; i++)
        anchored_literal_add_pairs(pairs, literals.at[i],
                                   (unsigned)(i * PAIR_BUCKETS / literals.count));
    ARRAY_FREE(&literals);
    return pairs;
}

/* The pairs of the set that the payload has, a bit for each; several may share one. */
static uint64_t pairs_in(const struct pair_set *pairs, struct slice payload)
{
    uint64_t there = 0;

    for (uint32_t at = 0; at + 1 < payload.len; at += PAIR_BLOCK) {
        uint64_t found = pair_set_find(pairs, payload.data + at,
                                       MIN(payload.len - at - 1, PAIR_BLOCK));

        for (; found != 0; found &= found - 1) {
            const uint8_t *pair = payload.data + at + __builtin_ctzll(found);

            if (pair_set_has(pairs, pair))
                there |= 1ull << pair_bit(pair);
        }
    }
    return there;
}

/* With fewer literals, a search for each costs less than the pass. */
#define PAIRS_WORTH 4

void port_lists_collect_anywhere(const struct port_lists *lists, uint16_t src, uint16_t dst,
                                 struct slice payload, struct candidates *out)
{
    const struct port_rules *const rules[] = { &lists->any, port_rules_of(&lists->dst, dst),
                                               port_rules_of(&lists->src, src) };
    uint64_t there = UINT64_MAX;
    unsigned count = 0;

    for (unsigned i = 0; i < ARRAY_LEN(rules); i++)
        count += rules[i] != NULL ? rules[i]->anywhere_count : 0;
    if (count >= PAIRS_WORTH)
        there = pairs_in(lists->pairs, payload);
    for (unsigned i = 0; count > 0 && there != 0 && i < ARRAY_LEN(rules); i++)
        for (unsigned k = 0; rules[i] != NULL && k < rules[i]->anywhere_count; k++) {
            const struct placed_rule *r = &rules[i]->anywhere[k];

            if ((there >> pair_bit(r->literal.bytes) & 1) &&
                anchored_literal_matches(&r->literal, payload))
                candidates_add(out, r->rule);
        }
}

/* --- all of them -------------------------------------------------------------------------- */

/* A rule with destination ports is not in the list by source port: one list is enough to
 * find it, and inspection checks the other side. */
void port_lists_build(struct port_lists *lists, const struct anchored_entry *entry, unsigned count)
{
    id_array dst = { 0 }, src = { 0 }, any = { 0 };

    for (unsigned i = 0; i < count; i++) {
        const struct rule *r = entry[i].rule;

        if (r->dst_port != NULL && !r->dst_port->any)
            ARRAY_PUSH(&dst, i);
        else if (r->src_port != NULL && !r->src_port->any)
            ARRAY_PUSH(&src, i);
        else
            ARRAY_PUSH(&any, i);
    }
    classes_build(&lists->dst, entry, &dst, true);
    classes_build(&lists->src, entry, &src, false);
    rules_take(&lists->any, entry, &any);
    lists->pairs = pairs_build(entry, count);
    ARRAY_FREE(&dst);
    ARRAY_FREE(&src);
    ARRAY_FREE(&any);
}

static void rules_fini(struct port_rules *rules)
{
    free(rules->plain.at);
    free(rules->placed);
    free(rules->anywhere);
}

static void classes_fini(struct port_classes *c)
{
    for (unsigned i = 0; i < c->count; i++)
        rules_fini(&c->list[i]);
    free(c->list);
    free(c->page);
}

void port_lists_fini(struct port_lists *lists)
{
    classes_fini(&lists->dst);
    classes_fini(&lists->src);
    rules_fini(&lists->any);
    free(lists->pairs);
    *lists = (struct port_lists){ 0 };
}
