/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/lib/lru.c - hash chains and a list from newest to oldest: what a flow remembers of earlier
 * messages, such as calls that wait for a reply. Of one flow, so without locks; keys come from the
 * network, so hash_bytes() is keyed, and `limit` bounds the entries. */
#include "app/lib/lru.h"

#include "base/containers/hash.h"
#include "base/memory/lib_memory.h"

#include <stdlib.h>

/* The link that points to the entry, or the end of its chain. */
static struct app_lru_entry **find(struct app_lru *lru, struct slice key)
{
    uint64_t h = hash_bytes(key.data, key.len);
    struct app_lru_entry **link = &lru->bucket[h % APP_LRU_BUCKETS];

    while (*link != NULL && ((*link)->key.len != key.len ||
                             (key.len > 0 && memcmp((*link)->key.data, key.data, key.len) != 0)))
        link = &(*link)->chain;
    return link;
}

static void unlink_age(struct app_lru *lru, struct app_lru_entry *e)
{
    *(e->newer != NULL ? &e->newer->older : &lru->newest) = e->older;
    *(e->older != NULL ? &e->older->newer : &lru->oldest) = e->newer;
}

static void link_newest(struct app_lru *lru, struct app_lru_entry *e)
{
    e->newer = NULL;
    e->older = lru->newest;
    *(e->older != NULL ? &e->older->newer : &lru->oldest) = e;
    lru->newest = e;
}

/* A hit counts as a use, so the entry becomes the newest. */
void *app_lru_get(struct app_lru *lru, struct slice key)
{
    struct app_lru_entry *e = lru->count > 0 ? *find(lru, key) : NULL;

    if (e != NULL && e != lru->newest) {
        unlink_age(lru, e);
        link_newest(lru, e);
    }
    return e;
}

/* Entries are reused with the memory of their key: a steady flow does not allocate. */
static void take_out(struct app_lru *lru, struct app_lru_entry **link)
{
    struct app_lru_entry *e = *link;

    *link = e->chain;
    unlink_age(lru, e);
    e->chain = lru->spare;
    lru->spare = e;
    lru->count--;
}

/* The caller uses the entry before the next put(), which may take it again. */
void *app_lru_pop(struct app_lru *lru, struct slice key)
{
    struct app_lru_entry **link, *e;

    if (lru->count == 0)
        return NULL;
    link = find(lru, key);
    e = *link;
    if (e != NULL)
        take_out(lru, link);
    return e;
}

static struct app_lru_entry *fresh(struct app_lru *lru, size_t size)
{
    struct app_lru_entry *e = lru->spare;

    if (e == NULL)
        return lib_calloc(1, size);
    lru->spare = e->chain;
    return e;
}

/* Finds or creates the entry of a key; a full table evicts its oldest. A reused entry has its old
 * contents after the head: the caller must set them. */
void *app_lru_put(struct app_lru *lru, struct slice key, size_t size)
{
    struct app_lru_entry *e = app_lru_get(lru, key), **link;

    if (e != NULL)
        return e;
    if (lru->count >= lru->limit && lru->oldest != NULL)
        take_out(lru, find(lru, buf_slice(&lru->oldest->key)));
    e = fresh(lru, size);
    if (e == NULL)
        return NULL;
    buf_clear(&e->key);
    if (!buf_add(&e->key, key.data, key.len)) {
        e->chain = lru->spare;
        lru->spare = e;
        return NULL;
    }
    link = find(lru, key);
    e->chain = NULL;
    *link = e;
    link_newest(lru, e);
    lru->count++;
    return e;
}

/* fini() frees what the user's part of an entry holds; it is called for entries once used, too. */
void app_lru_fini(struct app_lru *lru, void (*fini)(void *entry))
{
    while (lru->oldest != NULL)
        take_out(lru, find(lru, buf_slice(&lru->oldest->key)));
    while (lru->spare != NULL) {
        struct app_lru_entry *next = lru->spare->chain;

        buf_fini(&lru->spare->key);
        if (fini != NULL)
            fini(lru->spare);
        lib_free(lru->spare);
        lru->spare = next;
    }
}
