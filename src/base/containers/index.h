/* SPDX-License-Identifier: GPL-2.0-or-later */
/* base/containers/index.h - finds things by a key that they have in them, for load time and slow
 * paths. It holds pointers only: 8 bytes for each place, where struct map has 32 and a copy of the
 * key. One thread may use it. */
#ifndef BASE_INDEX_H
#define BASE_INDEX_H

#include "base/base.h"

struct index {
    uint64_t (*hash)(const void *item);                 /* of its key */
    bool (*equal)(const void *item, const void *other); /* in their keys */
    void **at;                  /* open addressing; NULL: free */
    size_t count, cap;
};

void index_fini(struct index *x);                       /* the caller frees items */
/* Returns where the item with the key of `like` is, which the caller may replace by another one of
 * this key. NULL: absent. */
void **index_find(const struct index *x, const void *like);
void index_add(struct index *x, void *item);            /* none with its key is there */

#define INDEX_EACH(x, p) \
    for (void **p = (x)->at; p != NULL && p < (x)->at + (x)->cap; p++) \
        if (*p != NULL)

#endif
