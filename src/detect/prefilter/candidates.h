/* SPDX-License-Identifier: GPL-2.0-or-later */
/* detect/prefilter/candidates.h - the rules to evaluate on a packet or transaction. One bit per
 * rule avoids duplicates. The list makes clearing cost no more than what was found. One per
 * thread. */
#ifndef DETECT_CANDIDATES_H
#define DETECT_CANDIDATES_H

#include "base/base.h"

struct candidates {
    uint64_t *bits;
    uint64_t *words;            /* one bit for each word of `bits` that is not 0 */
    uint32_t *list;
    unsigned count, cap;
};

void candidates_init(struct candidates *c, unsigned rules);
void candidates_fini(struct candidates *c);
/* Sorts into evaluation order. */
void candidates_sort(struct candidates *c);

static inline void candidates_add(struct candidates *c, uint32_t rule)
{
    uint64_t bit = 1ull << (rule & 63);

    if (c->bits[rule >> 6] & bit)
        return;
    c->bits[rule >> 6] |= bit;
    c->words[rule >> 12] |= 1ull << (rule >> 6 & 63);
    c->list[c->count++] = rule;
}

/* Takes back list[at]; another one may then be there. Before they are sorted. */
static inline void candidates_remove(struct candidates *c, unsigned at)
{
    uint32_t rule = c->list[at];

    c->bits[rule >> 6] &= ~(1ull << (rule & 63));
    if (c->bits[rule >> 6] == 0)
        c->words[rule >> 12] &= ~(1ull << (rule >> 6 & 63));
    c->list[at] = c->list[--c->count];
}

static inline bool candidates_has(const struct candidates *c, uint32_t rule)
{
    return c->bits[rule >> 6] >> (rule & 63) & 1;
}

static inline void candidates_clear(struct candidates *c)
{
    for (unsigned i = 0; i < c->count; i++) {
        c->bits[c->list[i] >> 6] = 0;
        c->words[c->list[i] >> 12] = 0;
    }
    c->count = 0;
}

#endif
