/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "detect/prefilter/candidates.h"
#include "base/array.h"

#include <stdlib.h>

void candidates_init(struct candidates *c, unsigned rules)
{
    c->bits = xcalloc(rules / 64 + 1, sizeof(*c->bits));
    c->list = xcalloc(rules + 1, sizeof(*c->list));
    c->count = 0;
    c->cap = rules;
}

void candidates_fini(struct candidates *c)
{
    free(c->bits);
    free(c->list);
    *c = (struct candidates){ 0 };
}

static int by_number(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

    return (x > y) - (x < y);
}

/* Few as a rule: insertion beats what is clever for many. */
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

void candidates_sort(struct candidates *c)
{
    if (c->count <= 32)
        sort_few(c->list, c->count);
    else
        qsort(c->list, c->count, sizeof(*c->list), by_number);
}
