/* SPDX-License-Identifier: GPL-2.0-or-later */
/* packet/pool.h - a pool of packets for each thread that receives or creates them.
 *
 * Only the owning thread calls packet_pool_get(). Any thread calls packet_release(). On the
 * owning thread a packet goes straight to the free list; another thread returns it through its
 * own single-producer ring. The size is fixed: an empty pool means that the pipeline is full.
 * Then the capture waits (files) or drops and counts the packets (live). */
#ifndef PACKET_POOL_H
#define PACKET_POOL_H

#include "packet/packet.h"

struct packet_pool;

/* size: packets; threads: foreign threads that may return packets, numbered 0..threads-1. */
struct packet_pool *packet_pool_new(unsigned size, unsigned threads);
void packet_pool_free(struct packet_pool *pool);
struct packet *packet_pool_get(struct packet_pool *pool);      /* reset; NULL: all are out */
unsigned packet_pool_out(const struct packet_pool *pool);      /* number of packets in use */
unsigned packet_pool_left(const struct packet_pool *pool);     /* number of packets that the
                                                                * owner can get */
/* Number of packets that the owner has taken minus those that it has released itself, since the
 * pool was created; wraps. */
unsigned packet_pool_taken(const struct packet_pool *pool);

/* The thread index with which the owning thread releases, too. A packet and its root may come
 * from pools of different threads, so PACKET_THREAD_OWNER would be wrong for one of them. */
void packet_pool_set_owner(struct packet_pool *pool, unsigned thread_index);
/* Called by the owner: takes all packets from the return rings and calls the on_return
 * functions. */
void packet_pool_collect(struct packet_pool *pool);

/* Releases one packet, and its root after the last inner one. `thread_index` is that of the
 * calling thread; on the pool's own thread PACKET_THREAD_OWNER. */
#define PACKET_THREAD_OWNER UINT32_MAX
void packet_release(struct packet *p, unsigned thread_index);

/* Adds a function that the owner calls for each returned packet, pseudo or not, before it is
 * reused. The stream module frees flows there; a capture releases ring slots. */
void packet_pool_on_return(struct packet_pool *pool, void (*fn)(struct packet *p, void *arg),
                           void *arg);

#endif
