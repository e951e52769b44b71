/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/proto/smb/cache.c - entries of SMB's tables, which app/lib/lru.h holds. The key's bytes are
 * compared as they are: struct smb_key has no padding. */
#include "app/proto/smb/cache.h"

static struct slice key_bytes(const struct smb_key *key)
{
    return (struct slice){ (const uint8_t *)key, sizeof(*key) };
}

struct smb_entry *smb_cache_get(struct app_lru *cache, struct smb_key key)
{
    return app_lru_get(cache, key_bytes(&key));
}

struct smb_entry *smb_cache_pop(struct app_lru *cache, struct smb_key key)
{
    return app_lru_pop(cache, key_bytes(&key));
}

/* An entry is used again after eviction: everything of its last use is cleared, and its buffer
 * keeps its memory. */
struct smb_entry *smb_cache_put(struct app_lru *cache, struct smb_key key)
{
    struct smb_entry *e = app_lru_put(cache, key_bytes(&key), sizeof(*e));

    if (e == NULL)
        return NULL;
    buf_clear(&e->text);
    e->id = (struct smb_id){ 0 };
    e->offset = 0;
    e->flag = false;
    return e;
}

void smb_cache_flag(struct app_lru *cache, struct smb_key key)
{
    struct smb_entry *e = smb_cache_put(cache, key);

    if (e != NULL)
        e->flag = true;
}

void smb_cache_set_id(struct app_lru *cache, struct smb_key key, const struct smb_id *id)
{
    struct smb_entry *e = smb_cache_put(cache, key);

    if (e != NULL)
        e->id = *id;
}

static void entry_fini(void *entry)
{
    struct smb_entry *e = entry;

    buf_fini(&e->text);
}

void smb_cache_fini(struct app_lru *cache)
{
    app_lru_fini(cache, entry_fini);
}
