/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/lib/lru.h - a small hash table in which a flow keeps data of earlier messages; it evicts the
 * least recently used entry. Belongs to one flow. Entries and their buffers are reused, so a table
 * at its limit does not allocate. */
#ifndef APP_LRU_H
#define APP_LRU_H

#include "base/memory/buf.h"

/* The first member of each entry. */
struct app_lru_entry {
    struct app_lru_entry *chain, *newer, *older;
    struct buf key;
};

#define APP_LRU_BUCKETS 64
struct app_lru {
    struct app_lru_entry *bucket[APP_LRU_BUCKETS], *newest, *oldest, *spare;
    uint32_t count, limit;
};

/* Returns an entry, valid until the next put; NULL: unknown key. */
void *app_lru_get(struct app_lru *lru, struct slice key);
/* Returns a new entry, or the entry of this key: zeroed, or with the contents of its last use. All
 * entries of a table have one size. */
void *app_lru_put(struct app_lru *lru, struct slice key, size_t size);
/* Removes the entry; it is valid until the next put. */
void *app_lru_pop(struct app_lru *lru, struct slice key);
/* fini frees what an entry owns, not the entry; NULL: nothing. */
void app_lru_fini(struct app_lru *lru, void (*fini)(void *entry));

#endif
