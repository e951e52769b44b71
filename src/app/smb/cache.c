/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/smb/cache.c - hash chains and a list from newest to oldest. */
#include "app/smb/cache.h"

#include "base/array.h"
#include "base/hash.h"

#include <stdlib.h>

static struct smb_entry **bucket_of(struct smb_cache *cache, const struct smb_key *key)
{
    uint64_t h = hash_mix(hash_mix(key->a, key->b), (uint64_t)key->kind << 32 | key->c);

    return &cache->bucket[h % SMB_CACHE_BUCKETS];
}

static bool key_equal(const struct smb_key *x, const struct smb_key *y)
{
    return x->a == y->a && x->b == y->b && x->c == y->c && x->kind == y->kind;
}

static void unlink_age(struct smb_cache *cache, struct smb_entry *e)
{
    *(e->newer != NULL ? &e->newer->older : &cache->newest) = e->older;
    *(e->older != NULL ? &e->older->newer : &cache->oldest) = e->newer;
}

static void link_newest(struct smb_cache *cache, struct smb_entry *e)
{
    e->newer = NULL;
    e->older = cache->newest;
    *(e->older != NULL ? &e->older->newer : &cache->oldest) = e;
    cache->newest = e;
}

static struct smb_entry **find(struct smb_cache *cache, const struct smb_key *key)
{
    struct smb_entry **link = bucket_of(cache, key);

    while (*link != NULL && !key_equal(&(*link)->key, key))
        link = &(*link)->chain;
    return link;
}

struct smb_entry *smb_cache_get(struct smb_cache *cache, struct smb_key key)
{
    struct smb_entry *e = *find(cache, &key);

    if (e != NULL && e != cache->newest) {
        unlink_age(cache, e);
        link_newest(cache, e);
    }
    return e;
}

struct smb_entry *smb_cache_pop(struct smb_cache *cache, struct smb_key key)
{
    struct smb_entry **link = find(cache, &key), *e = *link;

    if (e == NULL)
        return NULL;
    *link = e->chain;
    unlink_age(cache, e);
    e->chain = cache->spare;
    cache->spare = e;
    cache->count--;
    return e;
}

static struct smb_entry *fresh(struct smb_cache *cache)
{
    struct smb_entry *e = cache->spare;

    if (e == NULL)
        return xcalloc(1, sizeof(*e));
    cache->spare = e->chain;
    return e;
}

struct smb_entry *smb_cache_put(struct smb_cache *cache, struct smb_key key)
{
    struct smb_entry *e = smb_cache_get(cache, key), **bucket;

    if (e == NULL) {
        if (cache->count >= cache->limit && cache->oldest != NULL)
            (void)smb_cache_pop(cache, cache->oldest->key);
        e = fresh(cache);
        bucket = bucket_of(cache, &key);
        e->key = key;
        e->chain = *bucket;
        *bucket = e;
        link_newest(cache, e);
        cache->count++;
    }
    buf_clear(&e->text);
    e->id = (struct smb_id){ 0 };
    e->offset = 0;
    e->flag = false;
    return e;
}

void smb_cache_fini(struct smb_cache *cache)
{
    while (cache->oldest != NULL)
        (void)smb_cache_pop(cache, cache->oldest->key);
    while (cache->spare != NULL) {
        struct smb_entry *next = cache->spare->chain;

        buf_fini(&cache->spare->text);
        free(cache->spare);
        cache->spare = next;
    }
}
