/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/proto/smb/cache.h - caches of a flow for facts from earlier commands, in tables of
 * app/lib/lru.h. */
#ifndef APP_SMB_CACHE_H
#define APP_SMB_CACHE_H

#include "app/lib/lru.h"

/* The id of a file on one side: 16 bytes, or in SMB1 two bytes followed by the session's number. */
struct smb_id {
    uint8_t len, at[16];
};
static inline bool smb_id_equal(const struct smb_id *a, const struct smb_id *b)
{
    return a->len == b->len && memcmp(a->at, b->at, a->len) == 0;
}

/* The key is compared by its bytes, so it has no padding. */
struct smb_key {
    uint64_t a, b;
    uint32_t c, kind;
};

struct smb_entry {
    struct app_lru_entry lru;
    struct buf text;
    struct smb_id id;
    uint64_t offset;
    bool flag;
};

void smb_cache_fini(struct app_lru *cache);
/* Returns an entry that is valid until the next put. */
struct smb_entry *smb_cache_get(struct app_lru *cache, struct smb_key key);
/* Returns a new entry, or the cleared one of this key; NULL: no memory. */
struct smb_entry *smb_cache_put(struct app_lru *cache, struct smb_key key);
void smb_cache_flag(struct app_lru *cache, struct smb_key key);
void smb_cache_set_id(struct app_lru *cache, struct smb_key key, const struct smb_id *id);
/* Removes an entry, which stays valid until the next put. */
struct smb_entry *smb_cache_pop(struct app_lru *cache, struct smb_key key);

static inline struct slice smb_entry_text(const struct smb_entry *entry)
{
    return entry != NULL ? buf_slice(&entry->text) : (struct slice){ 0 };
}

enum { SMB_KEY_ID, SMB_KEY_FILE, SMB_KEY_NAME, SMB_KEY_OFFSET, SMB_KEY_SHARE, SMB_KEY_PIPE };
static inline struct smb_key smb_key_of_id(const struct smb_id *id)
{
    struct smb_key key = { .kind = SMB_KEY_ID, .c = id->len };

    memcpy(&key.a, id->at, sizeof(key.a));
    memcpy(&key.b, id->at + 8, sizeof(key.b));
    return key;
}

#endif
