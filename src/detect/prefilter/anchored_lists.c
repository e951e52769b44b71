/* SPDX-License-Identifier: GPL-2.0-or-later */
/* detect/prefilter/anchored_lists.c - sections of rules with equal headers, searched by literals
 * near the front of a payload. */
#include "detect/prefilter/anchored_lists.h"
#include "base/array.h"
#include "match/spm_literal.h"

#include <stdlib.h>
#include <string.h>

/* With fewer literals without a position, a search for each costs less than the table. */
#define PAIRS_WORTH 4           /* literals without a position, for a common pass */

/* --- building ----------------------------------------------------------------------------- */

static int compare_pointers(const void *a, const void *b)
{
    return (a > b) - (a < b);
}

/* The order itself means nothing; it only brings rules with the same header together. The
 * rule parser shares equal sets of addresses and ports, so equal sets have equal pointers. */
static int compare_headers(const struct rule *x, const struct rule *y)
{
    int r = compare_pointers(x->src, y->src);

    if (r == 0)
        r = compare_pointers(x->dst, y->dst);
    if (r == 0)
        r = compare_pointers(x->src_port, y->src_port);
    if (r == 0)
        r = compare_pointers(x->dst_port, y->dst_port);
    if (r == 0)
        r = x->app_proto - y->app_proto;
    if (r == 0)
        r = x->ip_version - y->ip_version;
    return r != 0 ? r : memcmp(x->ip_proto, y->ip_proto, sizeof(x->ip_proto));
}

/* Only these can be searched by pairs: a literal of one byte has no pair. */
static bool is_anywhere(const struct anchored_literal *l)
{
    return l->len >= 2 && l->to == UINT32_MAX;
}

/* Literals with a position come first: pairs_build() counts them from the front of a
 * section. */
static int compare_literals(const struct anchored_literal *x, const struct anchored_literal *y)
{
    int r = is_anywhere(x) - is_anywhere(y);

    if (r == 0)
        r = memcmp(x->bytes, y->bytes, sizeof(x->bytes));
    if (r == 0)
        r = x->len - y->len;
    if (r == 0)
        r = x->nocase - y->nocase;
    if (r == 0)
        r = (x->from > y->from) - (x->from < y->from);
    return r != 0 ? r : (x->to > y->to) - (x->to < y->to);
}

/* For qsort(): by header, then by literal. The rule's index makes the order total. */
static int by_section(const void *a, const void *b)
{
    const struct anchored_entry *x = a, *y = b;
    int r = compare_headers(x->rule, y->rule);

    if (r == 0)
        r = compare_literals(&x->literal, &y->literal);
    return r != 0 ? r : (x->rule->index > y->rule->index) - (x->rule->index < y->rule->index);
}

/* A multiplicative hash of 16 bits to 8. Collisions cost time only, because pair_found() compares
 * the entire literal. */
static unsigned slot_of(uint16_t pair)
{
    return (uint8_t)(pair * 0x9e5bu >> 8);
}

static uint16_t pair_at(const uint8_t *at)
{
    uint16_t pair;

    memcpy(&pair, at, sizeof(pair));
    return pair;
}

static unsigned slot_of_text(const uint8_t *at)
{
    uint8_t lower[2] = { ascii_lower(at[0]), ascii_lower(at[1]) };

    return slot_of(pair_at(lower));
}

/* Hundreds of rules may have literals that begin with the same two bytes, so longer ones go by
 * three. Otherwise text of such pairs would be compared with each of them at each position. */
static unsigned longer_slot_of_text(const uint8_t *at)
{
    uint32_t lower = (uint32_t)ascii_lower(at[0]) | (uint32_t)ascii_lower(at[1]) << 8 |
                     (uint32_t)ascii_lower(at[2]) << 16;

    return lower * 0x9e3779b1u >> 22;
}

/* Splits a section: the first `placed` conditions are tried one by one, the others go to a
 * table by their first two bytes. With few of them no table is made. */
static void pairs_build(struct anchored_section *s)
{
    s->placed = 0;
    while (s->placed < s->count && !is_anywhere(&s->condition[s->placed].literal))
        s->placed++;
    if (s->count - s->placed < PAIRS_WORTH) {
        s->placed = s->count;
        return;
    }
    s->pairs = xcalloc(1, sizeof(*s->pairs));
    pair_set_init(&s->pairs->pairs);
    for (unsigned i = s->placed; i < s->count; i++) {
        struct anchored_condition *c = &s->condition[i];
        uint16_t *slot = c->literal.len > 2
                             ? &s->pairs->longer[longer_slot_of_text(c->literal.bytes)]
                             : &s->pairs->slot[slot_of_text(c->literal.bytes)];

        /* Literals are sorted, so those of a bucket begin alike. All ways to write two letters
         * lead to the slot of the lower-case pair. */
        anchored_literal_add_pairs(&s->pairs->pairs, &c->literal,
                                   (i - s->placed) * PAIR_BUCKETS / (s->count - s->placed));
        c->next = *slot;
        *slot = (uint16_t)(i + 1);
    }
}

/* entry: `count` entries with the same header, sorted by literal. Rules with the same
 * literal share one condition. */
static void section_build(struct anchored_section *s, const struct anchored_entry *entry,
                          unsigned count)
{
    *s = (struct anchored_section){ .rule = entry[0].rule, .header_id = entry[0].rule->header_id,
                                    .app_proto = entry[0].rule->app_proto, .needs_bytes = true };
    s->condition = xcalloc(count, sizeof(*s->condition));
    for (unsigned i = 0; i < count; ) {
        struct anchored_condition *c = &s->condition[s->count++];
        unsigned first = i;

        c->literal = entry[i].literal;
        s->needs_bytes &= c->literal.len > 0;
        while (i < count && compare_literals(&entry[i].literal, &c->literal) == 0)
            i++;
        c->rules.count = i - first;
        c->rules.at = xcalloc(c->rules.count, sizeof(*c->rules.at));
        for (unsigned k = 0; k < c->rules.count; k++)
            c->rules.at[k] = entry[first + k].rule->index;
    }
    pairs_build(s);
}

/* `entry` is only read; the lists borrow the rules and copy the literals. */
void anchored_lists_build(struct anchored_lists *lists, const struct anchored_entry *entry,
                          unsigned count)
{
    struct anchored_entry *sorted = xcalloc(count + 1, sizeof(*sorted));

    *lists = (struct anchored_lists){ 0 };
    if (count > 0) {
        memcpy(sorted, entry, count * sizeof(*sorted));
        qsort(sorted, count, sizeof(*sorted), by_section);
        lists->section = xcalloc(count, sizeof(*lists->section));
    }
    for (unsigned i = 0; i < count; ) {
        unsigned first = i;

        while (i < count && compare_headers(sorted[i].rule, sorted[first].rule) == 0)
            i++;
        section_build(&lists->section[lists->count++], sorted + first, i - first);
    }
    free(sorted);
}

void anchored_lists_fini(struct anchored_lists *lists)
{
    for (unsigned i = 0; i < lists->count; i++) {
        struct anchored_section *s = &lists->section[i];

        for (unsigned k = 0; k < s->count; k++)
            free(s->condition[k].rules.at);
        free(s->condition);
        free(s->pairs);
    }
    free(lists->section);
    *lists = (struct anchored_lists){ 0 };
}

/* --- looking ------------------------------------------------------------------------------ */

/* Compares the conditions of a slot completely. */
static void slot_found(const struct anchored_section *s, unsigned i, struct slice data,
                       uint32_t at, struct candidates *out)
{
    while (i != 0) {
        const struct anchored_condition *c = &s->condition[i - 1];

        if (at >= c->literal.from && data.len - at >= c->literal.len &&
            anchored_literal_is_at(&c->literal, data.data + at))
            rule_ids_add(&c->rules, out);
        i = c->next;
    }
}

/* A literal may begin at `at`. */
static void pair_found(const struct anchored_section *s, struct slice data, uint32_t at,
                       struct candidates *out)
{
    slot_found(s, s->pairs->slot[slot_of_text(data.data + at)], data, at, out);
    if (data.len - at > 2)
        slot_found(s, s->pairs->longer[longer_slot_of_text(data.data + at)], data, at, out);
}

/* Called on the thread that inspects, for a section whose header fits the packet. */
void anchored_section_collect(const struct anchored_section *s, struct slice data,
                              uint32_t searched, struct candidates *out)
{
    for (unsigned i = 0; i < s->placed; i++)
        if (anchored_literal_is_new(&s->condition[i].literal, data, searched))
            rule_ids_add(&s->condition[i].rules, out);
    if (s->pairs == NULL)
        return;
    for (uint32_t at = searched - MIN(searched, ANCHORED_BYTES - 1u); at + 1 < data.len;
         at += PAIR_BLOCK) {
        uint64_t found = pair_set_find(&s->pairs->pairs, data.data + at,
                                       MIN(data.len - at - 1, PAIR_BLOCK));

        for (; found != 0; found &= found - 1) {
            uint32_t i = at + (uint32_t)__builtin_ctzll(found);

            if (pair_set_has(&s->pairs->pairs, data.data + i))
                pair_found(s, data, i, out);
        }
    }
}
