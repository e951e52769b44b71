/* SPDX-License-Identifier: GPL-2.0-or-later */
/* flow/host.c - the sharded table of hosts and address pairs.
 *
 * A host lives as long as it has a bit that is not over, or data. What is over is cleared out
 * when its chain is next walked to add to it. */
#include "flow/host.h"

#include "base/array.h"
#include "base/hash.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SHARDS 64

struct host_bit {
    uint32_t id;
    uint64_t expires_us;
};

struct host {
    struct host *next;
    struct ip a, b;                     /* b of version 0: one address */
    uint32_t bit_count, bit_cap;
    struct host_bit *bits;
    void *data[HOST_DATA_COUNT];
};

struct shard {
    CACHE_ALIGNED pthread_mutex_t lock;
    struct host **chain;
    uint64_t memuse, refused;           /* written under the lock, read relaxed */
};

struct host_table {
    struct shard shard[SHARDS];
    uint64_t seed, shard_limit;
    uint32_t chain_mask;
    void (*release[HOST_DATA_COUNT])(void *data);
};

struct host_table *host_table_new(const struct conf_node *root, const char *name)
{
    struct host_table *table = aligned_alloc(CACHE_LINE, sizeof(*table));
    const struct conf_node *node = conf_find(root, name);
    uint64_t hash_size = conf_u64_range(node, "hash-size", 4096, 1, UINT32_MAX);
    uint32_t chains = 1;

    if (table == NULL)
        return NULL;
    memset(table, 0, sizeof(*table));
    while ((uint64_t)chains * SHARDS < hash_size)
        chains *= 2;
    table->chain_mask = chains - 1;
    table->shard_limit = conf_size(node, "memcap", UINT64_C(32) << 20) / SHARDS;
    table->seed = hash_seed();
    for (unsigned i = 0; i < SHARDS; i++) {
        pthread_mutex_init(&table->shard[i].lock, NULL);
        table->shard[i].chain = xcalloc(chains, sizeof(struct host *));
    }
    return table;
}

static void shard_memuse(struct shard *shard, int64_t change)
{
    __atomic_store_n(&shard->memuse, shard->memuse + (uint64_t)change, __ATOMIC_RELAXED);
}

static void host_free(struct host_table *table, struct shard *shard, struct host *host)
{
    for (unsigned i = 0; i < HOST_DATA_COUNT; i++)
        if (host->data[i] != NULL && table->release[i] != NULL)
            table->release[i](host->data[i]);
    shard_memuse(shard, -(int64_t)(sizeof(*host) + host->bit_cap * sizeof(struct host_bit)));
    free(host->bits);
    free(host);
}

static void shard_fini(struct host_table *table, struct shard *shard)
{
    for (uint32_t i = 0; i <= table->chain_mask; i++) {
        while (shard->chain[i] != NULL) {
            struct host *host = shard->chain[i];

            shard->chain[i] = host->next;
            host_free(table, shard, host);
        }
    }
    free(shard->chain);
    pthread_mutex_destroy(&shard->lock);
}

void host_table_free(struct host_table *table)
{
    if (table == NULL)
        return;
    for (unsigned i = 0; i < SHARDS; i++)
        shard_fini(table, &table->shard[i]);
    free(table);
}

/* ---- finding ---- */

struct host_key {
    struct ip a, b;
    uint64_t hash;
};

static struct host_key key_of(const struct host_table *table, const struct ip *a,
                              const struct ip *b)
{
    struct host_key key = { .a = *a };

    if (b != NULL) {
        bool in_order = ip_compare(a, b) <= 0;

        key.a = in_order ? *a : *b;
        key.b = in_order ? *b : *a;
    }
    key.hash = hash_mix(table->seed ^ key.a.q[0], key.a.q[1] ^ key.a.version);
    key.hash = hash_mix(key.hash ^ key.b.q[0], key.b.q[1] ^ key.b.version);
    return key;
}

static struct shard *lock_shard(struct host_table *table, const struct host_key *key)
{
    struct shard *shard = &table->shard[key->hash % SHARDS];

    pthread_mutex_lock(&shard->lock);
    return shard;
}

static struct host **chain_of(const struct host_table *table, struct shard *shard,
                              const struct host_key *key)
{
    return &shard->chain[(key->hash >> 32) & table->chain_mask];
}

static struct host *find(struct host *chain, const struct host_key *key)
{
    while (chain != NULL && !(ip_equal(&chain->a, &key->a) && ip_equal(&chain->b, &key->b)))
        chain = chain->next;
    return chain;
}

static bool is_over(const struct host *host, uint64_t now_us)
{
    for (unsigned i = 0; i < HOST_DATA_COUNT; i++)
        if (host->data[i] != NULL)
            return false;
    for (uint32_t i = 0; i < host->bit_count; i++)
        if (host->bits[i].expires_us > now_us)
            return false;
    return true;
}

static void clear_chain(struct host_table *table, struct shard *shard, struct host **at,
                        uint64_t now_us)
{
    while (*at != NULL) {
        struct host *host = *at;

        if (!is_over(host, now_us)) {
            at = &host->next;
            continue;
        }
        *at = host->next;
        host_free(table, shard, host);
    }
}

static struct host *refuse(struct shard *shard)
{
    __atomic_store_n(&shard->refused, shard->refused + 1, __ATOMIC_RELAXED);
    return NULL;
}

static struct host *find_or_make(struct host_table *table, struct shard *shard,
                                 const struct host_key *key, uint64_t now_us)
{
    struct host **chain = chain_of(table, shard, key);
    struct host *host = find(*chain, key);

    if (host != NULL)
        return host;
    clear_chain(table, shard, chain, now_us);
    if (shard->memuse + sizeof(*host) > table->shard_limit)
        return refuse(shard);
    host = calloc(1, sizeof(*host));
    if (host == NULL)
        return refuse(shard);
    host->a = key->a;
    host->b = key->b;
    host->next = *chain;
    *chain = host;
    shard_memuse(shard, sizeof(*host));
    return host;
}

/* ---- bits ---- */

static struct host_bit *find_bit(struct host *host, uint32_t id)
{
    for (uint32_t i = 0; host != NULL && i < host->bit_count; i++)
        if (host->bits[i].id == id)
            return &host->bits[i];
    return NULL;
}

static struct host_bit *add_bit(struct host_table *table, struct shard *shard, struct host *host,
                                uint32_t id)
{
    if (host->bit_count == host->bit_cap) {
        uint32_t cap = host->bit_cap > 0 ? host->bit_cap * 2 : 2;
        size_t more = (cap - host->bit_cap) * sizeof(struct host_bit);
        struct host_bit *bits;

        if (shard->memuse + more > table->shard_limit) {
            (void)refuse(shard);
            return NULL;
        }
        bits = realloc(host->bits, cap * sizeof(*bits));
        if (bits == NULL)
            return NULL;
        host->bits = bits;
        host->bit_cap = cap;
        shard_memuse(shard, (int64_t)more);
    }
    host->bits[host->bit_count].id = id;
    return &host->bits[host->bit_count++];
}

bool host_bit_set(struct host_table *table, const struct ip *a, const struct ip *b, uint32_t id,
                  uint64_t now_us, uint64_t expires_us)
{
    struct host_key key = key_of(table, a, b);
    struct shard *shard = lock_shard(table, &key);
    struct host *host = find_or_make(table, shard, &key, now_us);
    struct host_bit *bit = find_bit(host, id);

    if (bit == NULL && host != NULL)
        bit = add_bit(table, shard, host, id);
    if (bit != NULL)
        bit->expires_us = expires_us;
    pthread_mutex_unlock(&shard->lock);
    return bit != NULL;
}

bool host_bit_is_set(struct host_table *table, const struct ip *a, const struct ip *b,
                     uint32_t id, uint64_t now_us)
{
    struct host_key key = key_of(table, a, b);
    struct shard *shard = lock_shard(table, &key);
    struct host_bit *bit = find_bit(find(*chain_of(table, shard, &key), &key), id);
    bool is_set = bit != NULL && bit->expires_us > now_us;

    pthread_mutex_unlock(&shard->lock);
    return is_set;
}

void host_bit_unset(struct host_table *table, const struct ip *a, const struct ip *b,
                    uint32_t id)
{
    struct host_key key = key_of(table, a, b);
    struct shard *shard = lock_shard(table, &key);
    struct host *host = find(*chain_of(table, shard, &key), &key);
    struct host_bit *bit = find_bit(host, id);

    if (bit != NULL)
        *bit = host->bits[--host->bit_count];
    pthread_mutex_unlock(&shard->lock);
}

/* ---- data of others ---- */

void host_data_release(struct host_table *table, enum host_data kind, void (*release)(void *data))
{
    table->release[kind] = release;
}

bool host_data_visit(struct host_table *table, const struct ip *a, const struct ip *b,
                     enum host_data kind, bool make, uint64_t now_us,
                     void (*visit)(void **data, void *arg), void *arg)
{
    struct host_key key = key_of(table, a, b);
    struct shard *shard = lock_shard(table, &key);
    struct host *host = make ? find_or_make(table, shard, &key, now_us)
                             : find(*chain_of(table, shard, &key), &key);

    if (host != NULL)
        visit(&host->data[kind], arg);
    pthread_mutex_unlock(&shard->lock);
    return host != NULL;
}

uint64_t host_table_memuse(const struct host_table *table)
{
    uint64_t sum = (uint64_t)SHARDS * (table->chain_mask + 1) * sizeof(struct host *);

    for (unsigned i = 0; i < SHARDS; i++)
        sum += __atomic_load_n(&table->shard[i].memuse, __ATOMIC_RELAXED);
    return sum;
}

uint64_t host_table_refused(const struct host_table *table)
{
    uint64_t sum = 0;

    for (unsigned i = 0; i < SHARDS; i++)
        sum += __atomic_load_n(&table->shard[i].refused, __ATOMIC_RELAXED);
    return sum;
}
