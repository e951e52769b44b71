/* SPDX-License-Identifier: GPL-2.0-or-later */
/* detect/state/shard_table.c - a hash table for what rules remember about hosts. All
 * threads share it; each of 64 shards has a lock. Its memory is limited and it never
 * grows: an entry that has expired is used again. */
#include "detect/state/shard_table.h"

#include "base/array.h"
#include "base/containers/hash.h"
#include "base/memory/traffic_memory.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define SHARDS 64               /* locks; more than packet threads */
#define SHARD_ENTRIES_MIN 256
#define SWEEP_STEPS 64          /* entries checked for an expired one when a shard is full */
#define NO_ENTRY 0              /* so fresh pages are empty; entry n is entry[n - 1] */

/* Keys are compared as bytes. An entry has expired when ends_us is before the packet. */
struct shard_entry {
    struct shard_key key;
    uint32_t next;              /* in its bucket or in the free list */
    uint64_t ends_us;
    uint64_t value[SHARD_VALUE_SIZE / sizeof(uint64_t)];
};

/* Aligned to cache lines, so that locks of two shards do not disturb each other. */
struct shard {
    CACHE_ALIGNED pthread_mutex_t lock;
    struct shard_table *table;
    uint32_t *bucket;           /* as many as entries, in memory after them */
    struct shard_entry *entry;
    uint32_t free;              /* free list */
    uint32_t fresh;             /* entries that were ever used; also read without the lock */
    uint32_t counted;           /* entries whose pages traffic_memory counts; not below fresh */
    uint32_t hand;
    uint64_t refused;
};

struct shard_table {
    uint32_t entries;           /* per shard, a power of two */
    uint32_t limit;             /* of them, how many may be used; relaxed atomic */
    uint64_t memory;            /* as given; relaxed atomic */
    struct shard shard[SHARDS];
};

/* `memory` in bytes is rounded down to a power of two of entries, but not below a minimum. */
struct shard_table *shard_table_new(uint64_t memory)
{
    struct shard_table *table = aligned_alloc(CACHE_LINE, sizeof(*table));
    uint64_t requested = memory / SHARDS / (sizeof(struct shard_entry) + sizeof(uint32_t));

    if (table == NULL)
        return NULL;
    memset(table, 0, sizeof(*table));
    table->entries = SHARD_ENTRIES_MIN;
    while (table->entries * UINT64_C(2) <= requested && table->entries < UINT32_C(1) << 24)
        table->entries *= 2;
    table->limit = table->entries;
    table->memory = memory;
    for (unsigned i = 0; i < SHARDS; i++) {
        struct shard *s = &table->shard[i];

        pthread_mutex_init(&s->lock, NULL);
        s->table = table;
    }
    return table;
}

static size_t shard_bytes(const struct shard_table *table)
{
    return table->entries * (sizeof(struct shard_entry) + sizeof(uint32_t));
}

/* Buckets are used all over from the first entries on; entries one after the other. */
static size_t bucket_bytes(const struct shard_table *table)
{
    return table->entries * sizeof(uint32_t);
}

static void shard_unmap(struct shard *s)
{
    munmap(s->entry, shard_bytes(s->table));
    traffic_memory_release(bucket_bytes(s->table) + s->counted * sizeof(struct shard_entry));
}

void shard_table_free(struct shard_table *table)
{
    if (table == NULL)
        return;
    for (unsigned i = 0; i < SHARDS; i++) {
        pthread_mutex_destroy(&table->shard[i].lock);
        if (table->shard[i].entry != NULL)
            shard_unmap(&table->shard[i]);
    }
    free(table);
}

uint64_t shard_table_memory(const struct shard_table *table)
{
    return __atomic_load_n(&table->memory, __ATOMIC_RELAXED);
}

/* Counts entries that were ever used: their pages stay. */
uint64_t shard_table_used(struct shard_table *table)
{
    uint64_t entries = 0;

    for (unsigned i = 0; i < SHARDS; i++) {
        pthread_mutex_lock(&table->shard[i].lock);
        entries += table->shard[i].fresh;
        pthread_mutex_unlock(&table->shard[i].lock);
    }
    return entries * (sizeof(struct shard_entry) + sizeof(uint32_t));
}

/* For memcap-set. The table does not grow: a limit above its size means all of it, and
 * more than twice its size is refused. */
bool shard_table_limit(struct shard_table *table, uint64_t memory)
{
    uint64_t entries = memory / SHARDS / (sizeof(struct shard_entry) + sizeof(uint32_t));

    if (entries == 0 || entries / 2 > table->entries)
        return false;
    __atomic_store_n(&table->limit, (uint32_t)MIN(entries, (uint64_t)table->entries),
                     __ATOMIC_RELAXED);
    __atomic_store_n(&table->memory, memory, __ATOMIC_RELAXED);
    return true;
}

/* Keeps the pages for the next run. */
void shard_table_clear(struct shard_table *table)
{
    for (unsigned i = 0; i < SHARDS; i++) {
        struct shard *s = &table->shard[i];

        pthread_mutex_lock(&s->lock);
        if (s->entry != NULL)
            memset(s->bucket, 0, table->entries * sizeof(*s->bucket));
        s->free = NO_ENTRY;
        s->hand = 0;
        __atomic_store_n(&s->fresh, 0, __ATOMIC_RELAXED);
        pthread_mutex_unlock(&s->lock);
    }
}

/* Relaxed reads: the sum is for statistics. */
uint64_t shard_table_refused(const struct shard_table *table)
{
    uint64_t sum = 0;

    for (unsigned i = 0; i < SHARDS; i++)
        sum += __atomic_load_n(&table->shard[i].refused, __ATOMIC_RELAXED);
    return sum;
}

void shard_key_address(struct shard_key *key, const struct ip *ip)
{
    memcpy(key->a, ip->b, sizeof(key->a));
    key->versions = ip->version;
}

/* Both directions have the same key, because the smaller address comes first. */
void shard_key_pair(struct shard_key *key, const struct ip *a, const struct ip *b)
{
    bool swap = memcmp(a->b, b->b, sizeof(a->b)) > 0;

    memcpy(key->a, swap ? b->b : a->b, sizeof(key->a));
    memcpy(key->b, swap ? a->b : b->b, sizeof(key->b));
    key->versions = (uint8_t)(a->version | b->version);
}

/* Maps space for the maximum of entries. A page costs nothing until it has an entry, and is counted
 * then. The memory comes from the kernel, because an allocator may clear what it returns. */
static bool shard_open(struct shard *s)
{
    void *space;

    if (s->entry != NULL)
        return true;
    if (!traffic_memory_take(bucket_bytes(s->table)))
        return false;
    space = mmap(NULL, shard_bytes(s->table), PROT_READ | PROT_WRITE,
                MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (space == MAP_FAILED) {
        traffic_memory_release(bucket_bytes(s->table));
        return traffic_memory_out();
    }
    s->entry = space;
    s->bucket = (uint32_t *)(s->entry + s->table->entries);
    return true;
}

/* The lowest bits of the hash have chosen the shard. */
static uint32_t *bucket_of(struct shard *s, uint64_t hash)
{
    return &s->bucket[(hash >> 8) & (s->table->entries - 1)];
}

static uint64_t key_hash(const struct shard_key *key)
{
    return hash_bytes(key, sizeof(*key));
}

static struct shard_entry *entry_at(struct shard *s, uint32_t index)
{
    return &s->entry[index - 1];
}

/* The entry must be in its bucket. */
static void unlink_entry(struct shard *s, uint32_t index)
{
    uint32_t *link = bucket_of(s, key_hash(&entry_at(s, index)->key));

    while (*link != index)
        link = &entry_at(s, *link)->next;
    *link = entry_at(s, index)->next;
}

/* Looks for an expired entry with a hand that goes round (the clock algorithm). The number
 * of steps is limited, because traffic can fill the table with live entries. */
static uint32_t reuse_entry(struct shard *s, uint64_t now_us)
{
    if (s->fresh == 0)
        return NO_ENTRY;
    for (unsigned i = 0; i < SWEEP_STEPS; i++) {
        uint32_t index = s->hand++ % s->fresh + 1;

        if (entry_at(s, index)->ends_us < now_us) {
            unlink_entry(s, index);
            return index;
        }
    }
    return NO_ENTRY;
}

/* The next entry that was never used; false at the limits of the table and of the process. */
static bool has_fresh(struct shard *s)
{
    if (s->fresh >= __atomic_load_n(&s->table->limit, __ATOMIC_RELAXED))
        return false;
    if (s->fresh < s->counted)
        return true;
    if (!traffic_memory_take(sizeof(struct shard_entry)))
        return false;
    s->counted++;
    return true;
}

static uint32_t take_fresh(struct shard *s)
{
    __atomic_store_n(&s->fresh, s->fresh + 1, __ATOMIC_RELAXED);
    return s->fresh;
}

/* NO_ENTRY: the shard is full of live entries. */
static uint32_t take_entry(struct shard *s, uint64_t now_us)
{
    uint32_t index = s->free;

    if (index != NO_ENTRY) {
        s->free = entry_at(s, index)->next;
        return index;
    }
    return has_fresh(s) ? take_fresh(s) : reuse_entry(s, now_us);
}

static struct shard_entry *find_entry(struct shard *s, uint64_t hash, const struct shard_key *key)
{
    for (uint32_t i = *bucket_of(s, hash); i != NO_ENTRY; i = entry_at(s, i)->next)
        if (memcmp(&entry_at(s, i)->key, key, sizeof(*key)) == 0)
            return entry_at(s, i);
    return NULL;
}

/* Counts the refusal when the shard is full. */
static struct shard_entry *make_entry(struct shard *s, uint64_t hash, const struct shard_key *key,
                                      uint64_t now_us)
{
    uint32_t index = take_entry(s, now_us), *bucket;
    struct shard_entry *e;

    if (index == NO_ENTRY) {
        __atomic_store_n(&s->refused, s->refused + 1, __ATOMIC_RELAXED);
        return NULL;
    }
    bucket = bucket_of(s, hash);
    e = entry_at(s, index);
    *e = (struct shard_entry){ .key = *key, .next = *bucket, .ends_us = now_us };
    *bucket = index;
    return e;
}

/* Returns with the shard locked, also when value is NULL: each call needs
 * shard_table_release(). `fresh`: the entry is new or has expired, and the caller
 * initialises it. */
struct shard_ref shard_table_get(struct shard_table *table, const struct shard_key *key,
                                 uint64_t now_us, bool create)
{
    uint64_t hash = key_hash(key);
    struct shard *s = &table->shard[hash % SHARDS];
    struct shard_ref ref = { .shard = s };
    struct shard_entry *e = NULL;

    pthread_mutex_lock(&s->lock);
    if (create ? shard_open(s) : s->entry != NULL)
        e = find_entry(s, hash, key);
    if (e != NULL && e->ends_us < now_us) {
        ref.fresh = create;
        if (!create)
            e = NULL;
    } else if (e == NULL && create && s->entry != NULL) {
        e = make_entry(s, hash, key, now_us);
        ref.fresh = e != NULL;
    }
    if (e != NULL) {
        ref.value = e->value;
        ref.ends_us = &e->ends_us;
    }
    return ref;
}

/* Without the lock: an old value is one of a moment ago. */
bool shard_table_has_space(struct shard_table *table, const struct shard_key *key)
{
    const struct shard *s = &table->shard[key_hash(key) % SHARDS];

    return __atomic_load_n(&s->fresh, __ATOMIC_RELAXED) <
           MIN(__atomic_load_n(&table->limit, __ATOMIC_RELAXED), table->entries) / 4;
}

void shard_table_release(struct shard_ref *ref)
{
    struct shard *s = ref->shard;

    pthread_mutex_unlock(&s->lock);
}
