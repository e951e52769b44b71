/* SPDX-License-Identifier: GPL-2.0-or-later */
/* detect/prefilter/anchored_lists.c - sections of rules with equal headers, searched by literals
 * near the front of a payload. */
#include "detect/prefilter/anchored_lists.h"
#include "base/array.h"
#include "match/spm_literal.h"

#include <stdlib.h>
#include <string.h>

#define PAIRS_WORTH 4           /* so many anywhere-literals make a common pass worth while */

/* --- building ----------------------------------------------------------------------------- */

static int compare_pointers(const void *a, const void *b)
{
    return (a > b) - (a < b);
}

/* Equal sets of addresses and ports have equal pointers. */
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

static bool is_anywhere(const struct anchored_literal *l)
{
    return l->len >= 2 && l->to == UINT32_MAX;
}

/* Those with a place first. */
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

static int by_section(const void *a, const void *b)
{
    const struct anchored_entry *x = a, *y = b;
    int r = compare_headers(x->rule, y->rule);

    if (r == 0)
        r = compare_literals(&x->literal, &y->literal);
    return r != 0 ? r : (x->rule->index > y->rule->index) - (x->rule->index < y->rule->index);
}

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

/* All ways of writing the first two letters lead to the slot of the small ones. */
static void pairs_add(struct pair_filter *f, const struct anchored_literal *l)
{
    for (unsigned way = 0; way < (l->nocase ? 4u : 1u); way++) {
        uint8_t two[2] = { l->bytes[0], l->bytes[1] };
        uint16_t pair;

        for (unsigned i = 0; i < 2; i++)
            if ((way >> i & 1) && two[i] >= 'a' && two[i] <= 'z')
                two[i] &= (uint8_t)~0x20;
        pair = pair_at(two);
        f->bits[pair >> 6] |= 1ull << (pair & 63);
    }
}

static unsigned slot_of_text(const uint8_t *at)
{
    uint8_t lower[2] = { ascii_lower(at[0]), ascii_lower(at[1]) };

    return slot_of(pair_at(lower));
}

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
    for (unsigned i = s->placed; i < s->count; i++) {
        struct anchored_condition *c = &s->condition[i];
        unsigned slot = slot_of_text(c->literal.bytes);

        pairs_add(s->pairs, &c->literal);
        c->next = s->pairs->slot[slot];
        s->pairs->slot[slot] = (uint16_t)(i + 1);
    }
}

static void section_build(struct anchored_section *s, const struct anchored_entry *entry,
                          unsigned count)
{
    *s = (struct anchored_section){ .rule = entry[0].rule };
    s->condition = xcalloc(count, sizeof(*s->condition));
    for (unsigned i = 0; i < count; ) {
        struct anchored_condition *c = &s->condition[s->count++];
        unsigned first = i;

        c->literal = entry[i].literal;
        while (i < count && compare_literals(&entry[i].literal, &c->literal) == 0)
            i++;
        c->rules.count = i - first;
        c->rules.at = xcalloc(c->rules.count, sizeof(*c->rules.at));
        for (unsigned k = 0; k < c->rules.count; k++)
            c->rules.at[k] = entry[first + k].rule->index;
    }
    pairs_build(s);
}

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

static void pair_found(const struct anchored_section *s, const uint8_t *data, uint32_t len,
                       uint32_t at, struct candidates *out)
{
    for (unsigned i = s->pairs->slot[slot_of_text(data + at)]; i != 0; ) {
        const struct anchored_condition *c = &s->condition[i - 1];

        if (at >= c->literal.from && len - at >= c->literal.len &&
            anchored_literal_is_at(&c->literal, data + at))
            rule_ids_add(&c->rules, out);
        i = c->next;
    }
}

void anchored_section_collect(const struct anchored_section *s, const uint8_t *data, uint32_t len,
                          struct candidates *out)
{
    for (unsigned i = 0; i < s->placed; i++)
        if (anchored_literal_matches(&s->condition[i].literal, data, len))
            rule_ids_add(&s->condition[i].rules, out);
    if (s->pairs == NULL)
        return;
    for (uint32_t i = 0; i + 1 < len; i++) {
        uint16_t pair = pair_at(data + i);

        if (UNLIKELY(s->pairs->bits[pair >> 6] >> (pair & 63) & 1))
            pair_found(s, data, len, i, out);
    }
}
