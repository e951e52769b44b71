/* SPDX-License-Identifier: GPL-2.0-or-later */
/* base/containers/map.c - a hash map for slow paths: open addressing with linear probing, at most
 * 3/4 full, no removal. It owns copies of the keys; values are the caller's. */
#include "base/containers/map.h"

#include "base/array.h"
#include "base/containers/hash.h"

#include <stdlib.h>
#include <string.h>

void map_fini(struct map *m)
{
    MAP_EACH(m, e)
        free(e->key);
    free(m->at);
    *m = (struct map){ 0 };
}

/* The entry of the key, or the free entry where it belongs. At least a quarter is free, so the loop
 * ends. */
static struct map_entry *find(const struct map *m, uint64_t hash, const void *key, size_t len)
{
    size_t mask = m->cap - 1;

    for (size_t i = hash & mask;; i = (i + 1) & mask) {
        struct map_entry *e = &m->at[i];

        if (e->key == NULL)
            return e;
        if (e->hash == hash && e->key_len == len && memcmp(e->key, key, len) == 0)
            return e;
    }
}

static bool grow(struct map *m)
{
    struct map old = *m;
    size_t cap = MAX(old.cap * 2, (size_t)16);
    struct map_entry *at = calloc(cap, sizeof(*at));

    if (at == NULL)
        return false;
    m->cap = cap;
    m->at = at;
    MAP_EACH(&old, e)
        *find(m, e->hash, e->key, e->key_len) = *e;
    free(old.at);
    return true;
}

void *map_get(const struct map *m, const void *key, size_t len)
{
    if (m->count == 0)
        return NULL;
    return find(m, hash_bytes(key, len), key, len)->value;
}

bool map_try_put(struct map *m, const void *key, size_t len, void *value)
{
    uint64_t hash = hash_bytes(key, len);
    struct map_entry *e;

    if ((m->count + 1) * 4 > m->cap * 3 && !grow(m))
        return false;
    e = find(m, hash, key, len);
    if (e->key == NULL) {
        e->key = malloc(len + 1);       /* a string stays one */
        if (e->key == NULL)
            return false;
        e->hash = hash;
        if (len > 0)
            memcpy(e->key, key, len);
        ((char *)e->key)[len] = '\0';
        e->key_len = len;
        m->count++;
    }
    e->value = value;
    return true;
}

void map_put(struct map *m, const void *key, size_t len, void *value)
{
    while (!map_try_put(m, key, len, value))
        out_of_memory(len);
}

void *map_get_string(const struct map *m, const char *key)
{
    return map_get(m, key, strlen(key));
}

void map_put_string(struct map *m, const char *key, void *value)
{
    map_put(m, key, strlen(key), value);
}
