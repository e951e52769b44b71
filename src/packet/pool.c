/* SPDX-License-Identifier: GPL-2.0-or-later */
/* packet/pool.c - a fixed set of packets, a free list for the owner, and a return ring for each
 * other thread that returns packets.
 *
 * A return ring has space for every packet of the pool. So a push cannot fail, and a thread that
 * returns packets never reads the owner's cache line. The owner collects from the return rings only
 * when its free list is empty. It takes a packet that was never in use only when none has returned:
 * a pool that is hardly needed hardly takes memory. */
#include "packet/pool.h"

#include "base/array.h"
#include "base/memory/lib_memory.h"

#include <stdlib.h>
#include <string.h>

/* Single producer, single consumer. */
struct return_ring {
    CACHE_ALIGNED struct packet **slot;
    uint32_t tail;                      /* the returning thread's; published with release */
    CACHE_ALIGNED uint32_t head;        /* the owner's */
};

struct on_return {
    void (*fn)(struct packet *p, void *arg);
    void *arg;
};

/* Only the owner's thread touches it, except the return rings. */
struct packet_pool {
    struct packet *packets;
    unsigned used;                      /* those behind were never taken, nor touched */
    struct packet *free_list;
    struct return_ring *return_rings;
    unsigned size, return_ring_count, next_return_ring;
    uint32_t mask;
    unsigned out, taken;
    uint32_t owner;                     /* thread index of the owner */
    struct on_return *on_return;        /* modules of one thread share its pool */
    unsigned on_return_count;
};

static uint32_t power_of_two_above(uint32_t n)
{
    uint32_t power = 1;

    while (power < n)
        power <<= 1;
    return power;
}

/* threads: number of threads that may return packets. Each has its own ring. */
struct packet_pool *packet_pool_new(unsigned size, unsigned threads)
{
    struct packet_pool *pool = xcalloc(1, sizeof(*pool));
    uint32_t ring = power_of_two_above(MAX(size, 1u));

    pool->size = size;
    pool->return_ring_count = threads;
    pool->owner = PACKET_THREAD_OWNER;
    pool->mask = ring - 1;
    pool->packets = xaligned_unset(CACHE_LINE, size * sizeof(struct packet));
    pool->return_rings = xaligned(CACHE_LINE, threads * sizeof(struct return_ring));
    for (unsigned i = 0; i < threads; i++)
        pool->return_rings[i].slot = xmalloc(ring * sizeof(struct packet *));
    return pool;
}

void packet_pool_free(struct packet_pool *pool)
{
    if (pool == NULL)
        return;
    for (unsigned i = 0; i < pool->used; i++)
        packet_fini(&pool->packets[i]);
    for (unsigned i = 0; i < pool->return_ring_count; i++)
        free(pool->return_rings[i].slot);
    free(pool->on_return);
    free(pool->return_rings);
    free(pool->packets);
    free(pool);
}

/* Callbacks of captures run here, on the owner's thread. */
static void pool_take_back(struct packet_pool *pool, struct packet *p)
{
    for (unsigned i = 0; i < pool->on_return_count; i++)
        pool->on_return[i].fn(p, pool->on_return[i].arg);
    p->next = pool->free_list;
    pool->free_list = p;
    pool->out--;
}

/* Acquire pairs with the release in packet_return(): all writes of the returning thread are
 * visible. `head` is only read by reports and the owner. */
static void collect_return_ring(struct packet_pool *pool, struct return_ring *ring)
{
    uint32_t tail = __atomic_load_n(&ring->tail, __ATOMIC_ACQUIRE);
    uint32_t head = ring->head;

    for (; head != tail; head++)
        pool_take_back(pool, ring->slot[head & pool->mask]);
    __atomic_store_n(&ring->head, head, __ATOMIC_RELAXED);
}

/* Not COLD, although it is rarely needed. The compiler takes a function that always calls a cold
 * one for cold too, and makes it small in place of fast: the scan of a file calls this one. */
static __attribute__((noinline)) void collect(struct packet_pool *pool)
{
    for (unsigned i = 0; i < pool->return_ring_count; i++)
        collect_return_ring(pool, &pool->return_rings[i]);
}

void packet_pool_set_owner(struct packet_pool *pool, unsigned thread_index)
{
    pool->owner = thread_index;
}

void packet_pool_collect(struct packet_pool *pool)
{
    collect(pool);
}

/* The free list is empty. NULL: all packets are out. */
static struct packet *get_slow(struct packet_pool *pool)
{
    struct packet *p;

    collect(pool);
    if (pool->free_list != NULL || pool->used == pool->size)
        return pool->free_list;
    p = &pool->packets[pool->used++];
    memset(p, 0, sizeof(*p));
    p->pool = pool;
    return p;
}

/* NULL if no packet is free. The next free packet is prefetched while this one is filled. */
struct packet *packet_pool_get(struct packet_pool *pool)
{
    struct packet *p = pool->free_list;

    if (UNLIKELY(p == NULL) && (p = get_slow(pool)) == NULL)
        return NULL;
    pool->free_list = p->next;
    if (p->next != NULL)
        PREFETCH(p->next);
    pool->out++;
    pool->taken++;
    packet_reset(p);
    p->children = 1;
    return p;
}

/* Packets in flight. Packets that wait in return rings count as returned. */
unsigned packet_pool_out(const struct packet_pool *pool)
{
    unsigned waiting = 0;

    for (unsigned i = 0; i < pool->return_ring_count; i++) {
        const struct return_ring *ring = &pool->return_rings[i];

        waiting += __atomic_load_n(&ring->tail, __ATOMIC_ACQUIRE) -
                   __atomic_load_n(&ring->head, __ATOMIC_RELAXED);
    }
    return pool->out - waiting;
}

unsigned packet_pool_taken(const struct packet_pool *pool)
{
    return pool->taken;
}

unsigned packet_pool_left(const struct packet_pool *pool)
{
    return pool->size - packet_pool_out(pool);
}

/* Release: the owner sees the packet's final state before it sees the packet. */
static void packet_return(struct packet *p, unsigned thread_index)
{
    struct packet_pool *pool = p->pool;
    struct return_ring *ring;

    if (thread_index == PACKET_THREAD_OWNER || thread_index == pool->owner) {
        pool->taken--;
        pool_take_back(pool, p);
        return;
    }
    ring = &pool->return_rings[thread_index];
    ring->slot[ring->tail & pool->mask] = p;
    __atomic_store_n(&ring->tail, ring->tail + 1, __ATOMIC_RELEASE);
}

/* True for the last reference. The common packet has no inner packets, and then no locked
 * instruction is needed: no other thread has a reference. */
static bool drop_reference(struct packet *p)
{
    if (LIKELY(__atomic_load_n(&p->children, __ATOMIC_ACQUIRE) == 1))
        return true;
    return __atomic_fetch_sub(&p->children, 1, __ATOMIC_ACQ_REL) == 1;
}

/* An inner packet holds a reference to its outer packet (root), which returns when the last one is
 * released. */
void packet_release(struct packet *p, unsigned thread_index)
{
    struct packet *root = p->root;

    if (root != NULL && root != p) {
        packet_return(p, thread_index);
        p = root;
    }
    if (drop_reference(p))
        packet_return(p, thread_index);
}

/* Modules register their functions before packets flow. */
void packet_pool_on_return(struct packet_pool *pool, void (*fn)(struct packet *p, void *arg),
                           void *arg)
{
    unsigned n = pool->on_return_count++;

    pool->on_return = xrealloc(pool->on_return, (n + 1) * sizeof(pool->on_return[0]));
    pool->on_return[n] = (struct on_return){ .fn = fn, .arg = arg };
}
