/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/core/tx_index.c - transactions by a key that their parser gives them: the id of a request
 * that waits for its answer.
 *
 * A flow with few transactions is walked. With more it gets a hash table, so that a message costs
 * the same however many requests are open: peers choose how many, and in which order they answer.
 * The hash is keyed. Transactions of one key are a queue, the oldest first. */
#include "app/core/session.h"

#include "base/containers/hash.h"
#include "base/memory/traffic_memory.h"

#define WALKED_MOST 16                      /* transactions: so many are found sooner by a walk */
#define FIRST_BUCKETS 64

struct tx_queue {
    struct app_tx *first, *last;
};

struct app_tx_index {
    uint32_t mask, count;                   /* buckets - 1; transactions in them */
    struct tx_queue bucket[];
};

static struct tx_queue *queue_of(struct app_tx_index *index, uint64_t key)
{
    return &index->bucket[hash_bytes(&key, sizeof(key)) & index->mask];
}

static void enqueue(struct app_tx_index *index, struct app_tx *tx)
{
    struct tx_queue *queue = queue_of(index, tx->key);

    tx->key_next = NULL;
    tx->key_prev = queue->last;
    *(queue->last != NULL ? &queue->last->key_next : &queue->first) = tx;
    queue->last = tx;
    index->count++;
}

static void dequeue(struct app_tx_index *index, struct app_tx *tx)
{
    struct tx_queue *queue = queue_of(index, tx->key);

    *(tx->key_prev != NULL ? &tx->key_prev->key_next : &queue->first) = tx->key_next;
    *(tx->key_next != NULL ? &tx->key_next->key_prev : &queue->last) = tx->key_prev;
    index->count--;
}

static struct app_tx_index *index_of(const struct app_flow *af)
{
    return af->ext != NULL ? af->ext->index : NULL;
}

/* From the list of all, so that queues are by age. Without memory there is no index, and the next
 * call tries again. */
static COLD struct app_tx_index *build(struct app_flow *af, uint32_t buckets)
{
    struct app_ext *ext = app_ext_make(af);
    struct app_tx_index *index;

    app_tx_index_free(af);
    if (ext == NULL)
        return NULL;
    index = traffic_calloc(1, sizeof(*index) + buckets * sizeof(index->bucket[0]));
    if (index == NULL)
        return NULL;
    index->mask = buckets - 1;
    for (struct app_tx *tx = af->first; tx != NULL; tx = tx->next)
        if (tx->keyed)
            enqueue(index, tx);
    ext->index = index;
    return index;
}

static struct app_tx_index *index_for_lookup(struct app_flow *af)
{
    struct app_tx_index *index = index_of(af);

    if (LIKELY(index == NULL && af->tx_count <= WALKED_MOST))
        return NULL;
    if (index == NULL)
        return build(af, FIRST_BUCKETS);
    if (UNLIKELY(index->count > 2 * index->mask))
        return build(af, 4 * (index->mask + 1));
    return index;
}

void app_tx_key(struct app_tx *tx, uint64_t key)
{
    struct app_tx_index *index = index_of(tx->flow);

    app_tx_key_drop(tx);
    tx->key = key;
    tx->keyed = true;
    if (UNLIKELY(index != NULL))
        enqueue(index, tx);
}

void app_tx_key_drop(struct app_tx *tx)
{
    struct app_tx_index *index = index_of(tx->flow);

    if (tx->keyed && UNLIKELY(index != NULL))
        dequeue(index, tx);
    tx->keyed = false;
}

static struct app_tx *first_from(struct app_tx *tx, uint64_t key, bool indexed)
{
    while (tx != NULL && (!tx->keyed || tx->key != key))
        tx = indexed ? tx->key_next : tx->next;
    return tx;
}

struct app_tx *app_tx_by_key(struct app_flow *af, uint64_t key)
{
    struct app_tx_index *index = index_for_lookup(af);
    struct app_tx *tx =
        first_from(index != NULL ? queue_of(index, key)->first : af->first, key, index != NULL);

    if (tx != NULL)
        app_tx_mark(tx);
    return tx;
}

struct app_tx *app_tx_next_by_key(struct app_tx *tx)
{
    bool indexed = index_of(tx->flow) != NULL;
    struct app_tx *next = first_from(indexed ? tx->key_next : tx->next, tx->key, indexed);

    if (next != NULL)
        app_tx_mark(next);
    return next;
}

void app_tx_index_free(struct app_flow *af)
{
    if (index_of(af) == NULL)
        return;
    traffic_free(af->ext->index);
    af->ext->index = NULL;
}
