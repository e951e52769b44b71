/* SPDX-License-Identifier: GPL-2.0-or-later */
/* detect/prefilter/candidates.c - the rules found for some bytes: each once, in any order until
 * they are sorted into evaluation order. */
#include "detect/prefilter/candidates.h"
#include "base/array.h"

#include <stdlib.h>

/* Allocates space for all rules, so that adding never allocates while packets flow. words has one
 * bit for each word of bits, so one word for 4,096 rules. */
void candidates_init(struct candidates *c, unsigned rules)
{
    c->bits = xcalloc(rules / 64 + 1, sizeof(*c->bits));
    c->words = xcalloc(rules / 4096 + 1, sizeof(*c->words));
    c->list = xmalloc((rules + (size_t)1) * sizeof(*c->list));     /* most of it is never used */
    c->count = 0;
    c->cap = rules;
}

void candidates_fini(struct candidates *c)
{
    free(c->bits);
    free(c->words);
    free(c->list);
    *c = (struct candidates){ 0 };
}

/* There are usually few candidates, and insertion sort is the fastest for few. */
static void sort_few(uint32_t *at, unsigned count)
{
    for (unsigned i = 1; i < count; i++) {
        uint32_t v = at[i];
        unsigned k = i;

        for (; k > 0 && at[k - 1] > v; k--)
            at[k] = at[k - 1];
        at[k] = v;
    }
}

/* The bits are in order already, so the list is read again from them. `words` skips the
 * empty ones. */
static void sort_many(struct candidates *c)
{
    unsigned n = 0;

    for (unsigned i = 0; n < c->count; i++)
        for (uint64_t words = c->words[i]; words != 0; words &= words - 1) {
            unsigned word = i * 64 + (unsigned)__builtin_ctzll(words);

            for (uint64_t bits = c->bits[word]; bits != 0; bits &= bits - 1)
                c->list[n++] = word * 64 + (unsigned)__builtin_ctzll(bits);
        }
}

/* Rules are numbered in evaluation order, so sorting by number is enough. */
void candidates_sort(struct candidates *c)
{
    if (c->count <= 8)
        sort_few(c->list, c->count);
    else
        sort_many(c);
}
