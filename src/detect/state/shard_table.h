/* SPDX-License-Identifier: GPL-2.0-or-later */
/* detect/state/shard_table.h - what rules remember about hosts, shared by all threads.
 *
 * xbits, hostbits, thresholds and tags: entries under a key, with an end. Entries and buckets are
 * taken at load time and never grow; many small parts with a lock each, which only rules that
 * matched and need one ever touch. Time is packet time. When a part is full, entries past their
 * end make room; else the new one is refused, which is counted. */
#ifndef DETECT_SHARD_TABLE_H
#define DETECT_SHARD_TABLE_H

#include "base/base.h"
#include "base/text/ip.h"

struct shard_key {
    uint8_t a[16], b[16];       /* addresses; zero where there is none */
    uint32_t id[3];             /* sid, gid, rev; or else */
    uint8_t kind;               /* the user's own */
    uint8_t versions;           /* of the addresses */
    uint8_t unused[2];          /* zero: keys are compared as bytes */
};

#define SHARD_VALUE_SIZE 40

struct shard_table;

struct shard_table *shard_table_new(uint64_t memory);   /* bytes for entries */
void shard_table_free(struct shard_table *table);
/* What its entries may take; any thread. It can be made less than it was at first, and what it
 * was again, but no more. False: it cannot be that. */
uint64_t shard_table_memory(const struct shard_table *table);
uint64_t shard_table_used(struct shard_table *table);   /* by entries that were ever needed */
bool shard_table_limit(struct shard_table *table, uint64_t memory);
void shard_table_clear(struct shard_table *table);
uint64_t shard_table_refused(const struct shard_table *table);

/* Fills the address part. */
void shard_key_address(struct shard_key *key, const struct ip *ip);
/* Both, the lower one first, so that either direction finds the same. */
void shard_key_pair(struct shard_key *key, const struct ip *a, const struct ip *b);

/* An entry with its part locked until shard_table_release(). */
struct shard_ref {
    void *value;                /* SHARD_VALUE_SIZE bytes; NULL: none */
    uint64_t *ends_us;          /* set it when fresh; past that time the entry is gone */
    bool fresh;                 /* all zero, or as it was when its time ended */
    void *shard;
};

/* With create a missing entry is made; its end is then now_us until set. */
struct shard_ref shard_table_get(struct shard_table *table, const struct shard_key *key,
                                 uint64_t now_us, bool create);
void shard_table_release(struct shard_ref *ref);

#endif
