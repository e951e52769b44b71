/* SPDX-License-Identifier: GPL-2.0-or-later */
/* base/containers/index.c - open addressing with linear probing, at most 3/4 full, no removal. */
#include "base/containers/index.h"

#include "base/array.h"

#include <stdlib.h>

void index_fini(struct index *x)
{
    free(x->at);
    x->at = NULL;
    x->count = x->cap = 0;
}

/* The item of this key, or the free place where it belongs. At least a quarter is free, so the loop
 * ends. */
static void **place_of(const struct index *x, const void *like)
{
    size_t mask = x->cap - 1;

    for (size_t i = x->hash(like) & mask;; i = (i + 1) & mask)
        if (x->at[i] == NULL || x->equal(x->at[i], like))
            return &x->at[i];
}

void **index_find(const struct index *x, const void *like)
{
    void **at = x->count > 0 ? place_of(x, like) : NULL;

    return at != NULL && *at != NULL ? at : NULL;
}

static void grow(struct index *x)
{
    struct index old = *x;

    x->cap = MAX(old.cap * 2, (size_t)16);
    x->at = xcalloc(x->cap, sizeof(*x->at));
    INDEX_EACH (&old, item)
        *place_of(x, *item) = *item;
    free(old.at);
}

void index_add(struct index *x, void *item)
{
    if ((x->count + 1) * 4 > x->cap * 3)
        grow(x);
    *place_of(x, item) = item;
    x->count++;
}
