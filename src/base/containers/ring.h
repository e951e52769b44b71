/* SPDX-License-Identifier: GPL-2.0-or-later */
/* base/containers/ring.h - a bounded queue of pointers from one thread to one other thread, and the
 * eventcount on which both wait.
 *
 * One thread pushes, one thread pops; neither takes a lock. A thread that reads several rings, or
 * waits for space in several, sleeps on one eventcount, which all these rings wake:
 *
 *     for (;;) {
 *         while ((n = ring_pop(ring, items, 8)) > 0)
 *             ...
 *         if (ring_is_done(ring))
 *             break;
 *         key = eventcount_prepare(&eventcount);
 *         if (ring_count(ring) > 0 || ring_is_closed(ring))
 *             eventcount_cancel(&eventcount);
 *         else
 *             eventcount_sleep(&eventcount, key, timeout_ns);
 *     }
 *
 * A wake-up between eventcount_prepare() and eventcount_sleep() is never lost: base/README.md
 * explains why, and qa/model/ring.pml proves it. */
#ifndef BASE_RING_H
#define BASE_RING_H

#include "base/base.h"

/* One thread sleeps on this. It is in the caller's storage and must outlive the rings that use
 * it. */
struct eventcount {
    CACHE_ALIGNED uint32_t epoch;   /* the futex; changes at each wake-up */
    uint32_t sleeping;         /* its thread may sleep: a thread that changes a ring must wake it */
    unsigned spins;                 /* polls before sleeping, in eventcount_wait() */
    uint64_t sleeps;                /* only its own thread writes; any thread reads, relaxed */
};

#define EVENTCOUNT_FOREVER UINT64_MAX

void eventcount_init(struct eventcount *w);

/* Only the eventcount's own thread calls these. After eventcount_prepare() it checks its condition
 * once more, with the functions below; then it calls eventcount_cancel() or eventcount_sleep(). A
 * sleep may end early. */
uint32_t eventcount_prepare(struct eventcount *w);
void eventcount_cancel(struct eventcount *w);
void eventcount_sleep(struct eventcount *w, uint32_t key, uint64_t timeout_ns);

/* Polls a little, then sleeps, until is_ready() or the timeout. Returns is_ready(). */
bool eventcount_wait(struct eventcount *w, bool (*is_ready)(void *arg), void *arg,
                 uint64_t timeout_ns);

/* Any thread may call this, also in a signal handler. The woken thread sees what the caller stored
 * before. */
void eventcount_wake(struct eventcount *w);

/* The producer and the consumer write different cache lines. Each caches the other's index and
 * reads it again only when the cached one says full or empty. Indices wrap at 2^32. */
struct ring {
    CACHE_ALIGNED uint32_t tail;            /* producer writes */
    uint32_t head_seen;
    CACHE_ALIGNED uint32_t head;            /* consumer writes */
    uint32_t tail_seen;
    CACHE_ALIGNED uint32_t mask;            /* constant from here on, except closed */
    bool closed;
    struct eventcount *consumer, *producer;    /* borrowed; NULL: that side never sleeps */
    CACHE_ALIGNED void *slot[];
};

/* Creates a ring with space for at least `size` pointers (1 to 2^30). */
struct ring *ring_new(uint32_t size, struct eventcount *consumer, struct eventcount *producer);
void ring_free(struct ring *ring);          /* the caller owns items still in it */

/* Both return how many of the n items they moved: as many as space or items allowed. */
unsigned ring_push(struct ring *ring, void *const *items, unsigned n);
unsigned ring_pop(struct ring *ring, void **items, unsigned n);

/* Any thread may call these. The result may be stale: for the consumer the count only grows
 * meanwhile, for the producer the space only grows. */
uint32_t ring_count(const struct ring *ring);
uint32_t ring_space(const struct ring *ring);

/* Only the producer calls this, after its last push. */
void ring_close(struct ring *ring);
bool ring_is_closed(const struct ring *ring);
bool ring_is_done(const struct ring *ring);     /* for the consumer: closed and empty */

static inline uint32_t ring_size(const struct ring *ring) { return ring->mask + 1; }

#endif
