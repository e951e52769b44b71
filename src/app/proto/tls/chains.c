/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/proto/tls/chains.c - a table of the certificate chains that the flows of a thread have.
 *
 * The table does not grow, and a bucket holds a few chains: a peer that sends a new certificate
 * each time only finds that its chains are not shared. The hash is keyed, so no one fills a bucket
 * on purpose. */
#include "app/proto/tls/chains.h"

#include "base/containers/hash.h"
#include "base/memory/lib_memory.h"

#include <string.h>

#define BUCKETS 4096u
#define BUCKET_MAX 8            /* chains that are compared; more are not shared */
#define TEXTS_BLOCK 480         /* bytes: the texts of a usual certificate */

void tls_chains_fini(struct tls_chains *chains)
{
    lib_free(chains->bucket);
    chains->bucket = NULL;
}

static struct tls_chain **bucket_of(const struct tls_chains *chains, uint64_t hash)
{
    return &chains->bucket[hash % BUCKETS];
}

static bool is_equal(const struct tls_chain *chain, uint64_t hash, struct slice list)
{
    return chain->hash == hash && chain->list.len == list.len &&
           memcmp(chain->list.data, list.data, list.len) == 0;
}

uint64_t tls_chain_hash(struct slice list)
{
    return hash_bytes(list.data, list.len);
}

struct tls_chain *tls_chain_find(const struct tls_chains *chains, uint64_t hash,
                                 struct slice list)
{
    if (chains->bucket == NULL || list.len == 0)
        return NULL;
    for (struct tls_chain *c = *bucket_of(chains, hash); c != NULL; c = c->next)
        if (is_equal(c, hash, list)) {
            c->refs++;
            return c;
        }
    return NULL;
}

struct tls_chain *tls_chain_new(uint64_t hash, struct slice list)
{
    struct tls_chain *chain = lib_malloc(sizeof(*chain) + list.len);
    uint8_t *copy;

    if (chain == NULL)
        return NULL;
    copy = (uint8_t *)(chain + 1);
    if (list.len > 0)
        memcpy(copy, list.data, list.len);
    *chain = (struct tls_chain){ .hash = hash, .refs = 1,
                                  .list = { copy, list.len } };
    arena_init(&chain->arena, TEXTS_BLOCK, 0);
    return chain;
}

void tls_chain_share(struct tls_chains *chains, struct tls_chain *chain)
{
    struct tls_chain **bucket;
    unsigned n = 0;

    if (chains->bucket == NULL)
        chains->bucket = lib_calloc(BUCKETS, sizeof(struct tls_chain *));
    if (chains->bucket == NULL || chain->list.len == 0)
        return;
    bucket = bucket_of(chains, chain->hash);
    for (const struct tls_chain *c = *bucket; c != NULL; c = c->next)
        n++;
    if (n == BUCKET_MAX)
        return;
    chain->chains = chains;
    chain->next = *bucket;
    *bucket = chain;
}

static void unlist(const struct tls_chain *chain)
{
    struct tls_chain **link = bucket_of(chain->chains, chain->hash);

    while (*link != chain)
        link = &(*link)->next;
    *link = chain->next;
}

void tls_chain_unref(struct tls_chain *chain)
{
    if (chain == NULL || --chain->refs > 0)
        return;
    if (chain->chains != NULL)
        unlist(chain);
    arena_fini(&chain->arena);
    lib_free(chain);
}
