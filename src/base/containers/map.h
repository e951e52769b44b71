/* SPDX-License-Identifier: GPL-2.0-or-later */
/* base/containers/map.h - a map from bytes to a pointer, for load time and slow paths. It copies
 * keys. One thread may use it. */
#ifndef BASE_MAP_H
#define BASE_MAP_H

#include "base/base.h"

struct map_entry {
    uint64_t hash;
    void *key;
    size_t key_len;
    void *value;
};

struct map {
    struct map_entry *at;       /* open addressing; key NULL: free */
    size_t count, cap;
};

void map_fini(struct map *m);                              /* the caller frees values */
void *map_get(const struct map *m, const void *key, size_t len);      /* NULL: absent */
void *map_get_string(const struct map *m, const char *key);
void map_put(struct map *m, const void *key, size_t len, void *value);
/* Adds or replaces. False: out of memory. */
bool map_try_put(struct map *m, const void *key, size_t len, void *value);   /* replaces */
void map_put_string(struct map *m, const char *key, void *value);

#define MAP_EACH(m, e)                                                              \
    for (struct map_entry *e = (m)->at; e != NULL && e < (m)->at + (m)->cap; e++) \
        if (e->key != NULL)

#endif
