/* SPDX-License-Identifier: GPL-2.0-or-later */
/* packet/pool.h - where packets come from and return to the pool to.
 *
 * One pool per thread that makes packets. packet_pool_get() only on the owning thread;
 * packet_release() on any: on the owner's it goes straight to the free list, elsewhere through
 * the returning thread's own single-producer ring. Fixed size: an empty pool means that
 * the pipeline is full, and capture waits (files) or drops, counted (live). */
#ifndef PACKET_POOL_H
#define PACKET_POOL_H

#include "packet/packet.h"

struct packet_pool;

/* size: packets; threads: foreign threads that may return packets, numbered 0..threads-1. */
struct packet_pool *packet_pool_new(unsigned size, unsigned threads);
void packet_pool_free(struct packet_pool *pool);
struct packet *packet_pool_get(struct packet_pool *pool);      /* reset; NULL: all are out */
unsigned packet_pool_out(const struct packet_pool *pool);      /* how many are under way */
unsigned packet_pool_left(const struct packet_pool *pool);     /* how many the owner can get */
/* How many the owner has taken and not given back itself, since the pool was made; wraps. */
unsigned packet_pool_taken(const struct packet_pool *pool);

/* The owning thread releases with this thread index too. A packet and its root may come from
 * pools of different threads, so that PACKET_THREAD_OWNER cannot be right for both. */
void packet_pool_set_owner(struct packet_pool *pool, unsigned thread_index);
/* By the owner: takes in all that waits in the return rings, calling the on_return function. */
void packet_pool_collect(struct packet_pool *pool);

/* Gives back one packet, and its root when it was the last inner one. `thread_index` is the
 * calling thread's, PACKET_THREAD_OWNER on the pool's own thread. */
#define PACKET_THREAD_OWNER UINT32_MAX
void packet_release(struct packet *p, unsigned thread_index);

/* Called by the owner for each packet that has been returned, before it is reused: the stream
 * module frees flows there, a capture gives back ring slots. Adds to those set before; all are
 * called for every packet, pseudo or not. */
void packet_pool_on_return(struct packet_pool *pool, void (*fn)(struct packet *p, void *arg),
                           void *arg);

#endif
