/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/lib/lru.h - what a flow remembers of earlier messages: a small hash table that forgets what
 * was not used for longest. Belongs to one flow. Entries and their buffers are used again, so that
 * a table at its limit no longer allocates. */
#ifndef APP_LRU_H
#define APP_LRU_H

#include "base/memory/buf.h"

/* First member of what is kept. */
struct app_lru_entry {
    struct app_lru_entry *chain, *newer, *older;
    struct buf key;
};

#define APP_LRU_BUCKETS 64
struct app_lru {
    struct app_lru_entry *bucket[APP_LRU_BUCKETS], *newest, *oldest, *spare;
    uint32_t count, limit;
};

/* Lent until the next put; NULL: not known. */
void *app_lru_get(struct app_lru *lru, struct slice key);
/* A new one, or the one of this key: zeroed, or as its last use left it. All entries of a table
 * are of one size. */
void *app_lru_put(struct app_lru *lru, struct slice key, size_t size);
/* Taken out: valid until the next put. */
void *app_lru_pop(struct app_lru *lru, struct slice key);
/* fini frees what hangs off an entry, not the entry; NULL: nothing does. */
void app_lru_fini(struct app_lru *lru, void (*fini)(void *entry));

#endif
