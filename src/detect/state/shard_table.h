/* SPDX-License-Identifier: GPL-2.0-or-later */
/* detect/state/shard_table.h - a hash table for state about hosts that all threads share.
 *
 * xbits, hostbits, thresholds and tags store entries with an expiry time. Entries and buckets are
 * allocated at load time and never grow. There are many shards, each with a lock; only rules that
 * matched and need an entry take it. Time is packet time. When a shard is full, expired entries are
 * reused; without one the new entry is refused and counted. */
#ifndef DETECT_SHARD_TABLE_H
#define DETECT_SHARD_TABLE_H

#include "base/base.h"
#include "base/text/ip.h"

struct shard_key {
    uint8_t a[16], b[16];       /* addresses; zero if there is none */
    uint32_t id[3];             /* sid, gid, rev; or other numbers */
    uint8_t kind;               /* chosen by the user of the table */
    uint8_t versions;           /* of the addresses */
    uint8_t unused[2];          /* zero: keys are compared as bytes */
};

#define SHARD_VALUE_SIZE 40

struct shard_table;

struct shard_table *shard_table_new(uint64_t memory);   /* bytes for entries */
void shard_table_free(struct shard_table *table);
/* The memory limit for entries; any thread may change it. It can be lowered, and raised again up to
 * its first value. False: not possible. */
uint64_t shard_table_memory(const struct shard_table *table);
uint64_t shard_table_used(struct shard_table *table);   /* memory of entries used so far */
bool shard_table_limit(struct shard_table *table, uint64_t memory);
void shard_table_clear(struct shard_table *table);
uint64_t shard_table_refused(const struct shard_table *table);

/* Sets the address part. */
void shard_key_address(struct shard_key *key, const struct ip *ip);
/* Sets both addresses, the lower one first, so that both directions find the same entry. */
void shard_key_pair(struct shard_key *key, const struct ip *a, const struct ip *b);

/* Whether the key's shard has so much space that what other threads may add at the same time fills
 * it by no means. Then it does not matter to the key in which order they add. */
bool shard_table_has_space(struct shard_table *table, const struct shard_key *key);

/* An entry. Its shard is locked until shard_table_release(). */
struct shard_ref {
    void *value;                /* SHARD_VALUE_SIZE bytes; NULL: no entry */
    uint64_t *ends_us;          /* the caller sets it when fresh; the entry expires then */
    bool fresh;                 /* new and all zero, or expired with its old contents */
    void *shard;
};

/* With create a missing entry is created; it expires at now_us until the caller sets it. */
struct shard_ref shard_table_get(struct shard_table *table, const struct shard_key *key,
                                 uint64_t now_us, bool create);
void shard_table_release(struct shard_ref *ref);

#endif
